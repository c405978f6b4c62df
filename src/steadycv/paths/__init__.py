"""Paths: one fit that yields the outputs of many candidates, exactly.

A decision tree grown deep holds every shallower one; one eigendecomposition serves every ridge
penalty. A path is a small object, registered for an estimator class, that says which parameters it
covers and turns one training set into the outputs of all its candidates.
"""

from steadycv.paths.protocol import FailedOutputs, Path, PathData, TransformerPath
from steadycv.paths.registry import find_path, register_path

__all__ = ["FailedOutputs", "Path", "PathData", "TransformerPath", "find_path", "register_path"]
