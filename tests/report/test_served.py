"""The page of ``steadycv compare``."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

pytest.importorskip("jinja2")

from steadycv.error_words import ErrorWords
from steadycv.experiments.verdict import verdict
from steadycv.report.served import write_served

WORDS = ErrorWords("mean squared error")
AREA = ErrorWords("roc_auc", "roc_auc", is_score=True)
NOISE = np.random.default_rng(0).uniform(1, 2, size=30)


def page(tmp_path, words=WORDS, *, n=30, name="data", **more):
    rng = np.random.default_rng(1)
    keys = [("tree", each) for each in ("plain choice", "steady choice", "committee")]
    levels = dict(zip(keys, (1, 1.1, 0.7), strict=True))
    sign = -1 if words.is_score else 1
    errors = {
        key: sign * level * (NOISE + 0.1 * rng.normal(size=30))[:n] for key, level in levels.items()
    }
    found = verdict(errors, errors, dict.fromkeys(keys, 0.5), 1 / 9, words)
    path = write_served(
        found, tmp_path / "x.html", data_name=name, how="tuned on some", command="run this", **more
    )
    return found, path.read_text("utf-8")


def charts(text):
    return [ElementTree.fromstring(each) for each in re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL)]


def test_page_says_what_served_best(tmp_path):
    found, text = page(tmp_path, notes=["a note"])
    for told in ("What serves best on data: tree", "a note", "run this", *found.sentences()):
        assert told in text
    assert '<p class="big">committee</p>' in text
    assert text.count('<tr class="steady">') == 1


@pytest.mark.parametrize("words", [WORDS, AREA], ids=["error", "score"])
def test_discs_are_means_between_the_ends(tmp_path, words):
    found, text = page(tmp_path, words)
    beside, promised = charts(text)
    for chart, means in (
        (beside, [line.over_plain for line in found.lines]),
        (promised, [line.promised for line in found.lines]),
    ):
        [even] = [float(line.get("x1")) for line in chart.iter("line") if line.get("class") == "one"]
        bars = [line for line in chart.iter("line") if line.get("class").startswith("reach")]
        discs = [each for each in chart.iter("circle") if each.get("class").startswith("centre")]
        assert len(bars) == len(discs) == len(means)
        for bar, disc, mean in zip(bars, discs, means, strict=True):
            start, middle, end = float(bar.get("x1")), float(disc.get("cx")), float(bar.get("x2"))
            assert start <= middle <= end
            assert (middle < even) == (mean.value < (1 if mean.is_ratio else 0))
    # A dot for each split, around the mean.
    dots = [float(each.get("cx")) for each in beside.iter("circle") if each.get("class") == "faint"]
    rows = np.reshape(dots, (3, 30))
    discs = [float(e.get("cx")) for e in beside.iter("circle") if e.get("class").startswith("centre")]
    np.testing.assert_allclose(rows.mean(axis=1), discs, atol=0.1)


def test_few_splits_have_no_probability(tmp_path):
    _, text = page(tmp_path, n=5)
    assert '<p class="big">not known</p>' in text
    assert "5 splits are too few to say" in text
    assert "likely" not in text


def test_names_are_texts(tmp_path):
    _, text = page(tmp_path, name="<script>alert(1)</script>", notes=["<b>"])
    assert "<script>alert" not in text
    assert "&lt;b&gt;" in text
