"""Lattices: training sets named by their rows, and what each view sees. See also `test_literal.py`."""

import itertools
import pickle
import weakref

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    LeavePOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from steadycv.lattice import Lattice
from steadycv.splits import TooManySplitsError


def lattice(cv, n=24, **how):
    return Lattice(cv.split(range(n), np.arange(n) % 2), n, **how)


@pytest.mark.parametrize(
    ("cv", "n_training_sets", "n_views"),
    [
        (KFold(3), 7, 3),
        (KFold(5), 16, 5),
        (StratifiedKFold(4), 11, 4),
        (RepeatedKFold(n_splits=4, n_repeats=3, random_state=0), 1 + 3 * 10, 12),
        (TimeSeriesSplit(5), 6, 4),
        (TimeSeriesSplit(5, gap=2, test_size=2), 6, 3),
        (TimeSeriesSplit(5, max_train_size=4), 6, 4),
        (KFold(2), 3, 0),
        (ShuffleSplit(1, random_state=0), 2, 0),
    ],
    ids=str,
)
def test_numbers(cv, n_training_sets, n_views):
    built = lattice(cv)
    assert (built.n_training_sets, len(built.views)) == (n_training_sets, n_views)


@pytest.mark.parametrize("cv", [KFold(4), TimeSeriesSplit(5), ShuffleSplit(6, random_state=0)], ids=str)
def test_no_view_sees_what_it_is_judged_on(cv):
    built = lattice(cv)
    for view in built.views:
        judged = built.splits[view.split].test
        assert not np.isin(judged, built.rows(view.reference)).any()
        for e in view.evaluations:
            training_set, rows = built.evaluations[e]
            assert not np.isin(judged, built.rows(training_set)).any()
            assert not np.isin(judged, built.row_sets[rows]).any()


def test_the_final_view_sees_all():
    built = lattice(KFold(3))
    assert_array_equal(built.rows(built.final.reference), np.arange(24))
    assert built.final.split is built.final.judged is None
    assert [built.evaluations[e].training_set for e in built.final.evaluations] == [1, 2, 3]


def test_equal_rows_are_one_set():
    built = lattice(KFold(3))
    without_two = [built.evaluations[view.evaluations[0]].training_set for view in built.views]
    assert without_two[0] == without_two[1]  # without folds 0 and 1


def test_splits_that_are_equal_share_a_training_set():
    train, test = np.arange(12), np.arange(12, 24)
    built = Lattice([(train, test[:6]), (train, test[6:])], 24)
    assert built.splits_of(1) == (0, 1)
    assert built.training_set_of(1) == 1


def test_numbers_of_the_final_view_come_first():
    """So that a ledger without nesting is a part of one with it."""
    nested, plain = lattice(KFold(5)), lattice(KFold(5), nested=False)
    assert plain.views == ()
    assert nested.evaluations[: len(plain.evaluations)] == plain.evaluations
    assert nested.comparisons[: len(plain.comparisons)] == plain.comparisons


def test_names():
    built = lattice(KFold(3))
    assert [built.name(i) for i in (0, 1, 4)] == ["all data", "split 0", "split 1 inside split 0"]
    window = lattice(TimeSeriesSplit(4, max_train_size=6), last_window=True)
    assert window.name(0) == "the last window"
    assert_array_equal(window.rows(0), np.arange(18, 24))


def test_repeats():
    built = lattice(RepeatedKFold(n_splits=4, n_repeats=2, random_state=0))
    assert built.n_repeats == 2
    assert_array_equal(built.repeat, [0] * 4 + [1] * 4)
    assert lattice(ShuffleSplit(6, random_state=0)).n_repeats == 1


def test_blocks_are_the_folds():
    built = lattice(KFold(4))
    blocks = built.blocks(5)
    assert len(np.unique(blocks)) == 4
    for _, test in KFold(4).split(range(24)):
        assert len(np.unique(blocks[test])) == 1
    assert lattice(ShuffleSplit(8, test_size=0.5, random_state=0), 200).blocks(1) is None


def test_training_sets_are_made_of_blocks():
    built = lattice(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0))
    for training_set in range(built.n_training_sets):
        blocks, rows = built.blocks(training_set), built.rows(training_set)
        outside = np.setdiff1d(np.arange(24), rows)
        assert not set(blocks[rows]) & set(blocks[outside])


def test_lines_of_warning():
    [line] = lattice(LeaveOneOut()).warnings()
    assert line.startswith("24 splits need 301 training sets for each candidate, 13 times as many")
    assert lattice(KFold(5)).warnings() == []
    [line] = lattice(ShuffleSplit(5, train_size=0.2, random_state=0)).warnings()
    assert "the nested error will be pessimistic" in line


def test_what_is_not_defined_is_left_out():
    built = lattice(KFold(4), undefined=lambda rows: "they are first" if 0 in rows else None)
    assert built.skipped == {"they are first": [0]}
    assert built.warnings() == ["Left out: the test rows of split 0, since they are first."]
    assert_array_equal(built.evaluation_of_split == -1, [True, False, False, False])
    assert [view.split for view in built.views] == [1, 2, 3]
    assert all(len(view.evaluations) == 2 for view in built.views)
    with pytest.raises(ValueError, match="no split can be judged: it is late"):
        lattice(KFold(4), undefined=lambda rows: "it is late")


