"""Rounding the relaxation: which columns it would keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.sparse.relaxation import Relaxation

__all__ = ["round_relaxation"]

TIE = 1e-6  # shares that differ by less are equal


def round_relaxation(relaxed: Relaxation, sparsity: int) -> NDArray[np.int64]:
    """The columns with the largest shares; of equal ones the larger coefficient, then the first.

    Columns without a share are not taken, so there may be fewer than `sparsity`.

    Examples
    --------
    >>> import numpy as np
    >>> from steadycv.sparse.relaxation import solve_relaxations
    >>> X = np.asfortranarray(np.random.default_rng(0).normal(size=(20, 50)))
    >>> [relaxed] = solve_relaxations(X, X[:, 3] - X[:, 7], 2, [10.0])
    >>> round_relaxation(relaxed, 2)
    array([3, 7])
    """
    shares = np.round(relaxed.z / TIE)
    order = np.lexsort((np.arange(len(shares)), -np.abs(relaxed.coef), -shares))
    return np.sort(order[:sparsity][shares[order[:sparsity]] > 0])
