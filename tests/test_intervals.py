"""Intervals and sets: MAPIE's, ranks found by counting, and what is refused."""

import numpy as np
import pytest
from mapie.classification import SplitConformalClassifier
from mapie.regression import CrossConformalRegressor, SplitConformalRegressor
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit, TimeSeriesSplit
from sklearn.tree import DecisionTreeRegressor

from steadycv import intervals
from steadycv.intervals import (
    check_cv_plus,
    class_sets,
    covering_quantile,
    cv_plus_interval,
    residual_interval,
)
from steadycv.lattice import Lattice

RNG = np.random.default_rng(0)
RESIDUALS = RNG.standard_t(3, size=60)
NEW = RNG.normal(size=8)
WEIGHT = RNG.uniform(size=60) * (RNG.uniform(size=60) < 0.8)
COVERAGES = [0.5, 0.8, 0.9, 0.95]


class Says(RegressorMixin, BaseEstimator):
    """A fitted model that says what it is asked about."""

    is_fitted = True

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0]


class SaysClasses(ClassifierMixin, Says):
    classes_ = np.arange(3)

    def predict_proba(self, X):
        return X

    def predict(self, X):
        return X.argmax(axis=1)


# Residuals.


@pytest.mark.parametrize("coverage", COVERAGES)
def test_intervals_are_mapies_for_the_same_residuals(coverage):
    mapie = SplitConformalRegressor(Says(), confidence_level=coverage)
    mapie.conformalize(np.zeros((60, 1)), RESIDUALS)
    _, expected = mapie.predict_interval(NEW[:, np.newaxis])
    assert_allclose(residual_interval(NEW, RESIDUALS, coverage), expected[..., 0], rtol=1e-12)


