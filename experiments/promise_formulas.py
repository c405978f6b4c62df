"""Formulas for an interval around the nested error, from what a fitted search knows."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from steadycv.promise_intervals import promise_interval

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Interval = tuple[float, float]

COVERAGE = 0.9
UPPER = (1 + COVERAGE) / 2
Z = float(stats.norm.ppf(UPPER))
RESAMPLES = 300


class Known:
    """What a fitted search knows, and what several formulas need of it.

    Parameters
    ----------
    losses, folds : arrays of shape (n_repeats, n)
        The nested loss of each sample, and the view that it was judged in; -1 for none.
    errors : array of shape (n_views,)
        The error of each view's choice on the rows that the view is judged on.
    inner : array of shape (n_views, n_views) or None
        inner[i, j]: the error of view i's choice on the rows of view j, trained without both.
    n_folds : int
        The number of folds of a repeat.
    n_train : float
        The mean number of rows that the views' choices were trained on.
    groups : array of shape (n,) or None
        The group of each sample.
    """

    def __init__(
        self,
        losses: NDArray[Any],
        folds: NDArray[Any],
        errors: NDArray[Any],
        inner: NDArray[Any] | None,
        n_folds: int,
        n_train: float,
        groups: NDArray[Any] | None,
    ) -> None:
        self.errors, self.inner, self.n_train, self.groups = errors, inner, n_train, groups
        self.rows = [np.nonzero(folds == v)[1] for v in range(len(errors))]
        self.fold_losses = [losses[folds == v] for v in range(len(errors))]
        self.losses = losses[:, (folds >= 0).any(axis=0)].mean(axis=0)
        self.n, self.n_folds = len(self.losses), n_folds
        self.promise = float(errors.mean())
        self.spread = float(self.losses.std(ddof=1) / np.sqrt(self.n))  # of the mean loss
        self.more = float(np.sqrt(1 + self.n / n_train))  # what training on few rows adds

    @cached_property
    def within(self) -> float:
        """The spread of the mean from the variances within folds."""
        return float(np.sqrt(np.mean([x.var(ddof=1) for x in self.fold_losses]) / self.n))

    @cached_property
    def corrected(self) -> float:
        """Nadeau and Bengio's spread, from the errors of folds."""
        test_to_train = np.mean([len(x) for x in self.rows]) / self.n_train
        return float(np.sqrt((1 / len(self.errors) + test_to_train) * self.errors.var(ddof=1)))

    @cached_property
    def bates(self) -> float:
        """Bates, Hastie and Tibshirani's spread, within the bounds that they set."""
        a = (np.nanmean(self.inner, axis=1) - self.errors) ** 2
        b = [x.var(ddof=1) / len(x) for x in self.fold_losses]
        squared = (self.n_folds - 1) / self.n_folds * (np.mean(a) - np.mean(b))
        most = np.sqrt(self.n_folds) * self.spread
        return float(np.clip(np.sqrt(max(squared, 0)), self.spread, most))

    @cached_property
    def resampled(self) -> NDArray[Any]:
        """Quantiles of t over resampled losses."""
        rows = np.random.default_rng(0).integers(self.n, size=(RESAMPLES, self.n))
        drawn = self.losses[rows]
        spread = np.maximum(drawn.std(axis=1, ddof=1) / np.sqrt(self.n), 1e-300)
        t = np.clip((drawn.mean(axis=1) - self.losses.mean()) / spread, -20, 20)
        return np.quantile(t, [1 - UPPER, UPPER])

    @cached_property
    def heavy(self) -> float:
        """Student's quantile with the degrees of freedom that the losses' kurtosis leaves."""
        off = self.losses - self.losses.mean()
        kurtosis = (off**4).mean() / max((off**2).mean() ** 2, 1e-300)
        return float(stats.t.ppf(UPPER, max(2 * self.n / max(kurtosis, 1), 1.5)))


def around(centre: float, half: float) -> Interval:
    return centre - half, centre + half


def on_logs(centre: float, half: float) -> Interval:
    ratio = np.exp(min(half / centre, 700)) if centre > 0 else 1.0
    return centre / ratio, centre * ratio


def student(degrees: int) -> float:
    return float(stats.t.ppf(UPPER, degrees))


def of_errors(known: Known) -> Interval:
    return promise_interval(known.errors, known.rows, known.n_train, coverage=COVERAGE)


def taken(known: Known, inner: NDArray[Any] | None = None) -> Interval:
    return promise_interval(
        known.errors,
        known.rows,
        known.n_train,
        known.fold_losses,
        inner,
        groups=known.groups,
        coverage=COVERAGE,
    )


def bates_corrected(known: Known) -> Interval:
    """Around the nested error less its bias, as the errors of models trained on fewer rows show it."""
    k = known.n_folds
    bias = (k - 2) / k * (float(np.nanmean(known.inner)) - known.promise)
    return around(known.promise - bias, Z * known.bates)


def bootstrapped(known: Known, factor: float) -> Interval:
    low, high = known.resampled * known.spread * factor
    return known.promise - high, known.promise - low


def larger(first: Interval, second: Interval) -> Interval:
    return min(first[0], second[0]), max(first[1], second[1])


def chi_squared(known: Known) -> Interval:
    """As if the mean loss were a multiple of a chi-squared variable with its mean and variance."""
    degrees = 2 * known.promise**2 / max((known.more * known.spread) ** 2, 1e-300)
    low, high = stats.chi2.ppf([1 - UPPER, UPPER], degrees)
    return degrees * known.promise / high, degrees * known.promise / max(low, 1e-300)


TAKEN = "**taken**: twice the variance and the difference between views, logarithms"
WITHOUT_INNER = "the same without inner errors"
WITHOUT_LOSSES = "**taken without losses**: Nadeau and Bengio over folds"

OF_ERRORS: dict[str, Callable[[Known], Interval]] = {
    "t over folds": lambda s: around(
        s.promise, student(len(s.errors) - 1) * s.errors.std(ddof=1) / np.sqrt(len(s.errors))
    ),
    WITHOUT_LOSSES: of_errors,
}
OF_LOSSES: dict[str, Callable[[Known], Interval]] = {
    "normal over losses (naive)": lambda s: around(s.promise, Z * s.spread),
    "Bayle and others, within folds": lambda s: around(s.promise, Z * s.within),
    "bootstrap-t over losses": lambda s: bootstrapped(s, 1),
    "naive, logarithms": lambda s: on_logs(s.promise, Z * s.spread),
    "larger of naive and Nadeau and Bengio": lambda s: larger(
        around(s.promise, Z * s.spread), of_errors(s)
    ),
    "Nadeau and Bengio over losses": lambda s: around(s.promise, Z * s.more * s.spread),
    "the same, bootstrap-t": lambda s: bootstrapped(s, s.more),
    "the same, chi-squared": chi_squared,
    "the same, logarithms": lambda s: on_logs(s.promise, Z * s.more * s.spread),
    "the same, logarithms, t by kurtosis": lambda s: on_logs(s.promise, s.heavy * s.more * s.spread),
    "three times the variance, logarithms": lambda s: on_logs(s.promise, Z * np.sqrt(3) * s.spread),
    WITHOUT_INNER: taken,
}
OF_INNER: dict[str, Callable[[Known], Interval]] = {
    "Bates and others": lambda s: around(s.promise, Z * s.bates),
    "the same, bias corrected": bates_corrected,
    "Bates and others, t": lambda s: around(s.promise, student(s.n_folds - 1) * s.bates),
    "Bates and others, logarithms": lambda s: on_logs(s.promise, Z * s.bates),
    TAKEN: lambda s: taken(s, s.inner),
}
