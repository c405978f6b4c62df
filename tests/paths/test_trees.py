"""Trees: a smaller tree is a truncation of a grown one, and a smaller forest its first trees."""

from math import ceil

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import Ridge
from sklearn.model_selection import ParameterGrid
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from steadycv import StabilitySearchCV
from steadycv.paths import PathData, find_path
from steadycv.testing import check_path

REGRESSOR = DecisionTreeRegressor(random_state=0)
CLASSIFIER = DecisionTreeClassifier(random_state=0)
LIMITS = {"max_depth": [1, 3, 6, None], "min_samples_split": [2, 7, 0.3]}
DECREASES = {"max_depth": [2, None], "min_impurity_decrease": [0.0, 0.01, 0.05]}
ALPHAS = {"max_depth": [2, 4, None], "min_samples_split": [2, 9], "ccp_alpha": [0.0, 0.003, 0.02, 1.0]}


def untied(n=90, seed=0):
    """One feature, so that no order of features can break a tie."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 1))
    return X, np.sin(3 * X[:, 0]) + rng.normal(size=n), rng.integers(0, 3, size=n)


def tied(n=80, p=6, seed=0):
    """Ties within and between columns, a duplicated and a constant one."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n, p)).astype(float)
    X[:, 1], X[:, 2] = X[:, 0], 1.0
    return X, X[:, 0] + rng.integers(0, 3, size=n), rng.integers(0, 3, size=n)


def weights(n):
    return np.random.default_rng(1).integers(0, 3, size=n) / 2


def path_outputs(estimator, grid, X, y, rows, sample_weight=None, method="predict"):
    path = find_path(estimator)
    settings = list(ParameterGrid(grid))
    assert all(path.serves(estimator, setting, X, y) for setting in settings)
    fit_params = {} if sample_weight is None else {"sample_weight": sample_weight[rows]}
    prepared = path.prepare(estimator, X, y)
    data = PathData(X, y, rows, X[rows], y[rows], fit_params, (method,), prepared)
    return settings, path.outputs(estimator, settings, data)[method]


