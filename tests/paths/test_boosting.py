import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import is_classifier
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from steadycv import StabilitySearchCV
from steadycv._compat import bin_once
from steadycv.paths import PathData, find_path
from steadycv.testing import check_path

RNG = np.random.default_rng(0)
ROUNDS = [7, 1, np.int64(20), 3]


def rounds_of(model):
    return {"max_iter" if "Hist" in type(model).__name__ else "n_estimators": ROUNDS}


def xgboost(kind, **params):
    return getattr(pytest.importorskip("xgboost"), f"XGB{kind}")(n_jobs=1, **params)


def lightgbm(kind, **params):
    return getattr(pytest.importorskip("lightgbm"), f"LGBM{kind}")(n_jobs=1, verbose=-1, **params)


def catboost(kind, **params):
    options = {"learning_rate": 0.1, "thread_count": 1, "verbose": 0, "allow_writing_files": False}
    return getattr(pytest.importorskip("catboost"), f"CatBoost{kind}")(**options | params)


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
    "xgboost, other link": lambda: xgboost("Regressor", objective="count:poisson"),
    "xgboost, median": lambda: xgboost("Regressor", objective="reg:absoluteerror"),
    "lightgbm": lambda: lightgbm("Regressor"),
    "lightgbm, other link": lambda: lightgbm("Regressor", objective="poisson"),
    "lightgbm, median": lambda: lightgbm("Regressor", objective="regression_l1"),
    "lightgbm, random": lambda: lightgbm(
        "Regressor", subsample=0.5, subsample_freq=2, colsample_bytree=0.5
    ),
    "lightgbm, goss": lambda: lightgbm("Regressor", boosting_type="goss"),
    "catboost": lambda: catboost("Regressor"),
    "catboost, random": lambda: catboost(
        "Regressor", bootstrap_type="Bernoulli", subsample=0.5, rsm=0.5, random_strength=3
    ),
    "catboost, ordered": lambda: catboost("Regressor", boosting_type="Ordered"),
    "catboost, other link": lambda: catboost("Regressor", loss_function="Poisson"),
    "catboost, median": lambda: catboost("Regressor", loss_function="MAE", grow_policy="Lossguide"),
}

CLASSIFIERS = {
    "plain": lambda: GradientBoostingClassifier(subsample=0.5),
    "histograms": lambda: HistGradientBoostingClassifier(min_samples_leaf=5),
    "xgboost": lambda: xgboost("Classifier", subsample=0.5),
    "lightgbm": lambda: lightgbm("Classifier", min_child_samples=3),
    # Rounds without a split leave no trees here.
    "lightgbm, random": lambda: lightgbm("Classifier", subsample=0.5, subsample_freq=3),
    "catboost": lambda: catboost("Classifier", auto_class_weights="Balanced"),
}


@pytest.mark.parametrize("model", REGRESSORS.values(), ids=REGRESSORS)
@pytest.mark.parametrize("weighted", [False, True])
def test_regression(model, weighted):
    X, y = load_diabetes(return_X_y=True)
    weight = RNG.uniform(0.1, 2, len(y)) if weighted else None
    check_path(model(), rounds_of(model()), X, y, sample_weight=weight, rtol=0, atol=0)


@pytest.mark.parametrize(
    "model",
    [*REGRESSORS.values(), *CLASSIFIERS.values()],
    ids=[*REGRESSORS, *(f"classes, {name}" for name in CLASSIFIERS)],
)
def test_few_samples_with_ties_and_idle_columns(model):
    X = RNG.integers(0, 3, (40, 60)).astype(float)
    X[:, 1], X[:, 2] = X[:, 0], 1.0
    y = np.arange(40) % 3 + RNG.integers(0, 2, 40) - np.arange(40) % 3 // 2
    check_path(model(), rounds_of(model()), X, y, rtol=0, atol=0)


