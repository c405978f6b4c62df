"""Theorem 1 of the paper: a bound on the test error."""

from __future__ import annotations

import math

__all__ = ["generalization_bound"]


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
    if not loss_bound > 0 or not math.isfinite(loss_bound):
        raise ValueError(f"loss_bound must be a finite number above 0, got {loss_bound!r}.")
    if loss_bound < cv_error:
        raise ValueError(
            f"loss_bound={loss_bound!r} cannot bound the losses: their mean is {cv_error!r} already."
        )
    if n_folds < 2:
        raise ValueError(f"n_folds must be 2 or more, got {n_folds!r}.")
    if not 0 < delta < 1:
        raise ValueError(f"delta must be between 0 and 1, got {delta!r}.")
    if n_samples is not None and n_samples % n_folds:
        raise ValueError(
            f"The theorem is for folds of equal size, and {n_samples} samples do not make "
            f"{n_folds} equal folds."
        )
    spread = loss_bound**2 + 6 * loss_bound * n_folds * instability
    return cv_error + math.sqrt(spread / (2 * n_folds * delta))
