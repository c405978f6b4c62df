"""The relaxation against a conic solver, and its bound against all supports."""

import cvxpy
import numpy as np
import pytest
from enumeration import centred, optimum, problem
from sklearn.linear_model import Ridge

from steadycv.sparse.relaxation import solve_relaxations
from steadycv.sparse.rounding import round_relaxation


def conic(X, y, sparsity, gamma):
    """The relaxation written down for a conic solver: its optimum."""
    n_features = X.shape[1]
    beta, z, shares = (cvxpy.Variable(n_features) for _ in range(3))
    penalty = [cvxpy.quad_over_lin(beta[j], z[j]) <= shares[j] for j in range(n_features)]
    objective = 0.5 * cvxpy.sum_squares(X @ beta - y) + 0.5 / gamma * cvxpy.sum(shares)
    task = cvxpy.Problem(cvxpy.Minimize(objective), [z >= 0, z <= 1, cvxpy.sum(z) <= sparsity, *penalty])
    tight = {"tol_gap_rel": 1e-9, "tol_gap_abs": 1e-9, "tol_feas": 1e-9}
    return task.solve(solver=cvxpy.CLARABEL, **tight)


def gaussian(n_samples, n_features, seed, correlation=0.3):
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n_samples, 1))
    X = common * np.sqrt(correlation) + rng.normal(size=(n_samples, n_features))
    y = X[:, : min(4, n_features)].sum(axis=1) + rng.normal(size=n_samples)
    return np.asfortranarray(X - X.mean(axis=0)), y - y.mean()


def solve_relaxation(X, y, sparsity, gamma, **options):
    [relaxed] = solve_relaxations(X, y, sparsity, [gamma], **options)
    return relaxed


@pytest.mark.parametrize("seed", range(24))
def test_agrees_with_a_conic_solver(seed):
    rng = np.random.default_rng(seed)
    n_samples, n_features = int(rng.integers(4, 30)), int(rng.integers(1, 25))
    X, y = gaussian(n_samples, n_features, seed, correlation=rng.choice([0.0, 0.3, 10.0]))
    if seed % 4 == 1:
        X[:, rng.integers(n_features)] = 0.0
    if seed % 4 == 2:
        X = np.asfortranarray(X[:, rng.integers(0, n_features, n_features)])
    sparsity, gamma = int(rng.integers(1, n_features + 1)), 10 ** rng.uniform(-3, 3)
    relaxed = solve_relaxation(X, y, sparsity, gamma)
    assert relaxed.converged
    assert relaxed.value == pytest.approx(conic(X, y, sparsity, gamma), rel=1e-6)
    assert relaxed.lower_bound == pytest.approx(relaxed.value, rel=1e-7)


def test_bound_is_below_every_support():
    for seed in range(150):
        X, y, gamma = problem(seed)
        X, y, _ = centred(X, y)
        for sparsity in range(1, min(X.shape[1], 3) + 1):
            relaxed = solve_relaxation(np.asfortranarray(X), y, sparsity, gamma)
            lowest = optimum(X, y, gamma, sparsity)
            assert relaxed.lower_bound <= lowest * (1 + 1e-8) + 1e-12 * (y @ y), (seed, sparsity)
            assert relaxed.converged, (seed, sparsity)


@pytest.mark.parametrize("gamma", [1e-6, 1.0, 1e6])
def test_solution_is_what_it_says(gamma):
    X, y = gaussian(20, 40, 1)
    relaxed = solve_relaxation(X, y, 5, gamma)
    assert relaxed.z.min() >= 0
    assert relaxed.z.max() <= 1
    assert relaxed.z.sum() == pytest.approx(5)
    used = relaxed.z > 0
    assert (relaxed.coef[~used] == 0).all()
    penalty = (relaxed.coef[used] ** 2 / relaxed.z[used]).sum() / (2 * gamma)
    np.testing.assert_allclose(relaxed.residual, y - X @ relaxed.coef, atol=1e-10)
    assert relaxed.value == pytest.approx(0.5 * relaxed.residual @ relaxed.residual + penalty, rel=1e-7)


def test_all_columns_are_a_ridge_regression():
    X, y = gaussian(30, 6, 2)
    relaxed = solve_relaxation(X, y, 6, 0.5)
    ridge = Ridge(alpha=2.0, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(relaxed.coef, ridge.coef_, rtol=1e-6, atol=1e-9)


def test_a_solution_does_not_depend_on_the_other_gammas():
    X, y = gaussian(40, 80, 3)
    gammas = [2.0, 1e-3, 500.0, 20.0, 2.0]
    for gamma, together in zip(gammas, solve_relaxations(X, y, 6, gammas), strict=True):
        alone = solve_relaxation(X, y, 6, gamma)
        assert together.value == alone.value
        assert together.n_iter == alone.n_iter
        np.testing.assert_array_equal(together.coef, alone.coef)


def test_too_few_iterations_are_flagged_and_the_bound_is_true():
    X, y = gaussian(50, 100, 4)
    relaxed = solve_relaxation(X, y, 8, 100.0, max_iter=2)
    assert not relaxed.converged
    assert relaxed.lower_bound < solve_relaxation(X, y, 8, 100.0).value


def test_nothing_to_explain():
    X, _ = gaussian(10, 5, 5)
    relaxed = solve_relaxation(X, np.zeros(10), 2, 1.0)
    assert relaxed.value == relaxed.lower_bound == 0
    assert (relaxed.coef == 0).all()
    assert len(round_relaxation(relaxed, 2)) == 0


def test_rounding_takes_the_largest_shares_then_coefficients_then_the_first():
    relaxed = solve_relaxation(*gaussian(10, 5, 6), 2, 1.0)
    z = np.array([1.0, 1.0, 1.0, 0.5, 0.0])
    coef = np.array([2.0, -3.0, 2.0, 9.0, 0.0])
    relaxed = relaxed._replace(z=z, coef=coef)
    chosen = {k: round_relaxation(relaxed, k).tolist() for k in range(1, 6)}
    assert chosen == {1: [1], 2: [0, 1], 3: [0, 1, 2], 4: [0, 1, 2, 3], 5: [0, 1, 2, 3]}
