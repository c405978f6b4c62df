"""The search with any splitter and any score, against the literal formula."""

import re
import warnings
from fractions import Fraction
from statistics import median

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import is_classifier
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeavePGroupsOut,
    LeavePOut,
    ParameterGrid,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import literal
from steadycv import StabilitySearchCV

WEIGHTS = [0.0, 0.3, 3.0]
RIDGE = Ridge(), {"alpha": [0.01, 10.0, 100.0]}
TREE = DecisionTreeRegressor(random_state=0), {"max_depth": [4, 1, 2]}
NEIGHBORS = KNeighborsRegressor(), {"n_neighbors": [1, 3, 2]}
BAYES = GaussianNB(), {"var_smoothing": [1e-9, 1.0, 0.1]}
TREE_CLASSIFIER = DecisionTreeClassifier(random_state=0), {"max_depth": [3, 1, 2]}
BOTH = (False, True)


def regression(n=24, seed=0):
    """One feature, so that no two splits of a tree tie."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 1))
    return X, 3 + X[:, 0] + np.sin(3 * X[:, 0]) + rng.normal(size=n)


def classification(n=40, seed=0):
    y = np.arange(n) % 2
    return 1.5 * y[:, np.newaxis] + np.random.default_rng(seed).normal(size=(n, 1)), y


def check(
    model,
    X,
    y,
    cv,
    *,
    loss=None,
    scoring=None,
    groups=None,
    sample_weight=None,
    weights=WEIGHTS,
    use_paths=BOTH,
):
    """Fit the search and hear the lines it owes; compare what it reports with the formula.

    Twice unless told otherwise, without paths and with them; the first search is returned.
    """
    estimator, grid = model
    default = "zero_one" if is_classifier(estimator) else "squared_error"
    score = get_scorer(scoring) if isinstance(scoring, str) else scoring
    expected = literal.any_splitter(
        estimator,
        list(ParameterGrid(grid)),
        X,
        y,
        cv if isinstance(cv, list) else list(cv.split(X, y, groups)),
        literal.LOSSES[loss or default],
        weights,
        sample_weight=sample_weight,
        score=score,
    )
    driver = {"loss": loss, "scoring": scoring, "stability_weights": weights, "rule": "paper"}
    metadata = {"groups": groups, "sample_weight": sample_weight}
    metadata = {name: value for name, value in metadata.items() if value is not None}
    searches = [StabilitySearchCV(estimator, grid, cv=cv, use_paths=u, **driver) for u in use_paths]
    for search in searches:
        fit_and_listen(search, X, y, owed(expected), may_say_more=expected.without_weight, **metadata)
        agree(search, expected)
    return searches[0], expected


def owed(expected):
    """What the search has to say a line about."""
    ratios = [
        Fraction(len(training), len(view.reference))
        for view in expected.outer.values()
        for training, _ in view.evaluations.values()
    ]
    reasons = {
        "no nesting": not expected.outer,
        "few views": 1 <= len(expected.outer) <= 2,
        "pessimistic": bool(ratios) and median(ratios) < Fraction(1, 3),
        "cost": expected.n_training_sets > 10 * expected.n_plain_sets,
        "score": expected.undefined_score,
    }
    return [reason for reason, holds in reasons.items() if holds]


def fit_and_listen(search, X, y, reasons, *, may_say_more=False, **metadata):
    """Expect one line at least for what is owed, and one at most for each reason."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, y, **metadata)
    lines = [str(warning.message) for warning in caught]
    assert {warning.category for warning in caught} <= {UserWarning}
    assert bool(reasons) <= len(lines) <= len(reasons) + may_say_more
    assert not any("\n" in line for line in lines)
    if "pessimistic" in reasons:
        assert any("pessimistic" in line for line in lines)


