"""What holds for every path: which methods and lines it has, and that one fit is enough."""

from functools import wraps

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC, SVR, NuSVC, NuSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from steadycv import SparseRidge
from steadycv.paths import PathData, find_path
from steadycv.paths.plan import plan
from steadycv.testing import check_path

X, Y = load_diabetes(return_X_y=True)
X, Y = X[:80], Y[:80]
FLOWERS, LABELS = (part[:100] for part in load_iris(return_X_y=True))

PREDICT = ("predict",)
PROBA = ("predict", "predict_proba")
DECISION = ("predict", "decision_function")
ALL = ("predict", "predict_proba", "decision_function")


def boosted(package, kind, **params):
    name = {"xgboost": "XGB", "lightgbm": "LGBM"}[package] + kind
    return getattr(pytest.importorskip(package), name)(n_jobs=1, **params)


ROUNDS = {"n_estimators": [3, 1, 5]}
DEPTHS = {"max_depth": [1, 2, None], "min_samples_split": [2, 20]}
REGRESSORS = {
    "ridge": (lambda: Ridge(), {"alpha": [0.1, 1.0]}),
    "kernel ridge": (lambda: KernelRidge(), {"alpha": [0.1, 1.0]}),
    "lasso": (lambda: Lasso(), {"alpha": [0.1, 1.0]}),
    "net": (lambda: ElasticNet(), {"alpha": [0.1, 1.0], "l1_ratio": [0.5]}),
    "sparse ridge": (lambda: SparseRidge(1), {"sparsity": [1, 2]}),
    "neighbors": (lambda: KNeighborsRegressor(), {"n_neighbors": [1, 5]}),
    "tree": (lambda: DecisionTreeRegressor(), DEPTHS),
    "forest": (lambda: RandomForestRegressor(), ROUNDS),
    "bagging": (lambda: BaggingRegressor(), ROUNDS),
    "boosting": (lambda: GradientBoostingRegressor(), ROUNDS),
    "histograms": (lambda: HistGradientBoostingRegressor(), {"max_iter": [3, 1, 5]}),
    "xgboost": (lambda: boosted("xgboost", "Regressor"), ROUNDS),
    "lightgbm": (lambda: boosted("lightgbm", "Regressor", verbose=-1), ROUNDS),
    "svm": (lambda: SVR(), {"C": [0.1, 1.0]}),
    "nu svm": (lambda: NuSVR(), {"C": [0.1, 1.0], "nu": [0.5]}),
}
CLASSIFIERS = {
    "ridge": (lambda: RidgeClassifier(), {"alpha": [0.1, 1.0]}, DECISION),
    "logistic": (lambda: LogisticRegression(solver="newton-cholesky", tol=1e-8), {"C": [0.1, 1.0]}, ALL),
    "neighbors": (lambda: KNeighborsClassifier(), {"n_neighbors": [1, 5]}, PROBA),
    "tree": (lambda: DecisionTreeClassifier(), {"ccp_alpha": [0.0, 0.02]}, PROBA),
    "forest": (lambda: RandomForestClassifier(), ROUNDS, PROBA),
    "extra trees": (lambda: ExtraTreesClassifier(), ROUNDS, PROBA),
    "bagging": (lambda: BaggingClassifier(), ROUNDS, PROBA),
    "boosting": (lambda: GradientBoostingClassifier(), ROUNDS, ALL),
    "histograms": (lambda: HistGradientBoostingClassifier(), {"max_iter": [3, 1, 5]}, ALL),
    "xgboost": (lambda: boosted("xgboost", "Classifier"), ROUNDS, PROBA),
    "lightgbm": (lambda: boosted("lightgbm", "Classifier", verbose=-1), ROUNDS, PROBA),
    "svm": (lambda: SVC(), {"C": [0.1, 1.0]}, DECISION),
    "nu svm": (lambda: NuSVC(), {"nu": [0.1, 0.2]}, DECISION),
}


@pytest.mark.parametrize(("make", "grid"), REGRESSORS.values(), ids=REGRESSORS)
def test_regressors_predict(make, grid):
    model = make()
    assert tuple(find_path(model).methods(model)) == PREDICT


@pytest.mark.parametrize(("make", "grid", "methods"), CLASSIFIERS.values(), ids=CLASSIFIERS)
def test_methods_of_classifiers(make, grid, methods):
    model = make()
    assert tuple(find_path(model).methods(model)) == methods


