"""Rules: pure functions from a ledger to errors, instabilities and a choice.

Nothing here knows of estimators or fits a model. Where a ledger has several repeats, every
quantity is the mean over repeats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from steadycv.ledger import Ledger

    Candidates: TypeAlias = Sequence[int] | NDArray[np.intp] | slice

__all__ = [
    "cv_error",
    "first_minimum",
    "inner_cv_error",
    "inner_instability",
    "instability",
    "less_a_tie",
    "outer_error",
    "rank",
    "regularized_error",
]

ALL = slice(None)

# Errors closer than this are one error summed in another order.
TIE = 1e-12
_LARGEST = np.finfo(np.float64).max


def cv_error(ledger: Ledger, candidates: Candidates = ALL) -> NDArray[np.float64]:
    """The cross-validation error: the mean over folds of the fold's mean loss."""
    mean: NDArray[np.float64] = _counted(ledger, ledger.error[candidates]).mean(axis=(1, 2))
    return mean


def instability(ledger: Ledger, candidates: Candidates = ALL) -> NDArray[np.float64]:
    """The largest over left-out folds of the mean absolute change in loss."""
    largest: NDArray[np.float64] = ledger.change[candidates].max(axis=2).mean(axis=1)
    return largest


def inner_cv_error(
    ledger: Ledger, candidates: Candidates, repeat: int, fold: int
) -> NDArray[np.float64]:
    """The cross-validation error inside an outer fold, which is never looked at."""
    errors = _counted(ledger, ledger.inner_error[candidates, repeat, fold])
    mean: NDArray[np.float64] = errors.sum(axis=1) / (errors.shape[1] - 1)
    return mean


def inner_instability(
    ledger: Ledger, candidates: Candidates, repeat: int, fold: int
) -> NDArray[np.float64]:
    """The instability inside an outer fold."""
    largest: NDArray[np.float64] = ledger.inner_change[candidates, repeat, fold].max(axis=1)
    return largest


def outer_error(ledger: Ledger, chosen: NDArray[np.intp]) -> NDArray[np.float64]:
    """The error on every outer fold of what was chosen without it.

    `chosen` has shape (n_weights, n_repeats, k), with -1 where every candidate failed.
    """
    repeats, folds = np.indices(chosen.shape[1:])
    errors = _counted(ledger, ledger.error[chosen, repeats, folds])
    return np.where(chosen < 0, np.inf, errors)


def regularized_error(
    error: NDArray[np.float64], instability: NDArray[np.float64], weight: float
) -> NDArray[np.float64]:
    """``error + weight * instability``; with weight 0 the instability need not be known."""
    return error if weight == 0 else error + weight * instability


def rank(errors: NDArray[np.float64]) -> NDArray[np.int32]:
    """Rank from 1; ties share the lowest rank; what is not finite comes last.

    Examples
    --------
    >>> rank(np.array([0.3, 0.1 + 0.2, 0.1, np.inf]))
    array([2, 2, 1, 4], dtype=int32)
    """
    known = np.where(np.isfinite(errors), errors, _LARGEST)
    return (1 + np.searchsorted(np.sort(known), less_a_tie(known))).astype(np.int32)


def less_a_tie(errors: NDArray[np.float64]) -> NDArray[np.float64]:
    """The smallest error that would still tie with each."""
    finite = np.minimum(errors, _LARGEST)
    return finite - TIE * np.abs(finite)


def first_minimum(errors: NDArray[np.float64]) -> int:
    """Index of the smallest error, the first of those that tie."""
    lowest = np.fmin.reduce(errors)
    return int(np.argmax(errors <= lowest + TIE * abs(lowest)))


def _counted(ledger: Ledger, errors: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isinf(errors), ledger.failed_error, errors)
