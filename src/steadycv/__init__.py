"""steadycv: choose hyperparameters so that what you were promised is what you get."""

from importlib.metadata import version

from steadycv.bound import generalization_bound
from steadycv.losses import pinball_loss
from steadycv.plotting import StabilityDisplay
from steadycv.report import write_report
from steadycv.search import StabilitySearchCV
from steadycv.sparse import SparseRidge, SparseRidgeCV, sparse_ridge_path

__version__ = version("steadycv")

__all__ = [
    "SparseRidge",
    "SparseRidgeCV",
    "StabilityDisplay",
    "StabilitySearchCV",
    "generalization_bound",
    "pinball_loss",
    "sparse_ridge_path",
    "write_report",
]
