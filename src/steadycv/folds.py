"""Folds, training sets, and the lattice of all training sets that the method needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["Lattice", "TrainingSet"]


class TrainingSet(NamedTuple):
    """The samples less zero, one or two folds, named by the left-out folds.

    "Without folds t and u" and "without folds u and t" are the same set, so the left-out
    folds are in increasing order. The full set belongs to all repeats and is named with
    repeat 0.
    """

    repeat: int
    left_out: tuple[int, ...]


FULL = TrainingSet(0, ())


@dataclass(frozen=True)
class Lattice:
    """All distinct training sets of a partition; one partition a repeat.

    Attributes
    ----------
    fold : ndarray of shape (n_repeats, n_samples)
        ``fold[r, i]`` is the fold of repeat r that holds sample i.
    n_folds : int
        The number of folds k, the same in every repeat.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> lattice = Lattice.from_splits(KFold(5).split(range(20)), n_samples=20)
    >>> len(lattice.outer_sets(0, 2)), len(lattice.all_sets())
    (5, 16)
    """

    fold: NDArray[np.intp]
    n_folds: int

    @classmethod
    def from_splits(
        cls, splits: Iterable[tuple[Any, Any]], n_samples: int, source: str = "cv"
    ) -> Lattice:
        """Check that the splits partition the samples, once or repeatedly."""
        repeats: list[NDArray[np.intp]] = []
        n_folds: list[int] = []
        current = np.full(n_samples, -1, dtype=np.intp)
        size = 0
        for number, (train, test) in enumerate(splits):
            train, test = _indices(train), _indices(test)
            for index in (train, test):
                if len(index) and not 0 <= index.min() <= index.max() < n_samples:
                    raise ValueError(
                        f"{source}: split {number} has samples {index.min()} to {index.max()}, and the "
                        f"data have {n_samples} samples, counted from 0."
                    )
            if len(test) == 0:
                raise ValueError(f"{source}: split {number} has no sample to validate on.")
            if (current[test] >= 0).any() or len(np.unique(test)) < len(test):
                raise ValueError(
                    _explain(
                        source,
                        f"split {number} validates on samples that an "
                        "earlier split of the same repeat already validated on",
                    )
                )
            inside = np.zeros(n_samples, dtype=bool)
            inside[test] = True
            if inside[train].any():
                raise ValueError(
                    _explain(source, f"split {number} trains and validates on the same samples")
                )
            inside[train] = True
            if not inside.all() or len(train) + len(test) != n_samples:
                raise ValueError(
                    _explain(
                        source,
                        f"split {number} trains on {len(train)} and "
                        f"validates on {len(test)} of {n_samples} samples, so some are in neither or "
                        "in one of them twice",
                    )
                )
            current[test] = size
            size += 1
            if (current >= 0).all():
                repeats.append(current)
                n_folds.append(size)
                current, size = np.full(n_samples, -1, dtype=np.intp), 0
        if size:
            left = int((current < 0).sum())
            raise ValueError(_explain(source, f"{left} of {n_samples} samples are in no fold"))
        if not repeats:
            raise ValueError(
                f"No fits were performed: {source} gave no splits. Was the CV iterator empty?"
            )
        if len(set(n_folds)) > 1:
            raise ValueError(
                f"{source}: the repeats have {n_folds} folds; all must have the same number."
            )
        return cls(np.stack(repeats), n_folds[0])

    @property
    def n_repeats(self) -> int:
        """Number of partitions."""
        return len(self.fold)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.fold.shape[1])

    def final_sets(self, *, with_full: bool) -> list[TrainingSet]:
        """What the final choice needs: every fold left out once, and the full set."""
        sets = [TrainingSet(r, (t,)) for r in range(self.n_repeats) for t in range(self.n_folds)]
        return [FULL, *sets] if with_full else sets

    def outer_sets(self, repeat: int, fold: int) -> list[TrainingSet]:
        """What the choice inside one outer fold needs: it left out, alone and with each other."""
        return [TrainingSet(repeat, (fold,))] + [
            TrainingSet(repeat, (min(fold, other), max(fold, other)))
            for other in range(self.n_folds)
            if other != fold
        ]

    def all_sets(self) -> list[TrainingSet]:
        """Every training set, the largest first: ``1 + repeats * (k + k(k-1)/2)`` of them."""
        pairs = [
            TrainingSet(r, (t, u))
            for r in range(self.n_repeats)
            for t in range(self.n_folds)
            for u in range(t + 1, self.n_folds)
        ]
        return self.final_sets(with_full=True) + pairs

    def rows(self, training_set: TrainingSet) -> NDArray[np.intp]:
        """The training rows, in their original order."""
        return np.flatnonzero(~self.left_out(training_set))

    def left_out(self, training_set: TrainingSet) -> NDArray[np.bool_]:
        """Mask of the samples that a training set leaves out."""
        fold = self.fold[training_set.repeat]
        mask = np.zeros(self.n_samples, dtype=bool)
        for t in training_set.left_out:
            mask |= fold == t
        return mask

    def fold_sizes(self) -> NDArray[np.intp]:
        """Number of samples by repeat and fold."""
        return np.stack([np.bincount(fold, minlength=self.n_folds) for fold in self.fold])


def _indices(index: Any) -> NDArray[np.intp]:
    array = np.asarray(index)
    return np.flatnonzero(array) if array.dtype == bool else array.astype(np.intp, copy=False)


def _explain(source: str, what: str) -> str:
    return (
        f"{source} does not partition the samples: {what}. Every sample must be in exactly one "
        "fold (of each repeat), because the method compares models trained without one fold "
        "and without two. KFold, StratifiedKFold, GroupKFold, StratifiedGroupKFold, "
        "LeaveOneOut, LeaveOneGroupOut and the repeated forms do; TimeSeriesSplit, "
        "ShuffleSplit and other resampling schemes do not."
    )
