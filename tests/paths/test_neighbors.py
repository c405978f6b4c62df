import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import steadycv.paths.neighbors  # noqa: F401 - registers its paths
from steadycv import StabilitySearchCV
from steadycv.testing import check_path

GRID = {"n_neighbors": [1, 7, 2, 20], "weights": ["uniform", "distance"]}
ESTIMATORS = [KNeighborsRegressor, KNeighborsClassifier]

methods = pytest.mark.parametrize(
    ("cls", "method"),
    [
        (KNeighborsRegressor, "predict"),
        (KNeighborsClassifier, "predict"),
        (KNeighborsClassifier, "predict_proba"),
    ],
)
algorithms = pytest.mark.parametrize("algorithm", ["auto", "kd_tree", "ball_tree", "brute"])


def smooth(n_samples=90, n_features=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n_samples, n_features))


def tied(n_samples=90, n_features=4, seed=0):
    """Integer values with many equal distances, duplicated rows and columns, a constant column."""
    X = np.random.default_rng(seed).integers(0, 3, size=(n_samples, n_features)).astype(float)
    X[:, 1], X[:, 2] = X[:, 0], 7.0
    return X


def duplicated(n_samples=90, n_features=4, seed=0):
    X = smooth(n_samples, n_features, seed)
    X[: n_samples // 3] = X[-(n_samples // 3) :]
    return X


def target(cls, X, seed=1):
    y = X[:, 0] + np.random.default_rng(seed).normal(size=len(X))
    return y if cls is KNeighborsRegressor else np.array(["ant", "bee", "cat"])[np.digitize(y, [0, 1])]


@methods
@algorithms
@pytest.mark.parametrize("make", [smooth, tied, duplicated])
def test_neighbors(cls, method, algorithm, make):
    X = make()
    check_path(cls(algorithm=algorithm), GRID, X, target(cls, X), method=method)


@methods
@pytest.mark.parametrize("make", [smooth, tied, duplicated])
def test_many_features(cls, method, make):
    X = make(n_samples=80, n_features=100)
    check_path(cls(), GRID, X, target(cls, X), method=method)


@methods
@pytest.mark.parametrize(
    "params",
    [{"p": 1}, {"p": 3}, {"p": 1.5}, {"p": np.inf}, {"metric": "manhattan"}, {"metric": "cosine"}],
)
def test_metrics(cls, method, params):
    X = duplicated()
    check_path(cls(**params), GRID, X, target(cls, X), method=method)


@methods
def test_every_number_of_neighbors(cls, method):
    X = smooth()
    check_path(cls(), {**GRID, "n_neighbors": range(1, 23)}, X, target(cls, X), method=method)


@methods
def test_list_too_large_to_keep(cls, method, monkeypatch):
    monkeypatch.setattr("steadycv.paths.neighbors.MOST_BYTES", 0)
    X = tied()
    check_path(cls(), GRID, X, target(cls, X), method=method)


def test_several_targets_integers_and_data_frames():
    X = tied()
    y = np.c_[target(KNeighborsRegressor, X), X[:, 0]]
    check_path(KNeighborsRegressor(), GRID, X, y)
    check_path(KNeighborsRegressor(), GRID, X.astype(int), y[:, 0].round().astype(int))
    check_path(KNeighborsRegressor(), GRID, pd.DataFrame(X), pd.Series(y[:, 0]))


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_not_served(cls):
    X = smooth()
    y = target(cls, X)
    for params in (
        {"metric": lambda a, b: np.abs(a - b).sum()},
        {"metric": "precomputed"},
        {"metric": "minkowski", "metric_params": {"w": np.ones(4)}},
        {"p": 0.5},
    ):
        check_path(cls(**params), GRID, X, y, serves=False)
    for data in (csr_matrix(X), X.astype(np.float32), X.astype(object)):
        check_path(cls(), GRID, data, y, serves=False)
    check_path(cls(), {"weights": [np.ones_like, "other"]}, X, y, serves=False)
    check_path(cls(), {"n_neighbors": [0, -1, 2.0, len(X) // 4 + 1]}, X, y, serves=False)
    if cls is KNeighborsClassifier:
        check_path(cls(), GRID, X, np.c_[y, y], serves=False)


@pytest.mark.parametrize("cls", ESTIMATORS)
@pytest.mark.parametrize("make", [smooth, tied])
def test_same_search(cls, make):
    X = make()
    y = target(cls, X)
    options = {"cv": 3, "loss": None if cls is KNeighborsRegressor else "brier"}
    fast, slow = (
        StabilitySearchCV(cls(), GRID, use_paths=use_paths, **options).fit(X, y)
        for use_paths in (True, False)
    )
    assert fast.best_params_ == slow.best_params_
    assert fast.n_fits_ < slow.n_fits_
    for name in ("cv_error", "instability", "regularized_error"):
        np.testing.assert_allclose(fast.cv_results_[name], slow.cv_results_[name], err_msg=name)
    np.testing.assert_allclose(fast.nested_error_, slow.nested_error_)