def agree(search, expected):
    results, table = search.cv_results_, search.weights_
    close = close_with_paths if search.use_paths else close_to_rounding
    assert search.stability_weight_ == expected.weight
    assert search.best_index_ == expected.index
    assert search.kfold_index_ == expected.plain_index
    close(results["cv_error"], expected.cv_error)
    close(results["instability"], expected.instability)
    close(search.cv_error_, expected.cv_error[expected.index])
    close(search.instability_, expected.instability[expected.index])

    # With fewer than three views the table may be about weight 0 alone.
    if len(expected.outer) >= 3:
        assert_array_equal(table["weight"], expected.weights)
    rows = [expected.weights.index(weight) for weight in table["weight"]]
    assert expected.weight in table["weight"]
    assert_array_equal(table["index"], np.array(expected.index_at)[rows])
    columns = {f"split{i}_{what}" for i in expected.outer for what in ("error", "index")}
    assert {name for name in table if re.match(r"split\d+_", name)} == columns
    for i in expected.outer:
        assert_array_equal(table[f"split{i}_index"], np.array(expected.outer_index[i])[rows])
        close(table[f"split{i}_error"], np.array(expected.outer_error[i])[rows])
    if expected.outer:
        close(table["mean_error"], np.array(expected.mean_outer_error)[rows])
        close(search.nested_error_, expected.nested_error)
        close(search.nested_predictions_, expected.nested_predictions)
    else:
        assert not hasattr(search, "nested_error_")

    # Whether what is skipped is fitted all the same, and says something, is not part of the formula.
    skips = expected.without_weight or expected.undefined_score
    said = search.out_of_fold_predictions_
    close(np.where(skips & np.isnan(expected.out_of_fold), np.nan, said), expected.out_of_fold)
    if not skips and not search.use_paths:
        assert search.n_fits_ == expected.n_training_sets * len(results["params"])


def close_to_rounding(found, expected):
    assert_allclose(found, expected, rtol=1e-10, atol=1e-13)


def close_with_paths(found, expected):
    assert_allclose(found, expected, rtol=1e-8, atol=1e-11)


# Time order.


@pytest.mark.parametrize("model", [RIDGE, TREE], ids=["ridge", "tree"])
@pytest.mark.parametrize(
    "cv",
    [
        TimeSeriesSplit(5),
        TimeSeriesSplit(5, gap=2),
        TimeSeriesSplit(5, test_size=3),
        TimeSeriesSplit(4, test_size=3, gap=1),
        TimeSeriesSplit(5, max_train_size=6),  # the first window is not full
        TimeSeriesSplit(5, test_size=3, max_train_size=6),  # all are
        TimeSeriesSplit(4, test_size=3, max_train_size=8, gap=1),
    ],
    ids=str,
)
def test_time_order(cv, model):
    _, expected = check(model, *regression(30), cv)
    assert expected.n_training_sets == cv.get_n_splits() + 1


@pytest.mark.parametrize("cv", [TimeSeriesSplit(4), TimeSeriesSplit(4, max_train_size=8)], ids=str)
def test_neighbors_in_time_order(cv):
    check(NEIGHBORS, *regression(), cv)


@pytest.mark.parametrize("k", [2, 3, 4, 7])
def test_time_order_takes_one_fit_more_than_plain_cross_validation(k):
    search, _ = check(TREE, *regression(40), TimeSeriesSplit(k))
    assert search.n_fits_ == (k + 1) * 3


def test_time_order_of_classes():
    check(BAYES, *classification(), TimeSeriesSplit(5), loss="brier")
    check(TREE_CLASSIFIER, *classification(), TimeSeriesSplit(5, max_train_size=15), loss="brier")


@pytest.mark.parametrize("model", [RIDGE, TREE], ids=["ridge", "tree"])
def test_rows_in_no_order_of_time(model):
    X, y = regression()
    splits = list(TimeSeriesSplit(5).split(X))
    at = np.random.default_rng(0).permutation(24)  # row i is now row at[i]
    where = np.argsort(at)
    in_order, _ = check(model, X, y, splits)
    moved, _ = check(model, X[where], y[where], [(at[train], at[test]) for train, test in splits])
    close_with_paths(moved.nested_error_, in_order.nested_error_)
    close_with_paths(moved.cv_results_["instability"], in_order.cv_results_["instability"])
    close_with_paths(moved.nested_predictions_[at], in_order.nested_predictions_)


@pytest.mark.parametrize("max_train_size", [None, 8])
def test_splits_in_no_order_of_time(max_train_size):
    X, y = regression()
    splits = list(TimeSeriesSplit(5, max_train_size=max_train_size).split(X))
    forwards, _ = check(TREE, X, y, splits)
    backwards, _ = check(TREE, X, y, splits[::-1])
    close_to_rounding(backwards.nested_error_, forwards.nested_error_)
    assert_array_equal(backwards.weights_["split0_index"], forwards.weights_["split4_index"])


