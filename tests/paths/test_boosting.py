import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

import steadycv.paths.boosting  # noqa: F401 - registers the paths
from steadycv import StabilitySearchCV
from steadycv.testing import check_path

RNG = np.random.default_rng(0)
ROUNDS = [7, 1, np.int64(20), 3]


def rounds_of(model):
    return {"max_iter" if "Hist" in type(model).__name__ else "n_estimators": ROUNDS}


def xgboost(kind, **params):
    return getattr(pytest.importorskip("xgboost"), f"XGB{kind}")(n_jobs=1, **params)


def lightgbm(kind, **params):
    return getattr(pytest.importorskip("lightgbm"), f"LGBM{kind}")(n_jobs=1, verbose=-1, **params)


REGRESSORS = {
    "plain": lambda: GradientBoostingRegressor(),
    "random rows and columns": lambda: GradientBoostingRegressor(
        subsample=0.5, max_features=3, loss="huber"
    ),
    "random generator": lambda: GradientBoostingRegressor(
        subsample=0.5, random_state=np.random.RandomState(3)
    ),
    "histograms": lambda: HistGradientBoostingRegressor(max_features=0.5),
    "histograms, other link": lambda: HistGradientBoostingRegressor(loss="poisson"),
    "xgboost": lambda: xgboost("Regressor"),
    "xgboost, random": lambda: xgboost(
        "Regressor", subsample=0.5, colsample_bynode=0.5, num_parallel_tree=2
    ),
    "lightgbm": lambda: lightgbm("Regressor"),
    "lightgbm, random": lambda: lightgbm(
        "Regressor", subsample=0.5, subsample_freq=2, colsample_bytree=0.5
    ),
    "lightgbm, goss": lambda: lightgbm("Regressor", boosting_type="goss"),
}

CLASSIFIERS = {
    "plain": lambda: GradientBoostingClassifier(subsample=0.5),
    "histograms": lambda: HistGradientBoostingClassifier(min_samples_leaf=5),
    "xgboost": lambda: xgboost("Classifier", subsample=0.5),
    "lightgbm": lambda: lightgbm("Classifier", min_child_samples=3),
    # Rounds without a split leave no trees here.
    "lightgbm, random": lambda: lightgbm("Classifier", subsample=0.5, subsample_freq=3),
}


@pytest.mark.parametrize("model", REGRESSORS.values(), ids=REGRESSORS)
@pytest.mark.parametrize("weighted", [False, True])
def test_regression(model, weighted):
    X, y = load_diabetes(return_X_y=True)
    weight = RNG.uniform(0.1, 2, len(y)) if weighted else None
    check_path(model(), rounds_of(model()), X, y, sample_weight=weight, rtol=0, atol=0)


@pytest.mark.parametrize("model", REGRESSORS.values(), ids=REGRESSORS)
def test_few_samples_with_ties_and_idle_columns(model):
    X = RNG.integers(0, 3, (40, 60)).astype(float)
    X[:, 1], X[:, 2] = X[:, 0], 1.0
    y = RNG.integers(1, 4, 40).astype(float)
    check_path(model(), rounds_of(model()), X, y, rtol=0, atol=0)


XGBOOST_TREES = {
    "n_estimators": [4, 2],
    "max_depth": [5, 1],
    "subsample": [0.5, np.float64(1.0)],
    "learning_rate": [0.3],
    "reg_lambda": [1, 0.1],
    "colsample_bylevel": [0.5],
}


@pytest.mark.parametrize("kind", ["array", "holes", "frame"])
@pytest.mark.parametrize(
    "params",
    [{}, {"max_bin": 7, "base_score": 100.0}, {"tree_method": "exact"}],
    ids=["default", "other bins", "exact"],
)
def test_xgboost_with_other_trees_on_the_same_columns(kind, params):
    X, y = load_diabetes(return_X_y=True, as_frame=kind == "frame")
    if kind == "holes":
        X[::3, 2] = np.nan
    weight = RNG.uniform(0.1, 2, len(y))
    model = xgboost("Regressor", **params)
    check_path(model, XGBOOST_TREES, X, y, sample_weight=weight, rtol=0, atol=0)


def test_xgboost_that_bins_columns_again_and_again_shares_rounds_only():
    X, y = load_diabetes(return_X_y=True)
    model = xgboost("Regressor", tree_method="approx", n_estimators=3)
    search = StabilitySearchCV(model, {"max_depth": [1, 2]}, cv=3)
    assert search.fit(X, y).n_fits_ == 2 * 7
    search.set_params(estimator__tree_method="hist")
    assert search.fit(X, y).n_fits_ == 7


@pytest.mark.parametrize("model", CLASSIFIERS.values(), ids=CLASSIFIERS)
@pytest.mark.parametrize("method", ["predict", "predict_proba"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classification(model, method, n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    weight = RNG.uniform(0.1, 2, len(y))
    check_path(model(), rounds_of(model()), X, y, sample_weight=weight, method=method, rtol=0, atol=0)


@pytest.mark.parametrize(
    "model",
    [
        lambda: GradientBoostingRegressor(n_iter_no_change=2),
        lambda: HistGradientBoostingRegressor(early_stopping=True),
        lambda: xgboost("Regressor", booster="dart"),
        lambda: xgboost("Regressor", booster="gblinear"),
        lambda: xgboost("Regressor", early_stopping_rounds=2),
        lambda: lightgbm("Regressor", boosting_type="dart"),
        lambda: lightgbm("Regressor", boosting_type="rf", subsample=0.5, subsample_freq=1),
        lambda: lightgbm("Regressor", num_boost_round=5),
    ],
)
def test_what_depends_on_the_number_of_rounds_is_not_served(model):
    X, y = load_diabetes(return_X_y=True)
    check_path(model(), rounds_of(model()), X, y, serves=False)


def test_what_is_stopped_early_on_many_samples_is_not_served():
    X = np.zeros((10_001, 1))
    check_path(HistGradientBoostingRegressor(), {"max_iter": [1, 2]}, X, X[:, 0], serves=False)


def test_no_number_of_rounds_is_not_served():
    X, y = load_diabetes(return_X_y=True)
    check_path(GradientBoostingRegressor(), {"n_estimators": [0, 2.5, "many"]}, X, y, serves=False)


def test_search_is_the_same_without_paths():
    X, y = load_diabetes(return_X_y=True)
    grid = {"n_estimators": [5, 10, 20], "max_depth": [1, 2]}
    searches = [
        StabilitySearchCV(GradientBoostingRegressor(subsample=0.7), grid, cv=3, use_paths=use).fit(X, y)
        for use in (True, False)
    ]
    with_paths, without = (search.cv_results_["mean_test_score"] for search in searches)
    np.testing.assert_allclose(with_paths, without, rtol=1e-12)
    assert searches[0].best_params_ == searches[1].best_params_
