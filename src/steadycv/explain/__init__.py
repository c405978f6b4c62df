"""The numbers behind the pictures that are asked for when a model is shown to others.

All of them come from nested predictions: what was chosen and trained without a row says of it.
"""

from steadycv.explain.differences import Difference, differences
from steadycv.explain.importance import ColumnImportance, column_importance
from steadycv.explain.judged import Judged
from steadycv.explain.learning import LearningCurve
from steadycv.explain.of_classes import (
    Calibration,
    Confusion,
    Curve,
    calibrations,
    precision_recall_curves,
    roc_curves,
)
from steadycv.explain.over_rows import OverRows

__all__ = [
    "Calibration",
    "ColumnImportance",
    "Confusion",
    "Curve",
    "Difference",
    "Judged",
    "LearningCurve",
    "OverRows",
    "calibrations",
    "column_importance",
    "differences",
    "precision_recall_curves",
    "roc_curves",
]