def forward(dates, starts, window=None):
    """Each date from some starts on is validated by the dates before it, or the last few."""
    return [
        (
            np.flatnonzero((dates < start) & (dates >= start - (window or start))),
            np.flatnonzero(dates == start),
        )
        for start in starts
    ]


@pytest.mark.parametrize("window", [None, 3])
@pytest.mark.parametrize("by_date", [True, False])
def test_panels(by_date, window):
    # Four entities, eight dates. With one entity after the other, windows are no runs of rows.
    dates = np.repeat(range(8), 4) if by_date else np.tile(range(8), 4)
    splits = forward(dates, range(3, 8), window)
    _, expected = check(TREE, *regression(32), splits)
    rolls = window is None or by_date
    assert (expected.n_training_sets == 6) == rolls


# Random splits and repeats.


@pytest.mark.parametrize(
    "cv",
    [
        ShuffleSplit(6, test_size=0.3, random_state=0),
        ShuffleSplit(5, test_size=0.2, train_size=0.5, random_state=1),
        RepeatedKFold(n_splits=4, n_repeats=2, random_state=0),
        RepeatedKFold(n_splits=2, n_repeats=5, random_state=0),
        PredefinedSplit([-1, 0, 1, 2] * 6),
    ],
    ids=str,
)
@pytest.mark.parametrize("model", [RIDGE, TREE], ids=["ridge", "tree"])
def test_regression(cv, model):
    check(model, *regression(), cv)


@pytest.mark.parametrize("loss", [None, "log_loss", "brier"])
@pytest.mark.parametrize(
    "cv",
    [
        StratifiedShuffleSplit(5, test_size=0.25, random_state=0),
        RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
        RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=0),
    ],
    ids=str,
)
def test_classification(cv, loss):
    check(BAYES, *classification(), cv, loss=loss, use_paths=[False])


def test_five_times_two_folds_are_one_repeat():
    search, expected = check(TREE, *regression(), RepeatedKFold(n_splits=2, n_repeats=5, random_state=0))
    assert search.out_of_fold_predictions_.shape == (24,)
    assert list(expected.outer) == list(range(10))


def test_repeats_have_predictions_of_their_own():
    search, _ = check(TREE, *regression(), RepeatedKFold(n_splits=3, n_repeats=2, random_state=0))
    assert search.out_of_fold_predictions_.shape == search.nested_predictions_.shape == (2, 24)


def test_leave_two_rows_out():
    check(RIDGE, *regression(7), LeavePOut(2))


# Groups.


@pytest.mark.parametrize(
    "cv",
    [
        GroupKFold(3),
        GroupShuffleSplit(6, test_size=0.3, random_state=0),
        LeaveOneGroupOut(),
        LeavePGroupsOut(2),
    ],
    ids=lambda cv: type(cv).__name__,
)
def test_groups(cv):
    groups = np.random.default_rng(0).integers(5, size=30)
    check(TREE, *regression(30), cv, groups=groups)


# Lists.


def purged(n, k, embargo):
    """Folds in a row; a few rows at either side of a fold are not trained on."""
    return [
        (np.setdiff1d(range(n), range(test[0] - embargo, test[-1] + embargo + 1)), test)
        for test in np.array_split(range(n), k)
    ]


def test_embargo():
    _, expected = check(TREE, *regression(30), purged(30, 5, 2))
    for view in expected.outer.values():
        for training, judged in view.evaluations.values():
            assert min(abs(a - b) for a in training for b in [*judged, *view.judged]) > 2


def test_masks():
    X, y = regression()
    splits = list(ShuffleSplit(4, test_size=0.3, random_state=0).split(X))
    masks = [tuple(np.isin(range(24), side) for side in split) for split in splits]
    of_masks, _ = check(TREE, X, y, masks)
    of_rows, _ = check(TREE, X, y, splits)
    assert of_masks.nested_error_ == of_rows.nested_error_