@pytest.mark.parametrize("model", CLASSIFIERS.values(), ids=CLASSIFIERS)
@pytest.mark.parametrize("method", ["predict", "predict_proba"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classification(model, method, n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    weight = RNG.uniform(0.1, 2, len(y))
    check_path(model(), rounds_of(model()), X, y, sample_weight=weight, methods=[method], rtol=0, atol=0)


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
        lambda: lightgbm("Regressor", early_stopping_round=5),
        lambda: lightgbm("Regressor", linear_tree=True),
        lambda: catboost("Regressor", learning_rate=None),
        lambda: catboost("Regressor", posterior_sampling=True),
        lambda: catboost("Regressor", model_shrink_rate=0.1),
        lambda: catboost("Regressor", od_type="Iter"),
        lambda: catboost("Regressor", num_trees=5),  # and n_estimators
    ],
)
def test_what_depends_on_the_number_of_rounds_is_not_served(model):
    X, y = load_diabetes(return_X_y=True)
    check_path(model(), rounds_of(model()), X, y, serves=False)


def test_what_is_stopped_early_on_many_samples_is_not_served():
    X = np.zeros((10_001, 1))
    check_path(HistGradientBoostingRegressor(), {"max_iter": [1, 2]}, X, X[:, 0], serves=False)


FITTED_FOR_EACH = {
    "n_estimators": [2, 9],
    "max_depth": [1, 3],
    "learning_rate": [0.1, 0.5],
    "subsample": [0.5, 1.0],
    "reg_lambda": [0.0, 2.0],
}


@pytest.mark.parametrize(
    "model",
    [
        lambda: xgboost("Regressor"),
        lambda: xgboost("Regressor", tree_method="exact"),
        lambda: lightgbm("Regressor", subsample_freq=2),
        lambda: lightgbm("Regressor", objective="poisson", colsample_bytree=0.5),
        lambda: lightgbm("Classifier"),
    ],
)
def test_all_that_shares_the_binned_data(model):
    X, y = load_diabetes(return_X_y=True)
    y = np.digitize(y, [100, 200]) if is_classifier(model()) else y
    weight = RNG.uniform(0.1, 2, len(y))
    check_path(model(), FITTED_FOR_EACH, X, y, sample_weight=weight, rtol=0, atol=0)


def test_lightgbm_shares_binned_data_with_all_of_its_parameters():
    X, y = load_diabetes(return_X_y=True)
    grid = {
        "n_estimators": [3, 30],
        "num_leaves": [3, 31],
        "min_split_gain": [0.0, 100.0],
        "min_child_weight": [0.001, 60.0],
        "subsample_freq": [0, 1],
        "colsample_bytree": [0.4, 1.0],
        "reg_alpha": [0.0, 20.0],
    }
    model = lightgbm("Regressor", subsample=0.5, learning_rate=0.3, min_child_samples=5)
    check_path(model, grid, X, y, rtol=0, atol=0)


def test_lightgbm_with_an_objective_of_ones_own():
    def squared(y_true, y_pred):
        return y_pred - y_true, np.ones_like(y_true)

    X, y = load_diabetes(return_X_y=True)
    grid = {"n_estimators": [2, 9], "max_depth": [1, 3]}
    check_path(lightgbm("Regressor", objective=squared), grid, X, y, rtol=0, atol=0)


def test_xgboost_bins_each_training_set_once(monkeypatch):
    sklearn_face = pytest.importorskip("xgboost.sklearn")
    n_binned = []

    class Counting(sklearn_face.QuantileDMatrix):
        def __init__(self, *args, **kwargs):
            n_binned.append(1)
            super().__init__(*args, **kwargs)

    monkeypatch.setattr(sklearn_face, "QuantileDMatrix", Counting)
    X, y = load_diabetes(return_X_y=True)
    grid = {"n_estimators": [1, 2], "max_depth": [1, 2, 3]}
    search = StabilitySearchCV(xgboost("Regressor"), grid, cv=3, refit=False).fit(X, y)
    assert len(n_binned) == search.n_fits_ == 1 + 3 + 3


def test_xgboost_bins_a_training_set_once_for_all_settings(monkeypatch):
    sklearn_face = pytest.importorskip("xgboost.sklearn")
    n_binned = []

    class Counting(sklearn_face.QuantileDMatrix):
        def __init__(self, *args, **kwargs):
            n_binned.append(1)
            super().__init__(*args, **kwargs)

    monkeypatch.setattr(sklearn_face, "QuantileDMatrix", Counting)
    X, y = load_diabetes(return_X_y=True)
    model, settings = xgboost("Regressor"), [{"n_estimators": 2, "max_depth": d} for d in (1, 2, 3)]
    find_path(model).outputs(model, settings, PathData(X, y, np.arange(len(y)), X, y, {}))
    assert len(n_binned) == 1


def test_models_that_share_bins_have_one_matrix():
    X, y = load_diabetes(return_X_y=True)
    models, shared = [xgboost("Regressor", n_estimators=1) for _ in range(2)], {}
    for model in models:
        bin_once(model, shared)
    first, second = (model._create_dmatrix(None, data=X, label=y) for model in models)
    assert first is second is shared["bins"]


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"ant": 2.0, "cat": 0.5}])
def test_lightgbm_with_named_classes(method, class_weight):
    X, y = load_iris(return_X_y=True)
    model = lightgbm("Classifier", class_weight=class_weight, min_child_samples=3)
    names = np.array(["ant", "bee", "cat"])[y]
    check_path(model, rounds_of(model), X, names, methods=[method], rtol=0, atol=0)


