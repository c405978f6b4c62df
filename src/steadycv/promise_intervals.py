"""How sure the promise is: an interval around the nested error for the error on new data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from steadycv.ledger import Ledger

__all__ = ["errors_interval", "inner_errors", "promise_interval"]


def promise_interval(
    errors: ArrayLike,
    rows: Sequence[ArrayLike],
    n_train: ArrayLike,
    losses: Sequence[ArrayLike] | None = None,
    inner: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    coverage: float = 0.9,
) -> tuple[float, float]:
    """Interval for the error on new data of what is delivered.

    It lies around the promise, the mean over the views of the error of what each would deliver.

    Parameters
    ----------
    errors : array-like of shape (n_views,)
        The error of each view's choice on the rows that the view is judged on.
    rows : sequence of array-likes of int
        Those rows, view by view.
    n_train : array-like of shape (n_views,)
        The number of rows that each view's choice was trained on.
    losses : sequence of array-likes, default=None
        Where errors are means of losses: the loss at each of those rows, none negative.
    inner : array-like of shape (n_views, n_views), default=None
        ``inner[i, j]``: the error of view i's choice on the rows of view j, trained without both; NaN
        where i does not see j. See :func:`inner_errors`.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights of the losses in each error.
    groups : array-like of shape (n_samples,), default=None
        The group of each sample where the splits keep groups together: a group is one observation.
    coverage : float, default=0.9
        How often the interval should contain the error on new data.

    Returns
    -------
    low, high : float
        The ends of the interval.

    Notes
    -----
    With losses, the variance of the promise around the error on new data is taken to be **twice the
    variance of a mean of as many losses, plus the mean squared difference between the views**: what
    view i's choice shows on the rows of the others, less what their own choices show there. The interval
    is symmetric on the scale of logarithms, since a sample without the rare large losses has both a low
    mean and a low variance. If all losses are 0 or 1, it is Wilson's for a share.

    Without losses it is Nadeau and Bengio's corrected t interval [1]_ of the errors, which is wider: a
    few errors tell less than many losses.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, Inference for the Generalization Error, Machine Learning 52, 2003.

    Examples
    --------
    Five folds of twenty samples, and the losses on each:

    >>> import numpy as np
    >>> rows = np.arange(100).reshape(5, 20)
    >>> losses = np.random.default_rng(0).chisquare(1, size=(5, 20))
    >>> low, high = promise_interval(losses.mean(axis=1), rows, [80] * 5, losses)
    >>> print(f"{low:.2f} {losses.mean():.2f} {high:.2f}")
    0.86 1.17 1.60

    Errors that are no means of losses:

    >>> low, high = promise_interval([-0.81, -0.75, -0.84, -0.79, -0.86], rows, [80] * 5)
    >>> print(f"{low:.2f} {high:.2f}")
    -0.87 -0.75
    """
    if not 0 < coverage < 1:
        raise ValueError(f"coverage must be between 0 and 1, got {coverage!r}.")
    errors = np.asarray(errors, dtype=np.float64)
    n_test = np.array([len(np.asarray(r)) for r in rows])
    if losses is None:
        test_to_train = n_test.mean() / np.asarray(n_train, dtype=np.float64).mean()
        return errors_interval(errors, float(test_to_train), coverage)
    at, loss = np.concatenate(rows), np.concatenate(losses)
    view = np.repeat(np.arange(len(errors)), n_test)
    weight = np.ones(len(at)) if sample_weight is None else np.asarray(sample_weight, np.float64)[at]
    share = weight / np.bincount(view, weight)[view] / len(errors)
    counts = share > 0
    at, loss, share = at[counts], loss[counts], share[counts]
    unit = np.unique(at if groups is None else np.asarray(groups)[at], return_inverse=True)[1]
    n_units = _two_or_more(int(unit.max()) + 1, "the losses of", "samples, or groups,")
    promise, quantile = float(errors.mean()), float(stdtrit(n_units - 1, (1 + coverage) / 2))
    off = np.bincount(unit, share * (loss - promise))
    variance = 2 * n_units / (n_units - 1) * float(off @ off)
    variance += 0.0 if inner is None else _between_views(errors, np.asarray(inner, dtype=np.float64))
    if np.isin(loss, (0, 1)).all():
        if variance == 0:  # all are right, or all wrong
            return _wilson(promise, 1 / (2 * float((np.bincount(unit, share) ** 2).sum())), quantile)
        return _wilson(promise, promise * (1 - promise) / variance, quantile)
    ratio = float(np.exp(quantile * np.sqrt(variance) / promise))
    return promise / ratio, promise * ratio


def errors_interval(
    errors: NDArray[np.float64], test_to_train: float, coverage: float = 0.9
) -> tuple[float, float]:
    """Nadeau and Bengio's corrected t interval of the mean of errors that share training rows.

    Parameters
    ----------
    errors : ndarray of shape (n_views,)
        The errors, or their differences.
    test_to_train : float
        The rows that each is taken on, over those that it was trained on.
    coverage : float, default=0.9
        How often the interval should contain the mean on new data.

    Returns
    -------
    low, high : float
        The ends of the interval.

    Examples
    --------
    >>> low, high = errors_interval(np.array([0.9, 1.0, 1.4]), test_to_train=0.5)
    >>> print(f"{low:.2f} {high:.2f}")
    0.39 1.81
    """
    n = _two_or_more(len(errors), "where errors are no means of losses", "views")
    quantile = stdtrit(n - 1, (1 + coverage) / 2)
    half = quantile * np.sqrt((1 / n + test_to_train) * errors.var(ddof=1))
    return float(errors.mean() - half), float(errors.mean() + half)


def inner_errors(ledger: Ledger, chosen: ArrayLike) -> NDArray[np.float64]:
    """The errors of each view's choice on the rows of the other views, from inside.

    Parameters
    ----------
    ledger : Ledger
        What the fits left behind.
    chosen : array-like of shape (n_views,)
        The choice of each view.

    Returns
    -------
    inner : ndarray of shape (n_views, n_views)
        ``inner[i, j]``: the error of view i's choice on the rows that view j is judged on, trained on
        what view i sees of the other's training rows; NaN where view i does not see all of them.

    Examples
    --------
    >>> from steadycv.lattice import Lattice
    >>> from steadycv.ledger import Ledger
    >>> lattice = Lattice([([1, 2], [0]), ([0, 2], [1]), ([0, 1], [2])], n_samples=3)
    >>> ledger = Ledger(lattice, n_candidates=2)
    >>> ledger.error[:] = [[1, 2, 3, 4, 5, 6, 7, 8, 9], [0, 0, 0, 0, 0, 0, 0, 0, 0]]
    >>> inner_errors(ledger, [0, 1, 0])
    array([[nan,  4.,  5.],
           [ 0., nan,  0.],
           [ 8.,  9., nan]])
    """
    evaluations, views = ledger.lattice.evaluations, ledger.lattice.views
    inner = np.full((len(views), len(views)), np.nan)
    for i, (view, candidate) in enumerate(zip(views, np.asarray(chosen).tolist(), strict=True)):
        seen = {evaluations[e].row_set: e for e in view.evaluations.tolist()}
        for j, other in enumerate(views):
            assert other.judged is not None
            position = seen.get(evaluations[other.judged].row_set)
            if position is not None:
                inner[i, j] = ledger.error[candidate, position]
    return inner


def _between_views(errors: NDArray[np.float64], inner: NDArray[np.float64]) -> float:
    """How far each view's choice is from the choices of the views that it sees, on their rows."""
    known = np.isfinite(inner)
    sees = known.any(axis=1)
    apart = np.mean((inner - errors)[sees], axis=1, where=known[sees])
    return float((apart**2).mean()) if len(apart) else 0.0


def _two_or_more(n: int, what: str, of: str) -> int:
    if n < 2:
        raise ValueError(f"An interval needs {what} two {of} or more, got {n}.")
    return n


def _wilson(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Wilson's interval for a share of n."""
    extra = quantile**2 / n
    half = quantile * np.sqrt(share * (1 - share) / n + extra / (4 * n))
    return float((share + extra / 2 - half) / (1 + extra)), float(
        (share + extra / 2 + half) / (1 + extra)
    )