@pytest.mark.parametrize("n", [1, 9, 19, 20, 99, 100])
@pytest.mark.parametrize("percent", range(1, 100, 7))
def test_ranks_are_exact(n, percent):
    rank = -(-percent * (n + 1) // 100)
    scores = RNG.permutation(n) + 1.0
    if rank <= n:
        assert covering_quantile(scores, percent / 100) == rank
    else:
        with pytest.raises(ValueError, match="judged rows"):
            covering_quantile(scores, percent / 100)


def test_rows_that_were_never_judged_do_not_count():
    with_gaps = np.r_[np.nan, RESIDUALS, np.nan]
    assert_array_equal(residual_interval(NEW, with_gaps), residual_interval(NEW, RESIDUALS))


def test_repeats_are_taken_together_and_are_no_more_rows():
    assert covering_quantile(np.stack([RESIDUALS] * 3), 0.9) == covering_quantile(RESIDUALS, 0.9)
    with pytest.raises(ValueError, match="takes 9 judged rows, and there are 8,"):
        covering_quantile(np.ones((5, 8)), 0.9)


def literal_quantile(scores, weight, coverage):
    """The smallest score that is large enough, tried one by one."""
    n = weight.sum() ** 2 / sum(w * w for w in weight)
    for score in sorted(scores):
        below = sum(w for s, w in zip(scores, weight, strict=True) if s <= score)
        if below / weight.sum() * n >= coverage * (n + 1):
            return score
    return None


@pytest.mark.parametrize("coverage", COVERAGES[:3])
def test_weighted_quantile(coverage):
    expected = literal_quantile(RESIDUALS, WEIGHT, coverage)
    assert covering_quantile(RESIDUALS, coverage, WEIGHT) == expected
    assert covering_quantile(RESIDUALS, coverage, 1000 * WEIGHT) == expected
    twice = np.stack([RESIDUALS, RESIDUALS])
    assert covering_quantile(twice, coverage, WEIGHT) == expected


@pytest.mark.parametrize("weight", [np.full(60, 3.0), np.ones(60), np.r_[1 + 1e-15, np.ones(59)]])
def test_equal_weights_are_none(weight):
    assert covering_quantile(RESIDUALS, 0.9, weight) == covering_quantile(RESIDUALS, 0.9)


def test_rows_of_weight_0_are_not_there():
    counted = WEIGHT > 0
    without = covering_quantile(RESIDUALS[counted], 0.8, WEIGHT[counted])
    assert covering_quantile(RESIDUALS, 0.8, WEIGHT) == without
    assert covering_quantile(RESIDUALS, 0.8, counted.astype(float)) == covering_quantile(
        RESIDUALS[counted], 0.8
    )


# CV+.

X, Y = load_diabetes(return_X_y=True)
KNOWN, UNKNOWN = slice(0, 90), slice(90, 130)


def fold_models(cv):
    """Trees of the splits: what they say of new rows, whom they were trained without, residuals."""
    splits = list(cv.split(X[KNOWN]))
    models = [DecisionTreeRegressor(max_depth=4, random_state=0).fit(X[a], Y[a]) for a, _ in splits]
    sums, times = np.zeros(90), np.zeros(90)
    for model, (_, test) in zip(models, splits, strict=True):
        sums[test] += model.predict(X[test])
        times[test] += 1
    outputs = np.stack([model.predict(X[UNKNOWN]) for model in models])
    with np.errstate(invalid="ignore"):
        return outputs, [test for _, test in splits], Y[KNOWN] - sums / times


@pytest.mark.parametrize(
    "cv",
    [KFold(5, shuffle=True, random_state=0), KFold(7), LeaveOneOut(), ShuffleSplit(40, random_state=0)],
)
@pytest.mark.parametrize("coverage", [0.8, 0.9])
def test_cv_plus_is_mapies_for_the_same_folds(cv, coverage):
    tree = DecisionTreeRegressor(max_depth=4, random_state=0)
    mapie = CrossConformalRegressor(tree, confidence_level=coverage, method="plus", cv=cv)
    _, expected = mapie.fit_conformalize(X[KNOWN], Y[KNOWN]).predict_interval(X[UNKNOWN])
    found = cv_plus_interval(*fold_models(cv), coverage)
    assert_allclose(found, expected[..., 0], rtol=1e-12)


def literal_cv_plus(outputs, tests, residuals, coverage, weight):
    """Equation by equation: for each new row, the quantiles of two lists."""
    without = [
        np.mean([said for said, test in zip(outputs, tests, strict=True) if i in test], axis=0)
        for i in range(len(residuals))
    ]
    rows = []
    for new in range(outputs.shape[1]):
        low = [abs(r) - said[new] for r, said in zip(residuals, without, strict=True)]
        high = [abs(r) + said[new] for r, said in zip(residuals, without, strict=True)]
        ends = [literal_quantile(each, weight, coverage) for each in (low, high)]
        rows.append([-ends[0], ends[1]])
    return np.array(rows)


@pytest.mark.parametrize("cv", [KFold(5), RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)])
@pytest.mark.parametrize("weight", [np.ones(90), RNG.uniform(size=90)])
def test_cv_plus_is_what_the_paper_says(cv, weight):
    models = fold_models(cv)
    expected = literal_cv_plus(*models, 0.9, weight)
    assert_allclose(cv_plus_interval(*models, 0.9, weight), expected, rtol=1e-12)


def test_tables_in_blocks_are_the_same(monkeypatch):
    models = fold_models(KFold(5))
    whole = cv_plus_interval(*models)
    monkeypatch.setattr(intervals, "MAX_TABLE", 500)  # five new rows at a time
    assert_array_equal(cv_plus_interval(*models), whole)


@pytest.mark.parametrize("cv", [KFold(3), LeaveOneOut(), ShuffleSplit(5, random_state=0)])
def test_splits_that_cv_plus_is_for(cv):
    check_cv_plus(Lattice(cv.split(X[:20]), n_samples=20))


@pytest.mark.parametrize("cv", [TimeSeriesSplit(3), ShuffleSplit(3, test_size=0.2, train_size=0.5)])
def test_splits_that_cv_plus_is_not_for(cv):
    with pytest.raises(ValueError, match=r"split 0 trains on \d+ of \d+ such rows"):
        check_cv_plus(Lattice(cv.split(X[:20]), n_samples=20))


