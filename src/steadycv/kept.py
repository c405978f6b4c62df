"""Kept outputs: what the models of the splits say of the rows that they are tested on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from steadycv.lattice import Lattice

__all__ = ["KeptOutputs", "in_order_of_samples"]


class KeptOutputs:
    """Outputs by candidate and split.

    Attributes
    ----------
    n_bytes : int
        How much memory they take.
    """

    def __init__(self) -> None:
        self._outputs: dict[tuple[int, int], NDArray[Any]] = {}
        self.n_bytes = 0

    def __contains__(self, key: tuple[int, int]) -> bool:
        return key in self._outputs

    def __getitem__(self, key: tuple[int, int]) -> NDArray[Any]:
        return self._outputs[key]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self._outputs)

    def keep(self, candidates: Iterable[int], split: int, outputs: Sequence[NDArray[Any]]) -> None:
        """Take the outputs of some candidates on the test rows of a split."""
        for candidate, said in zip(candidates, outputs, strict=True):
            before = self._outputs.get((candidate, split))
            self.n_bytes += said.nbytes - (0 if before is None else before.nbytes)
            self._outputs[candidate, split] = said

    def drop(self, keys: Iterable[tuple[int, int]]) -> None:
        """Let go of outputs; of those that are not here nothing happens."""
        for key in keys:
            outputs = self._outputs.pop(key, None)
            if outputs is not None:
                self.n_bytes -= outputs.nbytes


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
