"""The tables of the paper, as lists of models with the paper's grids."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import ElasticNet, Ridge
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from steadycv.experiments.abess_model import Abess
from steadycv.experiments.models import Model
from steadycv.model_catalogue import MODELS, Size, make_estimator
from steadycv.sparse.concave import MCPRegression, SCADRegression, alpha_grid
from steadycv.sparse.estimator import SparseRidge

if TYPE_CHECKING:
    from steadycv.experiments.models import Grid

__all__ = ["CART", "ROUNDS", "SPARSE_RIDGE", "TABLES", "XGBOOST", "Table"]

N_PENALTIES = 100  # of cv.ncvreg and GLMNet
ROUNDS = 10  # of XGBoost; the paper does not say, and this is the default of XGBoost.jl 2


@dataclass(frozen=True)
class Table:
    """A table of the paper.

    Attributes
    ----------
    name, title : str
        ``"table1"``, and what it is about.
    models : tuple of Model
        The models, in the paper's order.
    n_splits : int
        How many splits the paper averages over.
    fewer : dict of str to int
        Models that are run on fewer splits unless told otherwise, by name: where the paper's number
        takes more than a day.
    """

    name: str
    title: str
    models: tuple[Model, ...]
    n_splits: int
    fewer: dict[str, int] = field(default_factory=dict)


# The first axis of a grid is the one that coordinate descent fixes in the middle at the start: gamma
# for sparse ridge regression, a depth of 5 for trees.


def sparse_ridge_grid(X: Any, y: Any) -> Grid:  # noqa: ARG001
    """20 gammas, and sparsities t with t log t at most the number of samples."""
    values = _sparse_ridge_values(X)
    return {name: values[name] for name in ("gamma", "sparsity")}


def cart_grid(X: Any, y: Any) -> Grid:  # noqa: ARG001
    """Depths 1 to 10, and 2 to 10 samples in a node that may be split."""
    return {"max_depth": list(range(1, 11)), "min_samples_split": list(range(2, 11))}


def leaf_size_grid(X: Any, y: Any) -> Grid:  # noqa: ARG001
    """Depths 1 to 10, and 2 to 10 samples in a leaf."""
    return {"max_depth": list(range(1, 11)), "min_samples_leaf": list(range(2, 11))}


def xgboost_grid(X: Any, y: Any) -> Grid:  # noqa: ARG001
    """Depths 1 to 10, and every percentage of the rows for a tree."""
    return {"max_depth": list(range(1, 11)), "subsample": [i / 100 for i in range(1, 101)]}


def concave_grid(X: Any, y: Any) -> Grid:
    """The penalties of cv.ncvreg."""
    return {"alpha": alpha_grid(X, y, n_alphas=N_PENALTIES).tolist()}


def abess_grid(X: Any, y: Any) -> Grid:  # noqa: ARG001
    """The sparsities of sparse ridge regression, and L0Learn's ten ridge penalties."""
    return {
        "alpha": np.geomspace(1e-4, 10, 10).tolist(),
        "support_size": _sparse_ridge_values(X)["sparsity"],
    }


def elastic_net_grid(X: Any, y: Any) -> Grid:
    """For each mixture of both penalties the 100 strengths of GLMNet.

    GLMNet scales the target to variance 1 before it penalises squares of coefficients. Here the
    target stays as it is, and the penalties are those that give the same model.
    """
    n_samples, n_features = X.shape
    scale = float(np.std(y))
    correlations = StandardScaler().fit_transform(X).T @ (y - np.mean(y)) / (n_samples * scale)
    largest = float(np.abs(correlations).max())
    least = 1e-4 if n_samples >= n_features else 1e-2
    grids: list[dict[str, list[Any]]] = []
    for mixture in np.arange(11) / 10:
        strengths = largest / max(mixture, 1e-3) * np.geomspace(1.0, least, N_PENALTIES)
        if mixture == 0:
            # Ridge takes sums, not means, of squared errors, over the rows outside a fold.
            alphas = (strengths * n_samples * 4 / 5).tolist()
            grids.append({"model": [Ridge()], "model__alpha": alphas})
        else:
            both = scale * mixture + (1 - mixture)
            ratio = float(scale * mixture / both)
            grids.append({"model__l1_ratio": [ratio], "model__alpha": (strengths * both).tolist()})
    return grids


def rescaled_gamma(params: dict[str, Any], share: float) -> dict[str, Any]:
    """The paper's gamma for the final model, which has more samples."""
    return params | {"gamma": params["gamma"] * share}


def rescaled_ridge(params: dict[str, Any], share: float) -> dict[str, Any]:
    """Penalties of means of squared errors are the same for more samples; those of sums are not."""
    if "model" not in params:
        return params
    return params | {"model__alpha": params["model__alpha"] / share}


def _sparse_ridge_values(X: Any) -> dict[str, list[Any]]:
    n_samples, n_features = X.shape
    return MODELS["sparse-ridge"].grid(Size(n_samples, n_samples, n_features, spread=None))


def _sparse_ridge() -> SparseRidge:
    return SparseRidge(1, solver="rounding", swaps=False, standardize=True)


def _elastic_net() -> Pipeline:
    return Pipeline([("scale", StandardScaler()), ("model", ElasticNet(max_iter=10_000))])


def _large_leaves() -> DecisionTreeRegressor:
    return DecisionTreeRegressor(min_samples_leaf=5)


SPARSE_RIDGE = Model(
    "sparse ridge", _sparse_ridge, sparse_ridge_grid, nested=True, adjust=rescaled_gamma
)
MCP = Model("MCP", MCPRegression, concave_grid)
SCAD = Model("SCAD", SCADRegression, concave_grid)
ELASTIC_NET = Model(
    "elastic net", _elastic_net, elastic_net_grid, in_paper="GLMNet", adjust=rescaled_ridge
)
ABESS = Model("abess", Abess, abess_grid, in_paper="L0Learn")
CART = Model("CART", DecisionTreeRegressor, cart_grid, nested=True)
# What else the paper's CART may have been: with the leaves that DecisionTree.jl has by default, which
# leave nothing to choose but the depth; or with the size of leaves as what is chosen.
CART_LARGE_LEAVES = Model("CART (leaf 5)", _large_leaves, cart_grid, nested=True, in_paper="CART")
CART_LEAF_SIZES = Model(
    "CART (leaf size)", DecisionTreeRegressor, leaf_size_grid, nested=True, in_paper="CART"
)
XGBOOST = Model(
    "XGBoost",
    partial(make_estimator, "xgboost.XGBRegressor", n_estimators=ROUNDS, tree_method="exact", n_jobs=1),
    xgboost_grid,
    nested=True,
)
TREES = (CART, XGBOOST, CART_LARGE_LEAVES, CART_LEAF_SIZES)

TABLES = {
    table.name: table
    for table in (
        Table("table1", "Sparse ridge regression and MCP", (SPARSE_RIDGE, MCP), 10),
        Table("table2", "Other sparse regression", (SCAD, ELASTIC_NET, ABESS), 10),
        Table("table3", "Trees", TREES, 50, fewer={"XGBoost": 10}),
    )
}
"""By name."""
