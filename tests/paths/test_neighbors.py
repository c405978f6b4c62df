import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from steadycv import StabilitySearchCV
from steadycv.paths import PathData, find_path
from steadycv.paths.plan import plan
from steadycv.paths.separate import SEPARATE, separate_outputs
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
    check_path(cls(algorithm=algorithm), GRID, X, target(cls, X), methods=[method])


@methods
@pytest.mark.parametrize("make", [smooth, tied, duplicated])
def test_many_features(cls, method, make):
    X = make(n_samples=80, n_features=100)
    check_path(cls(), GRID, X, target(cls, X), methods=[method])


@methods
@pytest.mark.parametrize(
    "params",
    [{"p": 1}, {"p": 3}, {"p": 1.5}, {"p": np.inf}, {"metric": "manhattan"}, {"metric": "cosine"}],
)
def test_metrics(cls, method, params):
    X = duplicated()
    check_path(cls(**params), GRID, X, target(cls, X), methods=[method])


@methods
def test_every_number_of_neighbors(cls, method):
    X = smooth()
    check_path(cls(), {**GRID, "n_neighbors": range(1, 23)}, X, target(cls, X), methods=[method])


@methods
def test_list_too_large_to_keep(cls, method, monkeypatch):
    monkeypatch.setattr("steadycv.paths.neighbors.MOST_BYTES", 0)
    X = tied()
    check_path(cls(), GRID, X, target(cls, X), methods=[method])


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


@algorithms
@pytest.mark.parametrize("make", [smooth, tied])
def test_labels_and_probabilities_at_once(algorithm, make):
    X = make()
    model = KNeighborsClassifier(algorithm=algorithm)
    both = ["predict", "predict_proba"]
    check_path(model, GRID, X, target(KNeighborsClassifier, X), methods=both)


@pytest.mark.parametrize("make", [smooth, tied, duplicated])
def test_a_training_set_has_the_same_outputs_first_and_later(make):
    X = make()
    y, model = target(KNeighborsRegressor, X), KNeighborsRegressor()
    path, settings = find_path(model), list(ParameterGrid(GRID))
    prepared = path.prepare(model, X, y)
    for n_train in (90, 70, 45, 90, 45):
        rows = np.arange(n_train)
        data = [
            PathData(X, y, rows, X[rows], y[rows], {}, prepared=each)
            for each in (prepared, path.prepare(model, X, y))
        ]
        later, first = (path.outputs(model, settings, each)["predict"] for each in data)
        np.testing.assert_array_equal(later, first)


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_weights_are_refused_as_without_a_path(cls):
    X = smooth()
    y, weight = target(cls, X), np.ones(90)
    [group] = plan(cls(), [{"n_neighbors": 1}], X, y, fit_params=["sample_weight"])
    assert group.path is SEPARATE
    with pytest.raises(TypeError, match="sample_weight"):
        separate_outputs(cls(), {}, PathData(X, y, np.arange(90), X, y, {"sample_weight": weight}))


def test_numbers_held_as_objects():
    """Of which the estimator predicts objects."""
    X = smooth()
    y = target(KNeighborsRegressor, X).astype(object)
    check_path(KNeighborsRegressor(), GRID, X, y, serves=False)
    check_path(KNeighborsRegressor(), GRID, X, np.c_[y, y], serves=False)
    data = PathData(X, y, np.arange(60), X[:60], y[:60], {})
    model = make_pipeline(StandardScaler(), KNeighborsRegressor())
    settings = [{"kneighborsregressor__n_neighbors": k} for k in (1, 3)]
    outputs = find_path(model).outputs(model, settings, data)["predict"]
    for setting, found in zip(settings, outputs, strict=True):
        expected = separate_outputs(model, setting, data)["predict"]
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


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
