"""The nested error against the stability weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

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
    error : ndarray of shape (n_weights, n_views)
        ``error[w, v]``: the error of what weight w chose in view v, on the rows that it never saw.
    winner : ndarray of int of shape (n_weights, n_views)
        ``winner[w, v]``: the candidate that weight w chose in view v; -1 where all failed.
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
        """The weight path of a fitted search; None without views, or where its rule has no weight."""
        check_is_fitted(search)
        table = search.weights_
        if "mean_error" not in table or np.isnan(search.stability_weight_):
            return None
        splits = [view.split for view in search.lattice_.views]
        [chosen] = np.flatnonzero(table["weight"] == search.stability_weight_).tolist()
        return cls(
            weight=table["weight"],
            error=np.stack([table[f"split{t}_error"] for t in splits], axis=1),
            winner=np.stack([table[f"split{t}_index"] for t in splits], axis=1),
            choice=table["index"],
            chosen=chosen,
        )

    @property
    def mean_error(self) -> NDArray[np.float64]:
        """The mean over the views."""
        mean: NDArray[np.float64] = self.error.mean(axis=1)
        return mean

    @property
    def spread(self) -> NDArray[np.float64]:
        """The standard deviation over the views; NaN where all failed in one of them."""
        finite = np.isfinite(self.error).all(axis=1)
        deviation = np.full(len(self.weight), np.nan)
        deviation[finite] = self.error[finite].std(axis=1)
        return deviation
