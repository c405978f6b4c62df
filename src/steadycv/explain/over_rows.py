"""Residuals in the order of the rows: whether a model is as good at the end as at the beginning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.explain.judged import Judged

__all__ = ["OverRows"]

N_PARTS = 10
FEWEST = 5  # rows of a part


@dataclass(frozen=True)
class OverRows:
    """Residuals in the order of the rows, which is time where rows are in its order.

    Attributes
    ----------
    rows : ndarray of int of shape (n,)
        The rows that are judged, in order.
    residuals : ndarray of shape (n,)
        See :attr:`Judged.residuals`; of a row that is judged several times the mean.
    at, mean, half : ndarray of shape (n_parts,)
        Of runs of as many rows: the middle, the mean residual, and half the width of its 90 % interval.
    """

    rows: NDArray[np.intp]
    residuals: NDArray[np.float64]
    at: NDArray[np.float64]
    mean: NDArray[np.float64]
    half: NDArray[np.float64]

    @classmethod
    def of(cls, judged: Judged) -> OverRows:
        """Those of nested predictions."""
        rows, position = np.unique(judged.rows, return_inverse=True)
        residuals = np.bincount(position, judged.residuals) / np.bincount(position)
        parts = np.array_split(np.arange(len(rows)), max(1, min(N_PARTS, len(rows) // FEWEST)))
        several = [residuals[part] for part in parts]
        half = [
            stdtrit(len(each) - 1, 0.95) * each.std(ddof=1) / np.sqrt(len(each))
            if len(each) > 1
            else 0.0
            for each in several
        ]
        return cls(
            rows=rows,
            residuals=residuals,
            at=np.array([rows[part].mean() for part in parts]),
            mean=np.array([each.mean() for each in several]),
            half=np.array(half),
        )
