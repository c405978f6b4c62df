"""Rules: pure functions from a ledger, as a view sees it, to errors, instabilities and a choice.

Nothing here knows of estimators or fits a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from steadycv.lattice import View
    from steadycv.ledger import Ledger

    Candidates: TypeAlias = Sequence[int] | NDArray[np.intp] | slice

__all__ = [
    "error",
    "first_minimum",
    "instability",
    "judged_error",
    "less_a_tie",
    "rank",
    "regularized_error",
]

ALL = slice(None)

# Errors closer than this are one error summed in another order.
TIE = 1e-12
_LARGEST = np.finfo(np.float64).max


def error(ledger: Ledger, view: View, candidates: Candidates = ALL) -> NDArray[np.float64]:
    """The cross-validation error in a view: the mean over its evaluations."""
    errors: NDArray[np.float64] = _counted(ledger, ledger.error[candidates][:, view.evaluations])
    mean: NDArray[np.float64] = errors.mean(axis=1)
    return mean


def instability(ledger: Ledger, view: View, candidates: Candidates = ALL) -> NDArray[np.float64]:
    """The largest mean absolute change of loss in a view; with repeats the mean of their largest."""
    changes = ledger.change[candidates][:, view.comparisons]
    starts = np.flatnonzero(np.diff(view.repeats, prepend=-1))
    largest: NDArray[np.float64] = (
        changes.max(axis=1)
        if len(starts) == 1
        else np.maximum.reduceat(changes, starts, axis=1).mean(axis=1)
    )
    return largest


def judged_error(ledger: Ledger, view: View, chosen: NDArray[np.intp]) -> NDArray[np.float64]:
    """The error of a view's choices on the rows that it has never seen; -1 is none, as all failed."""
    assert view.judged is not None
    errors = _counted(ledger, ledger.error[chosen, view.judged])
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
    counted = np.where(np.isposinf(errors), ledger.failed_error, errors)
    # Minus infinity is a score that is no finite number: nobody is chosen for it.
    return np.where(np.isneginf(counted), np.inf, counted)
