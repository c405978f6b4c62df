"""The perspective relaxation of sparse ridge regression, solved to a proven accuracy."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steadycv._jit import fast_kernel, kernel
from steadycv.sparse.support_norm import inner, minimise, split, squared_norm

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Relaxation", "solve_relaxation"]


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


def solve_relaxation(
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    sparsity: int,
    gamma: float,
    *,
    tol: float = 1e-8,
    max_iter: int = 1000,
    start: NDArray[np.float64] | None = None,
) -> Relaxation:
    r"""Solve the perspective relaxation of sparse ridge regression.

    .. math:: \min_{\beta, z} \frac{1}{2} |X \beta - y|^2 + \frac{1}{2 \gamma} \sum_j \beta_j^2 / z_j,
        \quad 0 \le z \le 1, \quad \sum_j z_j \le \tau

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The columns, in Fortran order. There is no intercept: centre before.
    y : array of shape (n_samples,)
        The response.
    sparsity : int
        :math:`\tau`.
    gamma : float
        The larger, the weaker the ridge penalty.
    tol : float, default=1e-8
        Largest gap between objective and lower bound, relative to the objective (but for rounding).
    max_iter : int, default=1000
        Largest number of passes over all columns. If it does not suffice, `converged` is false.
    start : array of shape (n_features,), optional
        Coefficients to start from, such as those for a neighbouring sparsity or gamma.

    Returns
    -------
    Relaxation
        Coefficients, shares, residual, and the two bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from steadycv.sparse.relaxation import solve_relaxation
    >>> X = np.asfortranarray(np.random.default_rng(0).normal(size=(20, 50)))
    >>> y = X[:, 3] - X[:, 7]
    >>> solve_relaxation(X, y, 2, gamma=10.0).z.round(2)[[3, 7]]
    array([1., 1.])
    """
    columns = np.ascontiguousarray(X.T)
    coef = np.zeros(X.shape[1]) if start is None else np.array(start, dtype=np.float64)
    residual = np.empty(X.shape[0])
    value, bound, threshold, n_iter = _relax(
        columns, y, sparsity, float(gamma), coef, residual, tol, max_iter
    )
    level = threshold * gamma
    z = np.minimum(1.0, np.abs(coef) / level) if level > 0 else np.where(coef == 0, 0.0, 1.0)
    # Where hardly anything is left of y, rounding is.
    converged = value - bound <= tol * value + 1e-13 * float(y @ y)
    return Relaxation(coef, z, residual, value, bound, n_iter, converged)


@kernel
def _relax(
    columns: NDArray[np.float64],
    y: NDArray[np.float64],
    places: int,
    gamma: float,
    beta: NDArray[np.float64],
    residual: NDArray[np.float64],
    tol: float,
    max_iter: int,
) -> tuple[float, float, float, int]:
    """Solve the relaxation from `beta` on; the coefficients are left there, their residual likewise.

    Returns the objective, the lower bound, the threshold that correlations of partial coefficients
    have in common, and the passes made.
    """
    square = 0.0  # of a column, in the mean: how fast the relaxation gets hard with gamma
    for j in range(beta.size):
        square += inner(columns[j], columns[j]) / beta.size
    c = np.empty(beta.size)
    working = np.empty(beta.size, np.int64)
    active = np.zeros(beta.size)
    size = _gather(beta, working, active)
    gram = np.empty((size + 64, size + 64))
    known = 0
    most = 2 * y.size + 64
    stage = 0.0
    last = np.inf
    settled = False
    n_iter = 0
    while True:
        _correlate(columns, y, working, active[:size], residual, c)
        if stage == 0.0:
            easy = 0.4 * y.size / (places * square) if square > 0.0 else gamma
            stage = _first_stage(c, working, active[:size], places, gamma, easy)
        value, bound, threshold = _evaluate(y, residual, c, active[:size], places, stage)
        if stage < gamma and value - bound <= max(tol, 1e-4) * value:
            stage = min(2.0 * stage, gamma)
            settled = False
        elif stage == gamma and value - bound <= tol * value:
            break
        if n_iter >= max_iter:
            break
        n_iter += 1
        if settled or size == 0:
            joined = _join(c, threshold, working, size, max(10, places, size // 8))
            if joined == size and value >= last * (1.0 - 1e-13):
                break
            size = joined
            last = value
        else:
            last = np.inf
        if known <= most < size:
            size = _compact(working, active, known, size)
            known = 0
        if size <= most:
            gram = _extend(columns, working, gram, known, size)
        known = size
        minimise(gram, columns, working[:size], size > most, c, active[:size], places, stage, value)
        settled = True
    for i in range(size):
        beta[working[i]] = active[i]
    if stage < gamma:
        value, bound, threshold = _evaluate(y, residual, c, active[:size], places, gamma)
    return value, bound, threshold, n_iter


@kernel
def _gather(beta: NDArray[np.float64], working: NDArray[np.int64], active: NDArray[np.float64]) -> int:
    """The columns to begin with: those with a coefficient. Returns their number."""
    size = 0
    for j in range(beta.size):
        if beta[j] != 0.0:
            working[size] = j
            active[size] = beta[j]
            size += 1
    return size


@fast_kernel
def _correlate(
    columns: NDArray[np.float64],
    y: NDArray[np.float64],
    working: NDArray[np.int64],
    active: NDArray[np.float64],
    residual: NDArray[np.float64],
    c: NDArray[np.float64],
) -> None:
    """The residual, and its inner product with each column."""
    for i in range(y.size):
        residual[i] = y[i]
    for k in range(active.size):
        if active[k] != 0.0:
            column = columns[working[k]]
            for i in range(y.size):
                residual[i] -= column[i] * active[k]
    for j in range(c.size):
        c[j] = inner(columns[j], residual)


@kernel
def _first_stage(
    c: NDArray[np.float64],
    working: NDArray[np.int64],
    active: NDArray[np.float64],
    places: int,
    gamma: float,
    easy: float,
) -> float:
    """The gamma to begin with, from which stages lead up to the one asked for.

    At a large gamma the active set has nearly as many columns as there are rows, and is found
    faster by way of smaller ones. Coefficients to start from say for which gamma they were.
    """
    level, _ = split(active, places)
    above = 0.0
    below = 0.0
    for i in range(active.size):
        if active[i] != 0.0:
            above += max(level, abs(active[i]))
            below += abs(c[working[i]])
    if below > 0.0:
        easy = max(easy, 2.0 * above / below)
    stage = gamma
    while stage > easy:
        stage *= 0.5
    return stage


@fast_kernel
def _evaluate(
    y: NDArray[np.float64],
    residual: NDArray[np.float64],
    c: NDArray[np.float64],
    active: NDArray[np.float64],
    places: int,
    gamma: float,
) -> tuple[float, float, float]:
    """The objective, its lower bound from the residual, and the threshold."""
    level, _ = split(active, places)
    threshold = level / gamma
    square = inner(residual, residual)
    value = 0.5 * (square + squared_norm(active, places) / gamma)
    # No sum of `places` squares is above this one, whatever the threshold.
    largest = places * threshold * threshold
    for j in range(c.size):
        if abs(c[j]) > threshold:
            largest += c[j] * c[j] - threshold * threshold
    fit = inner(y, residual)
    bound = 0.5 * fit * (fit / (square + gamma * largest)) if fit > 0.0 else 0.0
    return value, bound, threshold


@kernel
def _join(
    c: NDArray[np.float64],
    threshold: float,
    working: NDArray[np.int64],
    size: int,
    room: int,
) -> int:
    """Let the columns join whose correlations are furthest above the threshold; the new size."""
    inside = np.zeros(c.size, np.bool_)
    for i in range(size):
        inside[working[i]] = True
    candidates = np.empty(c.size, np.int64)
    count = 0
    for j in range(c.size):
        if not inside[j] and abs(c[j]) > threshold:
            candidates[count] = j
            count += 1
    room = min(count, room)
    for i in range(room):
        best = i
        for k in range(i + 1, count):
            if abs(c[candidates[k]]) > abs(c[candidates[best]]):
                best = k
        working[size + i] = candidates[best]
        candidates[best] = candidates[i]
    return size + room


@kernel
def _compact(
    working: NDArray[np.int64],
    active: NDArray[np.float64],
    known: int,
    size: int,
) -> int:
    """Let those of the known columns go that have no coefficient; the new size."""
    kept = 0
    for i in range(size):
        if i >= known or active[i] != 0.0:
            working[kept] = working[i]
            active[kept] = active[i]
            kept += 1
    for i in range(kept, size):
        active[i] = 0.0
    return kept


@fast_kernel
def _extend(
    columns: NDArray[np.float64],
    working: NDArray[np.int64],
    gram: NDArray[np.float64],
    known: int,
    size: int,
) -> NDArray[np.float64]:
    """The Gram matrix of the working columns, of which the known ones are in it already."""
    if size > gram.shape[0]:
        larger = np.empty((2 * size, 2 * size))
        for i in range(known):
            for j in range(known):
                larger[i, j] = gram[i, j]
        gram = larger
    for i in range(known, size):
        for j in range(i + 1):
            gram[i, j] = inner(columns[working[i]], columns[working[j]])
            gram[j, i] = gram[i, j]
    return gram
