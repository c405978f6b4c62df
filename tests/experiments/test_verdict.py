"""The verdict, held to the corrected resampled t test as it is written, and to scipy's distributions."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_t, t

from steadycv.error_words import ErrorWords
from steadycv.experiments import judge
from steadycv.experiments.comparison import COLUMNS, KEY
from steadycv.experiments.result_file import CONFIGURATION
from steadycv.experiments.verdict import (
    FEWEST_SPLITS,
    beside_mean,
    interval_of_mean,
    probabilities_of_lowest,
    verdict,
)

WORDS = ErrorWords("mean squared error")
AREA = ErrorWords("roc_auc", "roc_auc", is_score=True)
RNG = np.random.default_rng(0)
OVERLAP = 1 / 9


def p_value(differences, overlap):
    """Nadeau and Bengio's, one-sided."""
    n = len(differences)
    variance = sum((d - sum(differences) / n) ** 2 for d in differences) / (n - 1)
    return t.sf(sum(differences) / n / (variance * (1 / n + overlap)) ** 0.5, n - 1)


@pytest.mark.parametrize("n", [2, 5, 40])
def test_two_are_compared_by_the_corrected_test(n):
    errors = RNG.normal(size=(2, n)) + np.array([[0.2], [0]])
    expected = p_value(errors[0] - errors[1], OVERLAP)
    assert_allclose(probabilities_of_lowest(errors, OVERLAP), [expected, 1 - expected], atol=0.015)


def test_several_are_compared_by_a_multivariate_t_distribution():
    errors = RNG.normal(size=(4, 30)) + RNG.normal(size=30) + 0.1 * np.arange(4)[:, None]
    shape = np.cov(errors) * (1 / 30 + OVERLAP)
    drawn = multivariate_t(errors.mean(axis=1), shape, df=29, seed=1).rvs(20_000)
    expected = np.bincount(drawn.argmin(axis=1), minlength=4) / len(drawn)
    assert_allclose(probabilities_of_lowest(errors, OVERLAP), expected, atol=0.015)


def test_what_is_equal_shares_its_probability():
    errors = RNG.normal(size=(2, 20))
    first, second, third = probabilities_of_lowest(errors[[0, 1, 0]], OVERLAP)
    assert first == third
    assert first + second + third == pytest.approx(1)


@pytest.mark.parametrize("overlap", [0, OVERLAP])
def test_interval(overlap):
    differences = RNG.normal(size=12)
    low, high = interval_of_mean(differences, overlap)
    if overlap == 0:
        assert_allclose(
            (low, high),
            t.interval(0.95, 11, differences.mean(), differences.std(ddof=1) / 12**0.5),
        )
    # The test is just rejected at the ends.
    assert_allclose(p_value(differences - low, overlap), 0.025)
    assert_allclose(p_value(differences - high, overlap), 0.975)


def test_errors_are_told_as_ratios_and_scores_as_differences():
    plain, other = np.array([2.0, 4.0, 3.0]), np.array([1.0, 2.0, 1.5])
    beside = beside_mean(other, plain, 0.0, WORDS)
    assert beside.value == pytest.approx(other.mean() / plain.mean())
    assert beside.low < beside.value < beside.high
    assert beside.low == pytest.approx(1 + interval_of_mean(other - plain, 0.0)[0] / plain.mean())
    score = beside_mean(-other, -plain, 0.0, AREA)
    assert score.value == pytest.approx(other.mean() - plain.mean())
    assert score.low < score.value < score.high
    of_none = beside_mean(other, np.zeros(3), 0.0, WORDS)
    assert (of_none.value, of_none.is_ratio) == (other.mean(), False)


def judged(words=WORDS, promise=1.0, **errors):
    keys = {("m", name.replace("_", " ")): np.asarray(each) for name, each in errors.items()}
    promises = {key: promise * each for key, each in keys.items()}
    return verdict(keys, promises, dict.fromkeys(keys, 1.0), OVERLAP, words)


NOISE = np.random.default_rng(1).uniform(1, 2, size=30)


def test_a_sure_verdict():
    found = judged(plain_choice=NOISE, steady_choice=0.9 * NOISE, committee=2 * NOISE)
    assert found.best == [1]
    assert found.sureness > 0.99
    assert found.sentences()[0].startswith(
        f"Served best: the steady choice, with a typical miss of {(0.9 * NOISE.mean()) ** 0.5:.3g} in "
        "the units of the target on test rows. Its mean squared error of "
        f"{0.9 * NOISE.mean():.4g} is 10.0% below that of the plain choice (0.8"
    )
    assert "fairly sure" in found.sentences()[0]


