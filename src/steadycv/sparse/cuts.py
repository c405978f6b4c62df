"""The paper's outer approximation: sparse ridge regression by cuts, on an existing MIP solver.

As a function of the indicator z of a support, the least objective on it is convex,

    f(z) = y' (I + gamma X Diag(z) X')^-1 y / 2
         = max over alpha of  y' alpha - |alpha|^2 / 2 - gamma / 2 sum_j z_j (x_j' alpha)^2,

so that every alpha gives a linear lower bound, a cut. That of the residual of the ridge fit on a support
touches f there. The master problem, solved by HiGHS, is to minimise the largest cut so far over all
supports. Its bound is a lower bound, its support gives the next cut.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["OuterApproximation", "outer_approximation"]

# HiGHS solves to absolute tolerances of 1e-6 and 1e-7; in the master the best objective is scaled to 1.
_PRECISION = 1e-6
# A cut that starts this many times above the best objective only says which supports are no better.
_FAR_ABOVE = 10.0


class OuterApproximation(NamedTuple):
    """What the cuts have found and proven."""

    support: NDArray[np.intp]  # sorted indices of the columns
    objective: float  # of the ridge fit on the support
    lower_bound: float  # no support has a lower objective than this
    n_cuts: int
    status: str  # "optimal", "time_limit", "cut_limit", or "precision": the MIP solver can prove no more


def outer_approximation(
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    sparsity: int,
    gamma: float,
    start: NDArray[np.intp],
    *,
    tol: float = 1e-4,
    time_limit: float = np.inf,
    max_cuts: int = 10_000,
) -> OuterApproximation:
    """Minimise ``|y - X beta|^2 / 2 + |beta|^2 / (2 gamma)`` over at most `sparsity` columns.

    Parameters
    ----------
    X, y : ndarray of shape (n_samples, n_features), ndarray of shape (n_samples,)
        Centred data; there is no intercept.
    sparsity : int
        The largest number of non-zero coefficients.
    gamma : float
        The inverse of the ridge penalty.
    start : ndarray of int
        Indices of the columns of a support to start from, no more than `sparsity`.
    tol : float, default=1e-4
        Stop when (objective - lower bound) / objective is no more than this. Below 1e-5 the MIP solver's
        own precision may be reached first.
    time_limit : float, default=inf
        Stop after so many seconds; objective and lower bound are true ones nevertheless.
    max_cuts : int, default=10000
        Stop after so many cuts, likewise.

    Returns
    -------
    result : OuterApproximation
        The best support found, its objective, and the proven lower bound.

    Examples
    --------
    >>> import numpy as np
    >>> from steadycv.sparse.cuts import outer_approximation
    >>> X = np.random.default_rng(0).normal(size=(30, 8))
    >>> y = X[:, 2] - X[:, 5]
    >>> result = outer_approximation(X, y, 2, gamma=1.0, start=np.array([0, 1]))
    >>> result.support, result.status
    (array([2, 5]), 'optimal')
    """
    deadline = time.monotonic() + time_limit
    master = _Master(X.shape[1], sparsity)
    support = best = np.sort(start)
    upper = np.inf
    lower = _first_bound(X, y, sparsity, gamma)
    seen = set()
    while True:
        value, residual = _ridge(X, y, gamma, support)
        if value < upper:
            upper, best = value, support
        seen.add(support.tobytes())
        master.add_cut(float(y @ residual - residual @ residual / 2), gamma / 2 * (X.T @ residual) ** 2)
        lower = min(lower, upper)
        if upper - lower <= tol * upper:
            status = "optimal"
            break
        if len(seen) >= max_cuts:
            status = "cut_limit"
            break
        seconds = deadline - time.monotonic()
        if seconds <= 0:
            status = "time_limit"
            break
        bound, found = master.solve(lower, upper, mip_rel_gap=tol / 4, time_limit=seconds)
        lower = min(max(lower, bound), upper)
        if found is None or found.tobytes() in seen:
            if upper - lower <= tol * upper:
                status = "optimal"
            else:
                status = "time_limit" if time.monotonic() >= deadline else "precision"
            break
        support = found
    return OuterApproximation(best, upper, lower, len(seen), status)


class _Master:
    """The minimum of the largest cut over all supports.

    Its variables are the indicator of the support and the objective divided by the best one known.
    """

    def __init__(self, n_features: int, sparsity: int) -> None:
        self._sparsity = sparsity
        self._heights: list[float] = []
        self._slopes: list[NDArray[np.float64]] = []
        self._integrality = np.append(np.ones(n_features), 0)

    def add_cut(self, height: float, slopes: NDArray[np.float64]) -> None:
        """The objective is at least ``height - slopes @ z``."""
        self._heights.append(height)
        self._slopes.append(slopes)

    def solve(
        self, lower: float, upper: float, *, mip_rel_gap: float, time_limit: float
    ) -> tuple[float, NDArray[np.intp] | None]:
        """A lower bound of the objective, and the support where the largest cut is lowest.

        Supports with a cut above `upper` may be left out; if none is left, `upper` is the lower bound.
        """
        heights, slopes = np.array(self._heights)[:, None], np.array(self._slopes)
        # No slope need go deeper than a known lower bound in one step, and a cut far above `upper` need
        # only leave supports out. So all coefficients are moderate, and HiGHS is precise.
        far = heights > _FAR_ABOVE * upper
        floor = np.where(far, upper, lower)
        scale = np.where(far, heights - upper, upper)
        rows = np.hstack([np.minimum(slopes, heights - floor) / scale, ~far])
        cuts = LinearConstraint(rows, lb=np.where(far, 1.0, heights / scale)[:, 0])
        size = LinearConstraint(self._integrality, ub=self._sparsity)
        result = milp(
            1 - self._integrality,
            integrality=self._integrality,
            bounds=Bounds(np.append(np.zeros(slopes.shape[1]), lower / upper), 1.0),
            constraints=[cuts, size],
            options={"mip_rel_gap": mip_rel_gap, "time_limit": time_limit},
        )
        infeasible = 2
        if result.status == infeasible:
            return (1 - _PRECISION) * upper, None
        bound = -np.inf if result.mip_dual_bound is None else float(result.mip_dual_bound)
        found = None if result.x is None else np.flatnonzero(result.x[:-1] > 0.5)
        return (bound - _PRECISION) * upper, found


def _first_bound(X: NDArray[np.float64], y: NDArray[np.float64], sparsity: int, gamma: float) -> float:
    """From the trace of X Diag(z) X', which is no less than its largest eigenvalue."""
    squares = np.sort(np.sum(X**2, axis=0))
    return float(y @ y / (1 + gamma * squares[-sparsity:].sum()) / 2)


def _ridge(
    X: NDArray[np.float64], y: NDArray[np.float64], gamma: float, support: NDArray[np.intp]
) -> tuple[float, NDArray[np.float64]]:
    """The least objective on a support and the residual there, by least squares without products."""
    columns, size = X[:, support], len(support)
    rows = np.vstack([columns, np.eye(size) / np.sqrt(gamma)])
    coef = np.linalg.lstsq(rows, np.append(y, np.zeros(size)), rcond=None)[0]
    residual = y - columns @ coef
    return float(residual @ residual + coef @ coef / gamma) / 2, residual