def walk(tree, x, max_depth, min_samples_split):
    """The node at which a sample stops, one step after the other."""
    node = depth = 0
    while (
        tree.children_left[node] != -1
        and (max_depth is None or depth < max_depth)
        and tree.n_node_samples[node] >= min_samples_split
    ):
        goes_left = np.float32(x[tree.feature[node]]) <= tree.threshold[node]
        node = tree.children_left[node] if goes_left else tree.children_right[node]
        depth += 1
    return node


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "p"), [(80, 6), (20, 40)])
@pytest.mark.parametrize("estimator", [REGRESSOR, CLASSIFIER])
def test_with_ties_each_output_is_the_truncation_of_one_grown_tree(estimator, n, p, weighted):
    X, numbers, labels = tied(n, p)
    y = numbers if estimator is REGRESSOR else labels
    method = "predict" if estimator is REGRESSOR else "predict_proba"
    rows = np.arange(n)[: n * 3 // 4]
    sample_weight = weights(n) if weighted else np.ones(n)
    settings, outputs = path_outputs(estimator, LIMITS, X, y, rows, sample_weight, method)
    grown = clone(estimator).fit(X[rows], y[rows], sample_weight[rows])
    for setting, output in zip(settings, outputs, strict=True):
        split = setting["min_samples_split"]
        n_split = split if isinstance(split, int) else max(2, ceil(split * len(rows)))
        nodes = [walk(grown.tree_, x, setting["max_depth"], n_split) for x in X]
        values = grown.tree_.value[nodes, 0]
        np.testing.assert_array_equal(output, values[:, 0] if method == "predict" else values)


def test_with_ties_it_is_no_further_from_separate_fits_than_another_seed():
    X, y = load_diabetes(return_X_y=True)
    rows, held_out = np.arange(0, 350), np.arange(350, 442)
    grid = {"max_depth": range(1, 11), "min_samples_split": range(2, 11)}

    def by_path(seed):
        _, outputs = path_outputs(clone(REGRESSOR).set_params(random_state=seed), grid, X, y, rows)
        return outputs[:, held_out]

    def separate(seed):
        trees = [DecisionTreeRegressor(random_state=seed, **setting) for setting in ParameterGrid(grid)]
        return np.array([tree.fit(X[rows], y[rows]).predict(X[held_out]) for tree in trees])

    def different(some, others):
        return np.mean([(~np.isclose(*pair)).mean() for pair in zip(some, others, strict=True)])

    separately = [separate(seed) for seed in range(3)]
    between_seeds = different(separately, separately[1:] + separately[:1])
    assert 0 < different(map(by_path, range(3)), separately) <= between_seeds < 0.05


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grid", [LIMITS, DECREASES, ALPHAS])
@pytest.mark.parametrize(
    "estimator",
    [
        REGRESSOR,
        DecisionTreeRegressor(criterion="absolute_error", random_state=0),
        DecisionTreeRegressor(min_samples_leaf=4, monotonic_cst=[1], random_state=0),
        # These are grown anew for all but ccp_alpha.
        DecisionTreeRegressor(splitter="random", random_state=0),
        DecisionTreeRegressor(max_leaf_nodes=9, random_state=0),
    ],
)
def test_regression_tree(estimator, grid, weighted):
    X, y, _ = untied()
    check_path(estimator, grid, X, y, sample_weight=weights(len(y)) if weighted else None)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grid", [LIMITS, DECREASES, ALPHAS])
@pytest.mark.parametrize("method", ["predict", "predict_proba"])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_classification_tree(criterion, method, grid, weighted):
    X, _, y = untied()
    y = np.array(["a", "b", "c"])[y]
    estimator = DecisionTreeClassifier(criterion=criterion, class_weight="balanced", random_state=0)
    sample_weight = weights(len(y)) if weighted else None
    check_path(estimator, grid, X, y, sample_weight=sample_weight, methods=[method])


@pytest.mark.parametrize("grid", [LIMITS, DECREASES])
def test_counts(grid):
    X, y, _ = untied()
    estimator = DecisionTreeRegressor(criterion="poisson", random_state=0)
    check_path(estimator, grid, X, np.round(np.exp(y)))


def test_several_outputs():
    X, y, labels = untied()
    check_path(REGRESSOR, LIMITS | ALPHAS, X, np.column_stack([y, labels]))


def test_several_features_while_nodes_are_large():
    X, y = load_diabetes(return_X_y=True)
    check_path(REGRESSOR, {"max_depth": [1, 2, 3], "min_samples_split": [50, 0.3]}, X, y)


def test_trees_that_look_at_some_features_are_grown_anew():
    X, y = load_diabetes(return_X_y=True)
    estimator = DecisionTreeRegressor(max_features=3, random_state=0)
    check_path(estimator, {"max_depth": [2, 8], "ccp_alpha": [0.0, 30.0]}, X, y)


def test_missing_values():
    X, y, _ = untied()
    X[::7] = np.nan
    check_path(REGRESSOR, LIMITS, X, y)


def test_data_frame():
    X, y, labels = untied()
    X, names = pd.DataFrame({"x": X[:, 0]}), pd.Series(np.array(["ant", "bee", "cat"])[labels])
    check_path(REGRESSOR, LIMITS, X, pd.Series(y))
    check_path(CLASSIFIER, LIMITS, X, names)
    assert all(
        find_path(tree).prepare(tree, X, y).grower
        for tree, y in [(REGRESSOR, labels), (CLASSIFIER, names)]
    )


def test_a_class_that_the_training_set_does_not_have():
    X, _, y = untied()
    y[:] = np.arange(len(y)) > 2
    y[-1] = 2
    rows = np.arange(len(y) - 1)
    _, (probabilities,) = path_outputs(
        CLASSIFIER, {"max_depth": [3]}, X, y, rows, method="predict_proba"
    )
    separate = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[rows], y[rows])
    np.testing.assert_array_equal(probabilities, separate.predict_proba(X))


UNUSUAL = [
    DecisionTreeRegressor(criterion="absolute_error", random_state=0),
    DecisionTreeRegressor(splitter="random", random_state=0),
    DecisionTreeRegressor(max_leaf_nodes=9, random_state=0),
    DecisionTreeRegressor(max_features=0.5, random_state=0),
    DecisionTreeRegressor(monotonic_cst=[1, 0, 0], random_state=0),
    DecisionTreeClassifier(max_features="sqrt", random_state=0),
    RandomForestRegressor(n_estimators=3, max_samples=0.5, random_state=0),
    RandomForestRegressor(n_estimators=3, n_jobs=2, random_state=0),
    RandomForestClassifier(n_estimators=3, random_state=0),
    RandomForestClassifier(n_estimators=3, max_features=None, class_weight="balanced", random_state=0),
    ExtraTreesRegressor(n_estimators=3, random_state=0),
]