def fits_of(model, grid, methods, monkeypatch):
    """How often the estimator is fitted for all candidates."""
    n_fits, fit = [], type(model).fit

    @wraps(fit)
    def counting(self, *args, **kwargs):
        n_fits.append(1)
        return fit(self, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(type(model), "fit", counting)
        settings = list(ParameterGrid(grid))
        [group] = plan(model, settings, FLOWERS, LABELS, methods=methods)
        prepared = group.path.prepare(group.estimator, FLOWERS, LABELS)
        rows = np.arange(0, 100, 2)
        data = PathData(FLOWERS, LABELS, rows, FLOWERS[rows], LABELS[rows], {}, methods, prepared)
        found = group.path.outputs(group.estimator, settings, data)
    assert tuple(found) == methods
    return len(n_fits)


@pytest.mark.parametrize(("make", "grid", "methods"), CLASSIFIERS.values(), ids=CLASSIFIERS)
def test_all_methods_come_from_one_fit(make, grid, methods, monkeypatch):
    one = fits_of(make(), grid, methods[:1], monkeypatch)
    assert fits_of(make(), grid, methods, monkeypatch) == one


@pytest.mark.parametrize(("make", "grid", "methods"), CLASSIFIERS.values(), ids=CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_outputs_are_those_of_each_method(make, grid, methods, n_classes):
    flowers, labels = load_iris(return_X_y=True)
    flowers, labels = flowers[labels < n_classes], labels[labels < n_classes]
    check_path(make(), grid, flowers, labels, methods=methods, rtol=1e-5, atol=1e-5, serves=None)


@pytest.mark.parametrize(("make", "grid"), REGRESSORS.values(), ids=REGRESSORS)
@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_numbers_held_as_objects(make, grid):
    check_path(make(), grid, X, Y.astype(object), rtol=1e-5, atol=1e-5, serves=None)


def lines_of(model, grid, X, y):
    """The sizes of the lines of each group."""
    return [sorted(np.bincount(group.lines)) for group in plan(model, list(ParameterGrid(grid)), X, y)]


ONE_LINE = ("ridge", "kernel ridge", "lasso", "net", "sparse ridge", "neighbors", "tree", "forest")


@pytest.mark.parametrize("name", ONE_LINE)
def test_one_line(name):
    make, grid = REGRESSORS[name]
    n_candidates = len(ParameterGrid(grid))
    assert lines_of(make(), grid, X, Y) == [[n_candidates]]


@pytest.mark.parametrize("name", ["boosting", "histograms", "lightgbm", "xgboost", "svm", "nu svm"])
def test_every_candidate_a_line(name):
    make, grid = REGRESSORS[name]
    n_candidates = len(ParameterGrid(grid))
    assert lines_of(make(), grid, X, Y) == [[1] * n_candidates]


@pytest.mark.parametrize(
    "params",
    [{"max_features": 3}, {"max_features": "sqrt"}, {"max_leaf_nodes": 9}, {"splitter": "random"}],
)
def test_trees_that_are_grown_apart_are_lines_of_their_own(params):
    tree = DecisionTreeRegressor(**params)
    grid = {"max_depth": [1, 3], "ccp_alpha": [0.0, 50.0], "min_samples_split": [2, 0.3]}
    assert lines_of(tree, grid, X, Y) == [[1] * 8]
    check_path(tree, grid, X, Y)


def test_forests_that_are_grown_apart_are_lines_of_their_own():
    forest = RandomForestClassifier()
    grid = {"n_estimators": [2, 4, 3], "max_depth": [1, 3], "ccp_alpha": [0.0, 0.05]}
    assert lines_of(forest, grid, FLOWERS, LABELS) == [[1] * 12]
    check_path(forest, grid, FLOWERS, LABELS, methods=PROBA)


@pytest.mark.filterwarnings("ignore:.*friedman_mse:FutureWarning")
def test_trees_that_are_grown_apart_for_each_decrease_are_lines_by_it():
    tree = DecisionTreeRegressor(criterion="friedman_mse")
    grid = {"max_depth": [1, 2], "min_impurity_decrease": [0.0, 20.0]}
    # Since 1.9 this is another name of a criterion whose decreases are known.
    assert lines_of(tree, grid, X, Y) == [[4] if tree.criterion == "squared_error" else [2, 2]]
    check_path(tree, grid, X, Y)
