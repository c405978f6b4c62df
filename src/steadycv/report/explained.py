"""What a report draws of nested predictions: rows, each once, curves, and models side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv.explain.differences import Difference, differences
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
from steadycv.words import number, value_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.explain.importance import ColumnImportance
    from steadycv.search import StabilitySearchCV

__all__ = ["DrawnRows", "Explained"]

MOST_ROWS = 1500
MOST_CLASSES = 20  # in a table of confusions


@dataclass(frozen=True)
class DrawnRows:
    """Rows beside what was said of them.

    Attributes
    ----------
    rows : ndarray of int of shape (n,)
        Their numbers, in order.
    actual : ndarray of shape (n,)
        What happened.
    predicted : ndarray of shape (n,) or None
        What was predicted, the mean of a row that is judged several times; None of classes.
    residuals : ndarray of shape (n,)
        How far apart these are.
    what : str
        What residuals are.
    over : OverRows
        All rows that are judged, whether drawn or not.
    """

    rows: NDArray[np.intp]
    actual: NDArray[Any]
    predicted: NDArray[np.float64] | None
    residuals: NDArray[np.float64]
    what: str
    over: OverRows

    @classmethod
    def of(cls, judged: Judged) -> DrawnRows:
        """Those of nested predictions."""
        over = OverRows.of(judged)
        drawn = slice(None, None, -(-len(over.rows) // MOST_ROWS))
        _, first = np.unique(judged.rows, return_index=True)
        actual, residuals = judged.targets[first][drawn], over.residuals[drawn]
        what = "actual \N{MINUS SIGN} predicted"
        if judged.classes is not None:
            what = "1 \N{MINUS SIGN} probability of the row's class"
            if judged.probabilities is None:
                what = "wrong (1) or right (0)"
        return cls(
            rows=over.rows[drawn],
            actual=actual,
            predicted=actual - residuals if judged.classes is None else None,
            residuals=residuals,
            what=what,
            over=over,
        )

    @property
    def step(self) -> int:
        """Every how manieth row is drawn."""
        return -(-len(self.over.rows) // MOST_ROWS)

    def read_outs(self) -> list[str]:
        """What a chart says of each row that is pointed at."""
        if self.predicted is None:
            return [
                f"row {row}: {value_text(actual)}, {self.what} {number(residual)}"
                for row, actual, residual in zip(
                    self.rows.tolist(), self.actual.tolist(), self.residuals.tolist(), strict=True
                )
            ]
        return [
            f"row {row}: actual {number(actual)}, predicted {number(said)}"
            for row, actual, said in zip(
                self.rows.tolist(), self.actual.tolist(), self.predicted.tolist(), strict=True
            )
        ]


@dataclass(frozen=True)
class Explained:
    """What there is to draw of the nested predictions of a search.

    Attributes
    ----------
    rows : DrawnRows or None
        Single rows; None where there are no nested predictions of one target.
    roc, found : list of Curve
        ROC, and precision and recall; empty without probabilities.
    calibrations : list of Calibration
        How often what was said happened.
    confusion : Confusion or None
        How often each class was taken for each; None of numbers, and of very many classes.
    learning : LearningCurve or None
        Errors by the number of rows.
    models : list of Difference
        The grids of one search compared.
    importance : ColumnImportance or None
        What columns are worth, where somebody found out.
    in_time : bool
        Whether rows are in the order of time.
    """

    rows: DrawnRows | None
    roc: list[Curve]
    found: list[Curve]
    calibrations: list[Calibration]
    confusion: Confusion | None
    learning: LearningCurve | None
    models: list[Difference]
    importance: ColumnImportance | None
    in_time: bool

    @classmethod
    def of(cls, search: StabilitySearchCV, importance: ColumnImportance | None) -> Explained:
        """That of a fitted search."""
        judged = Judged.from_search(search)
        confusion = None if judged is None else Confusion.of(judged)
        if confusion is not None and len(confusion.classes) > MOST_CLASSES:
            confusion = None
        return cls(
            rows=None if judged is None else DrawnRows.of(judged),
            roc=[] if judged is None else roc_curves(judged),
            found=[] if judged is None else precision_recall_curves(judged),
            calibrations=[] if judged is None else calibrations(judged),
            confusion=confusion,
            learning=LearningCurve.from_search(search),
            models=differences(search),
            importance=importance,
            in_time=search.lattice_.in_time_order,
        )

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not (self.rows or self.learning or self.models or self.importance)