# Sets of classes.

NESTED = RNG.dirichlet([1.0, 1.0, 1.0], size=60)
TRUE = np.array([RNG.choice(3, p=p) for p in NESTED])
PROBABILITIES = RNG.dirichlet([1.0, 1.0, 1.0], size=200)


@pytest.mark.parametrize("coverage", [0.3, *COVERAGES])
def test_sets_are_mapies_and_never_empty(coverage):
    mapie = SplitConformalClassifier(SaysClasses(), confidence_level=coverage, conformity_score="lac")
    mapie.conformalize(NESTED, TRUE)
    predicted, expected = mapie.predict_set(PROBABILITIES)
    expected = expected[..., 0]
    expected[np.arange(200), predicted] = True
    assert_array_equal(class_sets(PROBABILITIES, NESTED, TRUE, coverage), expected)


def test_sets_of_repeats_and_of_rows_that_were_never_judged():
    expected = class_sets(PROBABILITIES, NESTED, TRUE)
    assert_array_equal(class_sets(PROBABILITIES, np.stack([NESTED, NESTED]), TRUE), expected)
    gaps = np.r_[NESTED, np.full((2, 3), np.nan)]
    assert_array_equal(class_sets(PROBABILITIES, gaps, np.r_[TRUE, 0, 0]), expected)


def test_sums_in_another_order_are_the_same_probability():
    nested = np.full((20, 2), [0.1 + 0.2 + 0.3, 1 - 0.6])  # 0.6000000000000001
    sets = class_sets(np.array([[0.6, 0.4], [0.4, 0.6]]), nested, np.zeros(20, dtype=int))
    assert_array_equal(sets, [[True, False], [False, True]])


def test_weights_of_sets():
    weight = 1.0 + (TRUE == 0)
    surprise = 1 - NESTED[np.arange(60), TRUE]
    needed = literal_quantile(surprise, weight, 0.9)
    most = PROBABILITIES.max(axis=1, keepdims=True)
    expected = (needed >= 1 - PROBABILITIES) | (most == PROBABILITIES)
    assert_array_equal(class_sets(PROBABILITIES, NESTED, TRUE, 0.9, weight), expected)


# What is refused.


@pytest.mark.parametrize("coverage", [0, 1, 90, -0.1, np.nan])
def test_coverage_is_between_0_and_1(coverage):
    with pytest.raises(ValueError, match=r"coverage must be between 0 and 1, as 0\.9 is; got"):
        residual_interval(NEW, RESIDUALS, coverage)


def test_too_few_rows():
    residual_interval(NEW, RESIDUALS[:9], 0.9)
    message = r"A coverage of 0\.9 takes 9 judged rows, and there are 8, enough for 0\.88"
    with pytest.raises(ValueError, match=message):
        residual_interval(NEW, RESIDUALS[:8], 0.9)
    residual_interval(NEW, RESIDUALS[:8], 0.88)
    with pytest.raises(ValueError, match="there are 0, enough for 0:"):
        residual_interval(NEW, np.full(8, np.nan), 0.9)


def test_one_row_that_outweighs_all_others():
    with pytest.raises(ValueError, match=r"there are 1.01\d by their weights"):
        residual_interval(NEW, RESIDUALS, 0.9, np.r_[10000.0, np.full(59, 1.0)])


def test_several_targets():
    with pytest.raises(ValueError, match="one number a row, and there are 2: search for each target"):
        residual_interval(np.ones((5, 2)), np.ones((9, 2)))
    with pytest.raises(ValueError, match="there are 3: search"):
        cv_plus_interval(np.ones((2, 5, 3)), [np.arange(5), np.arange(5, 10)], RESIDUALS[:10])


def test_labels_alone():
    with pytest.raises(ValueError, match="from probabilities, and here are labels alone"):
        class_sets(np.array(["a", "b"]), np.array(["a", "b", "a"]), np.array([0, 1, 0]))
