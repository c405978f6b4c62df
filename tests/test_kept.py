"""Kept outputs, and their order."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit, TimeSeriesSplit

from steadycv.kept import Heard, KeptOutputs, in_order_of_samples, n_numbers
from steadycv.lattice import Lattice

N = 12
HERE = Heard(training_set=3, split=0, method="predict")


def ordered(cv, say, *, labels=False, leave_out=()):
    lattice = Lattice(cv.split(range(N)), N)
    outputs = {i: say(split.test, i) for i, split in enumerate(lattice.splits) if i not in leave_out}
    return in_order_of_samples(lattice, outputs, labels=labels)


def test_bytes_are_counted():
    kept = KeptOutputs()
    kept.keep(np.array([4, 5]), HERE, np.array([[0.0] * 3, [1.0] * 3]))
    kept.keep(np.array([6]), HERE, np.full((1, 3), 6.0))
    assert (4, HERE) in kept
    assert kept.n_bytes == 3 * 24
    kept.drop([(4, HERE), (9, HERE), (5, HERE._replace(split=7))])
    assert list(kept) == [(5, HERE), (6, HERE)]
    assert kept.n_bytes == 2 * 24
    assert_array_equal(kept.table(np.array([6, 5]), HERE), [[6.0] * 3, [1.0] * 3])


def test_the_first_answer_stays():
    kept = KeptOutputs()
    kept.keep(np.array([4]), HERE, np.zeros((1, 3)))
    kept.keep(np.array([5, 4]), HERE, np.ones((2, 3)))
    assert_array_equal(kept.table(np.array([4, 5]), HERE), [[0.0] * 3, [1.0] * 3])
    assert kept.n_bytes == 2 * 24
    assert kept.missing(np.array([4, 8]), HERE) == [(8, HERE)]


def test_what_is_dropped_is_not_held_by_what_stays():
    kept = KeptOutputs()
    kept.keep(np.arange(5), HERE, np.ones((5, 3)))
    kept.drop([(c, HERE) for c in range(4)])
    assert kept[4, HERE].base.nbytes == kept.n_bytes == 24


@pytest.mark.parametrize("cv", [KFold(4), TimeSeriesSplit(4), ShuffleSplit(4, random_state=0)])
def test_the_number_of_outputs_is_known_before(cv):
    lattice = Lattice(cv.split(range(N)), N)
    own = sum(len(split.test) for split in lattice.splits)
    assert n_numbers(lattice, with_members=False) == own
    heard = {(t, i) for t in range(lattice.n_training_sets) for i in lattice.splits_of(t)}
    for view in lattice.views:
        heard |= {(lattice.evaluations[e].training_set, view.split) for e in view.evaluations}
    size = sum(len(lattice.splits[i].test) for _, i in heard)
    assert n_numbers(lattice, with_members=True) == size
    for training_set, i in heard:
        assert not set(lattice.rows(training_set)) & set(lattice.splits[i].test)


def test_order_of_a_partition():
    cv = KFold(3, shuffle=True, random_state=0)
    assert_array_equal(ordered(cv, lambda rows, _: rows * 1.0), np.arange(N))
    assert_array_equal(ordered(cv, lambda rows, _: np.c_[rows, -rows]), np.c_[0:N, 0:-N:-1])


def test_a_row_for_each_repeat():
    cv = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    said = ordered(cv, lambda rows, i: rows + 100.0 * (i // 3))
    assert_array_equal(said, [np.arange(N), 100 + np.arange(N)])


def test_what_was_never_validated_on():
    said = ordered(TimeSeriesSplit(3), lambda rows, _: rows)
    assert_array_equal(said, [np.nan, np.nan, np.nan, *range(3, N)])
    assert_array_equal(ordered(KFold(3), lambda rows, _: rows, leave_out=[0])[:5], [np.nan] * 4 + [4])
    assert np.isnan(ordered(KFold(3), lambda rows, _: rows, leave_out=[0, 1, 2])).all()
    labels = ordered(TimeSeriesSplit(3), lambda rows, _: np.full(len(rows), "a"), labels=True)
    assert labels.tolist()[2:] == [np.nan] + ["a"] * 9 or np.isnan(labels[2])


def test_means_and_most_frequent_labels():
    cv = ShuffleSplit(8, test_size=0.5, random_state=0)
    splits = [test for _, test in cv.split(range(N))]
    means = [np.mean([i for i, test in enumerate(splits) if row in test]) for row in range(N)]
    np.testing.assert_allclose(ordered(cv, lambda rows, i: np.full(len(rows), 1.0 * i)), means)
    say = lambda rows, i: np.full(len(rows), "ab"[i > 2])  # noqa: E731
    frequent = [
        "ab"[sum(row in test for test in splits[3:]) > sum(row in test for test in splits[:3])]
        for row in range(N)
    ]
    assert_array_equal(ordered(cv, say, labels=True), frequent)
