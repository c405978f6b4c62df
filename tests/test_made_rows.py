"""Made rows: more of the same, whatever the table is kept in."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from steadycv.made_rows import FOLDS_AS_MANY, can_make_rows, with_made_rows

X = np.random.default_rng(0).integers(100, size=(20, 4)).astype(float)
ROWS = np.array([1, 4, 7, 11, 15])


def test_each_cell_is_that_of_a_row_in_its_column():
    table, source = with_made_rows(X, ROWS)
    made = table[20:]
    assert_array_equal(table[:20], X)
    assert_array_equal(np.bincount(source), np.bincount(ROWS) * FOLDS_AS_MANY)
    for column in range(4):
        assert set(made[:, column]) <= set(X[ROWS, column])
    assert 0.8 < (made == X[source]).mean() < 1


@pytest.mark.parametrize(
    ("kind", "plain"),
    [
        (lambda X: pd.DataFrame(X, columns=list("abcd"), index=range(5, 25)), pd.DataFrame.to_numpy),
        (lambda X: pl.DataFrame(X, schema=list("abcd")), pl.DataFrame.to_numpy),
        (csr_matrix, csr_matrix.toarray),
        (np.ndarray.tolist, np.asarray),
    ],
    ids=["pandas", "polars", "sparse", "lists"],
)
def test_the_same_rows_in_every_container(kind, plain):
    table, _ = with_made_rows(kind(X), ROWS)
    assert_array_equal(plain(table), with_made_rows(X, ROWS)[0])
    assert can_make_rows(Ridge(), kind(X))


def test_columns_keep_their_types():
    mixed = pd.DataFrame({"a": X[:, 0], "b": pd.Categorical(["u", "v"] * 10), "c": ["x", "y"] * 10})
    table, _ = with_made_rows(mixed, ROWS)
    assert table.dtypes.equals(mixed.dtypes)
    assert table.shape == (20 + 25, 3)


def test_of_texts_and_kernels_nothing_is_made():
    assert not can_make_rows(Ridge(), ["a text", "another"])
    assert not can_make_rows(KernelRidge(kernel="precomputed"), X @ X.T)
