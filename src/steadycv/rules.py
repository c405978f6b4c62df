"""Rules: pure functions from a ledger, as a view sees it, to errors, instabilities and a choice.

Nothing here knows of estimators or fits a model.
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from steadycv.lattice import View
    from steadycv.ledger import Ledger

    Candidates: TypeAlias = Sequence[int] | NDArray[np.intp] | slice

__all__ = [
    "CHOOSE_WEIGHT",
    "HAVE_WEIGHT",
    "OF_CANDIDATES",
    "Rule",
    "choose_weight",
    "chosen_by",
    "error",
    "first_minimum",
    "instability",
    "judged_errors",
    "less_a_tie",
    "one_standard_error",
    "rank",
    "regularized_error",
    "regularized_errors",
    "weighted_choices",
]

Rule: TypeAlias = "Callable[[Ledger, View], int]"
"""A function of a ledger and a view that returns the number of a candidate.

It is called for the final view and for the view of each split. The ledger has what that view sees, and
NaN elsewhere: errors and changes where the view has evaluations and comparisons, times everywhere, and
the reported scores in the final view alone.

Examples
--------
Of the candidates whose error is at most 2 % above the lowest, the one that is fitted fastest:

>>> import numpy as np
>>> from steadycv import rules
>>> def fast(ledger, view):
...     errors = rules.error(ledger, view)
...     is_good = errors <= 1.02 * errors.min()
...     return int(np.argmin(np.where(is_good, ledger.fit_time.mean(axis=1), np.inf)))
"""

CHOOSE_WEIGHT = ("paper", "steady")
HAVE_WEIGHT = (*CHOOSE_WEIGHT, "plain")  # that of the last is 0

ALL = slice(None)

# Errors closer than this are one error summed in another order.
TIE = 1e-12
_LARGEST = np.finfo(np.float64).max


def error(ledger: Ledger, view: View, candidates: Candidates = ALL) -> NDArray[np.float64]:
    """The cross-validation error in a view: the mean over its evaluations.

    NaN for candidates that are not known there, or that left the view in a race.
    """
    errors: NDArray[np.float64] = _counted(ledger, ledger.error[candidates][:, view.evaluations])
    return np.where(ledger.left_from(view)[candidates] > 0, np.nan, errors.mean(axis=1))


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


def judged_errors(ledger: Ledger, chosen: NDArray[np.intp]) -> NDArray[np.float64]:
    """The errors of the views' choices, a row for each view, on the rows that it has never seen.

    -1 is no choice, as all failed.
    """
    evaluations = ledger.lattice.judged.reshape(-1, *[1] * (chosen.ndim - 1))
    return np.where(chosen < 0, np.inf, _counted(ledger, ledger.error[chosen, evaluations]))


def regularized_error(
    error: NDArray[np.float64], instability: NDArray[np.float64], weight: float
) -> NDArray[np.float64]:
    """``error + weight * instability``; with weight 0 the instability need not be known."""
    return error if weight == 0 else error + weight * instability


def regularized_errors(
    error: NDArray[np.float64], instability: NDArray[np.float64], weights: Sequence[float]
) -> NDArray[np.float64]:
    """The same for several weights, a row each."""
    column = np.array(weights)[:, np.newaxis]
    errors: NDArray[np.float64] = error + column * np.where(column == 0, 0.0, instability)
    return errors


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
    return int(_first_minima(errors[np.newaxis])[0])


def _first_minima(errors: NDArray[np.float64]) -> NDArray[np.intp]:
    """The same of each row."""
    lowest = np.fmin.reduce(errors, axis=1, keepdims=True)
    first: NDArray[np.intp] = np.argmax(errors <= lowest + TIE * abs(lowest), axis=1)
    return first


def choose_weight(rule: str, errors: NDArray[np.float64]) -> int:
    """Which of the stability weights a rule chooses.

    Parameters
    ----------
    rule : {"paper", "steady", "plain"}
        ``"paper"`` takes the weight with the lowest mean error. ``"steady"`` takes the smallest weight
        whose mean error exceeds the lowest by at most one standard error of the differences between the
        two over the views. ``"plain"`` takes the first.
    errors : ndarray of shape (n_views, n_weights)
        ``errors[v, w]``: the error of what weight w chooses in view v, on the rows that the view has
        never seen; the weights in increasing order. Views may be left out.

    Returns
    -------
    weight : int
        Its column; of columns that tie the first.

    Examples
    --------
    The third weight has the lowest mean error, and only in one view of four:

    >>> errors = np.array([[5.0, 5.0, 5.0], [4.0, 4.0, 4.0], [7.0, 6.0, 6.0], [6.0, 6.0, 5.0]])
    >>> [choose_weight(rule, errors) for rule in ("paper", "steady", "plain")]
    [2, 1, 0]
    """
    if rule == "plain":
        return 0
    mean = errors.mean(axis=0)
    best = first_minimum(mean)
    if rule == "paper":
        return best
    smaller = np.flatnonzero(np.isfinite(mean[:best]))  # where nothing failed
    limit = mean[best] + _standard_error(errors[:, smaller] - errors[:, [best]])
    close = smaller[less_a_tie(mean[smaller]) <= limit]
    return int(close[0]) if len(close) else best


def weighted_choices(
    error: NDArray[np.float64], instability: NDArray[np.float64], weights: Sequence[float]
) -> NDArray[np.intp]:
    """By weight, where the lowest regularized error is, the first of those that tie; -1 if none."""
    errors = regularized_errors(error, instability, weights)
    best = _first_minima(errors)
    return np.where(np.isfinite(errors[np.arange(len(best)), best]), best, -1)


def one_standard_error(ledger: Ledger, view: View) -> int:
    """The steadiest of the candidates that are about as good as the best.

    Their errors exceed the lowest one by at most a standard error of that one's mean over the view's
    evaluations.
    """
    mean = error(ledger, view)
    best = first_minimum(mean)
    if not np.isfinite(mean[best]):
        return best
    limit = mean[best] + _standard_error(_counted(ledger, ledger.error[best, view.evaluations]))
    close = np.flatnonzero(less_a_tie(mean) <= limit)
    return int(close[first_minimum(instability(ledger, view, close))])


OF_CANDIDATES: dict[str, Rule] = {"one_standard_error": one_standard_error}
"""Rules that choose a candidate without a weight, by name."""


def chosen_by(rule: Rule, ledger: Ledger, view: View) -> int:
    """What a rule chooses by what the view sees, and by nothing else; -1 where that failed."""
    seen = ledger.seen_from(view)
    choice = rule(seen, view)
    if not isinstance(choice, Integral) or not 0 <= choice < len(ledger):
        raise ValueError(
            f"A rule returns the number of a candidate, here from 0 to {len(ledger) - 1}; "
            f"{getattr(rule, '__name__', rule)} returned {choice!r}."
        )
    return int(choice) if np.isfinite(error(seen, view, [int(choice)])[0]) else -1


def _standard_error(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of the mean over the first axis; 0 of a single value, which says nothing of it."""
    n = len(values)
    if n < 2:
        return np.zeros(values.shape[1:])
    of_mean: NDArray[np.float64] = values.std(axis=0, ddof=1) / np.sqrt(n)
    return of_mean


def _counted(ledger: Ledger, errors: NDArray[np.float64]) -> NDArray[np.float64]:
    counted = np.where(errors == np.inf, ledger.failed_error, errors)
    # Minus infinity is a score that is no finite number: nobody is chosen for it.
    return np.where(counted == -np.inf, np.inf, counted)
