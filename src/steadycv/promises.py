"""Promises: the error to expect on new data of the model that is delivered, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steadycv import rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["OF_CHOICE", "Promise", "promise_of_model", "weights_without_own"]

FAR = 2.0  # standard errors of the difference: so much worse is another model than those that were tried
OF_CHOICE = (
    "the CV error of the choice, which is clearly larger than the error of what was chosen without each "
    "part of the data"
)


class Promise(NamedTuple):
    """What is promised, and why.

    Attributes
    ----------
    error : float
        The error to expect.
    reason : str
        Why it is that figure.
    is_about_the_choice : bool
        Whether the final choice does so much worse than the choices of the views that its own error
        is promised.
    """

    error: float
    reason: str
    is_about_the_choice: bool = False


def weights_without_own(
    rule: str, errors: NDArray[np.float64], others: Sequence[Sequence[int]]
) -> list[int]:
    """By view, the weight that the other views choose.

    `errors` has a row for each view and a column for each weight. A view's own error has no say in the
    weight that it judges, so that the mean of the errors at these weights is no minimum.

    Examples
    --------
    >>> errors = np.array([[1.0, 3.0], [2.0, 1.0], [2.0, 1.5]])
    >>> weights_without_own("paper", errors, [[1, 2], [0, 2], [0, 1]])
    [1, 0, 0]
    """
    return [rules.choose_weight(rule, errors[list(rest)]) for rest in others]


def promise_of_model(
    errors: NDArray[np.float64], of_choice: NDArray[np.float64], *, won_in_a_view: bool
) -> Promise:
    """The promise of the final choice, by the errors of the views' choices and by its own.

    The nested error is about the procedure, not about the model that was saved. Where that does worse on
    the same rows by more than two standard errors of the paired difference, its own error is promised.

    Parameters
    ----------
    errors : ndarray
        By view, the error of what was chosen without its rows.
    of_choice : ndarray
        By view, the error of the final choice on the same rows.
    won_in_a_view : bool
        Whether some view chose it too.

    Examples
    --------
    >>> promise_of_model(np.array([1.0, 2.0, 1.5]), np.array([1.0, 1.5, 1.5]), won_in_a_view=True).error
    1.5
    >>> promise = promise_of_model(np.ones(3), np.array([3.1, 4.0, 3.4]), won_in_a_view=False)
    >>> promise.is_about_the_choice, promise.error
    (True, 3.5)
    """
    difference = of_choice - errors
    spread = difference.std(ddof=1) / np.sqrt(len(difference)) if len(difference) > 1 else np.inf
    if difference.mean() > FAR * spread:
        return Promise(float(of_choice.mean()), OF_CHOICE, is_about_the_choice=True)
    remark = "" if won_in_a_view else " (none of these was the choice itself, which is common)"
    return Promise(
        float(errors.mean()),
        f"the error of what was chosen without the rows that it is judged on{remark}",
    )
