"""Random splits: what is tuned on, its folds, and what is tested on."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import PredefinedSplit

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["N_FOLDS", "Split", "random_split"]

N_FOLDS = 5
ONE_IN = 10  # samples is tested on


@dataclass(frozen=True)
class Split:
    """One random division of a data set.

    Attributes
    ----------
    X, y : data
        What everything is chosen and fitted on.
    X_test, y_test : data
        What only the final models see.
    folds : ndarray of int
        The fold of each sample of `X`.
    """

    X: Any
    y: NDArray[np.float64]
    X_test: Any
    y_test: NDArray[np.float64]
    folds: NDArray[np.intp]

    @property
    def cv(self) -> PredefinedSplit:
        """The folds as a splitter."""
        return PredefinedSplit(self.folds)


def random_split(
    X: Any, y: NDArray[np.float64], dataset: str, number: int, seed: int = 0, n_folds: int = N_FOLDS
) -> Split:
    """Put a random tenth of the samples aside, and the others into folds of equal size.

    The split depends on the arguments `dataset`, `number` and `seed` and the number of samples alone, so
    that all methods get the same ones.

    Examples
    --------
    >>> split = random_split(np.arange(25).reshape(-1, 1), np.arange(25.0), "some data", 0)
    >>> len(split.y), len(split.y_test), np.bincount(split.folds)
    (22, 3, array([5, 5, 4, 4, 4]))
    """
    n_samples = len(y)
    rng = np.random.default_rng([seed, number, zlib.crc32(dataset.encode())])
    order = rng.permutation(n_samples)
    n_test = -(-n_samples // ONE_IN)
    test, train = np.sort(order[:n_test]), np.sort(order[n_test:])
    folds = rng.permutation(len(train)) % n_folds
    rows = getattr(X, "iloc", X)
    return Split(rows[train], y[train], rows[test], y[test], folds)
