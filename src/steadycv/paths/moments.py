"""Moments: what linear regression needs to know of rows, block by block, and of many blocks together.

Blocks are added up by their means and by the products of what is left without these, so that a far
origin costs no digits, and no data are held but a few rows at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["WORST_CONDITION", "Moments", "added", "chunks", "moments_of", "solutions"]

# Beyond this condition number rounding would show, and the estimator's own solver is asked.
WORST_CONDITION = 1e8
NUMBERS_AT_ONCE = 2**17  # of data


class Moments(NamedTuple):
    """The rows of one block, or of several, one block after the other.

    Attributes
    ----------
    weight : ndarray of shape (n_blocks,)
        The number of rows, or the sum of their weights.
    mean : ndarray of shape (n_blocks, n_columns)
        The mean of each column; zero where nothing is centred.
    products : ndarray of shape (n_blocks, n_columns, n_columns)
        The sums of products of columns without their means.
    """

    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    products: NDArray[np.float64]


def chunks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Rows, a few at a time."""
    size = max(1, NUMBERS_AT_ONCE // max(n_columns, 1))
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def moments_of(
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    rows: NDArray[np.intp],
    weight: NDArray[np.float64] | None = None,
    *,
    centred: bool,
) -> Moments:
    """The moments of the columns of X and y on some rows.

    Parameters
    ----------
    X, y : ndarray of shape (n_samples, ...)
        All samples.
    rows : ndarray of int
        Which of them.
    weight : ndarray, default=None
        Their weights.
    centred : bool
        Whether columns are to lose their means.
    """
    parts = []
    for chunk in chunks(len(rows), X.shape[1] + y.shape[1]):
        some = rows[chunk]
        table = np.concatenate([X.take(some, axis=0), y.take(some, axis=0)], axis=1)
        parts.append(_of_table(table, None if weight is None else weight[chunk], centred=centred))
    return (
        parts[0] if len(parts) == 1 else added(Moments(*map(np.concatenate, zip(*parts, strict=True))))
    )


def _of_table(
    table: NDArray[np.float64], weight: NDArray[np.float64] | None, *, centred: bool
) -> Moments:
    total = float(len(table)) if weight is None else float(weight.sum())
    mean = np.zeros(table.shape[1])
    if centred and total:
        mean = table.mean(axis=0) if weight is None else (weight / total) @ table
        table -= mean
    if weight is not None:
        table *= np.sqrt(weight)[:, np.newaxis]
    return Moments(np.array([total]), mean[np.newaxis], (table.T @ table)[np.newaxis])


def added(moments: Moments) -> Moments:
    """Several blocks as one."""
    weight, mean, products = moments
    total = weight.sum()
    if not total:
        return Moments(weight[:1], mean[:1], products[:1])
    of_all = (weight / total) @ mean
    apart = (mean - of_all) * np.sqrt(weight)[:, np.newaxis]
    products = products.sum(axis=0) + apart.T @ apart
    return Moments(np.array([total]), of_all[np.newaxis], products[np.newaxis])


def solutions(
    matrix: NDArray[np.float64], right: NDArray[np.float64], penalties: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Solve with every penalty added to the diagonal; say which systems are well conditioned.

    The solutions are rows, those of one penalty for all columns of `right` together.
    """
    eigenvalues, vectors = np.linalg.eigh(matrix)
    shifted = eigenvalues + penalties[:, np.newaxis]
    well = shifted[:, 0] * WORST_CONDITION > shifted[:, -1]
    shifted[~well] = 1.0  # not used
    parts = (right.T @ vectors) / shifted[:, np.newaxis, :]
    return parts.reshape(-1, len(matrix)) @ vectors.T, well
