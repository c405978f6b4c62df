"""The grids are the paper's."""

from math import log

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from small import load

from steadycv.candidates import Grid
from steadycv.experiments import TABLES
from steadycv.experiments.tables import CART, ELASTIC_NET, SPARSE_RIDGE, XGBOOST, rescaled_ridge
from steadycv.strategies import coordinate_descent

X, Y = load("a")


def first_line(model):
    grid = Grid(model.grid(X, Y))
    return [grid[c] for c in next(coordinate_descent(grid))]


def test_coordinate_descent_starts_at_depth_five():
    assert first_line(CART) == [{"max_depth": 5, "min_samples_split": s} for s in range(2, 11)]
    line = first_line(XGBOOST)
    assert {setting["max_depth"] for setting in line} == {5}
    assert [setting["subsample"] for setting in line] == pytest.approx(np.arange(1, 101) / 100)


def test_coordinate_descent_starts_at_the_middle_gamma():
    gammas = np.logspace(-3, 3, 20)
    assert first_line(SPARSE_RIDGE) == [{"gamma": gammas[9], "sparsity": t} for t in (1, 2, 3)]


@pytest.mark.parametrize(("n", "p"), [(218, 373), (22, 8), (5847, 11)])
def test_sparsities(n, p):
    sparsities = SPARSE_RIDGE.grid(np.zeros((n, p)), None)["sparsity"]
    assert sparsities == [t for t in range(1, p + 1) if t * log(t) <= n]


def test_depths():
    grid = CART.grid(X, Y)
    assert grid["max_depth"] == list(range(1, 11)) == XGBOOST.grid(X, Y)["max_depth"]


def test_models_of_the_tables():
    names = {name: [model.name for model in table.models] for name, table in TABLES.items()}
    assert names == {
        "table1": ["sparse ridge", "MCP"],
        "table2": ["SCAD", "elastic net", "abess"],
        "table3": ["CART", "XGBoost", "CART (leaf 5)", "CART (leaf size)"],
    }
    assert [table.n_splits for table in TABLES.values()] == [10, 10, 50]


@pytest.mark.parametrize("mixture", [0, 3, 10])
@pytest.mark.parametrize("strength", [20, 70])
def test_elastic_net_minimises_what_glmnet_minimises(mixture, strength):
    scale = 7.0  # matters for squares of coefficients only
    y = scale * Y
    grids = ELASTIC_NET.grid(X, y)
    assert len(grids) == 11
    params = {name: values[0] for name, values in grids[mixture].items()}
    params["model__alpha"] = grids[mixture]["model__alpha"][strength]
    if mixture == 0:
        params = rescaled_ridge(params, 4 / 5)
        assert isinstance(params["model"], Ridge)
    model = clone(ELASTIC_NET.estimator()).set_params(**params).set_params(model__tol=1e-10)
    model.fit(X, y)

    # GLMNet: |y - Xb|^2 / 2n + lambda (a |b|_1 + (1 - a) / 2 |b|^2), X and y with variance 1.
    columns = (X - X.mean(axis=0)) / X.std(axis=0)
    target = (y - y.mean()) / y.std()
    a = mixture / 10
    largest = np.abs(columns.T @ target).max() / len(y) / max(a, 0.001)
    penalty = largest * 1e-4 ** (strength / 99)
    coef = model[-1].coef_ / y.std()
    slope = columns.T @ (columns @ coef - target) / len(y) + penalty * (1 - a) * coef
    used = coef != 0
    np.testing.assert_allclose(slope[used], -penalty * a * np.sign(coef[used]), atol=1e-6)
    assert (np.abs(slope[~used]) <= penalty * a + 1e-6).all()
    assert used.any()
