"""Linear models and their averages, held to what the models themselves predict."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_regression
from sklearn.linear_model import Lasso, LinearRegression, MultiTaskLasso, PoissonRegressor, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, PolynomialFeatures, StandardScaler
from sklearn.utils import all_estimators, get_tags

from steadycv.linear_models import average_of, linear_model_of, predicts_linearly
from steadycv.sparse import MCPRegression, SparseRidge, SparseRidgeCV

X, Y = make_regression(n_samples=40, n_features=4, n_informative=3, noise=5.0, random_state=0)
X = X * [1.0, 10.0, 0.1, 1.0] + [0.0, 3.0, -1.0, 100.0]
COUNTS = 1 + np.arange(40) % 7
BOTH = np.column_stack([Y, -2 * Y + X[:, 0]])


def says(model, X=X):
    linear = linear_model_of(model)
    return (X @ linear.coef.T + linear.intercept).squeeze()


MODULES = ("cross_decomposition", "linear_model", "svm")
REGRESSORS = {
    name: kind
    for name, kind in all_estimators(type_filter="regressor")
    if kind.__module__.split(".")[1] in MODULES
}


@pytest.mark.filterwarnings("ignore")  # some do not converge
def test_all_of_scikit_learn_that_are_called_linear_are():
    linear = set()
    for name, kind in REGRESSORS.items():
        model = kind().fit(X, BOTH if get_tags(kind()).target_tags.multi_output else COUNTS)
        if linear_model_of(model) is not None:
            linear.add(name)
            np.testing.assert_allclose(says(model, 2 * X), model.predict(2 * X), err_msg=name)
    others = {name for name in REGRESSORS if name.startswith(("PLS", "CCA"))}
    others |= {"GammaRegressor", "PoissonRegressor", "TweedieRegressor", "RANSACRegressor"}
    assert linear == REGRESSORS.keys() - others - {"SVR", "NuSVR"}


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(fit_intercept=False), MultiTaskLasso()])
def test_several_targets(model):
    np.testing.assert_allclose(says(model.fit(X, BOTH)), model.predict(X))


@pytest.mark.parametrize(
    "model",
    [
        SparseRidge(2),
        SparseRidge(3, standardize=True),
        SparseRidgeCV(sparsities=[2], gammas=[1.0], cv=3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_sparse_regression(model):
    np.testing.assert_allclose(says(model.fit(X, Y)), model.predict(X))


def test_concave_penalties():
    model = MCPRegression()
    model.coef_, model.intercept_, model.n_features_in_ = np.arange(4.0), 2.0, 4
    np.testing.assert_allclose(says(model), model.predict(X))


@pytest.mark.parametrize(
    "scalers",
    [
        [StandardScaler()],
        [StandardScaler(with_mean=False)],
        [StandardScaler(with_std=False)],
        [StandardScaler(with_mean=False, with_std=False)],
        [MinMaxScaler((-1, 3))],
        [MaxAbsScaler()],
        ["passthrough"],
        [MinMaxScaler(), "passthrough", StandardScaler(), MaxAbsScaler()],
    ],
    ids=str,
)
@pytest.mark.parametrize("y", [Y, BOTH], ids=["one", "two"])
def test_behind_scalers(scalers, y):
    model = make_pipeline(*scalers, Ridge()).fit(X, y)
    np.testing.assert_allclose(says(model, 2 * X), model.predict(2 * X))


def test_a_column_that_is_constant_is_scaled_by_nothing():
    constant = np.column_stack([X, np.full(len(X), 7.0)])
    model = make_pipeline(StandardScaler(), MinMaxScaler(), MaxAbsScaler(), Ridge()).fit(constant, Y)
    np.testing.assert_allclose(says(model, constant), model.predict(constant))


class MyScaler(StandardScaler):
    """May do anything."""


class Positive(Ridge):
    """No product, though most of what it says is one."""

    def predict(self, X):
        return np.maximum(super().predict(X), 0)


class Doubled(Ridge):
    """Says that it is one."""

    @predicts_linearly
    def predict(self, X):
        return super().predict(X)


@pytest.mark.parametrize(
    "model",
    [
        PoissonRegressor(),
        Positive(),
        make_pipeline(PolynomialFeatures(2), Ridge()),
        make_pipeline(MyScaler(), Ridge()),
        make_pipeline(MinMaxScaler(clip=True), Ridge()),
        make_pipeline(StandardScaler(), PoissonRegressor()),
        make_pipeline(StandardScaler(), make_pipeline(MinMaxScaler(clip=True), Ridge())),
    ],
)
def test_what_is_no_linear_model_of_the_raw_columns(model):
    assert linear_model_of(model.fit(X, COUNTS)) is None


def test_who_says_so_is_linear():
    assert linear_model_of(Doubled().fit(X, Y)) is not None


def test_average():
    weights = np.array([0.2, 0.5, 0.3])
    models = [
        Ridge().fit(X[:30], Y[:30]),
        make_pipeline(StandardScaler(), Lasso()).fit(X[10:], Y[10:]),
        SparseRidge(1).fit(X, Y),
    ]
    coef, intercept = average_of(models, weights)
    expected = sum(w * model.predict(X) for w, model in zip(weights, models, strict=True))
    np.testing.assert_allclose(X @ coef[0] + intercept[0], expected)
    assert average_of([*models, PoissonRegressor().fit(X, COUNTS)], np.full(4, 0.25)) is None


def test_trained_on_sparse_data():
    model = make_pipeline(MaxAbsScaler(), Lasso()).fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(says(model), model.predict(sparse.csr_array(X)))
