from itertools import combinations

import numpy as np
import pytest

from steadycv.sparse.cuts import outer_approximation


def objective(X, y, gamma, support):
    """The definition: the objective at the solution of the normal equations."""
    Z = X[:, list(support)]
    coef = np.linalg.solve(Z.T @ Z + np.eye(Z.shape[1]) / gamma, Z.T @ y)
    return np.sum((y - Z @ coef) ** 2) / 2 + np.sum(coef**2) / (2 * gamma)


def least_objective(X, y, gamma, sparsity):
    return min(objective(X, y, gamma, s) for s in combinations(range(X.shape[1]), sparsity))


def random_problem(seed):
    """Correlated, duplicated and constant columns; more and fewer rows than columns."""
    rng = np.random.default_rng(seed)
    n, p = rng.integers(2, 31), rng.integers(1, 10)
    X = rng.normal(size=(n, p)) + rng.choice([0.0, 1.0, 10.0]) * rng.normal(size=(n, 1))
    if p >= 4 and seed % 3 == 0:
        X[:, 1], X[:, 2] = X[:, 0], 3.0
    X = X * rng.choice([0.1, 1.0, 10.0])
    y = X @ rng.normal(size=p) * rng.integers(0, 2) + rng.normal(size=n)
    sparsity = int(rng.integers(1, p + 1))
    start = rng.choice(p, rng.integers(1, sparsity + 1), replace=False)
    return X - X.mean(axis=0), y - y.mean(), sparsity, 10.0 ** rng.uniform(-3, 3), start


@pytest.mark.parametrize("seed", range(60))
def test_finds_the_optimum(seed):
    X, y, sparsity, gamma, start = random_problem(seed)
    result = outer_approximation(X, y, sparsity, gamma, start)
    best = least_objective(X, y, gamma, sparsity)
    assert result.status == "optimal"
    assert result.objective <= best * (1 + 1e-4)
    assert result.lower_bound <= best * (1 + 1e-9)
    assert result.objective - result.lower_bound <= 1e-4 * result.objective
    assert result.objective == pytest.approx(objective(X, y, gamma, result.support))
    assert len(result.support) <= sparsity


def test_ten_columns_of_which_three_are_right():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 10))
    y = X[:, [2, 5, 7]] @ [1.0, -1.0, 1.0] + 0.1 * rng.normal(size=40)
    result = outer_approximation(X, y, 3, 1.0, np.array([0, 1, 9]))
    np.testing.assert_array_equal(result.support, [2, 5, 7])


@pytest.mark.parametrize(
    ("limit", "status"), [({"max_cuts": 2}, "cut_limit"), ({"time_limit": 0.0}, "time_limit")]
)
def test_bounds_at_a_limit_are_true(limit, status):
    statuses = []
    for seed in range(60, 90):
        X, y, sparsity, gamma, start = random_problem(seed)
        result = outer_approximation(X, y, sparsity, gamma, start, **limit)
        best = least_objective(X, y, gamma, sparsity)
        assert 0 < result.lower_bound <= best * (1 + 1e-9) <= result.objective * (1 + 2e-9)
        assert result.objective == pytest.approx(objective(X, y, gamma, result.support))
        assert result.n_cuts <= limit.get("max_cuts", 1)
        statuses.append(result.status)
    assert statuses.count(status) > 10
    assert set(statuses) <= {status, "optimal"}


def test_time_limit_inside_a_master_problem():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 60)), rng.normal(size=20)
    start = np.arange(8)
    result = outer_approximation(X, y, 8, 1.0, start, time_limit=0.5)
    assert result.status == "time_limit"
    assert 0 < result.lower_bound < result.objective <= objective(X, y, 1.0, start)


def test_says_when_the_solver_is_not_precise_enough():
    X, y, _, _, _ = random_problem(0)
    result = outer_approximation(X, y, 2, 1.0, np.array([0]), tol=1e-12)
    best = least_objective(X, y, 1.0, 2)
    assert result.status == "precision"
    assert result.objective == pytest.approx(best)
    assert best * (1 - 1e-5) <= result.lower_bound <= best


def test_more_coefficients_than_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3, 8)), rng.normal(size=3)
    result = outer_approximation(X, y, 6, 0.5, np.array([0]))
    assert result.status == "optimal"
    assert result.objective == pytest.approx(least_objective(X, y, 0.5, 6), rel=1e-4)


def test_nothing_to_explain():
    result = outer_approximation(np.eye(4), np.zeros(4), 2, 1.0, np.array([1]))
    assert result.status == "optimal"
    assert result.objective == result.lower_bound == 0
