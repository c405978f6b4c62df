import numpy as np
import pandas as pd
import pytest

from steadycv.experiments.splits import random_split

X = np.arange(60).reshape(30, 2)
Y = np.arange(30.0)


def same(a, b):
    return np.array_equal(a.y, b.y) and np.array_equal(a.folds, b.folds)


@pytest.mark.parametrize(("n", "n_test"), [(25, 3), (30, 3), (70, 7), (506, 51), (6497, 650)])
def test_a_tenth_is_put_aside_and_the_rest_is_in_folds_of_equal_size(n, n_test):
    split = random_split(np.zeros((n, 1)), np.arange(float(n)), "x", 0)
    assert len(split.y_test) == n_test
    assert sorted([*split.y, *split.y_test]) == list(range(n))
    assert np.ptp(np.bincount(split.folds, minlength=5)) <= 1
    assert split.cv.get_n_splits() == 5


def test_rows_stay_together():
    split = random_split(X, Y, "x", 3)
    np.testing.assert_array_equal(split.X[:, 0], 2 * split.y)
    np.testing.assert_array_equal(split.X_test[:, 1], 2 * split.y_test + 1)


def test_the_same_for_the_same_name_number_and_seed_only():
    first = random_split(X, Y, "x", 0, seed=1)
    assert same(first, random_split(X + 1, Y, "x", 0, seed=1))
    assert not same(first, random_split(X, Y, "z", 0, seed=1))
    assert not same(first, random_split(X, Y, "x", 1, seed=1))
    assert not same(first, random_split(X, Y, "x", 0, seed=2))


def test_data_frames():
    frame = random_split(pd.DataFrame(X, index=range(100, 130)), Y, "x", 0)
    np.testing.assert_array_equal(frame.X, random_split(X, Y, "x", 0).X)