@pytest.mark.parametrize("estimator", UNUSUAL, ids=str)
def test_unusual_trees_are_left_to_scikit_learn(estimator):
    X, y = load_iris(return_X_y=True)
    X = X[:, :3]
    prepared = find_path(estimator).prepare(estimator, X, y)
    assert getattr(prepared, "grower", prepared) is None
    check_path(estimator, {"max_depth": [None]}, X, y, rtol=0, atol=0)


@pytest.mark.parametrize(
    "sample_weight", [np.full(90, -1.0), np.zeros(90), np.array([np.nan] * 90), np.ones(7)]
)
def test_unusual_weights_are_left_to_scikit_learn(sample_weight):
    X, y, _ = untied()
    path, data = find_path(REGRESSOR), (X, y, np.arange(90), X, y, {"sample_weight": sample_weight})
    prepared = path.prepare(REGRESSOR, X, y)
    results = []
    for some in (prepared, prepared._replace(grower=None)):
        try:
            found = path.outputs(REGRESSOR, [{"max_depth": 3}], PathData(*data, ("predict",), some))
            results.append(found["predict"])
        except ValueError as error:
            results.append(np.array(type(error).__name__))
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize(
    ("estimator", "data"),
    [
        (DecisionTreeRegressor(min_samples_leaf=0.02, random_state=3), load_diabetes),
        (DecisionTreeRegressor(random_state=np.random.RandomState(3)), load_diabetes),
        (DecisionTreeClassifier(criterion="log_loss", random_state=3), load_iris),
        (DecisionTreeClassifier(class_weight={0: 2, 1: 1, 2: 4}, random_state=3), load_iris),
        (RandomForestRegressor(random_state=3), load_diabetes),
        (RandomForestRegressor(bootstrap=False, random_state=np.random.RandomState(3)), load_diabetes),
        (RandomForestClassifier(max_features=None, min_samples_leaf=2, random_state=3), load_iris),
    ],
)
def test_common_trees_are_grown_without_scikit_learn(monkeypatch, estimator, data):
    X, y = data(return_X_y=True)
    grid = {"n_estimators": [1, 4, 9]} if hasattr(estimator, "n_estimators") else {"max_depth": [None]}
    method = "predict" if data is load_diabetes else "predict_proba"
    check_path(estimator, grid, X, y, methods=[method], rtol=0, atol=0)
    monkeypatch.setattr(type(estimator), "fit", None)
    path_outputs(estimator, grid, X, y, np.arange(len(y)), method=method)


def test_alphas_of_the_pruning_path_itself():
    X, y = load_diabetes(return_X_y=True)
    alphas = REGRESSOR.cost_complexity_pruning_path(X, y).ccp_alphas[::15]
    settings, outputs = path_outputs(REGRESSOR, {"ccp_alpha": alphas}, X, y, np.arange(len(y)))
    for setting, output in zip(settings, outputs, strict=True):
        separate = clone(REGRESSOR).set_params(**setting).fit(X, y)
        np.testing.assert_array_equal(output, separate.predict(X))


@pytest.mark.parametrize("max_features", [1.0, 3, "sqrt"])
def test_the_first_trees_of_a_forest(max_features):
    X, y = load_diabetes(return_X_y=True)
    forest = RandomForestRegressor(max_features=max_features, random_state=0)
    check_path(forest, {"n_estimators": [1, 4, 9], "max_depth": [2]}, X, y)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "p"), [(80, 6), (20, 40)])
@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestRegressor,
        RandomForestClassifier,
        ExtraTreesRegressor,
        ExtraTreesClassifier,
        BaggingRegressor,
        BaggingClassifier,
    ],
)
def test_the_first_trees_on_data_with_ties(ensemble, n, p, weighted):
    X, numbers, labels = tied(n, p)
    y = labels if "Classifier" in ensemble.__name__ else numbers
    sample_weight = weights(n) if weighted else None
    grid = {"n_estimators": [1, 4, 9]}
    check_path(ensemble(random_state=0), grid, X, y, sample_weight=sample_weight, rtol=0, atol=1e-15)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
@pytest.mark.parametrize("forest", [RandomForestClassifier, ExtraTreesClassifier])
def test_classification_forest(forest, method):
    X, y = load_iris(return_X_y=True)
    grid = {"n_estimators": [2, 5], "max_depth": [1, None], "min_samples_split": [2, 0.3]}
    estimator = forest(class_weight="balanced_subsample", bootstrap=True, random_state=0)
    check_path(estimator, grid, X, y, methods=[method])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("forest", [RandomForestRegressor, ExtraTreesRegressor])
