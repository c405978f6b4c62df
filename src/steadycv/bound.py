"""Bounds on the error on new data: Theorem 1 of the paper, and one of the views' own choices."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["generalization_bound", "nested_bound"]

BOLDEST = 0.99  # below 1, so that a single loss of loss_bound does not end a bet
HALVINGS = 60  # to the last bit


def generalization_bound(
    cv_error: float,
    instability: float,
    *,
    loss_bound: float,
    n_folds: int,
    delta: float = 0.05,
    n_samples: int | None = None,
) -> float:
    r"""Bound on the test error that holds with probability ``1 - delta``.

    .. math:: \text{CV error} + \sqrt{\frac{M^2 + 6 M k \mu}{2 k \delta}}

    Parameters
    ----------
    cv_error : float
        The k-fold cross-validation error.
    instability : float
        The hypothesis stability :math:`\mu`. The theorem means its expectation over data sets; what
        a search measures is an estimate of it from one data set.
    loss_bound : float
        :math:`M`: no loss of any model at any point is larger.
    n_folds : int
        :math:`k`.
    delta : float, default=0.05
        How often the bound may fail, between 0 and 1.
    n_samples : int, optional
        If given, it must be a multiple of `n_folds`: the theorem is for folds of equal size.

    Returns
    -------
    bound : float
        The upper bound on the test error.

    See Also
    --------
    nested_bound : Is about other models, and says something at any number of folds.

    Notes
    -----
    The bound is loose, and its use is to say what matters rather than how much: it rests on
    Chebyshev's inequality. With no instability at all it is ``cv_error + M / sqrt(2 k delta)``, which
    is more than M itself unless ``k > 1 / (2 delta)``: with delta = 0.05, more than ten folds. It
    is for a candidate fixed beforehand; one chosen on the same data can do worse. The nested error
    of a search is the figure to rely on.

    Examples
    --------
    >>> from steadycv import generalization_bound
    >>> round(generalization_bound(0.1, 0.001, loss_bound=1.0, n_folds=100), 3)
    0.5
    """
    if not cv_error >= 0 or not math.isfinite(cv_error):
        raise ValueError(f"cv_error must be a finite number from 0 on, got {cv_error!r}.")
    if not instability >= 0 or not math.isfinite(instability):
        raise ValueError(f"instability must be a finite number from 0 on, got {instability!r}.")
    _check(loss_bound, delta)
    if loss_bound < cv_error:
        raise ValueError(
            f"loss_bound={loss_bound!r} cannot bound the losses: their mean is {cv_error!r} already."
        )
    if n_folds < 2:
        raise ValueError(f"n_folds must be 2 or more, got {n_folds!r}.")
    if n_samples is not None and n_samples % n_folds:
        raise ValueError(
            f"The theorem is for folds of equal size, and {n_samples} samples do not make "
            f"{n_folds} equal folds."
        )
    spread = loss_bound**2 + 6 * loss_bound * n_folds * instability
    return cv_error + math.sqrt(spread / (2 * n_folds * delta))


def nested_bound(
    losses: Sequence[ArrayLike],
    n_choices: int | Sequence[int] = 1,
    *,
    loss_bound: float,
    delta: float = 0.05,
) -> float:
    r"""Bound on the mean error of models that were each chosen and trained without its test rows.

    With probability ``1 - delta`` over the data, the mean over folds of the models' errors on new data
    is at most this. So is the error of the average of their outputs where the loss is convex in these,
    and that of one of them drawn at random; a majority vote of classes has at most twice their zero-one
    error. No stability is asked for. The page *A bound that says something* has the proof.

    Parameters
    ----------
    losses : sequence of array-like
        For each fold, the losses of its model on the test rows. Booleans are zero-one losses, for which
        the bound is lower: whether each of the rows is misclassified.
    n_choices : int or sequence of int, default=1
        Among how many models each fold's was chosen by somebody who had seen its losses: of a search,
        how many different candidates the fold's view chose at all stability weights. If one number, it
        is that of every fold.
    loss_bound : float
        :math:`M`: no loss of any model at any point is larger, seen or not.
    delta : float, default=0.05
        How often the bound may fail, between 0 and 1.

    Returns
    -------
    bound : float
        The upper bound on the mean error, at most `loss_bound`.

    See Also
    --------
    generalization_bound : Theorem 1 of the paper, for one model fitted on all rows.

    Notes
    -----
    The rows must be independent and of one distribution, and drawn into folds without a look at them.
    Stratified folds are not, and groups and time series are not independent.

    Examples
    --------
    >>> import numpy as np
    >>> from steadycv.bound import nested_bound
    >>> losses = np.random.default_rng(0).beta(1, 9, size=(5, 100))  # of five models, on 100 rows each
    >>> print(f"nested error {losses.mean():.2f}, bound {nested_bound(losses, 3, loss_bound=1.0):.2f}")
    nested error 0.10, bound 0.15
    """
    _check(loss_bound, delta)
    folds = [_checked(fold, loss_bound, number) for number, fold in enumerate(losses)]
    if not folds:
        raise ValueError("losses must have those of one fold or more, got none.")
    counts = np.full(len(folds), n_choices) if np.ndim(n_choices) == 0 else np.asarray(n_choices)
    if counts.shape != (len(folds),) or not (counts >= 1).all():
        raise ValueError(
            f"n_choices must be 1 or more, one number or one for each of {len(folds)} folds, got "
            f"{n_choices!r}."
        )
    if all(fold.dtype == bool for fold in folds):
        return loss_bound * _bound_of_counts(folds, counts, delta)
    return loss_bound * _bound_by_bets([fold / loss_bound for fold in folds], counts, delta)


def _bound_by_bets(folds: list[NDArray[np.float64]], counts: NDArray[np.intp], delta: float) -> float:
    """Of losses between 0 and 1: no risk at which bets on low losses would have won too much."""
    size = min(map(len, folds))
    bets = _bets(size, delta)
    gains = np.mean([np.log1p(-np.outer(bets, fold)).mean(axis=1) for fold in folds], axis=0)
    most = math.log(len(bets)) + np.log(counts).mean() - math.log(delta)

    def is_ruled_out(risk: float) -> bool:
        return bool(np.logaddexp.reduce(size * (gains - np.log1p(-bets * risk))) > most)

    return _largest(float(np.mean([fold.mean() for fold in folds])), is_ruled_out)


def _bets(size: int, delta: float) -> NDArray[np.float64]:
    """From the best bet for losses of the largest variance to the boldest, for those of none."""
    shyest = min(-math.expm1(-math.sqrt(8 * math.log(1 / delta) / size)), BOLDEST)
    return np.geomspace(shyest, BOLDEST, 1 + math.ceil(2 * math.log2(BOLDEST / shyest)))


def _bound_of_counts(folds: list[NDArray[np.bool_]], counts: NDArray[np.intp], delta: float) -> float:
    """Of zero-one losses: no risk that is too far from their means by relative entropy."""
    size = min(map(len, folds))
    seen = float(np.mean([(np.count_nonzero(fold) + 1) / len(fold) for fold in folds]))
    quantiles = [max(-NormalDist().inv_cdf(delta / count), 0) for count in counts.tolist()]
    most = (1 + float(np.mean(np.square(quantiles))) / 2) / size

    def is_ruled_out(risk: float) -> bool:
        return risk == 1 or _relative_entropy(seen, risk) > most

    return 1.0 if seen >= 1 else _largest(seen, is_ruled_out)


def _relative_entropy(seen: float, risk: float) -> float:
    """Of one coin with respect to another, both shares strictly between 0 and 1."""
    return seen * math.log(seen / risk) + (1 - seen) * math.log((1 - seen) / (1 - risk))


def _largest(low: float, is_ruled_out: Callable[[float], bool]) -> float:
    """The largest risk that is not ruled out, rounded upwards; the lowest one is not."""
    high = 1.0
    if is_ruled_out(high):
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if is_ruled_out(middle) else (middle, high)
    return high


def _checked(losses: ArrayLike, loss_bound: float, fold: int) -> NDArray[Any]:
    """The losses of a fold as they are, if they are some."""
    found = np.asarray(losses)
    if found.ndim != 1 or not len(found):
        raise ValueError(f"Fold {fold} must have a loss for each test row, got shape {found.shape}.")
    if found.dtype == bool and loss_bound != 1:
        raise ValueError(f"Of zero-one losses loss_bound must be 1, got {loss_bound!r}.")
    wrong = found[~((found >= 0) & (found <= loss_bound))]
    if len(wrong):
        raise ValueError(
            f"Losses must be from 0 to loss_bound={loss_bound!r}, and fold {fold} has {wrong[0]}."
        )
    return found


def _check(loss_bound: float, delta: float) -> None:
    if not loss_bound > 0 or not math.isfinite(loss_bound):
        raise ValueError(f"loss_bound must be a finite number above 0, got {loss_bound!r}.")
    if not 0 < delta < 1:
        raise ValueError(f"delta must be between 0 and 1, got {delta!r}.")