def missing(X):
    X = X.copy()
    X[::5, 2] = np.nan
    return X


def frame(X):
    columns = {f"x{i}": column for i, column in enumerate(X.T)}
    kinds = np.array(["ant", "bee", "cat"])[np.arange(len(X)) % 3]
    return pd.DataFrame(columns | {"kind": pd.Categorical(kinds)})


def sparse(X):
    return csr_matrix(np.where(np.abs(X) < 0.02, 0, X))


@pytest.mark.parametrize("make", [missing, frame, sparse, np.float32])
@pytest.mark.parametrize(
    ("model", "others"),
    [
        (lambda: xgboost("Regressor", enable_categorical=True), {"max_depth": [1, 3]}),
        (lambda: lightgbm("Regressor"), {}),
    ],
    ids=["xgboost", "lightgbm"],
)
def test_other_data(model, others, make):
    X, y = load_diabetes(return_X_y=True)
    check_path(model(), rounds_of(model()) | others, make(X), y, rtol=0, atol=0)


@pytest.mark.parametrize("make", [xgboost, lightgbm])
def test_lists(make):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:60].tolist(), y[:60].tolist()
    grid = {"n_estimators": [3, 9], "max_depth": [1, 2]}
    searches = [
        StabilitySearchCV(make("Regressor"), grid, cv=3, refit=False, use_paths=use).fit(X, y)
        for use in (True, False)
    ]
    with_paths, without = (search.cv_results_["mean_test_score"] for search in searches)
    np.testing.assert_allclose(with_paths, without, rtol=1e-12)


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


@pytest.mark.parametrize("name", ["iterations", "n_estimators", "num_boost_round", "num_trees"])
def test_catboosts_names_of_the_rounds(name):
    X, y = load_diabetes(return_X_y=True)
    check_path(catboost("Regressor"), {name: ROUNDS}, X, y, rtol=0, atol=0)
    check_path(catboost("Regressor", **{name: 4}), {name: ROUNDS}, X, y, rtol=0, atol=0)
    search = StabilitySearchCV(catboost("Regressor", depth=3), {name: [1, 5, 20]}, cv=3).fit(X, y)
    assert search.n_fits_ == 1 + 3 + 3
    theirs = [search.best_estimator_.score(X, y), search.score(X, y)]
    assert np.ptp(theirs) < 1e-12  # what they call their score is R²


def test_catboost_with_a_frame_and_named_classes():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["ant", "bee", "cat"])[y]
    for methods in (["predict"], ["predict_proba"]):
        check_path(catboost("Classifier"), {"iterations": ROUNDS}, X, names, methods=methods)


def test_catboost_in_a_pipeline():
    X, y = load_diabetes(return_X_y=True)
    model = make_pipeline(StandardScaler(), catboost("Regressor", depth=3))
    search = StabilitySearchCV(model, {"catboostregressor__iterations": [1, 5, 20]}, cv=3).fit(X, y)
    assert search.n_fits_ == 1 + 3 + 3