def test_splits_whose_rows_are_in_no_order():
    X, y = regression()
    splits = list(ShuffleSplit(4, test_size=0.3, random_state=0).split(X))  # in no order already
    of_any, _ = check(TREE, X, y, splits)
    in_order = [tuple(np.sort(side) for side in split) for split in splits]
    of_sorted, _ = check(TREE, X, y, in_order)
    assert of_any.nested_error_ == of_sorted.nested_error_
    assert_array_equal(of_any.out_of_fold_predictions_, of_sorted.out_of_fold_predictions_)


def test_a_single_weight():
    for weight in (0.0, 2.0):
        search, _ = check(TREE, *regression(), TimeSeriesSplit(5), weights=[weight])
        assert search.stability_weight_ == weight


def test_rows_that_are_never_validated_on():
    search, _ = check(TREE, *regression(), TimeSeriesSplit(5))
    assert_array_equal(np.isnan(search.out_of_fold_predictions_), np.arange(24) < 4)
    assert_array_equal(np.isnan(search.nested_predictions_), np.arange(24) < 8)


# Lines that the search owes.


@pytest.mark.parametrize(
    ("cv", "reasons"),
    [
        (KFold(2), ["no nesting"]),
        (ShuffleSplit(1, random_state=0), ["no nesting"]),
        (TimeSeriesSplit(2), ["few views"]),
        (TimeSeriesSplit(3), ["few views"]),
        (ShuffleSplit(2, random_state=0), ["few views"]),
        (ShuffleSplit(5, train_size=0.2, test_size=0.6, random_state=0), ["pessimistic"]),
        (ShuffleSplit(20, test_size=0.3, random_state=0), ["cost"]),
        (KFold(19), ["cost"]),
        (KFold(18), []),
        (KFold(3), []),
        (TimeSeriesSplit(4), []),
    ],
    ids=str,
)
def test_lines(cv, reasons):
    model = Ridge(), {"alpha": [0.01, 100.0]}
    _, expected = check(model, *regression(), cv, use_paths=[False])
    assert owed(expected) == reasons


def test_one_split_in_a_list():
    search, _ = check(RIDGE, *regression(), [(range(16), range(16, 24))])
    with pytest.raises(AttributeError, match="no nested error"):
        search.nested_error_  # noqa: B018


def test_what_was_fitted_can_be_looked_at():
    search, _ = check(RIDGE, *regression(), TimeSeriesSplit(4))
    assert search.lattice_ is not None
    assert search.ledger_ is not None


# Sample weights.


@pytest.mark.parametrize(
    "cv",
    [
        TimeSeriesSplit(4),
        TimeSeriesSplit(4, max_train_size=10),
        ShuffleSplit(5, test_size=0.3, random_state=0),
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    ],
    ids=str,
)
@pytest.mark.parametrize("model", [RIDGE, TREE], ids=["ridge", "tree"])
def test_sample_weights(cv, model):
    sample_weight = np.random.default_rng(0).exponential(size=30)
    sample_weight[::4] = 0
    check(model, *regression(30), cv, sample_weight=sample_weight)


DATA = (np.random.default_rng(0).normal(size=(48, 3)), np.random.default_rng(1).normal(size=48))


def test_a_training_set_without_weight_is_left_out():
    X, y = DATA
    weight = np.r_[np.zeros(8), np.ones(40)]
    search = StabilitySearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=TimeSeriesSplit(5))
    with pytest.warns(UserWarning, match="Left out: the test rows of split 0, since the sample weights"):
        search.fit(X, y, sample_weight=weight)
    assert search.n_fits_ == 5
    assert len(search.lattice_.views) == 3
    assert np.isfinite(search.nested_error_)


@pytest.mark.parametrize(
    ("cv", "weight", "line"),
    [
        (2, "auto", "The plain choice is made"),
        (2, 0.0, "The plain choice is made"),
        (2, 5.0, "The stability weight stays 5"),
        (TimeSeriesSplit(2), "auto", "The stability weight is 0, as 1 view cannot choose one"),
        (TimeSeriesSplit(3), 5.0, "The nested error rests on 2 views only"),
    ],
)
def test_what_few_splits_can_do_is_said(cv, weight, line):
    X, y = DATA
    search = StabilitySearchCV(Ridge(), {"alpha": [0.1, 1e3]}, cv=cv, stability_weights=weight)
    with pytest.warns(UserWarning, match=line):
        search.fit(X, y)
    assert search.stability_weight_ == (weight if weight != "auto" else 0)


