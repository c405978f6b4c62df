"""What several paths need: data that they can take, and outputs that were found in parts."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.linear_model import Ridge

from steadycv.paths import PathData
from steadycv.paths.common import are_labels, are_numbers, are_weights, complete, is_table, joined

TABLE = np.arange(12.0).reshape(6, 2)


@pytest.mark.parametrize("X", [TABLE, TABLE.astype(int), TABLE.tolist()])
def test_tables(X):
    assert is_table(X)


@pytest.mark.parametrize(
    "X", [TABLE.astype(np.float32), TABLE[0], csr_array(TABLE), TABLE * np.nan, TABLE.astype(object)]
)
def test_what_is_no_table(X):
    assert not is_table(X)


@pytest.mark.parametrize(
    ("y", "are"),
    [
        ([1.0, 2.0], True),
        ([1, 2], True),
        (TABLE, True),
        (TABLE[:, :1], False),
        (np.array([1.0, 2.0], dtype=object), False),
        ([1.0, np.inf], False),
        (["a", "b"], False),
    ],
)
def test_numbers(y, are):
    assert are_numbers(y) == are


@pytest.mark.parametrize(
    ("y", "are"),
    [(["a", "b"], True), ([0, 1, 2], True), ([0.5, 1.5], False), (np.eye(3, dtype=int), False)],
)
def test_labels(y, are):
    assert are_labels(y) == are


@pytest.mark.parametrize(
    ("weight", "are"),
    [([0, 1.5], True), ([0, 0], False), ([1, -1], False), ([1, np.inf], False), (TABLE, False)],
)
def test_weights(weight, are):
    assert are_weights(weight) == are


def test_parts_are_put_in_order():
    parts = [{"predict": np.array([[10.0], [13.0]])}, {"predict": np.array([[12.0], [11.0]])}]
    assert joined([[0, 3], [2, 1]], parts)["predict"].ravel().tolist() == [10.0, 11.0, 12.0, 13.0]


def test_what_is_not_exact_is_fitted():
    data = PathData(TABLE, TABLE[:, 0], np.arange(4), TABLE[:4], TABLE[:4, 0], {})
    found = {"predict": np.zeros((2, 6))}
    complete(found, np.array([True, False]), Ridge(), [{"alpha": 1.0}, {"alpha": 2.0}], data)
    assert_array_equal(found["predict"][0], np.zeros(6))
    assert_array_equal(found["predict"][1], Ridge(alpha=2.0).fit(TABLE[:4], TABLE[:4, 0]).predict(TABLE))
