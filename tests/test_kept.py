"""Kept outputs, and their order."""

import numpy as np
from numpy.testing import assert_array_equal
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit, TimeSeriesSplit

from steadycv.kept import KeptOutputs, in_order_of_samples
from steadycv.lattice import Lattice

N = 12


def ordered(cv, say, *, labels=False, leave_out=()):
    lattice = Lattice(cv.split(range(N)), N)
    outputs = {i: say(split.test, i) for i, split in enumerate(lattice.splits) if i not in leave_out}
    return in_order_of_samples(lattice, outputs, labels=labels)


def test_bytes_are_counted():
    kept = KeptOutputs()
    kept.keep([4, 5], 0, [np.zeros(3), np.ones(3)])
    kept.keep([4], 0, [np.zeros(2)])
    assert (4, 0) in kept
    assert kept.n_bytes == 16 + 24
    kept.drop([(4, 0), (9, 9)])
    assert list(kept) == [(5, 0)]
    assert kept.n_bytes == 24
    assert_array_equal(kept[5, 0], np.ones(3))


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