@pytest.mark.parametrize("cv", [KFold(5), TimeSeriesSplit(5)], ids=str)
def test_a_test_set_without_weight_is_skipped(cv):
    X, y = regression(30)
    test = list(cv.split(X))[2][1]
    sample_weight = np.where(np.isin(range(30), test), 0.0, 1 + np.arange(30) % 3)
    search, expected = check(TREE, X, y, cv, sample_weight=sample_weight)
    assert 2 not in expected.outer
    assert "split2_error" not in search.weights_


# Scores that drive.


def typical_error(model, X, y):
    """A score that is no mean of losses."""
    return -np.median(np.abs(y - model.predict(X)))


@pytest.mark.parametrize("scoring", ["r2", "neg_max_error", "explained_variance", typical_error])
@pytest.mark.parametrize(
    "cv", [KFold(4), TimeSeriesSplit(4), ShuffleSplit(5, test_size=0.4, random_state=0)], ids=str
)
def test_scores_of_regressors(cv, scoring):
    check(TREE, *regression(30), cv, scoring=scoring)


@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", "f1", "balanced_accuracy"])
@pytest.mark.parametrize(
    "cv",
    [StratifiedKFold(4), TimeSeriesSplit(4), StratifiedShuffleSplit(4, test_size=0.4, random_state=0)],
    ids=str,
)
@pytest.mark.parametrize(
    ("model", "use_paths"), [(BAYES, [False]), (TREE_CLASSIFIER, BOTH)], ids=["bayes", "tree"]
)
def test_scores_of_classifiers(cv, model, use_paths, scoring):
    check(model, *classification(), cv, scoring=scoring, use_paths=use_paths)


def test_the_loss_beside_a_score_is_that_of_the_instability():
    check(BAYES, *classification(), StratifiedKFold(4), scoring="roc_auc", loss="brier")
    check(TREE, *regression(), KFold(4), scoring="r2", loss="absolute_error")


def test_sample_weights_reach_the_score():
    sample_weight = 1.0 + np.arange(24) % 3
    for cv in (KFold(4), TimeSeriesSplit(4)):
        check(TREE, *regression(), cv, scoring="r2", sample_weight=sample_weight)


@pytest.mark.parametrize("nothing", [0, 1])
def test_a_class_missing_from_a_fold(nothing):
    X, y = classification()
    fold = np.arange(40) // 2 % 5
    y[fold == 3] = nothing
    search, expected = check(BAYES, X, y, PredefinedSplit(fold), scoring="roc_auc")
    assert owed(expected) == ["score"]
    assert list(expected.outer) == [0, 1, 2, 4]
    assert np.isfinite(search.nested_error_)


