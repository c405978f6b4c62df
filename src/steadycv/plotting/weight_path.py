"""The nested error against the stability weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from steadycv.rules import first_minimum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.search import StabilitySearchCV

__all__ = ["WeightPath"]


@dataclass(frozen=True)
class WeightPath:
    """What every weight would have given.

    Attributes
    ----------
    weight : ndarray of shape (n_weights,)
        The weights, in order.
    error : ndarray of shape (n_weights, n_outer_folds)
        ``error[w, t]``: the error on outer fold t of what weight w chose without it.
    winner : ndarray of int of shape (n_weights, n_outer_folds)
        ``winner[w, t]``: the candidate that weight w chose without outer fold t; -1 where all failed.
    choice : ndarray of int of shape (n_weights,)
        The candidate that each weight chose on all data.
    chosen : int
        The row of the chosen weight.
    """

    weight: NDArray[np.float64]
    error: NDArray[np.float64]
    winner: NDArray[np.intp]
    choice: NDArray[np.intp]
    chosen: int

    @classmethod
    def from_search(cls, search: StabilitySearchCV) -> WeightPath | None:
        """The weight path of a fitted search; None without nesting."""
        check_is_fitted(search)
        table = search.weights_
        if "mean_error" not in table:
            return None
        folds = range(search.n_splits_)
        return cls(
            weight=table["weight"],
            error=np.stack([table[f"split{t}_error"] for t in folds], axis=1),
            winner=np.stack([table[f"split{t}_index"] for t in folds], axis=1),
            choice=table["index"],
            chosen=first_minimum(table["mean_error"]),
        )

    @property
    def mean_error(self) -> NDArray[np.float64]:
        """The mean over the outer folds."""
        mean: NDArray[np.float64] = self.error.mean(axis=1)
        return mean

    @property
    def spread(self) -> NDArray[np.float64]:
        """The standard deviation over the outer folds; NaN where one of them failed."""
        finite = np.isfinite(self.error).all(axis=1)
        deviation = np.full(len(self.weight), np.nan)
        deviation[finite] = self.error[finite].std(axis=1)
        return deviation
