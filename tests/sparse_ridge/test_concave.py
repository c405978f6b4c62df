import sys

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

from steadycv.sparse.concave import MCPRegression, SCADRegression, alpha_grid

both = pytest.mark.parametrize("regression", [MCPRegression, SCADRegression])


@both
def test_is_an_estimator(regression):
    check_estimator(regression(), on_skip=None)


def mcp_slope(size, alpha, gamma):
    return np.maximum(alpha - size / gamma, 0)


def scad_slope(size, alpha, gamma):
    return np.where(size <= alpha, alpha, np.maximum(gamma * alpha - size, 0) / (gamma - 1))


SLOPES = {MCPRegression: mcp_slope, SCADRegression: scad_slope}


def problem(seed, n=60, p=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-1, 1, p) + rng.normal(size=p)
    X[:, 1] += X[:, 0]
    return X, 20.0 + X @ (rng.normal(size=p) * rng.integers(0, 2, p)) + rng.normal(size=n)


@both
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("shape", [(60, 8), (30, 50)])
def test_solutions_are_stationary(regression, fit_intercept, standardize, shape):
    scaling = {"fit_intercept": fit_intercept, "standardize": standardize}
    n_zeros = []
    for seed in range(5):
        X, y = problem(seed, *shape)
        Z = X - X.mean(axis=0) if fit_intercept else X
        center = y.mean() if fit_intercept else 0.0
        scale = np.sqrt(np.mean(Z**2, axis=0)) if standardize else np.ones(shape[1])
        for alpha in alpha_grid(X, y, **scaling)[[10, 40, 80]]:
            model = regression(alpha, tol=1e-7, max_iter=500, **scaling).fit(X, y)
            gradient = (Z / scale).T @ (model.predict(X) - y) / len(y)
            coef = model.coef_ * scale
            slope = SLOPES[regression](np.abs(coef), alpha, model.gamma)
            tolerance = 1e-6 * np.sqrt(np.mean((y - center) ** 2))
            zero = coef == 0
            np.testing.assert_allclose(
                gradient[~zero], (-np.sign(coef) * slope)[~zero], rtol=0, atol=tolerance
            )
            assert np.all(np.abs(gradient[zero]) <= slope[zero] + tolerance)
            assert not fit_intercept or np.mean(model.predict(X)) == pytest.approx(np.mean(y))
            n_zeros.append(zero.sum())
    assert 0 < np.mean(n_zeros) < shape[1]


@both
def test_from_nothing_to_least_squares(regression):
    X, y = problem(0)
    largest = alpha_grid(X, y)[0]
    for alpha in (largest * (1 + 1e-9), 100 * largest):
        model = regression(alpha).fit(X, y)
        assert not model.coef_.any()
        assert model.intercept_ == pytest.approx(y.mean())
    assert regression(0.99 * largest, tol=1e-8).fit(X, y).coef_.any()
    model = regression(1e-9 * largest, tol=1e-10).fit(X, y)
    expected = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-5)
    assert model.intercept_ == pytest.approx(expected.intercept_, rel=1e-5)


@both
def test_large_coefficients_are_not_shrunk(regression):
    """On an orthogonal design: least squares above gamma * alpha, zero below alpha."""
    X = np.linalg.qr(np.random.default_rng(0).normal(size=(40, 4)))[0]
    X = (X - X.mean(axis=0)) @ np.linalg.inv(np.linalg.cholesky(np.cov(X.T, bias=True))).T
    coef = np.array([10.0, -5.0, 0.3, 0.0])
    model = regression(alpha=1.0, tol=1e-9).fit(X, X @ coef)
    np.testing.assert_allclose(model.coef_, [10.0, -5.0, 0.0, 0.0], atol=1e-6)


