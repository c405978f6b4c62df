"""The data sets of the paper, in the manner of ``sklearn.datasets``."""

from steadycv.datasets.catalogue import NAMES
from steadycv.datasets.files import get_data_home
from steadycv.datasets.loading import describe, load

__all__ = ["NAMES", "describe", "get_data_home", "load"]
