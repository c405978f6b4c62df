"""Sparse ridge regression: at most so many columns, fast or with proof of optimality."""

import steadycv.sparse.search_path  # noqa: F401 - it registers the path
from steadycv.sparse.concave import MCPRegression, SCADRegression, alpha_grid
from steadycv.sparse.cv import SparseRidgeCV
from steadycv.sparse.estimator import SparseRidge
from steadycv.sparse.path import SparseRidgePath, sparse_ridge_path

__all__ = [
    "MCPRegression",
    "SCADRegression",
    "SparseRidge",
    "SparseRidgeCV",
    "SparseRidgePath",
    "alpha_grid",
    "sparse_ridge_path",
]
