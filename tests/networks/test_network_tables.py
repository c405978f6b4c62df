"""What networks are given of a table."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from small_networks import mixed, regressor

from steadycv.networks.tables import CLIP, Preparation, Table, merged, read_table

RANDOM = np.random.default_rng(0)
COLUMNS, WEIGHT = RANDOM.normal(size=(50, 3)), RANDOM.integers(1, 5, size=50).astype(float)


def test_numbers_are_scaled_and_stay_within_bounds():
    prepared = Preparation(Table(COLUMNS, None), WEIGHT, 0)
    numbers = prepared.inputs(Table(COLUMNS, None)).numbers
    scaled = (COLUMNS - prepared.centre) / prepared.scale
    small = np.abs(scaled) < 0.3
    assert_allclose(numbers[small], scaled[small], rtol=0.01)
    far = prepared.inputs(Table(1e9 * np.ones((1, 3)), None)).numbers
    assert_allclose(far, CLIP)


def test_pieces_between_quantiles():
    prepared = Preparation(Table(COLUMNS, None), WEIGHT, 4)
    rows = np.repeat(COLUMNS, WEIGHT.astype(int), axis=0)
    expected = np.quantile(rows, np.linspace(0, 1, 5), axis=0, method="inverted_cdf")
    assert_array_equal(prepared.edges, expected)
    low, high, middle = (expected[0], expected[-1], (expected[1] + expected[2]) / 2)
    found = prepared.inputs(Table(np.stack([low - 1, high + 1, middle]), None)).numbers
    assert_allclose(found.reshape(3, 4, 3)[:, :, 0], [[0, 0, 0, 0], [1, 1, 1, 1], [1, 0.5, 0, 0]])
    constant = Table(np.ones((5, 1)), None)
    assert_array_equal(Preparation(constant, np.ones(5), 4).inputs(constant).numbers, np.zeros((5, 4)))


def test_equal_rows_are_merged():
    table = Table(np.array([[1.0], [2.0], [1.0], [-0.0], [0.0], [5.0]]), None)
    y, weight = np.array([1.0, 1.0, 1.0, 3.0, 3.0, 9.0]), np.array([1.0, 2.0, 3.0, 1.0, 1.0, 0.0])
    found, target, sums = merged(table, y, weight)
    rows = sorted(zip(found.numbers[:, 0] + 0.0, target, sums, strict=True))
    assert rows == [(0.0, 3.0, 2.0), (1.0, 1.0, 4.0), (2.0, 1.0, 2.0)]
    order = np.random.default_rng(1).permutation(6)
    again, *_ = merged(Table(table.numbers[order], None), y[order], weight[order])
    assert_array_equal(again.numbers, found.numbers)


def test_rows_of_other_categories_are_not_equal():
    table = Table(np.ones((3, 1)), np.array([["a"], ["b"], ["a"]], dtype=object))
    found, _, sums = merged(table, np.ones(3), np.ones(3))
    assert sorted(zip(found.categories[:, 0], sums, strict=True)) == [("a", 2.0), ("b", 1.0)]


@pytest.mark.parametrize("categories", ["auto", ["kind"], [0], ["kind", 0]])
def test_columns_that_are_categories(categories):
    frame, _ = mixed(10)
    table = read_table(regressor(), frame, categories, reset=True)
    assert_array_equal(table.numbers[:, 0], frame["x"])
    assert_array_equal(table.categories[:, 0], frame["kind"])


def test_codes():
    frame, _ = mixed(10)
    frame.loc[3, "kind"] = np.nan
    table = read_table(regressor(), frame, "auto", reset=True)
    prepared = Preparation(table, np.ones(10), 0)
    known = sorted(frame["kind"].dropna().unique())
    assert prepared.levels[0] >= 1 + len(known)
    codes = prepared.inputs(table).codes[:, 0]
    for code, kind in enumerate(known, 1):
        assert_array_equal(codes == code, frame["kind"] == kind)
    new = read_table(
        regressor(), pd.DataFrame({"kind": pd.Categorical(["new"]), "x": [0.0]}), "auto", reset=True
    )
    assert prepared.inputs(new).codes.tolist() == [[0]]
