"""steadycv: choose hyperparameters so that what you were promised is what you get."""

from importlib.metadata import version

from steadycv.bound import generalization_bound
from steadycv.losses import pinball_loss
from steadycv.search import StabilitySearchCV

__version__ = version("steadycv")

__all__ = ["StabilitySearchCV", "generalization_bound", "pinball_loss"]
