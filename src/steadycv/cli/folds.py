"""How the rows of a table are split: into folds, or forward in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)

from steadycv.cli.errors import UserError
from steadycv.cli.request import FEWEST_FOLDS
from steadycv.tables.targets import Target, find_column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["fewest_rows", "find_folds", "find_groups", "forward_in_time", "partition"]


def find_folds(target: Target, groups: Any, n_folds: int, n_repeats: int, seed: int) -> Any:
    """A splitter: shuffled, with the classes spread evenly and groups kept together."""
    _check_n(target, n_folds)
    _check_sizes(target, groups, n_folds)
    by_class = target.task == "classification"
    if n_repeats == 1:
        return partition(n_folds, seed, by_class=by_class, grouped=groups is not None)
    if groups is None:
        splitter = RepeatedStratifiedKFold if by_class else RepeatedKFold
        return splitter(n_splits=n_folds, n_repeats=n_repeats, random_state=seed)
    return RepeatedGroupKFold(n_folds, n_repeats, seed, by_class)


def partition(n_folds: int, seed: int, *, by_class: bool, grouped: bool) -> Any:
    """A splitter into folds at random, once."""
    if grouped:
        splitter = StratifiedGroupKFold if by_class else GroupKFold
    else:
        splitter = StratifiedKFold if by_class else KFold
    return splitter(n_folds, shuffle=True, random_state=seed)


def forward_in_time(target: Target, n_splits: int) -> TimeSeriesSplit:
    """A splitter of rows in the order of time: each split trains on what comes before its test rows."""
    _check_n(target, n_splits)
    n_first = len(target.y) - n_splits * (len(target.y) // (n_splits + 1))
    first = np.unique(target.y[:n_first])
    if target.task == "classification" and len(first) == 1:
        raise UserError(
            f"The first {n_first} rows in time, which the first split trains on, are all of the class "
            f"{target.classes[first[0]]!r}: use fewer folds, or leave out early rows."
        )
    return TimeSeriesSplit(n_splits)


def fewest_rows(n_rows: int, n_folds: int, *, in_time: bool) -> int:
    """How many rows the smallest training set has."""
    if in_time:
        return n_rows - n_folds * (n_rows // (n_folds + 1))
    return n_rows * (n_folds - 2) // n_folds


def find_groups(frame: Any, name: str) -> NDArray[np.intp]:
    """The group of each row, by number."""
    column = find_column(frame, name)
    n_missing = int(column.isna().sum())
    if n_missing:
        raise UserError(f"The groups {name!r} are missing in {n_missing} of {len(frame)} rows.")
    _, groups = np.unique(column.map(str).to_numpy(dtype=str), return_inverse=True)
    return np.asarray(groups)


@dataclass(frozen=True)
class RepeatedGroupKFold:
    """Folds that keep groups together, several times: scikit-learn has them once only."""

    n_splits: int
    n_repeats: int
    random_state: int
    by_class: bool

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Training and test rows, one repeat after the other."""
        for seed in np.random.SeedSequence(self.random_state).generate_state(self.n_repeats):
            folds = partition(self.n_splits, int(seed), by_class=self.by_class, grouped=True)
            yield from folds.split(X, y, groups)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """How many folds there are over all repeats."""
        return self.n_splits * self.n_repeats


def _check_n(target: Target, n_folds: int) -> None:
    n_rows = len(target.y)
    if n_folds > n_rows // 2:
        raise UserError(f"{n_folds} folds are too many for {n_rows} rows; use at most {n_rows // 2}.")


def _check_sizes(target: Target, groups: Any, n_folds: int) -> None:
    if groups is not None:
        n_groups = len(np.unique(groups))
        if n_groups < n_folds:
            raise UserError(f"There are {n_groups} groups, fewer than the {n_folds} folds.")
    if target.task == "classification":
        sizes = np.bincount(target.y)
        small = np.flatnonzero(sizes < n_folds)
        if len(small):
            least = small[sizes[small].argmin()]
            of_numbers = not isinstance(target.classes[0], str)
            quantities = "; if these are quantities, use --task regression" if of_numbers else ""
            fewer = "Use fewer folds, or put" if sizes[least] >= FEWEST_FOLDS else "Put"
            raise UserError(
                f"{len(small)} of {len(sizes)} classes of {target.name!r} have fewer rows than the "
                f"{n_folds} folds: {target.classes[least]!r} has {sizes[least]}. {fewer} rare classes "
                f"together with --merge-rare{quantities}."
            )