def test_a_likely_verdict():
    rng = np.random.default_rng(5)
    noise = rng.normal(size=(2, 30))
    gap = 1.1 * (noise[0] - noise[1]).std(ddof=1) * (1 / 30 + OVERLAP) ** 0.5
    level = 9 + (noise[1].mean() - noise[0].mean())
    found = judged(plain_choice=9 + gap + noise[1], committee=level + noise[0])
    assert 0.8 < found.sureness < 0.95
    assert "likely, and not sure. It may also be the plain choice" in found.sentences()[0]


def test_a_verdict_that_may_be_chance():
    draws = np.random.default_rng(0).uniform(1, 2, size=(3, 30))
    found = judged(**dict(zip(("plain_choice", "committee", "student"), draws, strict=True)))
    assert found.sureness < 0.8
    assert "none is shown to be the best of all here" in found.sentences()[0]


@pytest.mark.parametrize("n", [2, FEWEST_SPLITS - 1])
def test_few_splits_are_never_likely(n):
    found = judged(plain_choice=NOISE[:n], committee=0.5 * NOISE[:n])
    assert found.sureness > 0.8
    told = " ".join(found.sentences())
    assert f"{n} splits are too few to say how sure that is: it takes 20 or more." in told
    for word in ("likely", "sure.", "probability"):
        assert word not in told


def test_splits_that_are_enough():
    n = FEWEST_SPLITS
    assert "probability" in judged(plain_choice=NOISE[:n], student=0.5 * NOISE[:n]).sentences()[0]


def test_the_plain_choice_may_be_best_together_with_another():
    found = judged(plain_choice=NOISE, steady_choice=NOISE, committee=1.05 * NOISE)
    assert found.best == [0, 1]
    assert found.sureness > 0.99
    told = found.sentences()[0]
    assert told.startswith("Served best: the plain choice and steady choice, with a typical miss of")
    assert "The mean squared error of the next, the committee, was 5.0% above." in told


def test_all_the_same():
    found = judged(plain_choice=NOISE, steady_choice=NOISE, committee=NOISE)
    assert found.is_all
    assert found.sentences() == [
        "All led to the same test errors on every split: here it does not matter."
    ]


def test_scores_are_told_as_such():
    found = judged(AREA, plain_choice=-NOISE / 3, committee=-(NOISE / 3 + 0.1))
    assert found.best == [1]
    assert found.sentences()[0].startswith(
        f"Served best: the committee, with a roc_auc of {NOISE.mean() / 3 + 0.1:.4g} on test rows. "
        "That is 0.1 above that of the plain choice"
    )


def test_no_errors_at_all():
    zeros, ones = np.zeros(25), np.ones(25)
    found = judged(plain_choice=zeros, committee=ones)
    assert [line.over_plain.value for line in found.lines] == [0, 1]
    assert "next, the committee, was 1 above." in found.sentences()[0]


def test_promises():
    found = judged(promise=0.8, plain_choice=NOISE, committee=0.9 * NOISE)
    assert found.sentences()[1] == (
        "Promises beside what came on test rows: of the plain choice 20.0% below, of the committee "
        "20.0% below."
    )


def test_models_have_plain_choices_of_their_own():
    errors = {
        ("a", "plain choice"): NOISE,
        ("b", "plain choice"): 2 * NOISE,
        ("b", "committee"): NOISE / 2,
    }
    found = verdict(errors, errors, dict.fromkeys(errors, 1.0), OVERLAP, WORDS)
    assert [line.over_plain.value for line in found.lines] == pytest.approx([1, 1, 0.25])
    assert "75.0% below that of the plain choice of b" in found.sentences()[0]
    assert found.sentences()[0].startswith("Served best: the committee of b")


def test_judge_reads_the_splits_that_are_asked_for(tmp_path):
    rows = [
        {
            "data": data,
            "model": "m",
            "split": split,
            "served": name,
            "parameters": "{}",
            "promise": 1.0,
            "test_error": split + (name == "committee") + 9 * (data == "other"),
            "n_train": 90,
            "n_test": 10,
            "same_choice": name == "plain choice",
            "warnings": 0,
            "seconds": 0.0,
            CONFIGURATION: "x",
        }
        for data in ("d", "other")
        for split in range(4)
        for name in ("plain choice", "committee")
    ]
    path = tmp_path / "x.csv"
    pd.DataFrame(rows)[[*KEY, *COLUMNS, CONFIGURATION]].to_csv(path, index=False)
    found = judge(path, {"m": ("plain choice", "committee")}, WORDS, data="d", splits=[0, 1, 3])
    assert [line.errors.tolist() for line in found.lines] == [[0, 1, 3], [1, 2, 4]]
    assert [line.same_choice for line in found.lines] == [1, 0]
    expected = beside_mean(np.array([1.0, 2, 4]), np.array([0.0, 1, 3]), 1 / 9, WORDS)
    assert found.lines[1].over_plain == expected
