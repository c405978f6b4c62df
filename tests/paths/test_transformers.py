"""Transformers that hold several settings: each gives what its own fit gives."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectFdr, SelectFpr, SelectKBest, SelectPercentile, f_regression

from steadycv.paths import PathData, find_path

X, Y = load_diabetes(return_X_y=True)
ROWS = np.arange(0, 442, 2)


def data(X=X):
    return PathData(X, Y, ROWS, X.iloc[ROWS] if hasattr(X, "iloc") else X[ROWS], Y[ROWS], {})


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame])
@pytest.mark.parametrize(
    ("transformer", "name", "values"),
    [
        (SelectKBest(f_regression), "k", [1, 4, "all", 0]),
        (SelectPercentile(f_regression), "percentile", [0, 20, 55.5, 100]),
        (SelectFpr(f_regression), "alpha", [1e-9, 0.05, 1.0]),
        (SelectFdr(f_regression), "alpha", [1e-9, 0.05, 1.0]),
        (PCA(svd_solver="full"), "n_components", [3, 1, 10]),
        (PCA(svd_solver="covariance_eigh"), "n_components", [2, 7]),
    ],
)
@pytest.mark.filterwarnings("ignore:No features were selected")
def test_each_is_that_of_its_own_fit(transformer, name, values, make):
    path, given = find_path(transformer), data(make(X))
    some = tuple(clone(transformer).set_params(**{name: value}) for value in values)
    assert path.parameters(transformer) == (name,)
    assert all(path.shares(each, given.X_train) for each in some)
    for each, found in zip(some, path.transformed(some, given, {}), strict=True):
        alone = clone(each).fit(given.X_train, given.y_train)
        assert_allclose(found.X_train, alone.transform(given.X_train), rtol=1e-9, atol=1e-9)
        assert_allclose(found.X, alone.transform(given.X), rtol=1e-9, atol=1e-9)
        assert_array_equal(found.rows, ROWS)


@pytest.mark.parametrize(
    "transformer",
    [
        SelectKBest(k=-1),
        SelectPercentile(percentile=101),
        SelectFpr(alpha="much"),
        PCA(n_components=0.9),
        PCA(n_components=11),
        PCA(n_components=2, svd_solver="randomized"),
    ],
)
def test_what_is_not_shared(transformer):
    assert not find_path(transformer).shares(transformer, X)


def test_components_of_sparse_data_are_not_shared():
    assert not find_path(PCA()).shares(PCA(n_components=2), csr_array(X))
