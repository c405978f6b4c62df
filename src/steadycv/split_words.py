"""How the splits of a search are told to people: folds, splits forward in time, or any others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from steadycv.lattice import Lattice

__all__ = ["SplitWords"]


@dataclass(frozen=True)
class SplitWords:
    """The words for the splits of a search.

    Attributes
    ----------
    n : int
        How many there are in a repeat.
    n_repeats : int
        How many repeats.
    are_folds : bool
        Whether each repeat is a partition: every row is in one test, and trained on by all other splits.
    are_forward : bool
        Whether all are trained on rows that come before those that they are tested on.

    Examples
    --------
    >>> from sklearn.model_selection import TimeSeriesSplit
    >>> from steadycv.lattice import Lattice
    >>> SplitWords.of(Lattice(TimeSeriesSplit(5).split(range(20)), n_samples=20)).in_words
    '5 splits forward in time'
    """

    n: int
    n_repeats: int
    are_folds: bool
    are_forward: bool

    @classmethod
    def of(cls, lattice: Lattice) -> SplitWords:
        """The words for a lattice."""
        n_repeats = lattice.n_repeats
        return cls(
            n=len(lattice.splits) // n_repeats,
            n_repeats=n_repeats,
            are_folds=_are_folds(lattice),
            are_forward=all(split.train[-1] < split.test[0] for split in lattice.splits),
        )

    @property
    def word(self) -> str:
        """What to call one of them."""
        return "fold" if self.are_folds else "split"

    @property
    def in_words(self) -> str:
        """How many of what kind."""
        count = f"{self.n} {self.word}{'' if self.n == 1 else 's'}"
        forward = " forward in time" if self.are_forward else ""
        return f"{count}{forward}{f', {self.n_repeats} times' if self.n_repeats > 1 else ''}"

    @property
    def left_out(self) -> str:
        """What a model of a split was trained without."""
        return "a fold" if self.are_folds else "some rows"

    @property
    def trained_on(self) -> str:
        """What a model that predicts the test rows of a split was trained on."""
        if self.are_folds:
            return "the others"
        return "rows that come before" if self.are_forward else "other rows"


def _are_folds(lattice: Lattice) -> bool:
    """Whether each repeat is a partition, and every split trains on all that it does not test."""
    n = lattice.n_samples
    times = np.zeros((lattice.n_repeats, n), dtype=np.intp)
    for repeat, split in zip(lattice.repeat.tolist(), lattice.splits, strict=True):
        times[repeat, split.test] += 1
        if len(split.train) + len(split.test) != n or len(np.unique(split.train)) != len(split.train):
            return False
    return bool((times == 1).all())
