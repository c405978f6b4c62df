import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel

from steadycv import StabilitySearchCV
from steadycv.paths import PathData, find_path
from steadycv.testing import check_path

ALPHAS = {"alpha": [1e-3, 1.0, 0.1, 100.0]}
METHODS = ["predict", "predict_proba", "decision_function"]
NET = {"alpha": [0.1, 1.0, 0.3], "l1_ratio": [0.2, 1.0]}


def awkward(n_samples=60, n_features=8, seed=0):
    """Integer values, a duplicated column, a constant one, duplicated rows."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(n_samples, n_features)).astype(float)
    X[:, 1], X[:, 2], X[5:10] = X[:, 0], 7.0, X[10:15]
    return X, X @ rng.normal(size=n_features) + rng.normal(size=n_samples) + 50.0, rng


def labels(X, n_classes, rng):
    names = np.array(["ant", "bee", "cat", "dog"])[:n_classes]
    return names[np.argmax(X[:, -n_classes:] + rng.normal(size=(len(X), n_classes)), axis=1)]


tall, wide = (60, 8), (30, 70)
shapes = pytest.mark.parametrize("shape", [tall, wide])
intercepts = pytest.mark.parametrize("fit_intercept", [True, False])


@shapes
@intercepts
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("solver", ["auto", "svd"])
def test_ridge(shape, fit_intercept, weighted, solver):
    X, y, rng = awkward(*shape)
    weight = rng.uniform(0.0, 2.0, len(y)) if weighted else None
    check_path(Ridge(fit_intercept=fit_intercept, solver=solver), ALPHAS, X, y, sample_weight=weight)


@shapes
def test_ridge_with_several_targets_and_a_far_origin(shape):
    X, y, rng = awkward(*shape)
    check_path(Ridge(), ALPHAS, X + 100.0, np.c_[y, -y, rng.normal(size=len(y))])


@shapes
def test_ridge_leaves_ill_conditioned_systems_to_the_solver(shape):
    X, y, _ = awkward(*shape)
    check_path(Ridge(solver="svd"), {"alpha": [0.0, 1e-14, 1.0]}, X, y)


def test_ridge_takes_integers_and_data_frames():
    X, y, _ = awkward()
    check_path(Ridge(), ALPHAS, X.astype(int), y)
    check_path(Ridge(), ALPHAS, pd.DataFrame(X), pd.Series(y))


@shapes
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_ridge_classifier(shape, n_classes, weighted):
    X, _, rng = awkward(*shape)
    weight = rng.uniform(0.1, 2.0, len(X)) if weighted else None
    check_path(RidgeClassifier(), ALPHAS, X, labels(X, n_classes, rng), sample_weight=weight)


def test_ridge_classifier_lets_the_estimator_decide_ties():
    X = np.array([[-1.0], [0.0], [1.0]] * 4)
    check_path(
        RidgeClassifier(fit_intercept=False), ALPHAS, X, np.array(["a", "b", "b", "b", "a", "b"] * 2)
    )


@pytest.mark.filterwarnings("ignore:Singular matrix")  # a sigmoid's kernel is not definite
@shapes
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "laplacian", "sigmoid", "cosine"])
@pytest.mark.parametrize("weighted", [False, True])
def test_kernel_ridge(shape, kernel, weighted):
    X, y, rng = awkward(*shape)
    weight = rng.uniform(0.1, 2.0, len(y)) if weighted else None
    check_path(KernelRidge(kernel=kernel, gamma=0.01), {"alpha": [0.1, 1.0]}, X, y, sample_weight=weight)


def test_kernel_ridge_on_a_precomputed_kernel():
    X, y, _ = awkward()
    X = rbf_kernel(X)
    grid = {"alpha": np.logspace(-3, 1, 5)}
    assert_same_search(KernelRidge(kernel="precomputed"), grid, X, y)


@pytest.mark.parametrize(
    "estimator",
    [
        Ridge(positive=True),
        *(Ridge(solver=s) for s in ("lsqr", "sparse_cg", "sag", "saga")),
        RidgeClassifier(class_weight="balanced"),
        KernelRidge(kernel=lambda a, b: a @ b),
        KernelRidge(kernel="chi2"),
    ],
)
def test_ridge_does_not_serve(estimator):
    X, y, _ = awkward()
    check_path(estimator, ALPHAS, X, (y > 50).astype(int), serves=False)


@pytest.mark.parametrize("estimator", [Ridge(), KernelRidge(), Lasso(), ElasticNet()])
def test_data_not_served(estimator):
    X, y, _ = awkward()
    missing = np.where(X == 7.0, np.nan, X)
    for data in (csr_matrix(X), X.astype(np.float32), X.astype(object), missing):
        check_path(estimator, ALPHAS, data, y, serves=False)
    check_path(estimator, ALPHAS, X, y[:, np.newaxis], serves=False)
    check_path(estimator, {"alpha": [-1.0, np.nan, "1", np.ones(1)]}, X, y, serves=False)


@shapes
@intercepts
@pytest.mark.parametrize("weighted", [False, True])
def test_net_with_a_tight_tolerance(shape, fit_intercept, weighted):
    X, y, rng = awkward(*shape)
    X[:, 1] += 0.1 * rng.normal(size=len(y))  # the lasso of equal columns has no single solution
    weight = rng.uniform(0.1, 2.0, len(y)) if weighted else None
    tight = {"fit_intercept": fit_intercept, "tol": 1e-12, "max_iter": 100_000}
    for estimator, grid in ((ElasticNet(**tight), NET), (Lasso(**tight), {"alpha": NET["alpha"]})):
        check_path(estimator, grid, X, y, sample_weight=weight, rtol=1e-6, atol=1e-6)


@shapes
def test_net_is_as_near_to_the_optimum_as_a_separate_fit(shape):
    X, y, _ = awkward(*shape)
    settings = [{"alpha": a, "l1_ratio": r} for a in np.logspace(-1, 1, 10) for r in (0.1, 0.9)]
    found = outputs(ElasticNet(fit_intercept=False), settings, X, y, more=np.eye(X.shape[1]))
    for setting, coef in zip(settings, found[:, len(y) :], strict=True):
        separate = ElasticNet(fit_intercept=False, **setting).fit(X, y)
        gap = 1e-4 * (y @ y) / len(y)
        assert objective(coef, X, y, **setting) <= objective(separate.coef_, X, y, **setting) + gap


def objective(coef, X, y, alpha, l1_ratio):
    penalty = l1_ratio * np.abs(coef).sum() + (1 - l1_ratio) / 2 * coef @ coef
    return ((y - X @ coef) ** 2).mean() / 2 + alpha * penalty


def outputs(estimator, settings, X, y, more):
    """Of a path trained on X; also for `more` rows."""
    path, rows, every = find_path(estimator), np.arange(len(y)), np.vstack([X, more])
    data = PathData(every, None, rows, X, y, {}, ("predict",), path.prepare(estimator, every, None))
    return path.outputs(estimator, settings, data)["predict"]


def test_net_leaves_what_does_not_converge_to_the_separate_fit():
    X, y, rng = awkward()
    X[:, 1] += 1e-3 * rng.normal(size=len(y))
    estimator, setting = Lasso(max_iter=2, tol=1e-10), {"alpha": 1e-3}
    with pytest.warns(ConvergenceWarning):
        [found] = outputs(estimator, [setting], X, y, more=X[:0])
    with pytest.warns(ConvergenceWarning):
        expected = estimator.set_params(**setting).fit(X, y).predict(X)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "estimator",
    [ElasticNet(positive=True), ElasticNet(selection="random"), ElasticNet(warm_start=True)],
)
def test_net_does_not_serve(estimator):
    X, y, _ = awkward()
    check_path(estimator, NET, X, y, serves=False)
    check_path(ElasticNet(), {"alpha": [0.0], "l1_ratio": [0.5]}, X, y, serves=False)
    check_path(ElasticNet(), {"alpha": [1.0], "l1_ratio": [0.0, 2.0]}, X, y, serves=False)
    check_path(ElasticNet(), {"alpha": [1.0]}, X, np.c_[y, y], serves=False)


@shapes
@pytest.mark.parametrize("method", ["predict", "predict_proba"])
@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_logistic_regression(shape, method, kind):
    X, _, rng = awkward(*shape)
    y, weight = labels(X, 2, rng), rng.uniform(0.1, 2.0, len(X))
    estimator = LogisticRegression(solver="newton-cholesky", tol=1e-8)
    options = {"methods": [method], "sample_weight": weight, "rtol": 1e-6, "atol": 1e-6}
    check_path(estimator, {"C": [10.0, 0.01, 1.0]}, kind(X), y, **options)


@shapes
def test_logistic_regression_all_at_once(shape):
    X, _, rng = awkward(*shape)
    estimator = LogisticRegression(solver="newton-cholesky", tol=1e-8)
    options = {"methods": METHODS, "rtol": 1e-5, "atol": 1e-5}
    check_path(estimator, {"C": [10.0, 0.01, 1.0]}, X, labels(X, 2, rng), **options)


@shapes
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("methods", [["decision_function"], ["predict", "decision_function"]])
def test_decision_values_of_ridge_classifier(shape, n_classes, methods):
    X, _, rng = awkward(*shape)
    check_path(RidgeClassifier(), ALPHAS, X, labels(X, n_classes, rng), methods=methods)


def test_logistic_regression_does_not_serve():
    X, _, rng = awkward()
    y = labels(X, 2, rng)
    for solver in ("lbfgs", "liblinear", "saga", "newton-cg"):
        check_path(LogisticRegression(solver=solver), {"C": [1.0]}, X, y, serves=False)
    newton = LogisticRegression(solver="newton-cholesky")
    check_path(newton, {"C": [0.0, -1.0, np.inf]}, X, y, serves=False)
    check_path(newton, {"C": [1.0]}, X, labels(X, 3, rng), serves=False)
    check_path(newton.set_params(class_weight="balanced", tol=1e-8), {"C": [1.0, 0.1]}, X, y)


def assert_same_search(estimator, grid, X, y, rtol=1e-9, **fit_params):
    fast, slow = (
        StabilitySearchCV(estimator, grid, cv=4, use_paths=use_paths).fit(X, y, **fit_params)
        for use_paths in (True, False)
    )
    assert fast.best_params_ == slow.best_params_
    assert fast.n_fits_ < slow.n_fits_
    for name in ("cv_error", "instability", "regularized_error"):
        np.testing.assert_allclose(
            fast.cv_results_[name], slow.cv_results_[name], rtol=rtol, err_msg=name
        )
    np.testing.assert_allclose(fast.nested_error_, slow.nested_error_, rtol=rtol)


@shapes
def test_same_search(shape):
    X, y, rng = awkward(*shape)
    assert_same_search(Ridge(), ALPHAS, X, y, sample_weight=rng.uniform(0.1, 2.0, len(y)))
    assert_same_search(RidgeClassifier(), ALPHAS, X, labels(X, 3, rng))
    assert_same_search(ElasticNet(tol=1e-12, max_iter=100_000), NET, X, y, rtol=1e-5)


def test_same_search_with_a_class_missing_from_a_training_set():
    X, _, _ = awkward(24)
    y = np.array([0] * 6 + [1] * 18)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same_search(RidgeClassifier(), ALPHAS, X, y)