@pytest.mark.parametrize(
    "cv",
    [
        TimeSeriesSplit(5),
        TimeSeriesSplit(5, gap=2, test_size=2),
        TimeSeriesSplit(5, max_train_size=4),
    ],
    ids=str,
)
def test_time_order_is_known_by_the_rows(cv):
    assert lattice(cv).in_time_order
    order = np.random.default_rng(0).permutation(24)
    unsorted = Lattice([(order[train], order[test]) for train, test in cv.split(range(24))], 24)
    assert unsorted.in_time_order or cv.max_train_size


@pytest.mark.parametrize(
    "cv",
    [
        KFold(2),
        KFold(5),
        LeaveOneOut(),
        ShuffleSplit(1, random_state=0),
        ShuffleSplit(9, random_state=0),
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    ],
    ids=str,
)
def test_no_time_order(cv):
    assert not lattice(cv).in_time_order


def test_too_many_are_not_made():
    def splits():
        yield from itertools.islice(LeavePOut(2).split(np.zeros(100)), 1414)
        raise AssertionError("no more is asked for")

    with pytest.raises(TooManySplitsError, match="4,950 splits may need 12,253,726") as refused:
        Lattice(splits(), 100, n_splits=4950)
    assert refused.value.n_training_sets == 12_253_726


def test_many_repeats_are_few_training_sets(monkeypatch):
    monkeypatch.setattr("steadycv.splits.MOST_TRAINING_SETS", 100)
    folds = RepeatedKFold(n_splits=4, n_repeats=8, random_state=0)
    assert lattice(folds, n=20).n_training_sets == 1 + 8 * 10


def test_too_many():
    with pytest.raises(ValueError, match="more than 1,413 splits may need 1,000,406 training sets"):
        Lattice(LeaveOneOut().split(np.zeros(1500)), 1500)


@pytest.mark.parametrize("options", [{}, {"gap": 3}, {"max_train_size": 9}])
def test_time_order_has_as_many_splits_as_it_likes(options, monkeypatch):
    monkeypatch.setattr("steadycv.splits.MOST_TRAINING_SETS", 61)
    built = lattice(TimeSeriesSplit(60, test_size=1, **options), n=80)
    assert built.n_training_sets == 61
    with pytest.raises(ValueError, match="60 splits may need 1,831 training sets"):
        Lattice(LeaveOneOut().split(np.zeros(60)), 60, n_splits=60)


def test_nothing_of_the_data_is_held():
    class Asked:
        def __call__(self, rows):
            return None

    asked = Asked()
    alive = weakref.ref(asked)
    built = lattice(KFold(3), undefined=asked, untrainable=asked)
    del asked
    assert built.views
    assert alive() is None


def test_rows_that_nobody_can_be_trained_on():
    def first_six(rows):
        return "no weight" if rows.max() < 6 else None

    built = lattice(TimeSeriesSplit(3), untrainable=first_six)  # trains on 6, 12 and 18 rows
    assert built.skipped == {"no weight": [0]}
    assert [view.split for view in built.views] == [2]
    assert len(built.final.evaluations) == 2


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([0.5, 1.5], r"whole numbers, or as a mask, got \[0.5, 1.5\]"),
        ([np.nan, 1.0], "whole numbers"),
        (["1", "2"], "whole numbers"),
        ([[1], [2]], "one list"),
        (3, "one list .* got 3"),
        (None, "got None"),
        ({1, 2}, "one list"),
        ([[1, 2], [3]], "one list"),
        (np.ones(5, dtype=bool), "a mask of 5 rows, and the data have 24 samples"),
        ([-1, 2], "samples -1 to 2, and the data have 24"),
        ([], "no sample to validate on"),
    ],
)
def test_rows_that_are_none(rows, message):
    with pytest.raises(ValueError, match=f"cv: split 0 .*{message}"):
        Lattice([(range(4, 20), rows)], 24)


@pytest.mark.parametrize("pair", [([1],), ([1], [2], [3]), 7, None])
def test_splits_that_are_no_pairs(pair):
    with pytest.raises(ValueError, match="cv: split 1 is to be a pair of the rows to train"):
        Lattice([([0], [1]), pair], 24)


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda rows: np.array(rows, dtype=object)])
@pytest.mark.parametrize("test", [[20, 21], [i in (20, 21) for i in range(24)], [20.0, 21.0]])
def test_rows_come_in_many_ways(kind, test):
    assert Lattice([(range(9), kind(test))], 24).splits[0].test.tolist() == [20, 21]


def test_it_can_only_be_read():
    splits = [(np.arange(8), np.arange(8, 12)), (np.arange(4, 12), np.arange(4))]
    lattice = Lattice(splits, 12)
    for array in (lattice.rows(0), *lattice.splits[0], lattice.repeat, *lattice.row_sets):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5
    with pytest.raises(ValueError, match="read-only"):
        lattice.final.evaluations[0] = 1
    splits[0][0][0] = 0  # what it was made from is not its own


def test_pickle():
    built = lattice(KFold(4), undefined=lambda rows: None)
    copy = pickle.loads(pickle.dumps(built))
    assert copy.evaluations == built.evaluations
    for training_set in range(built.n_training_sets):
        assert_array_equal(copy.rows(training_set), built.rows(training_set))
