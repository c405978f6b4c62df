"""The literal formula for any list of splits, against what can be counted by hand."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    LeavePGroupsOut,
    LeavePOut,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

import literal

ALPHAS = [{"alpha": a} for a in (0.01, 10.0, 100.0)]
DEPTHS = [{"max_depth": d} for d in (4, 1, 2)]
WEIGHTS = [0.0, 0.3, 3.0]


def splits_of(cv, n, groups=None):
    return list(cv.split(np.zeros((n, 1)), np.arange(n) % 2, groups))


def evaluations(cv, n, groups=None):
    """The evaluations of each outer view, in the order of the splits."""
    outer, _ = literal.views(splits_of(cv, n, groups), n)
    return {i: list(view.evaluations.values()) for i, view in outer.items()}


def training_sets(splits, n, **how):
    outer, final = literal.views(splits, n, **how)
    everything = [*outer.values(), *final]
    return {tuple(view.reference) for view in everything} | {
        tuple(training) for view in everything for training, _ in view.evaluations.values()
    }


def rows(*of):
    return list(range(*of))


def problem(seed=0, n=24):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, 3 + X[:, 0] + np.abs(X[:, 1]) + rng.normal(size=n)


def found(splits, X, y, *, estimator=None, candidates=ALPHAS, loss="squared_error", **how):
    estimator = estimator or Ridge()
    weights = how.pop("weights", WEIGHTS)
    return literal.any_splitter(
        estimator, candidates, X, y, splits, literal.LOSSES[loss], weights, **how
    )


def close(a, b):
    assert_allclose(a, b, rtol=1e-10, atol=1e-14)


# Partitions: the formula is Algorithm 1.


@pytest.mark.parametrize(("k", "count"), [(3, 7), (5, 16), (10, 56)])
def test_folds_leave_out_one_and_two(k, count):
    splits = splits_of(KFold(k), 20)
    assert len(training_sets(splits, 20)) == count == 1 + k + k * (k - 1) // 2


def test_three_folds_by_hand():
    assert evaluations(KFold(3), 6) == {
        0: [([4, 5], [2, 3]), ([2, 3], [4, 5])],
        1: [([4, 5], [0, 1]), ([0, 1], [4, 5])],
        2: [([2, 3], [0, 1]), ([0, 1], [2, 3])],
    }


def test_leave_one_out():
    assert len(training_sets(splits_of(LeaveOneOut(), 7), 7)) == 1 + 7 + 21


@pytest.mark.parametrize("weights", [WEIGHTS, [2.0]])
@pytest.mark.parametrize(
    ("cv", "folds"),
    [
        (KFold(4, shuffle=True, random_state=0), 4),
        (PredefinedSplit(np.arange(24) % 5), 5),
        (RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), 3),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_partitions_are_algorithm_1(cv, folds, weights, weighted):
    X, y = problem()
    splits = splits_of(cv, 24)
    tests = [test for _, test in splits]
    partitions = [tests[i : i + folds] for i in range(0, len(tests), folds)]
    how = {"sample_weight": np.arange(24) % 3.0 if weighted else None}
    loss = literal.LOSSES["squared_error"]
    tree = DecisionTreeRegressor(random_state=0)
    paper = literal.algorithm_1(tree, DEPTHS, X, y, partitions, loss, weights, **how)
    one = found(splits, X, y, estimator=tree, candidates=DEPTHS, weights=weights, **how)
    close(one.cv_error, paper.cv_error)
    close(one.instability, paper.instability)
    close(one.mean_outer_error, paper.mean_outer_error)
    close(list(one.outer_error.values()), np.array(paper.outer_error).reshape(len(weights), -1).T)
    assert_array_equal(
        list(one.outer_index.values()), np.array(paper.outer_index).reshape(len(weights), -1).T
    )
    assert (one.weight, one.index, one.index_at) == (paper.weight, paper.index, paper.index_at)
    assert one.plain_index == paper.plain_index
    close(one.out_of_fold, np.squeeze(paper.out_of_fold))


# Repeats.


def blocks(cv, n):
    return [list(block) for block in literal.repeats(literal.checked(splits_of(cv, n), n))]


def test_repeats_are_blocks():
    assert blocks(RepeatedKFold(n_splits=3, n_repeats=2), 9) == [[0, 1, 2], [3, 4, 5]]
    assert blocks(RepeatedStratifiedKFold(n_splits=4, n_repeats=3), 16) == [
        rows(4),
        rows(4, 8),
        rows(8, 12),
    ]


def test_repeats_need_not_have_all_rows():
    splits = splits_of(PredefinedSplit([-1, 0, 1, 2, -1, 0, 1, 2]), 8)
    assert literal.repeats(literal.checked([*splits, *splits[::-1]], 8)) == [range(3), range(3, 6)]


def test_views_of_a_repeat_see_their_own_block():
    splits = splits_of(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), 9)
    outer, final = literal.views(splits, 9)
    assert [list(view.evaluations) for view in final] == [[0, 1, 2], [3, 4, 5]]
    assert list(outer[1].evaluations) == [0, 2]
    assert list(outer[4].evaluations) == [3, 5]


def test_five_times_two_folds_are_one_repeat():
    cv = RepeatedKFold(n_splits=2, n_repeats=5, random_state=0)
    assert blocks(cv, 20) == [rows(10)]
    outer, _ = literal.views(splits_of(cv, 20), 20)
    # The other half of the same two trains on nothing in this one.
    assert list(outer) == rows(10)
    assert list(outer[2].evaluations) == [0, 1, 4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize(
    "tests",
    [
        [[0], [1], [2], [0], [1]],  # no whole number of blocks
        [[0], [1], [2], [0], [1], [3]],  # another union
        [[0], [1], [2], [0], [1, 2], [2]],  # not disjoint
        [[0], [1], [0], [1]],  # too short
        [[0], [1], [2], [3], [4], [5]],  # nothing comes twice
    ],
)
def test_other_lists_are_one_repeat(tests):
    splits = [({6, 7}, set(test)) for test in tests]
    assert literal.repeats(splits) == [range(len(tests))]


def test_blocks_may_be_cut_in_other_places():
    splits = [({6}, {0}), ({6}, {1, 2}), ({6}, {3}), ({6}, {0, 1}), ({6}, {2}), ({6}, {3})]
    assert literal.repeats(splits) == [range(3), range(3, 6)]


# Time order.


@pytest.mark.parametrize("k", [2, 3, 5, 8])
@pytest.mark.parametrize("how", [{}, {"gap": 1}, {"test_size": 2}, {"test_size": 2, "gap": 1}])
def test_expanding_windows_take_one_set_more_than_plain_cross_validation(k, how):
    splits = splits_of(TimeSeriesSplit(k, **how), 30)
    assert training_sets(splits, 30) == {tuple(train) for train, _ in splits} | {tuple(range(30))}
    assert len(training_sets(splits, 30)) == k + 1
    assert list(literal.views(splits, 30)[0]) == rows(1, k)


def test_expanding_windows_by_hand():
    assert evaluations(TimeSeriesSplit(3), 8) == {
        1: [([0, 1], [2, 3])],
        2: [([0, 1], [2, 3]), ([0, 1, 2, 3], [4, 5])],
    }


def test_gap_and_test_size_by_hand():
    # Trained on 0-2, 0-4 and 0-6, tested on 4-5, 6-7 and 8-9.
    assert evaluations(TimeSeriesSplit(3, gap=1, test_size=2), 10) == {
        1: [([0, 1, 2], [4])],
        2: [([0, 1, 2], [4, 5]), ([0, 1, 2, 3, 4], [6])],
    }


def test_a_gap_as_long_as_the_test_leaves_neighbours_nothing():
    # Trained on 0-1, 0-3, 0-5: the test of the split before lies in the gap.
    assert evaluations(TimeSeriesSplit(3, gap=2, test_size=2), 10) == {2: [([0, 1], [4, 5])]}


def test_rolling_windows_by_hand():
    # Trained on 0-3, 2-5 and 4-7, tested on the two rows after each.
    outer, final = literal.views(splits_of(TimeSeriesSplit(3, test_size=2, max_train_size=4), 10), 10)
    assert {i: view.reference for i, view in outer.items()} == {1: rows(2, 6), 2: rows(4, 8)}
    assert outer[1].evaluations == {0: (rows(4), [4, 5])}
    assert outer[2].evaluations == {0: (rows(4), [4, 5]), 1: (rows(2, 6), [6, 7])}
    assert final[0].reference == rows(10)


def intersections(splits, n):
    """The training sets without the exception for rolling windows."""
    splits = [(set(train), set(test)) for train, test in splits]
    pairs = [(a, b) for a in splits for b in splits if a is not b and a[0] & b[0] and a[1] & b[0]]
    return {frozenset(range(n)), *(frozenset(train) for train, _ in splits)} | {
        frozenset(a[0] & b[0]) for a, b in pairs
    }


@pytest.mark.parametrize(
    ("cv", "n", "windows", "without"),
    [
        (TimeSeriesSplit(6, max_train_size=24), 60, 7, 15),
        (TimeSeriesSplit(5, max_train_size=20, test_size=5), 45, 6, 15),  # all of them full
        (TimeSeriesSplit(5, max_train_size=25, test_size=5), 50, 6, 16),
    ],
)
def test_rolling_windows_take_one_set_more_than_plain_cross_validation(cv, n, windows, without):
    splits = splits_of(cv, n)
    assert len(training_sets(splits, n)) == windows
    assert len(intersections(splits, n)) == without


def test_last_window():
    splits = splits_of(TimeSeriesSplit(3, test_size=2, max_train_size=4), 11)
    for order in (splits, splits[::-1]):
        assert literal.views(order, 11, last_window=True)[1][0].reference == [7, 8, 9, 10]
    with pytest.raises(ValueError, match="rolling"):
        literal.views(splits_of(KFold(3), 9), 9, last_window=True)


@pytest.mark.parametrize(
    ("splits", "rolling"),
    [
        ([([0, 1], [2]), ([1, 2], [3])], True),
        ([([1, 2], [3]), ([0, 1], [2])], True),  # in no order
        ([([0, 1], [2]), ([0, 1, 2], [3]), ([2, 3], [4])], True),  # the first grows
        ([([0, 1], [2]), ([0, 1, 2], [3])], False),  # all grow
        ([([0, 2], [3]), ([2, 3], [4])], False),  # a hole
        ([([0, 1], [2]), ([3, 4], [2])], False),  # after its test
        ([([1, 2], [4]), ([0, 1, 2, 3], [4]), ([3, 4], [5])], False),  # goes back
        ([([0, 1, 2], [4]), ([1, 2], [4])], True),  # ties in the last row
        ([([0, 1], [2])], False),  # one window does not roll
    ],
)
def test_which_windows_roll(splits, rolling):
    assert literal.are_rolling_windows(literal.checked(splits, 6)) is rolling


# Groups, overlapping tests, rows that are never tested.


def test_random_splits():
    splits = splits_of(ShuffleSplit(6, test_size=0.3, random_state=0), 20)
    outer, final = literal.views(splits, 20)
    assert len(final) == 1
    assert list(outer) == rows(6)
    assert len(training_sets(splits, 20)) == 1 + 6 + 15
    for i, view in outer.items():
        for j, (training, judged) in view.evaluations.items():
            assert training == outer[j].evaluations[i][0]  # one fit serves both views
            assert not set(training) & set(judged)
            assert not set(training + judged) & set(view.judged)


def test_groups_are_never_on_both_sides():
    groups = np.array([0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2])
    outer, _ = literal.views(splits_of(GroupKFold(3), 11, groups), 11)
    assert len(outer) == 3
    for view in outer.values():
        for training, judged in view.evaluations.values():
            assert len(view.evaluations) == 2
            assert not set(groups[training]) & set(groups[judged])
            assert not set(groups[training + judged]) & set(groups[view.judged])


def test_leave_two_of_four_groups_out():
    # In each view the four other pairs that share a group with its own: a single group is left.
    found = evaluations(LeavePGroupsOut(2), 8, np.repeat(range(4), 2))
    assert [len(of_view) for of_view in found.values()] == [4] * 6
    assert found[0] == [  # without groups 0 and 1
        ([6, 7], [4, 5]),
        ([4, 5], [6, 7]),
        ([6, 7], [4, 5]),
        ([4, 5], [6, 7]),
    ]
    assert len(training_sets(splits_of(LeavePGroupsOut(2), 8, np.repeat(range(4), 2)), 8)) == 1 + 6 + 4


def test_leave_two_rows_out():
    # All rows, without two, without three, without four.
    assert len(training_sets(splits_of(LeavePOut(2), 7), 7)) == 1 + 21 + 35 + 35


def test_rows_that_are_in_every_training_set():
    assert evaluations(PredefinedSplit([-1, 0, 1, 2, -1]), 5) == {
        0: [([0, 3, 4], [2]), ([0, 2, 4], [3])],
        1: [([0, 3, 4], [1]), ([0, 1, 4], [3])],
        2: [([0, 2, 4], [1]), ([0, 1, 4], [2])],
    }


def test_what_is_purged_stays_apart():
    # Three blocks of four rows; a row at either side of the test block is in neither.
    splits = [
        (rows(5, 12), rows(4)),
        ([*rows(3), *rows(9, 12)], rows(4, 8)),
        (rows(7), rows(8, 12)),
    ]
    assert evaluations_of(splits, 12) == {
        0: [(rows(9, 12), [5, 6, 7]), ([5, 6], rows(8, 12))],
        1: [(rows(9, 12), [0, 1, 2]), ([0, 1, 2], [9, 10, 11])],
        2: [([5, 6], rows(4)), ([0, 1, 2], [4, 5, 6])],
    }


def evaluations_of(splits, n):
    return {i: list(view.evaluations.values()) for i, view in literal.views(splits, n)[0].items()}


# What is skipped, floors.


@pytest.mark.parametrize(
    ("splits", "numbers"),
    [
        (splits_of(KFold(2), 6), []),
        (splits_of(ShuffleSplit(1, random_state=0), 10), []),
        (splits_of(TimeSeriesSplit(2), 6), [1]),
        (splits_of(TimeSeriesSplit(3), 8), [1, 2]),
        ([([0, 3], [2]), ([1, 4], [5])], []),  # nothing in common
        ([([0, 1], [2]), ([3, 4], [5])], [1]),  # nothing in common either, but they are windows
        ([([0, 1], [3]), ([0, 2], [3])], []),  # the same test row
    ],
)
def test_splits_that_are_no_view(splits, numbers):
    assert list(literal.views(splits, 10)[0]) == numbers


def test_no_view_leaves_the_plain_choice():
    X, y = problem()
    one = found(splits_of(KFold(2), 24), X, y)
    assert (one.weight, one.index) == (0.0, one.plain_index)
    assert math.isnan(one.nested_error)
    assert one.nested_predictions is None
    assert one.n_training_sets == 3


@pytest.mark.parametrize("k", [2, 3])
def test_one_or_two_views_do_not_choose_a_weight(k):
    X, y = problem()
    one = found(splits_of(TimeSeriesSplit(k), 24), X, y, weights=[0.3, 3.0])
    assert len(one.outer) == k - 1
    assert (one.weight, one.weights) == (0.0, [0.0, 0.3, 3.0])
    close(one.nested_error, np.mean([errors[0] for errors in one.outer_error.values()]))


def test_a_test_set_without_weight_counts_nowhere():
    X, y = problem()
    splits = splits_of(KFold(4), 24)
    weight = np.repeat([0.0, 1.0], [6, 18])
    one = found(splits, X, y, sample_weight=weight)
    assert list(one.outer) == [1, 2, 3]
    assert [list(view.evaluations) for view in one.outer.values()] == [[2, 3], [1, 3], [1, 2]]
    assert one.n_training_sets == 1 + 3 + 3
    assert np.isnan(one.out_of_fold[:6]).all()
    assert not np.isnan(one.out_of_fold[6:]).any()
    without = found([(train, test) for train, test in splits[1:]], X, y, sample_weight=weight)
    close(one.cv_error, without.cv_error)
    assert one.nested_error == without.nested_error


def test_where_a_score_is_not_defined():
    X = problem()[0]
    y = np.arange(24) % 2
    y[:6] = 0
    score = get_scorer("roc_auc")
    smoothings = [{"var_smoothing": s} for s in (1e-9, 1.0)]
    how = {"estimator": GaussianNB(), "candidates": smoothings, "loss": "zero_one", "score": score}
    one = found(splits_of(KFold(4), 24), X, y, **how)
    assert one.undefined_score
    assert list(one.outer) == [1, 2, 3]
    assert list(one.final[0].evaluations) == [1, 2, 3]
    assert not found(splits_of(KFold(3), 24), X, y, **how).undefined_score


@pytest.mark.parametrize(
    "splits",
    [
        [],
        [([0], [1]), ([0, 1], [1])],
        [([], [1])],
        [([0], [])],
        [([0], [4])],
        [([-1], [1])],
    ],
)
def test_bad_splits(splits):
    with pytest.raises(ValueError, match=r"[Ss]plit"):
        literal.views(splits, 4)


# Numbers.


def test_numbers_by_hand():
    # The model is the mean: 0, 1 and 2 of the rows before rows 1, 2 and 3; of all rows it is 4.
    y = np.array([0.0, 2.0, 4.0, 10.0])
    one = found(
        splits_of(TimeSeriesSplit(3), 4),
        y[:, np.newaxis],
        y,
        estimator=DummyRegressor(),
        candidates=[{}],
        loss="absolute_error",
        weights=[0.0],
    )
    assert_array_equal(one.out_of_fold, [math.nan, 0, 1, 2])
    close(one.cv_error, [(2 + 3 + 8) / 3])
    # The losses 4, 2, 0, 6 of the mean of all rows and 0, 2, 4, 10 of the first one.
    close(one.instability, [(4 + 0 + 4 + 4) / 4])
    assert one.outer_error == {1: [3.0], 2: [8.0]}
    assert one.nested_error == 5.5
    assert_array_equal(one.nested_predictions, [math.nan, math.nan, 1, 2])


def test_overlapping_tests_are_averaged():
    X, y = problem(n=4)
    splits = [([0, 1], [2, 3]), ([0, 1, 2], [3])]
    one = found(splits, X, y, candidates=ALPHAS[:1])
    of = [Ridge(alpha=0.01).fit(X[train], y[train]).predict(X) for train, _ in splits]
    close(one.out_of_fold, [math.nan, math.nan, of[0][2], (of[0][3] + of[1][3]) / 2])


def test_repeats_have_a_row_each_and_the_mean_of_their_instabilities():
    X, y = problem()
    splits = splits_of(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), 24)
    both = found(splits, X, y)
    each = [found(splits[:3], X, y), found(splits[3:], X, y)]
    close(both.instability, np.mean([one.instability for one in each], axis=0))
    close(both.cv_error, np.mean([one.cv_error for one in each], axis=0))
    assert both.out_of_fold.shape == both.nested_predictions.shape == (2, 24)


def test_nested_predictions_are_behind_the_nested_error():
    X, y = problem()
    one = found(splits_of(KFold(4), 24), X, y)
    close(one.nested_error, np.mean((one.nested_predictions - y) ** 2))


def test_a_score_that_is_minus_the_loss_changes_nothing():
    X, y = problem()
    splits = splits_of(ShuffleSplit(5, random_state=0), 24)
    by_loss = found(splits, X, y)
    by_score = found(splits, X, y, score=get_scorer("neg_mean_squared_error"))
    close(by_score.cv_error, by_loss.cv_error)
    assert by_score.instability == by_loss.instability
    close(by_score.mean_outer_error, by_loss.mean_outer_error)


def test_rows_and_splits_in_no_order():
    X, y = problem()
    splits = splits_of(TimeSeriesSplit(5), 24)
    expected = found(splits, X, y)
    shuffle = np.random.default_rng(0).permutation
    close(found([(shuffle(a), shuffle(b)) for a, b in splits], X, y).cv_error, expected.cv_error)
    at = shuffle(24)  # row i of the data is now row at[i]
    where = np.argsort(at)
    moved = found([(at[a], at[b]) for a, b in splits], X[where], y[where])
    close(moved.cv_error, expected.cv_error)
    close(moved.instability, expected.instability)
    close(moved.mean_outer_error, expected.mean_outer_error)
    close(moved.out_of_fold[at], expected.out_of_fold)
    assert moved.n_training_sets == 6


def test_masks():
    X, y = problem()
    splits = splits_of(KFold(3), 24)
    masks = [tuple(np.isin(range(24), side) for side in split) for split in splits]
    assert found(masks, X, y).cv_error == found(splits, X, y).cv_error


def test_probabilities_of_all_classes():
    X = problem()[0]
    y = np.repeat(["a", "b", "c"], 8)
    how = {"estimator": GaussianNB(), "candidates": [{}], "loss": "zero_one"}
    one = found(splits_of(KFold(3), 24), X, y, **how)
    assert one.out_of_fold.shape == (24, 3)
    close(one.out_of_fold.sum(axis=1), 1)
    assert (one.out_of_fold[:8, 0] == 0).all()  # class a is in no training set without fold 0
