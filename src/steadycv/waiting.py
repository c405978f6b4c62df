"""Waiting: losses that are held until those are there that they are to be compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steadycv.measures import Rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from steadycv.lattice import Lattice
    from steadycv.measures import Measure
    from steadycv.outputs import ModelsOfPath

    Held: TypeAlias = NDArray[np.float64] | ModelsOfPath
    """The losses of some candidates on a training set; or their models, where these take less room."""

__all__ = ["Block", "Judge", "Waiting"]

MOST_LOSSES = 2**18  # that are compared at a time


class Judge:
    """A measure on the rows of a lattice; what it needs of them is prepared once."""

    def __init__(self, measure: Measure, lattice: Lattice, weight: NDArray[np.float64] | None) -> None:
        self.measure = measure
        self.lattice = lattice
        self._weight = weight
        self._row_sets: dict[int, Rows] = {}
        self._training_sets: dict[int, Rows] = {}

    def row_set(self, number: int) -> Rows:
        """A set of rows that models are judged on."""
        if number not in self._row_sets:
            self._row_sets[number] = self.rows(self.lattice.row_sets[number])
        return self._row_sets[number]

    def training_set(self, number: int) -> Rows:
        """The rows of a training set."""
        if number not in self._training_sets:
            self._training_sets[number] = self.rows(self.lattice.rows(number))
        return self._training_sets[number]

    def rows(self, rows: NDArray[np.intp]) -> Rows:
        """Any rows."""
        return Rows(rows, self._weight, self.lattice.n_samples)

    def changes(
        self,
        reference: int,
        losses: Sequence[Held] | NDArray[np.float64],
        positions: Sequence[int],
        others: Held,
    ) -> NDArray[np.float64]:
        """The changes of each candidate between some training sets and another, over a reference's rows.

        Of shape (n_positions, n_candidates); the positions are those of the training sets in `losses`.
        """
        rows = self.training_set(reference)
        if len(positions) == 1:
            one = losses[positions[0]]
            found = [
                self.measure.change(self.losses(one, part), self.losses(others, part), reference, rows)
                for part in self.parts(len(one) if isinstance(one, np.ndarray) else one.n_models)
            ]
            return np.concatenate(found)[np.newaxis]
        assert isinstance(losses, np.ndarray)  # several are reduced together where they are small
        some = losses[positions].reshape(-1, losses.shape[2])
        others = np.tile(self.losses(others, slice(None)), (len(positions), 1))
        return self.measure.change(some, others, reference, rows).reshape(len(positions), -1)

    def losses(self, held: Held, some: slice) -> NDArray[np.float64]:
        """The losses of some candidates."""
        if isinstance(held, np.ndarray):
            return held[some]
        return self.measure.losses(held.some(some), self.lattice)

    def parts(self, n_candidates: int) -> list[slice]:
        """Candidates, a few at a time where they have many losses."""
        size = max(1, MOST_LOSSES // self.measure.n_losses(self.lattice))
        return [slice(start, start + size) for start in range(0, n_candidates, size)]


@dataclass
class Block:
    """Losses of some candidates on a training set, and the comparisons that wait for them."""

    candidates: NDArray[np.intp]
    losses: Held
    waits_for: set[int]


class Waiting:
    """Holds losses while a comparison needs them. Candidates that come together stay together."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._blocks: dict[int, dict[bytes, Block]] = {}

    def add(
        self,
        candidates: NDArray[np.intp],
        training_sets: Sequence[int],
        losses: Sequence[Held] | NDArray[np.float64],
        wanted: Collection[int],
    ) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Compare what several training sets gave with what is there; what else is wanted waits.

        Those of one call are not compared with each other. The losses are those of each training set, of
        shape (n_candidates, n_losses) unless they are held by their models.
        """
        key = candidates.tobytes()
        comparisons = self._judge.lattice.comparisons
        together: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for at, training_set in enumerate(training_sets):
            waits_for = set()
            for comparison, partner in self._judge.lattice.comparisons_of[training_set]:
                if comparison not in wanted:
                    continue
                other = self._blocks.get(partner, {}).get(key)
                if other is None or comparison not in other.waits_for:
                    waits_for.add(comparison)
                else:
                    of_pair = together.setdefault((partner, comparisons[comparison].reference), [])
                    of_pair.append((at, comparison))
            if waits_for:
                self._blocks.setdefault(training_set, {})[key] = Block(candidates, losses[at], waits_for)
        for (partner, reference), pairs in together.items():
            other = self._blocks[partner][key]
            changes = self._judge.changes(reference, losses, [at for at, _ in pairs], other.losses)
            for (_, comparison), change in zip(pairs, changes, strict=True):
                yield comparison, change
                other.waits_for.remove(comparison)
            if not other.waits_for:
                self._drop(partner, key)

    def restore(self, training_set: int, block: Block) -> None:
        """Take losses that were held before."""
        self._blocks.setdefault(training_set, {})[block.candidates.tobytes()] = block

    def blocks(self) -> Iterator[tuple[int, Block]]:
        """All that is held, by training set."""
        for training_set, blocks in self._blocks.items():
            for block in blocks.values():
                yield training_set, block

    def losses(self, block: Block) -> NDArray[np.float64]:
        """All losses of a block."""
        return self._judge.losses(block.losses, slice(None))

    def let_go(self, is_out: NDArray[np.bool_]) -> None:
        """Hold no more losses of candidates that are all out."""
        for training_set, block in list(self.blocks()):
            if is_out[block.candidates].all():
                self._drop(training_set, block.candidates.tobytes())

    def _drop(self, training_set: int, key: bytes) -> None:
        del self._blocks[training_set][key]
        if not self._blocks[training_set]:
            del self._blocks[training_set]
