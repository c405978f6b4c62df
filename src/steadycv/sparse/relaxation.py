"""The perspective relaxation of sparse ridge regression, solved to a proven accuracy."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steadycv.sparse.support_norm import minimise, split, squared_norm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Relaxation", "solve_relaxations"]

STAGE_TOL = 1e-4  # on the way to a gamma
STALLED = 1e-13  # relative progress that is rounding


class Relaxation(NamedTuple):
    """Solution of the relaxation."""

    coef: NDArray[np.float64]
    """The coefficients, more than `sparsity` of which may be nonzero."""
    z: NDArray[np.float64]
    """Share of a place that each column takes: between 0 and 1, at most `sparsity` in sum."""
    residual: NDArray[np.float64]
    """``y - X @ coef``."""
    value: float
    """The objective: an upper bound on the optimum of the relaxation."""
    lower_bound: float
    """A bound below the objective of every support; true even if not converged."""
    n_iter: int
    """Passes over all columns."""
    converged: bool
    """Whether `value` and `lower_bound` are as close as was asked for."""


def solve_relaxations(
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    sparsity: int,
    gammas: Sequence[float],
    *,
    tol: float = 1e-8,
    max_iter: int = 1000,
) -> list[Relaxation]:
    r"""Solve the perspective relaxation of sparse ridge regression for some gammas.

    .. math:: \min_{\beta, z} \frac{1}{2} |X \beta - y|^2 + \frac{1}{2 \gamma} \sum_j \beta_j^2 / z_j,
        \quad 0 \le z \le 1, \quad \sum_j z_j \le \tau

    At a large gamma the active set has nearly as many columns as there are rows, and is found faster by
    way of smaller ones. These stages depend on the data and the sparsity alone: all gammas share them,
    and the solution for one does not depend on the others.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The columns, in Fortran order. There is no intercept: centre before.
    y : array of shape (n_samples,)
        The response.
    sparsity : int
        :math:`\tau`.
    gammas : sequence of float
        The larger, the weaker the ridge penalty.
    tol : float, default=1e-8
        Largest gap between objective and lower bound, relative to the objective (but for rounding).
    max_iter : int, default=1000
        Largest number of passes over all columns. If it does not suffice, `converged` is false.

    Returns
    -------
    list of Relaxation
        Coefficients, shares, residual, and the two bounds, for each gamma.

    Examples
    --------
    >>> import numpy as np
    >>> from steadycv.sparse.relaxation import solve_relaxations
    >>> X = np.asfortranarray(np.random.default_rng(0).normal(size=(20, 50)))
    >>> y = X[:, 3] - X[:, 7]
    >>> [relaxed] = solve_relaxations(X, y, 2, [10.0])
    >>> relaxed.z.round(2)[[3, 7]]
    array([1., 1.])
    """
    climb = _Climb(np.ascontiguousarray(X.T), y, sparsity, max_iter)
    square = np.einsum("ij,ij->", X, X) / X.shape[1]  # of a column, in the mean
    stage = 0.4 * len(y) / (sparsity * square) if square > 0 else np.inf
    solved: dict[float, Relaxation] = {}
    for gamma in sorted(set(map(float, gammas))):
        while stage < gamma:
            climb.solve(stage, STAGE_TOL)
            stage *= 2
        solved[gamma] = copy(climb).solve(gamma, tol)
    return [solved[float(gamma)] for gamma in gammas]


class _Climb:
    """Solutions for one gamma after the other, each from the last one on.

    Only the working columns have coefficients, `active`. Their Gram matrix is in a corner of `gram` as
    far as it is known; no copy minds what another one has written behind that corner.
    """

    def __init__(
        self, columns: NDArray[np.float64], y: NDArray[np.float64], places: int, max_iter: int
    ) -> None:
        self.columns, self.y, self.places, self.max_iter = columns, y, places, max_iter
        self.working = np.empty(0, dtype=np.int64)
        self.active = np.empty(0)
        self.gram = np.empty((64, 64))
        self.n_known = self.n_iter = 0
        self.residual, self.c = y, columns @ y

    def solve(self, gamma: float, tol: float) -> Relaxation:
        """Go on to the solution for a gamma."""
        last, settled = np.inf, False
        self.active = self.active.copy()
        while True:
            value, bound, threshold = self._evaluate(gamma)
            if value - bound <= tol * value or self.n_iter >= self.max_iter:
                break
            self.n_iter += 1
            if settled or len(self.working) == 0:
                joined = self._join(threshold)
                if not joined and value >= last * (1 - STALLED):
                    break
                last = value
            else:
                last = np.inf
            wide = self._extend()
            problem = (self.gram, self.columns, self.working, wide, self.c)
            minimise(*problem, self.active, self.places, gamma, value)
            settled = True
            nonzero = np.flatnonzero(self.active)
            self.residual = self.y - self.active[nonzero] @ self.columns[self.working[nonzero]]
            self.c = self.columns @ self.residual
        coef = np.zeros(len(self.columns))
        coef[self.working] = self.active
        level = threshold * gamma
        z = np.minimum(1.0, np.abs(coef) / level) if level > 0 else np.where(coef == 0, 0.0, 1.0)
        # Where hardly anything is left of y, rounding is.
        converged = value - bound <= tol * value + 1e-13 * float(self.y @ self.y)
        return Relaxation(coef, z, self.residual, value, bound, self.n_iter, converged)

    def _evaluate(self, gamma: float) -> tuple[float, float, float]:
        """The objective, its lower bound from the residual, and the correlation of partial columns."""
        level, _ = split(self.active, self.places)
        threshold = level / gamma
        square = float(self.residual @ self.residual)
        value = 0.5 * (square + squared_norm(self.active, self.places) / gamma)
        # No sum of `places` squares is above this one, whatever the threshold.
        above = self.c[np.abs(self.c) > threshold]
        largest = self.places * threshold**2 + float(np.sum(above**2 - threshold**2))
        fit = float(self.y @ self.residual)
        bound = 0.5 * fit * (fit / (square + gamma * largest)) if fit > 0 else 0.0
        return value, bound, threshold

    def _join(self, threshold: float) -> bool:
        """Let the columns join whose correlations are furthest above the threshold; whether any did."""
        size = np.abs(self.c)
        size[self.working] = 0.0
        candidates = np.flatnonzero(size > threshold)
        room = max(10, self.places, len(self.working) // 8)
        new = candidates[np.argsort(-size[candidates], kind="stable")[:room]]
        self.working = np.concatenate([self.working, new])
        self.active = np.concatenate([self.active, np.zeros(len(new))])
        return len(new) > 0

    def _extend(self) -> bool:
        """Have the Gram matrix of the working columns; or say that they are too many for one."""
        most = 2 * len(self.y) + 64
        if self.n_known <= most < len(self.working):
            kept = self.active != 0.0
            kept[self.n_known :] = True
            self.working, self.active = self.working[kept], self.active[kept]
            self.n_known = 0
        size, known = len(self.working), self.n_known
        self.n_known = size
        if size > most:
            return True
        if size > len(self.gram):
            larger = np.empty((2 * size, 2 * size))
            larger[:known, :known] = self.gram[:known, :known]
            self.gram = larger
        columns = self.columns[self.working]
        products = columns[known:] @ columns.T
        self.gram[known:size, :size] = products
        self.gram[:known, known:size] = products[:, :known].T
        return False