def test_r2_of_a_single_row():
    X, y = regression()
    fold = np.minimum(np.arange(24) // 6, 4)
    fold[-1] = 4
    _, expected = check(RIDGE, X, y, PredefinedSplit(fold), scoring="r2")
    assert owed(expected) == ["score"]
    assert 4 not in expected.outer


@pytest.mark.parametrize(
    ("model", "data", "scoring"), [(TREE, regression, "r2"), (BAYES, classification, "roc_auc")]
)
@pytest.mark.parametrize("cv", [TimeSeriesSplit(4), ShuffleSplit(4, random_state=0, test_size=0.4)])
def test_plain_choice_is_that_of_grid_search(model, data, scoring, cv):
    X, y = data()
    search, _ = check(model, X, y, cv, scoring=scoring)
    plain = GridSearchCV(*model, scoring=scoring, cv=cv).fit(X, y)
    assert search.kfold_index_ == plain.best_index_
    close_to_rounding(search.cv_results_["cv_error"], -plain.cv_results_["mean_test_score"])


# Bad input.


GOOD = ([0, 1, 2, 3], [4, 5])


@pytest.mark.parametrize(
    "bad",
    [
        ([0, 1, 2, 4], [4, 5]),
        ([], [4, 5]),
        ([0, 1, 2, 3], []),
        ([0, 1, 2, 24], [4, 5]),
        ([0, 1, 2, 3], [4, 24]),
        ([-1, 0, 1, 2], [4, 5]),
        (np.zeros(24, dtype=bool), np.ones(24, dtype=bool)),
    ],
    ids=["overlap", "no train", "no test", "train beyond", "test beyond", "negative", "empty mask"],
)
def test_bad_split(bad):
    search = StabilitySearchCV(*RIDGE, cv=[GOOD, bad, GOOD])
    with pytest.raises(ValueError, match="split 1"):
        search.fit(*regression())


def test_no_splits():
    with pytest.raises(ValueError, match="split"):
        StabilitySearchCV(*RIDGE, cv=[]).fit(*regression())


# Random lists.


@st.composite
def lists_of_splits(draw):
    n = draw(st.integers(8, 20))
    make = draw(st.sampled_from([any_sides, windows, repeats]))
    splits = draw(make(n))
    assume(all(len(train) and len(test) for train, test in splits))
    return n, splits


def any_sides(n):
    """Each row of each split trains, validates, or does neither."""
    sides = st.lists(st.sampled_from(["train", "test", "train", "neither"]), min_size=n, max_size=n)
    split = sides.map(
        lambda side: tuple([i for i in range(n) if side[i] == what] for what in ("train", "test"))
    )
    return st.lists(split, min_size=1, max_size=5)


@st.composite
def windows(draw, n):
    """Expanding where they are longer than what came before, else rolling, with or without a gap."""
    starts = draw(st.lists(st.integers(2, n - 1), min_size=1, max_size=5))
    size, length, gap = draw(st.integers(2, n)), draw(st.integers(1, 4)), draw(st.integers(0, 1))
    return [
        (
            list(range(max(0, start - gap - size), start - gap)),
            list(range(start, min(n, start + length))),
        )
        for start in starts
    ]


@st.composite
def repeats(draw, n):
    k = draw(st.integers(3, 4))
    orders = draw(st.lists(st.permutations(range(n)), min_size=1, max_size=2))
    never = draw(st.integers(0, 2))  # rows that are in every training set
    tests = [[i for i in order if i >= never][t::k] for order in orders for t in range(k)]
    return [([i for i in range(n) if i not in test], test) for test in tests]


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_random_lists(data):
    n, splits = data.draw(lists_of_splits())
    X, y = regression(n, seed=data.draw(st.integers(0, 1000)))
    estimator, grid = data.draw(st.sampled_from([RIDGE, TREE]))
    sample_weight = data.draw(st.sampled_from([None, 1 + np.arange(n) % 3.0, np.arange(n) % 4.0]))
    if sample_weight is not None:
        # A model that has only rows without weight to learn from is another story.
        has_weight = {i for i in range(n) if sample_weight[i] > 0}
        outer, final = literal.views(splits, n, counts=lambda _, judged: has_weight & set(judged))
        assume(any(view.evaluations for view in final))
        assume(
            all(
                has_weight & set(training)
                for view in [*outer.values(), *final]
                for training, _ in view.evaluations.values()
            )
        )
    expected = literal.any_splitter(
        estimator,
        list(ParameterGrid(grid)),
        X,
        y,
        splits,
        literal.LOSSES["squared_error"],
        WEIGHTS,
        sample_weight=sample_weight,
    )
    options = {"stability_weights": WEIGHTS, "rule": "paper", "use_paths": data.draw(st.booleans())}
    search = StabilitySearchCV(estimator, grid, cv=splits, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        search.fit(X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))
    agree(search, expected)


def test_random_lists_are_of_every_kind():
    """Agreement would mean little if no random list had several views or windows that roll."""
    kinds = set()

    @settings(max_examples=100, deadline=None, derandomize=True, database=None)
    @given(lists_of_splits())
    def look(drawn):
        n, splits = drawn
        outer, final = literal.views(splits, n)
        kinds.add(("views", min(len(outer), 3)))
        kinds.add(("repeats", len(final)))
        kinds.add(("rolling", literal.are_rolling_windows(literal.checked(splits, n))))

    look()
    assert kinds == {
        *(("views", i) for i in range(4)),
        ("repeats", 1),
        ("repeats", 2),
        ("rolling", False),
        ("rolling", True),
    }
