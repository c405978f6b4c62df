"""Kept outputs: what models say of the test rows of splits, own ones and members of committees."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    from steadycv.lattice import Lattice
    from steadycv.paths.looked_up import LookedUp

__all__ = ["Heard", "KeptOutputs", "in_order_of_samples", "n_numbers"]


class Heard(NamedTuple):
    """Whose outputs are kept: a training set's models, by a method, on the test rows of a split."""

    training_set: int
    split: int
    method: str


class KeptOutputs:
    """Outputs of candidates, one after the other as they come.

    Attributes
    ----------
    n_bytes : int
        How much memory they take.
    """

    def __init__(self) -> None:
        self._outputs: dict[Heard, dict[int, tuple[NDArray[Any] | LookedUp, int]]] = {}
        self.n_bytes = 0

    def __iter__(self) -> Iterator[tuple[int, Heard]]:
        return ((candidate, heard) for heard, known in self._outputs.items() for candidate in known)

    def __contains__(self, key: tuple[int, Heard]) -> bool:
        candidate, heard = key
        return candidate in self._outputs.get(heard, ())

    def __getitem__(self, key: tuple[int, Heard]) -> NDArray[Any]:
        candidate, heard = key
        outputs, row = self._outputs[heard][candidate]
        said: NDArray[Any] = outputs[row]
        return said

    def keep(self, candidates: NDArray[np.intp], heard: Heard, outputs: NDArray[Any] | LookedUp) -> None:
        """Take the outputs of some candidates, a row each; what is there already stays."""
        known = self._outputs.setdefault(heard, {})
        if not known.keys().isdisjoint(candidates.tolist()):
            is_new = np.array([candidate not in known for candidate in candidates.tolist()])
            candidates, outputs = candidates[is_new], outputs[is_new]
        rows = zip(repeat(outputs), range(len(outputs)), strict=False)
        known.update(zip(candidates.tolist(), rows, strict=True))
        self.n_bytes += outputs.nbytes

    def missing(self, candidates: NDArray[np.intp], heard: Heard) -> list[tuple[int, Heard]]:
        """The candidates whose outputs are not there, as keys."""
        known = self._outputs.get(heard, {})
        return [(candidate, heard) for candidate in candidates.tolist() if candidate not in known]

    def table(self, candidates: NDArray[np.intp], heard: Heard) -> NDArray[Any]:
        """The outputs of some candidates, all of which are there."""
        return np.stack([self[candidate, heard] for candidate in candidates.tolist()])

    def drop(self, keys: Collection[tuple[int, Heard]]) -> None:
        """Let go of outputs; of those that are not here nothing happens."""
        by_place: dict[Heard, set[int]] = {}
        for candidate, heard in keys:
            by_place.setdefault(heard, set()).add(candidate)
        for heard, candidates in by_place.items():
            known = self._outputs.pop(heard, {})
            self.n_bytes -= sum(table.nbytes for table in {id(t): t for t, _ in known.values()}.values())
            staying = np.array([c for c in known if c not in candidates], dtype=np.intp)
            if len(staying):  # a copy: a row of a table would keep all of it in memory
                self.keep(staying, heard, np.stack([known[c][0][known[c][1]] for c in staying.tolist()]))


def n_numbers(lattice: Lattice, *, with_members: bool) -> int:
    """How many outputs are kept of a candidate: of the splits' models, and of committees' members."""
    return sum(
        len(lattice.splits[split].test)
        for training_set in range(lattice.n_training_sets)
        for split in lattice.heard_on(training_set, with_members=with_members)
    )


def in_order_of_samples(
    lattice: Lattice, outputs: dict[int, NDArray[Any]], *, labels: bool
) -> NDArray[Any]:
    """Outputs on the test rows of splits, in the order of the samples; with repeats a row for each.

    NaN where a sample is in no test rows. Where it is in those of several splits of a repeat, the
    mean; of labels the most frequent one, the first of those that tie.
    """
    repeats = [
        _of_repeat(
            lattice.n_samples,
            [(lattice.splits[i].test, said) for i, said in outputs.items() if lattice.repeat[i] == r],
            labels=labels,
        )
        for r in range(lattice.n_repeats)
    ]
    return np.stack(repeats) if len(repeats) > 1 else repeats[0]


def _of_repeat(
    n_samples: int, parts: list[tuple[NDArray[np.intp], NDArray[Any]]], *, labels: bool
) -> NDArray[Any]:
    if not parts:
        return np.full(n_samples, np.nan)
    rows = np.concatenate([rows for rows, _ in parts])
    said = np.concatenate([said for _, said in parts])
    times = np.bincount(rows, minlength=n_samples)
    if times.max() > 1 and labels:
        rows, said = _most_frequent(rows, said)
    elif times.max() > 1:
        sums = np.zeros((n_samples, *said.shape[1:]))
        np.add.at(sums, rows, said)
        rows = np.flatnonzero(times)
        said = (sums[rows].T / times[rows]).T
    if len(rows) == n_samples:
        found = np.empty((n_samples, *said.shape[1:]), dtype=said.dtype)
    else:
        is_number = said.dtype.kind in "fiu"
        dtype = np.result_type(said.dtype, np.float64) if is_number else object
        found = np.full((n_samples, *said.shape[1:]), np.nan, dtype=dtype)
    found[rows] = said
    return found


def _most_frequent(
    rows: NDArray[np.intp], labels: NDArray[Any]
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    classes, codes = np.unique(labels, return_inverse=True)
    known, positions = np.unique(rows, return_inverse=True)
    votes = np.zeros((len(known), len(classes)), dtype=np.intp)
    np.add.at(votes, (positions, codes), 1)
    return known, classes[votes.argmax(axis=1)]
