"""What was typed off the paper is what the paper says; its text lies beside the project, if anywhere."""

import re
from pathlib import Path

import numpy as np
import pytest

from steadycv import datasets
from steadycv.experiments import paper

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "paper"
needs_paper = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="there is no folder ../shared/paper beside the project"
)


@needs_paper
@pytest.mark.parametrize(
    ("table", "label", "width"),
    [
        ("table1", "tab:comparison_ourmethods", 3),
        ("table2", "tab:comparison_ourmethods2", 3),
        ("table3", "tab:comparison_ourmethods_3", 2),
    ],
)
def test_tables(table, label, width):
    text = next(FOLDER.iterdir()).read_text()
    before = text[: text.index(rf"\label{{{label}}}")]
    body = before[before.rindex(r"\begin{tabular}") :]
    rows = re.findall(r"^(\w+) & (\d+) & (\d+) & (.*?)\\\\", body, re.MULTILINE)
    assert [name.lower() for name, *_ in rows] == list(datasets.NAMES)
    for name, _, _, cells in rows:
        printed = np.array([float(cell) for cell in cells.split("&")]).reshape(-1, width)
        ours = [by_name[name.lower()][3 - width :] for by_name in paper.TABLES[table].values()]
        np.testing.assert_array_equal(printed, ours)


@needs_paper
def test_figures_in_the_text():
    text = " ".join(next(FOLDER.iterdir()).read_text().split())
    for share in paper.SAME_CHOICE.values():
        assert rf"${share:.0%}".replace("%", r"\%$") in text
    for excess in paper.EXCESS.values():
        assert rf"${excess:.1%}".replace("%", r"\%$") in text


def test_all_data_sets_are_there():
    assert paper.OVERDETERMINED + paper.UNDERDETERMINED == datasets.NAMES
    for table in paper.TABLES.values():
        for method in table.values():
            assert tuple(method) == datasets.NAMES


def test_mean_ratio_of_the_papers_table():
    # The text says 4.85 %, from figures with more digits.
    plain, nested = (paper.TABLES["table1"]["sparse ridge", s] for s in ("kCV", "nested kCV"))
    logs = [np.log(nested[d].test_error / plain[d].test_error) for d in datasets.NAMES]
    assert np.exp(np.mean(logs)) == pytest.approx(1 - 0.0485, abs=0.002)
