"""CV error against instability, and the frontier that the weights trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from steadycv.shades import upper_limit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.search import StabilitySearchCV

__all__ = ["Frontier", "lower_left"]


@dataclass(frozen=True)
class Frontier:
    """The two numbers that the method weighs, for every candidate.

    Attributes
    ----------
    cv_error, instability : ndarray of shape (n_candidates,)
        Not finite for candidates that failed or were not looked at.
    candidates : ndarray of int
        The candidates that have both numbers.
    frontier : ndarray of int
        Those of them that are best for some weight, from weight 0 up.
    plain, steady : int
        The plain choice and the steady choice.
    """

    cv_error: NDArray[np.float64]
    instability: NDArray[np.float64]
    candidates: NDArray[np.intp]
    frontier: NDArray[np.intp]
    plain: int
    steady: int

    @classmethod
    def from_search(cls, search: StabilitySearchCV) -> Frontier | None:
        """The frontier of a fitted search; None where no instability is known."""
        check_is_fitted(search)
        error, instability = search.cv_results_["cv_error"], search.cv_results_["instability"]
        known = np.flatnonzero(np.isfinite(error) & np.isfinite(instability))
        if not len(known):
            return None
        on_it = known[lower_left(error[known], instability[known])]
        return cls(error, instability, known, on_it, search.kfold_index_, search.best_index_)

    @property
    def in_view(self) -> NDArray[np.intp]:
        """The candidates that a picture has room for: all but those far beyond the others."""
        must_show = np.intersect1d([*self.frontier, self.plain, self.steady], self.candidates)
        near = np.ones(len(self.candidates), dtype=bool)
        for values in (self.cv_error, self.instability):
            near &= values[self.candidates] <= upper_limit(values[self.candidates], values[must_show])
        return self.candidates[near]


def lower_left(error: NDArray[np.float64], instability: NDArray[np.float64]) -> list[int]:
    """The points with the smallest ``error + weight * instability`` for some weight, from 0 up.

    Examples
    --------
    >>> lower_left(np.array([1.0, 2.0, 3.0, 2.5]), np.array([9.0, 3.0, 1.0, 5.0]))
    [0, 1, 2]
    """
    corner: list[int] = []
    for i in np.lexsort((instability, error)).tolist():
        if corner and instability[i] >= instability[corner[-1]]:
            continue  # another is better in both
        while len(corner) > 1:
            a, b = corner[-2:]
            turn = (error[b] - error[a]) * (instability[i] - instability[a])
            if turn > (error[i] - error[a]) * (instability[b] - instability[a]):
                break
            corner.pop()
        corner.append(i)
    return corner
