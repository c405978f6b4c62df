"""Splits: read once, found sound, and what their order and their test rows say of them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steadycv._arrays import plain
from steadycv._compat import to_numpy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = [
    "Split",
    "TooManySplitsError",
    "allowed_ends",
    "each_has_the_one_before",
    "most_training_sets",
    "read_splits",
    "repeats_of",
]

MOST_TRAINING_SETS = 10**6
FEWEST_FOLDS = 3  # of a repeat
LONGEST_QUOTE = 60  # characters of what was given


class TooManySplitsError(ValueError):
    """The splits would need too many training sets; they are not made.

    Attributes
    ----------
    n_splits : int
        How many splits there are, or at least.
    n_training_sets : int
        How many training sets they may need.
    """

    def __init__(self, source: str, n_splits: int, n_training_sets: int, *, is_known: bool) -> None:
        some = f"{n_splits:,}" if is_known else f"more than {n_splits - 1:,}"
        super().__init__(
            f"{source}: {some} splits may need {n_training_sets:,} training sets for each candidate. "
            "Use fewer splits (KFold(5) needs 16), or nested=False."
        )
        self.n_splits = n_splits
        self.n_training_sets = n_training_sets


class Split(NamedTuple):
    """The rows to train and to validate on, in increasing order."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def most_training_sets(n_splits: int) -> int:
    """How many training sets so many splits take that all see each other.

    Examples
    --------
    >>> most_training_sets(5), most_training_sets(20), most_training_sets(4950)
    (16, 211, 12253726)
    """
    return 1 + n_splits * (n_splits + 1) // 2


def repeats_of(splits: list[Split], n_samples: int) -> NDArray[np.intp]:
    """The repeat of each split: blocks of equal length with disjoint tests of one union, or all one."""
    s, length = len(splits), _n_disjoint(splits, n_samples)
    one = np.zeros(s, dtype=np.intp)
    if length < FEWEST_FOLDS or s % length or s == length:
        return one
    seen = np.zeros(n_samples, dtype=bool)
    seen[np.concatenate([split.test for split in splits[:length]])] = True
    size = int(seen.sum())
    for start in range(length, s, length):
        tests = np.concatenate([split.test for split in splits[start : start + length]])
        if len(tests) != size or len(np.unique(tests)) != size or not seen[tests].all():
            return one
    return np.arange(s) // length


def allowed_ends(splits: list[Split]) -> list[int] | None:
    """For rolling windows: by split, the first row that its view may not know. None for all else."""
    trains = [split.train for split in splits]
    if not all(
        t[-1] - t[0] + 1 == len(t) and t[-1] < split.test[0] and (np.diff(t) == 1).all()
        for t, split in zip(trains, splits, strict=True)
    ):
        return None
    firsts = [int(t[0]) for t in sorted(trains, key=lambda t: (int(t[-1]), int(t[0])))]
    if any(b < a for a, b in itertools.pairwise(firsts)) or firsts[-1] == firsts[0]:
        return None
    return [int(t[-1]) + 1 for t in trains]


def each_has_the_one_before(splits: list[Split]) -> bool:
    """Whether, by size, each training set lies in the next, as in time order."""
    trains = sorted((split.train for split in splits), key=len)
    return all(np.isin(a, b, assume_unique=True).all() for a, b in itertools.pairwise(trains))


def read_splits(
    splits: Iterable[tuple[Any, Any]],
    n_samples: int,
    source: str,
    *,
    nested: bool,
    n_splits: int | None = None,
) -> list[Split]:
    """The splits as sorted indices; or what is wrong with them.

    Where they are to be nested, too many are refused before the rest of them is made. Of splits in time
    order and of repeats there may be more, as not all of them see each other.
    """
    found: list[Split] = []
    is_few = False  # in spite of many splits
    for number, pair in enumerate(splits):
        what = f"{source}: split {number}"
        split = Split(*(_indices(rows, n_samples, what) for rows in _pair(pair, what)))
        for index, use in ((split.train, "train"), (split.test, "validate")):
            if not len(index):
                raise ValueError(f"{what} has no sample to {use} on.")
            if not 0 <= index[0] <= index[-1] < n_samples:
                raise ValueError(
                    f"{what} has samples {index[0]} to {index[-1]}, and the data have {n_samples} "
                    "samples, counted from 0."
                )
        trained = np.zeros(n_samples, dtype=bool)
        trained[split.train] = True
        both = split.test[trained[split.test]]
        if len(both):
            raise ValueError(
                f"{what} trains and validates on the same samples, {len(both)} of them (sample "
                f"{both[0]} is the first): what a model was trained on cannot judge it."
            )
        found.append(split)
        if nested and most_training_sets(len(found)) > MOST_TRAINING_SETS and not is_few:
            is_few = _has_few_training_sets(found, n_samples)
            if not is_few:
                n = n_splits or len(found)
                raise TooManySplitsError(source, n, most_training_sets(n), is_known=n_splits is not None)
    if is_few and not _has_few_training_sets(found, n_samples):
        raise TooManySplitsError(source, len(found), most_training_sets(len(found)), is_known=True)
    if not found:
        raise ValueError(
            "No fits were performed. Was the CV iterator empty? Were there no candidates? "
            f"{source} gave no splits; a generator of splits gives them once."
        )
    return found


def _pair(pair: Any, what: str) -> tuple[Any, Any]:
    try:
        train, test = pair
    except (TypeError, ValueError):
        raise ValueError(
            f"{what} is to be a pair of the rows to train and to validate on, got "
            f"{type(pair).__name__} {_shortened(pair)}."
        ) from None
    return train, test


def _indices(index: Any, n_samples: int, what: str) -> NDArray[np.intp]:
    """Rows in increasing order, given by their numbers or as a mask."""
    wrong = f"{what} is to have rows as one list of whole numbers, or as a mask, got "
    try:
        array = plain(to_numpy(index))
    except (TypeError, ValueError):  # lists of unequal lengths
        raise ValueError(f"{wrong}{_shortened(index)}.") from None
    if array.ndim != 1:
        raise ValueError(f"{wrong}{_shortened(index)}.")
    if array.dtype == bool:
        if len(array) != n_samples:
            raise ValueError(
                f"{what} has a mask of {len(array)} rows, and the data have {n_samples} samples."
            )
        return np.flatnonzero(array)
    if array.dtype.kind not in "iuf" or not (array == np.floor(array)).all():
        raise ValueError(f"{wrong}{_shortened(index)}.")
    return np.sort(array.astype(np.intp))


def _shortened(thing: Any) -> str:
    text = repr(thing)
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}..."


def _has_few_training_sets(splits: list[Split], n_samples: int) -> bool:
    """Whether many splits need few training sets: in time order, or in repeats.

    What is asked of the first splits is asked of whole repeats.
    """
    if allowed_ends(splits) is not None or each_has_the_one_before(splits):
        return True
    length = _n_disjoint(splits, n_samples)
    whole = splits[: len(splits) // length * length]
    n_repeats = int(repeats_of(whole, n_samples)[-1]) + 1
    return n_repeats * most_training_sets(length) <= MOST_TRAINING_SETS and n_repeats > 1


def _n_disjoint(splits: list[Split], n_samples: int) -> int:
    """How many splits at the start have tests that share no row."""
    seen = np.zeros(n_samples, dtype=bool)
    length = 0
    while length < len(splits) and not seen[splits[length].test].any():
        seen[splits[length].test] = True
        length += 1
    return length
