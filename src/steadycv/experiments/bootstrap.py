"""How sure means over splits are, and ratios of them: the bootstrap.

Splits are drawn again, within each data set and for all methods alike, so that methods stay paired.
Splits of one data set share most of their samples, so what it says is surer than new data would be.
"""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["N_RESAMPLES", "Ratio", "mean_ratio", "resamples", "standard_error"]

N_RESAMPLES = 2000
INTERVAL = (0.025, 0.975)


class Ratio(NamedTuple):
    """A geometric mean over data sets of the ratios of two means over splits.

    `standard_error` and the interval from `low` to `high` (95 %) are for these data sets and new
    splits; the interval from `far_low` to `far_high` is for new data sets too, of which these are
    taken to be a random sample.
    """

    value: float
    standard_error: float
    low: float
    high: float
    far_low: float
    far_high: float


def standard_error(values: NDArray[np.float64]) -> float:
    """The bootstrap standard error of a mean; NaN of a single value.

    Examples
    --------
    >>> round(standard_error(np.array([1.0, 2.0, 3.0, 4.0])), 1)
    0.6
    """
    return float(values[resamples(len(values))].mean(axis=1).std()) if len(values) > 1 else nan


def mean_ratio(above: Sequence[NDArray[np.float64]], below: Sequence[NDArray[np.float64]]) -> Ratio:
    """The geometric mean over data sets of mean(above) / mean(below).

    With a single split nothing is known of its error, and with means of 0 there is no ratio: NaN.

    Parameters
    ----------
    above, below : sequences of ndarrays
        For every data set a value for each split; those of a split stand at the same place in both.

    Examples
    --------
    >>> ones = np.ones(3)
    >>> mean_ratio([2 * ones, 8 * ones], [ones, ones]).value
    4.0
    """
    pairs = list(zip(above, below, strict=True))
    logs = np.array([_log_ratio(a.mean(), b.mean()) for a, b in pairs])
    drawn = np.full((N_RESAMPLES, len(logs)), nan)
    for d, (a, b) in enumerate(pairs):
        if len(a) > 1:
            splits = resamples(len(a), seed=d)
            drawn[:, d] = _log_ratio(a[splits].mean(axis=1), b[splits].mean(axis=1))
    near = np.exp(drawn.mean(axis=1))
    others = np.take_along_axis(drawn, resamples(len(logs), seed=len(logs)), axis=1)
    far = np.exp(others.mean(axis=1))
    return Ratio(
        float(np.exp(logs.mean())),
        float(near.std()),
        *np.quantile(near, INTERVAL).tolist(),
        *np.quantile(far, INTERVAL).tolist(),
    )


def _log_ratio(above: Any, below: Any) -> Any:
    """The logarithm of a ratio of errors; NaN where one of them is 0."""
    return np.log(np.where(above > 0, above, nan)) - np.log(np.where(below > 0, below, nan))


def resamples(n: int, seed: int = 0) -> NDArray[np.intp]:
    """Which of n things are drawn, in each of the resamples; independent for different seeds."""
    return np.random.default_rng([seed, n]).integers(n, size=(N_RESAMPLES, n))