def test_regression_forest_tree_by_tree(forest, weighted):
    X, y, _ = untied()
    grid = {"n_estimators": [3, 8], "max_depth": [2, None], "ccp_alpha": [0.0, 0.02]}
    sample_weight = weights(len(y)) if weighted else None
    check_path(forest(random_state=0), grid, X, y, sample_weight=sample_weight)


@pytest.mark.parametrize("tree", [None, DecisionTreeRegressor(max_depth=3)])
def test_bagged_regression_trees(tree):
    X, y = load_diabetes(return_X_y=True)
    bagging = BaggingRegressor(tree, max_features=0.5, random_state=0)
    check_path(bagging, {"n_estimators": [1, 6, 10]}, X, y)


@pytest.mark.parametrize("weighted", [False, True])
def test_bagged_trees_tree_by_tree(weighted):
    X, y, _ = untied()
    grid = {"n_estimators": [3, 8]} | {f"estimator__{name}": values for name, values in LIMITS.items()}
    sample_weight = weights(len(y)) if weighted else None
    check_path(BaggingRegressor(REGRESSOR, random_state=0), grid, X, y, sample_weight=sample_weight)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_bagged_classification_trees(method):
    X, _, y = untied()
    grid = {"n_estimators": [3, 8], "estimator__max_depth": [2, None]}
    check_path(BaggingClassifier(CLASSIFIER, random_state=0), grid, X, y, methods=[method])


@pytest.mark.parametrize(
    "setting",
    [
        {"max_depth": 0},
        {"max_depth": "deep"},
        {"min_samples_split": 1},
        {"min_samples_split": 1.5},
        {"min_samples_split": None},
        {"ccp_alpha": -1.0},
        {"min_impurity_decrease": np.nan},
    ],
)
def test_wrong_values_are_left_to_the_separate_fit(setting):
    X, y, _ = untied()
    assert not find_path(REGRESSOR).serves(REGRESSOR, setting, X, y)


def test_what_is_not_served():
    X, y, labels = untied()
    grid = {"max_depth": [1, 2]}
    check_path(REGRESSOR, grid, csr_array(X), y, serves=False)
    check_path(CLASSIFIER, grid, X, np.column_stack([labels, labels]), serves=False)
    check_path(RandomForestRegressor(random_state=0), {"n_estimators": [0]}, X, y, serves=False)
    check_path(BaggingRegressor(Ridge(), random_state=0), {"n_estimators": [2]}, X, y, serves=False)
    with sklearn.config_context(enable_metadata_routing=True):
        bagging = BaggingRegressor(random_state=0)
        check_path(bagging, {"n_estimators": [2]}, X, y, serves=False)


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (REGRESSOR, {"max_depth": [1, 3, None], "min_samples_split": [1, 2, 9]}),
        (RandomForestRegressor(random_state=0), {"n_estimators": [2, 5], "max_depth": [2, 4]}),
        (BaggingRegressor(Ridge(), random_state=0), {"n_estimators": [2, 5]}),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_search_is_the_same_without_paths(estimator, grid):
    X, y, _ = untied()
    with_paths, without = (
        StabilitySearchCV(
            estimator, grid, cv=3, scoring="neg_mean_squared_error", use_paths=use_paths
        ).fit(X, y)
        for use_paths in (True, False)
    )
    assert with_paths.best_params_ == without.best_params_
    for name, values in without.cv_results_.items():
        if isinstance(values, np.ndarray) and values.dtype.kind == "f" and not name.endswith("_time"):
            np.testing.assert_allclose(with_paths.cv_results_[name], values, rtol=1e-9, err_msg=name)


def test_ties_do_not_depend_on_who_else_is_asked_for():
    X, y = load_diabetes(return_X_y=True)
    tree, grid = (
        DecisionTreeRegressor(random_state=0),
        {"max_depth": range(1, 9), "min_samples_split": [2, 9]},
    )
    whole = StabilitySearchCV(tree, grid).fit(X, y)
    some = StabilitySearchCV(tree, grid, search="coordinate").fit(X, y)
    looked_at = ~np.isnan(some.cv_results_["instability"])
    assert 0 < looked_at.sum() < 16
    np.testing.assert_allclose(
        some.cv_results_["instability"][looked_at],
        whole.cv_results_["instability"][looked_at],
        rtol=1e-12,
    )