@both
def test_unit_of_y_and_of_columns_does_not_matter(regression):
    X, y = problem(1)
    alpha = alpha_grid(X, y)[40]
    # To the end: where a search stops before it depends on the rounding, which the processor decides.
    coef = regression(alpha, tol=1e-10).fit(X, y).coef_
    units = 10.0 ** np.arange(-4, 4)
    other = regression(1e6 * alpha, tol=1e-10).fit(X * units, 1e6 * y).coef_
    np.testing.assert_allclose(other, 1e6 * coef / units, rtol=1e-8)


@both
def test_constant_columns_and_targets(regression):
    X, y = problem(2)
    X[:, 3] = 0.1
    model = regression(1e-6).fit(X, y)
    assert model.coef_[3] == 0
    assert np.isfinite(model.coef_).all()
    model = regression().fit(X, np.full(len(y), 7.0))
    assert not model.coef_.any()
    assert model.intercept_ == 7.0


@both
def test_one_column_or_one_row(regression):
    x = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    assert regression(1e-6).fit(x, 3 * x[:, 0] + 1).coef_[0] == pytest.approx(3)
    model = regression(1e-6, fit_intercept=False, standardize=False).fit([[2.0, 0.0]], [6.0])
    np.testing.assert_allclose(model.coef_, [3.0, 0.0])


def test_round_numbers_do_not_divide_by_zero():
    """The column's mean square is 1 / (gamma - 1) exactly."""
    X = np.array([[0.0], [1.0]] * 20)
    y = 3 * X[:, 0] + np.random.default_rng(0).normal(size=40)
    model = SCADRegression(0.01, gamma=5.0, standardize=False).fit(X, y)
    assert model.coef_[0] == pytest.approx(LinearRegression().fit(X, y).coef_[0])


@pytest.mark.parametrize(("n", "p", "eps"), [(60, 8, 0.001), (30, 50, 0.05), (50, 50, 0.05)])
def test_grid_is_that_of_ncvreg(n, p, eps):
    X, y = problem(3, n, p)
    alphas = alpha_grid(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    assert len(alphas) == 100
    assert alphas[0] == pytest.approx(np.abs(Z.T @ (y - y.mean())).max() / n)
    assert alphas[-1] == pytest.approx(eps * alphas[0])
    np.testing.assert_allclose(np.diff(np.log(alphas)), np.log(eps) / 99)


def test_grid_search():
    X, y = problem(4)
    search = GridSearchCV(MCPRegression(), {"alpha": alpha_grid(X, y, 10)}, cv=3).fit(X, y)
    assert search.best_score_ > 0.5
    assert search.best_params_["alpha"] < alpha_grid(X, y)[0]


def test_says_that_it_did_not_converge():
    X, y = problem(5, 30, 50)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 working sets .* more than tol=1e-09"):
        MCPRegression(alpha_grid(X, y)[90], max_iter=1, tol=1e-9).fit(X, y)


@both
@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("alpha", 0.0),
        ("alpha", -1.0),
        ("alpha", np.nan),
        ("alpha", np.inf),
        ("alpha", "big"),
        ("gamma", 1.0),
        ("tol", 0.0),
        ("max_iter", 0),
        ("max_iter", 1.5),
    ],
)
def test_bad_parameters(regression, parameter, value):
    with pytest.raises(ValueError, match=f"{parameter} must be .*, got {value!r}"):
        regression(**{parameter: value}).fit(*problem(0))


def test_bad_grids():
    X, y = problem(0)
    with pytest.raises(ValueError, match="eps must be between 0 and 1, got 2"):
        alpha_grid(X, y, eps=2)
    with pytest.raises(ValueError, match="n_alphas must be an integer of at least 1, got 0"):
        alpha_grid(X, y, n_alphas=0)
    with pytest.raises(ValueError, match="No column of X is correlated with y"):
        alpha_grid(X, np.ones(len(y)))


def test_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "skglm.penalties", None)
    with pytest.raises(ImportError, match=r"pip install 'steadycv\[baselines\]'"):
        MCPRegression().fit(*problem(0))
