"""The lattice: the distinct training sets of a list of splits, and the views on them.

A *view* is a seat from which a choice is made. The final view sees all rows and every split. The view
of split i sees the training rows of split i alone, and the other splits as far as they lie in these:
it is judged on the test rows of split i, which it has never seen. One formula serves folds, resampling
and time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steadycv.splits import (
    allowed_ends,
    each_has_the_one_before,
    read_splits,
    repeats_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray


__all__ = ["EXPENSIVE", "Lattice", "View"]

MOST_PARTS = 256  # of an error
SMALL = 1 / 3  # the share of its reference below which an inner training set makes errors pessimistic
EXPENSIVE = 10  # times the fits of plain cross-validation


@dataclass(frozen=True)
class View:
    """A seat from which a choice is made.

    Attributes
    ----------
    split : int or None
        The split on whose test rows the view's choice is judged; None for the final view.
    reference : int
        The training set of what would be delivered from here.
    evaluations : ndarray of int
        Where the view looks for errors: positions in the lattice's evaluations.
    comparisons : ndarray of int
        Where it looks for changes of loss: the position in the lattice's comparisons of each
        evaluation's training set with the reference.
    repeats : ndarray of int
        The repeat of each evaluation.
    judged : int or None
        The evaluation of the reference on the rows that the view is judged on.
    """

    split: int | None
    reference: int
    evaluations: NDArray[np.intp]
    comparisons: NDArray[np.intp]
    repeats: NDArray[np.intp]
    judged: int | None = None

    @property
    def test_split(self) -> int:
        """The split on whose test rows it is judged, of a view that is."""
        assert self.split is not None
        return self.split


class Evaluation(NamedTuple):
    """A training set, and the set of rows that its models are judged on."""

    training_set: int
    row_set: int


class Comparison(NamedTuple):
    """A training set, and the one that its models are compared with, on all rows of the latter."""

    training_set: int
    reference: int


class Lattice:
    """The distinct training sets of a list of splits, and the views on them.

    Training sets are numbered: 0 is the reference of the final view, those of the splits follow, then
    those of the views inside them. Equal rows are one set.

    Parameters
    ----------
    splits : iterable of pairs
        The rows to train and to validate on, as indices or as masks.
    n_samples : int
        The number of samples.
    nested : bool, default=True
        Whether there are views inside the splits.
    last_window : bool, default=False
        Whether the final view trains on as many of the last rows as the last split does, and not on all.
    undefined : callable, default=None
        Says of rows why nobody can be judged on them, or None. Such evaluations are left out.
    untrainable : callable, default=None
        Says of rows why nobody can be trained on them, or None. So are such evaluations.
    source : str, default="cv"
        What to call the splits in errors.
    n_splits : int, default=None
        How many splits there will be, where that is known.

    Attributes
    ----------
    n_samples : int
        The number of samples.
    splits : list of Split
        The rows of each split.
    repeat : ndarray of int
        The repeat that each split belongs to.
    evaluations : list of Evaluation
        All pairs of a training set and rows to judge its models on.
    comparisons : list of Comparison
        All pairs of a training set and its reference.
    row_sets : list of ndarray
        The distinct sets of rows that models are judged on.
    final : View
        The view on all data.
    views : tuple of View
        The views inside the splits that have something to look at.
    skipped : dict of str to list of int
        Why the evaluations of some splits are left out.

    Examples
    --------
    >>> from sklearn.model_selection import KFold, TimeSeriesSplit
    >>> rows = range(20)
    >>> lattice = Lattice(KFold(5).split(rows), n_samples=20)
    >>> len(lattice.views), lattice.n_training_sets
    (5, 16)
    >>> Lattice(TimeSeriesSplit(5).split(rows), n_samples=20).n_training_sets
    6
    """

    def __init__(
        self,
        splits: Iterable[tuple[Any, Any]],
        n_samples: int,
        *,
        nested: bool = True,
        last_window: bool = False,
        undefined: Callable[[NDArray[np.intp]], str | None] | None = None,
        untrainable: Callable[[NDArray[np.intp]], str | None] | None = None,
        source: str = "cv",
        n_splits: int | None = None,
    ) -> None:
        self.n_samples = n_samples
        self.splits = read_splits(splits, n_samples, source, nested=nested, n_splits=n_splits)
        self.repeat = repeats_of(self.splits, n_samples)
        self.evaluations: list[Evaluation] = []
        self.comparisons: list[Comparison] = []
        self.row_sets: list[NDArray[np.intp]] = []
        self.skipped: dict[str, list[int]] = {}
        self._undefined = undefined or _always_defined
        self._untrainable = untrainable or _always_defined
        # A training set is that of a split, or the part of it that another split lets a view see.
        self._recipes: list[tuple[int | None, int | None]] = []
        self._sizes: list[int] = []
        self._ids: dict[Any, int] = {}
        self._reasons: list[str | None] = []
        self._allowed = allowed_ends(self.splits)
        if last_window and self._allowed is None:
            raise ValueError(
                f"last_window=True is for splits that train on windows which move on in time, as "
                f"TimeSeriesSplit(5, max_train_size=100) does, and {source} does not."
            )
        self._last_window = self._window() if last_window else None
        self._final_rows = np.arange(n_samples) if self._last_window is None else self._last_window
        self.final = self._final_view()
        self.views = tuple(self._views()) if nested else ()
        if not len(self.final.evaluations):
            [reason] = list(self.skipped)[:1] or ["no rows"]
            raise ValueError(f"{source}: no split can be judged: {reason}.")
        # What was asked is known, and who said so holds the data.
        self._undefined = self._untrainable = _always_defined
        self._freeze()

    @property
    def n_training_sets(self) -> int:
        """The number of distinct training sets."""
        return len(self._recipes)

    @cached_property
    def draws_rows_again(self) -> bool:
        """Whether some split trains on a row more than once, as a bootstrap does."""
        return any((train[1:] == train[:-1]).any() for train, _ in self.splits)

    @cached_property
    def in_time_order(self) -> bool:
        """Whether models are tested on what comes after all that they know, or know more one by one."""
        sizes = {len(split.train) for split in self.splits}
        grow = 1 < len(sizes) == len(self.splits) and each_has_the_one_before(self.splits)
        return grow or all(split.train[-1] < split.test[0] for split in self.splits)

    @property
    def n_repeats(self) -> int:
        """The number of repeats."""
        return int(self.repeat[-1]) + 1

    def rows(self, training_set: int) -> NDArray[np.intp]:
        """The rows of a training set, in increasing order."""
        split, view = self._recipes[training_set]
        if split is None:
            return self._final_rows
        return self._seen(self.splits[split].train, view)

    def n_rows_judged(self, evaluation: int) -> int:
        """The number of rows that models are judged on."""
        return len(self.row_sets[self.evaluations[evaluation].row_set])

    def n_parts(self, evaluation: int) -> int:
        """How many parts its errors have in a race: rows, or runs of rows where there are many."""
        return min(self.n_rows_judged(evaluation), MOST_PARTS)

    def n_rows(self, training_set: int) -> int:
        """The number of rows of a training set."""
        return self._sizes[training_set]

    def splits_of(self, training_set: int) -> tuple[int, ...]:
        """The splits whose training set it is; equal ones share it."""
        return self._splits_of.get(training_set, ())

    def training_set_of(self, split: int) -> int:
        """The training set of a split that somebody can be judged on."""
        training_set = self._train_ids[split]
        assert training_set is not None
        return training_set

    def name(self, training_set: int) -> str:
        """A training set in words."""
        split, view = self._recipes[training_set]
        if split is None:
            return "all data" if self._last_window is None else "the last window"
        return f"split {split}" if view is None else f"split {split} inside split {view}"

    @cached_property
    def evaluations_of(self) -> list[list[int]]:
        """By training set, the positions of its evaluations."""
        found: list[list[int]] = [[] for _ in self._recipes]
        for position, (training_set, _) in enumerate(self.evaluations):
            found[training_set].append(position)
        return found

    @cached_property
    def comparisons_of(self) -> list[list[tuple[int, int]]]:
        """By training set, the positions of its comparisons, each with the other training set."""
        found: list[list[tuple[int, int]]] = [[] for _ in self._recipes]
        for position, (training_set, reference) in enumerate(self.comparisons):
            found[training_set].append((position, reference))
            found[reference].append((position, training_set))
        return found

    def members(self, view: View) -> list[int]:
        """The training sets of a view's committee: those that it evaluates, once each."""
        return sorted({self.evaluations[e].training_set for e in view.evaluations.tolist()})

    @cached_property
    def judged(self) -> NDArray[np.intp]:
        """By view, the evaluation of its reference on the rows that it is judged on."""
        found = [view.judged for view in self.views]
        return np.array(found, dtype=np.intp)

    @cached_property
    def committees_of(self) -> list[list[int]]:
        """By training set, the splits in whose views its models are members of the committee."""
        found: list[list[int]] = [[] for _ in self._recipes]
        for view in self.views:
            for training_set in self.members(view):
                found[training_set].append(view.test_split)
        return found

    def heard_on(self, training_set: int, *, with_members: bool) -> list[int]:
        """The splits on whose test rows the outputs of a training set's models are kept.

        They are those of its own, and, `with_members`, those whose committees its models are in.
        """
        members = self.committees_of[training_set] if with_members else ()
        return sorted({*self.splits_of(training_set), *members})

    @cached_property
    def evaluation_of_split(self) -> NDArray[np.intp]:
        """By split, the evaluation of its training set on its test rows; -1 where it is left out."""
        found = np.full(len(self.splits), -1, dtype=np.intp)
        for split, (train, rows) in enumerate(zip(self._train_ids, self._test_ids, strict=True)):
            if train is not None:
                found[split] = self._positions[Evaluation(train, rows)]
        return found

    def blocks(self, training_set: int) -> NDArray[np.intp] | None:
        """Numbers of disjoint blocks of rows that the training sets of its repeat are made of.

        Of a partition these are the folds. None where they would be many more than the splits.
        """
        split, _ = self._recipes[training_set]
        return self._blocks_of_repeat(0 if split is None else int(self.repeat[split]))

    def warnings(self) -> list[str]:
        """What somebody who passes these splits should know, a line each."""
        lines = []
        s = len(self.splits)
        if self.n_training_sets > EXPENSIVE * s:
            lines.append(
                f"{s} splits need {self.n_training_sets} training sets for each candidate, "
                f"{self.n_training_sets / s:.0f} times as many as plain cross-validation: fewer splits "
                "are cheaper (five folds need 16, 3 times as many), and so is nested=False."
            )
        shares = [
            self._sizes[self.evaluations[e].training_set] / self._sizes[view.reference]
            for view in self.views
            for e in view.evaluations
        ]
        if shares and float(np.median(shares)) < SMALL:
            lines.append(
                "The training sets inside the splits have less than a third of the rows of those that "
                "they stand for (in the median), so the nested error will be pessimistic: use splits "
                "that train on more."
            )
        for reason, splits in self.skipped.items():
            named = ", ".join(map(str, splits[:5])) + (", ..." if len(splits) > 5 else "")
            lines.append(f"Left out: the test rows of split {named}, since {reason}.")
        return lines

    # How it is built.

    def _final_view(self) -> View:
        reference = self._add(self._final_rows, None, None)
        self._positions: dict[Evaluation, int] = {}
        self._compared: dict[Comparison, int] = {}
        self._test_ids = [self._row_set(split.test) for split in self.splits]
        self._train_ids: list[int | None] = []
        self._splits_of: dict[int, tuple[int, ...]] = {}
        for i, (split, rows) in enumerate(zip(self.splits, self._test_ids, strict=True)):
            reason = self._reasons[rows] or self._untrainable(split.train)
            if reason is not None:
                self.skipped.setdefault(reason, []).append(i)
            training_set = self._add(split.train, i, None) if reason is None else None
            self._train_ids.append(training_set)
            if training_set is not None:
                self._splits_of[training_set] = (*self._splits_of.get(training_set, ()), i)
        seen = [
            (i, train, self._test_ids[i]) for i, train in enumerate(self._train_ids) if train is not None
        ]
        return self._view(None, reference, seen)

    def _views(self) -> Iterable[View]:
        # What two splits share is looked for once.
        is_same_both_ways = self._allowed is None and not self.draws_rows_again
        inside: dict[tuple[int, int], int | None] = {}
        for i, reference in enumerate(self._train_ids):
            if reference is None:
                continue  # nobody can be judged on its test rows
            seen = []
            for j in np.flatnonzero(self.repeat == self.repeat[i]).tolist():
                if j == i:
                    continue
                test = self._seen(self.splits[j].test, i)
                if not len(test):
                    continue
                is_whole = len(test) == len(self.splits[j].test)
                rows = self._test_ids[j] if is_whole else self._row_set(test)
                if self._reasons[rows] is not None:
                    continue
                pair = (i, j) if is_same_both_ways and i < j else (j, i)
                if pair not in inside:
                    inside[pair] = self._inside(j, i)
                train = inside[pair]
                if train is not None:
                    seen.append((j, train, rows))
            if seen:
                yield self._view(i, reference, seen)

    def _view(self, split: int | None, reference: int, seen: Sequence[tuple[int, int, int]]) -> View:
        """A view that sees some splits, each as a training set and rows to judge its models on."""
        return View(
            split=split,
            reference=reference,
            evaluations=np.array(
                [self._evaluation(train, rows) for _, train, rows in seen], dtype=np.intp
            ),
            comparisons=np.array(
                [self._comparison(train, reference) for _, train, _ in seen], dtype=np.intp
            ),
            repeats=self.repeat[[j for j, _, _ in seen]],
            judged=None if split is None else self._evaluation(reference, self._test_ids[split]),
        )

    def _freeze(self) -> None:
        """From now on it can only be read."""
        arrays = [self.repeat, self._final_rows, *self.row_sets]
        arrays += [rows for split in self.splits for rows in split]
        arrays += [
            array
            for view in (self.final, *self.views)
            for array in (view.evaluations, view.comparisons, view.repeats)
        ]
        for array in arrays:
            array.flags.writeable = False

    def _evaluation(self, training_set: int, row_set: int) -> int:
        key = Evaluation(training_set, row_set)
        if key not in self._positions:
            self._positions[key] = len(self.evaluations)
            self.evaluations.append(key)
        return self._positions[key]

    def _comparison(self, training_set: int, reference: int) -> int:
        key = Comparison(training_set, reference)
        if key not in self._compared:
            self._compared[key] = len(self.comparisons)
            self.comparisons.append(key)
        return self._compared[key]

    def _add(self, rows: NDArray[np.intp], split: int | None, view: int | None) -> int:
        """The number of a training set; a new one if there is none with these rows."""
        key = _digest(rows)
        if key not in self._ids:
            self._ids[key] = len(self._recipes)
            self._recipes.append((split, view))
            self._sizes.append(len(rows))
        return self._ids[key]

    def _inside(self, j: int, i: int) -> int | None:
        """The training set of split j as the view of split i sees it."""
        rows = self._seen(self.splits[j].train, i)
        if len(rows) == len(self.splits[j].train) and self._train_ids[j] is not None:
            return self._train_ids[j]
        if not len(rows) or self._untrainable(rows) is not None:
            return None
        return self._add(rows, j, i)

    def _row_set(self, rows: NDArray[np.intp]) -> int:
        key = b"rows" + _digest(rows)
        if key not in self._ids:
            self._ids[key] = len(self.row_sets)
            self.row_sets.append(rows)
            self._reasons.append(self._undefined(rows))
        return self._ids[key]

    def _seen(self, rows: NDArray[np.intp], view: int | None) -> NDArray[np.intp]:
        """Those of some rows that the view of a split may know."""
        if view is None:
            return rows
        if self._allowed is not None:
            return rows[: np.searchsorted(rows, self._allowed[view])]
        seen: NDArray[np.intp] = rows[self._masks[view][rows]]
        return seen

    @cached_property
    def _masks(self) -> NDArray[np.bool_]:
        masks = np.zeros((len(self.splits), self.n_samples), dtype=bool)
        for mask, split in zip(masks, self.splits, strict=True):
            mask[split.train] = True
        return masks

    def _window(self) -> NDArray[np.intp]:
        last = max(self.splits, key=lambda split: int(split.train[-1]))
        return np.arange(self.n_samples - len(last.train), self.n_samples)

    def _blocks_of_repeat(self, repeat: int) -> NDArray[np.intp] | None:
        if repeat not in self._known_blocks:
            masks = self._masks[self.repeat == repeat]
            if self._last_window is not None:
                masks = np.vstack([masks, np.isin(np.arange(self.n_samples), self._last_window)])
            self._known_blocks[repeat] = None if self.draws_rows_again else _blocks(masks)
        return self._known_blocks[repeat]

    @cached_property
    def _known_blocks(self) -> dict[int, NDArray[np.intp] | None]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name != "_masks"}
        return state | {"_ids": {}}


def _always_defined(rows: NDArray[np.intp]) -> None:
    """Nothing speaks against any rows."""


def _blocks(masks: NDArray[np.bool_]) -> NDArray[np.intp] | None:
    """By row, the number of its block: rows that all masks treat alike; None where these are many."""
    blocks = np.zeros(masks.shape[1], dtype=np.intp)
    n_blocks = 1
    for mask in masks:
        blocks = 2 * blocks + mask
        is_there = np.bincount(blocks, minlength=2 * n_blocks) > 0
        blocks = (np.cumsum(is_there) - 1)[blocks]
        n_blocks = int(is_there.sum())
    return blocks if n_blocks <= 2 * len(masks) + 2 else None


def _digest(rows: NDArray[np.intp]) -> bytes:
    return blake2b(np.ascontiguousarray(rows).data, digest_size=16).digest()
