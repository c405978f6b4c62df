"""Populations whose errors are known: what promise_coverage.py draws its data from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import stats
from sklearn.datasets import load_digits

from steadycv import datasets

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

GROUP_SIZE = 4
NEW = 5_000  # samples on which the error of what is delivered is taken


class Sample(NamedTuple):
    """Rows, their targets, and of each target the mean and the variance.

    Of classes 0 and 1 the mean is the probability of 1. A table knows its targets only: they are their
    own means.
    """

    X: Array
    y: Array
    mean: Array
    variance: Array
    groups: NDArray[np.intp] | None = None


@dataclass(frozen=True)
class Numbers:
    """Columns made of independent normal ones, a signal, and noise of unit variance times a spread."""

    signal: Callable[[Array], Array]
    noise: Callable[[np.random.Generator, int], Array]
    spread: Callable[[Array], Array]
    n_columns: int = 8
    columns: Callable[[Array], Array] = np.asarray

    def sample(self, n: int, rng: np.random.Generator) -> Sample:
        X = self.columns(rng.normal(size=(n, self.n_columns)))
        mean, spread = self.signal(X), self.spread(X)
        return Sample(X, mean + spread * self.noise(rng, n), mean, spread**2)

    @cached_property
    def new(self) -> Sample:
        return self.sample(NEW, np.random.default_rng(2**31))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Sample, Sample]:
        """What to learn from, and new data."""
        return self.sample(n, rng), self.new


@dataclass(frozen=True)
class Classes(Numbers):
    """The signal is the logit of class 1."""

    noise: Any = None
    spread: Any = None

    def sample(self, n: int, rng: np.random.Generator) -> Sample:
        X = self.columns(rng.normal(size=(n, self.n_columns)))
        p = 1 / (1 + np.exp(-self.signal(X)))
        return Sample(X, (rng.random(n) < p).astype(float), p, p * (1 - p))


@dataclass(frozen=True)
class Grouped(Numbers):
    """Groups of rows that share the second half of their columns and a level of their own."""

    def sample(self, n: int, rng: np.random.Generator) -> Sample:
        groups = np.arange(n) // GROUP_SIZE
        X = rng.normal(size=(n, self.n_columns))
        half = self.n_columns // 2
        X[:, half:] = rng.normal(size=(groups[-1] + 1, half))[groups]
        level = rng.normal(size=groups[-1] + 1)[groups]
        mean, spread = self.signal(X), self.spread(X)
        y = mean + spread * (level + self.noise(rng, n))
        return Sample(X, y, mean, 2 * spread**2, groups)


@dataclass(frozen=True)
class Table:
    """Rows of a table, drawn without replacement; the others are new data."""

    load: Callable[[], tuple[Array, Array]]

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Sample, Sample]:
        X, y = self.load()
        order = rng.permutation(len(y))
        old, new = order[:n], order[n : n + NEW]
        return self._sample(X[old], y[old]), self._sample(X[new], y[new])

    def _sample(self, X: Array, y: Array) -> Sample:
        return Sample(X, y, y, np.zeros(len(y)))


# Columns.


def uniform(X: Array) -> Array:
    return stats.norm.cdf(X)


def alike(X: Array) -> Array:
    """All columns share half of their variance."""
    return (X + X[:, :1]) / np.sqrt(2)


# Noise of unit variance.


def normal(rng: np.random.Generator, n: int) -> Array:
    return rng.normal(size=n)


def student(degrees: float, rng: np.random.Generator, n: int) -> Array:
    return rng.standard_t(degrees, size=n) / np.sqrt(degrees / (degrees - 2))


def laplace(rng: np.random.Generator, n: int) -> Array:
    return rng.laplace(size=n) / np.sqrt(2)


def skewed(rng: np.random.Generator, n: int) -> Array:
    return (rng.lognormal(0, 0.5, size=n) - np.exp(0.125)) / np.sqrt(np.expm1(0.25) * np.exp(0.25))


def outliers(rng: np.random.Generator, n: int) -> Array:
    """One sample in twenty has five times the spread of the others."""
    return rng.normal(size=n) * np.where(rng.random(n) < 0.05, 5, 1) / np.sqrt(0.95 + 0.05 * 25)


# How wide it spreads.


def constant(spread: float, X: Array) -> Array:
    return np.full(len(X), spread)


def growing(X: Array) -> Array:
    return np.exp(X[:, 0] / 2)


def from_the_middle(X: Array) -> Array:
    return 0.5 + np.abs(X[:, 0])


def two_parts(X: Array) -> Array:
    return np.where(X[:, 1] > 1, 4.0, 1.0)


# Signals.


def linear(X: Array) -> Array:
    return 2 * X[:, 0] - X[:, 1] + X[:, 2]


def smooth(X: Array) -> Array:
    return 2 * np.sin(1.5 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3]


def steps(X: Array) -> Array:
    return 3.0 * (X[:, 0] > 0) + 2.0 * (X[:, 1] > 0.5) * (X[:, 2] > 0) - 1.0 * (X[:, 3] < -1)


def product(X: Array) -> Array:
    return 2 * X[:, 0] * X[:, 1] + np.exp(X[:, 2] / 2)


def nothing(X: Array) -> Array:
    return np.zeros(len(X))


def friedman(X: Array) -> Array:
    return (
        10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    )


def waves(X: Array) -> Array:
    return np.sin(3 * X[:, 0]) * X[:, 1] + np.abs(X[:, 2])


def many(X: Array) -> Array:
    return X[:, :6].sum(axis=1)


def times(factor: float, signal: Callable[[Array], Array], X: Array) -> Array:
    return factor * signal(X)


def seldom(X: Array) -> Array:
    return linear(X) - 3


def often(X: Array) -> Array:
    return 2 * steps(X) - 3


@cache
def wine() -> tuple[Array, Array]:
    X, y = datasets.load("wine", return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@cache
def digits() -> tuple[Array, Array]:
    X, y = load_digits(return_X_y=True)
    return X / 16, (y > 4).astype(float)


# Those that the formula was chosen on, and those that were drawn from after it was.
CHOSEN_ON: dict[str, Any] = {
    "linear": Numbers(linear, normal, partial(constant, 2.0)),
    "smooth": Numbers(smooth, normal, partial(constant, 1.0)),
    "steps": Numbers(steps, normal, partial(constant, 1.0)),
    "linear, t5": Numbers(linear, partial(student, 5), partial(constant, 2.0)),
    "smooth, skewed": Numbers(smooth, skewed, partial(constant, 2.0)),
    "linear, growing noise": Numbers(linear, normal, growing),
    "product": Numbers(product, normal, partial(constant, 1.0)),
    "no signal": Numbers(nothing, normal, partial(constant, 1.0)),
    "40 columns": Numbers(many, normal, partial(constant, 2.0), n_columns=40),
    "smooth, little noise": Numbers(smooth, normal, partial(constant, 0.1)),
    "steps, Laplace": Numbers(steps, laplace, partial(constant, 1.5)),
    "smooth, t3": Numbers(smooth, partial(student, 3), partial(constant, 1.5)),
    "linear, outliers": Numbers(linear, outliers, partial(constant, 2.0)),
    "steps, two noises": Numbers(steps, normal, two_parts),
    "wine": Table(wine),
    "classes, linear": Classes(partial(times, 0.75, linear)),
    "classes, steps": Classes(often),
    "classes, smooth": Classes(partial(times, 1.5, smooth)),
    "classes, rare": Classes(seldom),
    "digits": Table(digits),
}
KEPT_APART: dict[str, Any] = {
    "friedman": Numbers(friedman, normal, partial(constant, 2.0), columns=uniform),
    "20 columns alike": Numbers(many, normal, partial(constant, 3.0), n_columns=20, columns=alike),
    "waves, t4": Numbers(waves, partial(student, 4), partial(constant, 1.0)),
    "linear, noise from the middle": Numbers(linear, normal, from_the_middle),
    "product, skewed": Numbers(product, skewed, partial(constant, 2.0)),
    "waves, growing Laplace": Numbers(waves, laplace, growing),
    "classes, product": Classes(product),
    "classes, faint": Classes(partial(times, 0.4, linear)),
}
GROUPED = {
    "linear, groups": Grouped(linear, normal, partial(constant, 1.5)),
    "product, groups": Grouped(product, normal, partial(constant, 1.0)),
}
PROBLEMS = CHOSEN_ON | KEPT_APART | GROUPED
