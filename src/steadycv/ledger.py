"""The ledger: what the fits left behind.

Every quantity of the method is a function of these numbers, ``O(k^2)`` of them for a
candidate, however many samples there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from steadycv.folds import FULL, Lattice, TrainingSet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from steadycv.fitting import Fit

    # Training sets with the candidates that are still to be fitted on them.
    Missing: TypeAlias = Iterator[tuple[TrainingSet, NDArray[np.intp]]]

__all__ = ["Ledger"]


class Ledger:
    """Fold errors and mean absolute changes of loss, for every candidate.

    NaN stands for what is not known yet, infinity for what a failed fit leaves unknown.

    Parameters
    ----------
    n_candidates : int
        Number of candidates.
    lattice : Lattice
        The training sets.
    sample_weight : ndarray of shape (n_samples,) or None
        Weighs the losses in every mean.
    with_change : bool
        Whether the change from the full set is wanted.
    nested : bool
        Whether training sets without two folds are wanted.

    Attributes
    ----------
    error : ndarray of shape (n_candidates, n_repeats, k)
        ``error[c, r, t]``: mean loss of candidate c on fold t of repeat r, trained without t.
    change : ndarray of shape (n_candidates, n_repeats, k)
        ``change[c, r, t]``: mean over all samples of the absolute change in loss between training
        without fold t and training on everything.
    inner_error : ndarray of shape (n_candidates, n_repeats, k, k)
        ``inner_error[c, r, t, u]``: mean loss on fold u, trained without folds t and u. The diagonal
        is zero and means nothing.
    inner_change : ndarray of shape (n_candidates, n_repeats, k, k)
        ``inner_change[c, r, t, u]``: mean over the samples outside fold t of the absolute change in
        loss between training without t and u and training without t.
    fit_time, score_time : ndarray of shape (n_candidates, n_repeats, k)
        Seconds, of the models trained without one fold.
    test_scores, train_scores : dict of str to ndarray of shape (n_candidates, n_repeats, k)
        The reported scores on the left-out fold and on the training set; infinity where the scorer
        failed.
    failed_error : float
        The fold error that a failed fit counts as.
    """

    def __init__(
        self,
        n_candidates: int,
        lattice: Lattice,
        sample_weight: NDArray[np.float64] | None = None,
        *,
        with_change: bool = True,
        nested: bool = True,
    ) -> None:
        self.lattice = lattice
        self.with_change = with_change
        self.nested = nested
        self.failed_error = np.inf
        self._shape = (n_candidates, lattice.n_repeats, lattice.n_folds)
        k = lattice.n_folds
        self.error = self._unknown()
        self.change = self._unknown()
        self.fit_time = self._unknown()
        self.score_time = self._unknown()
        self.test_scores: dict[str, NDArray[np.float64]] = {}
        self.train_scores: dict[str, NDArray[np.float64]] = {}
        inner_shape = (*self._shape, k) if nested else (0, 0, 0, 0)
        off_diagonal = np.where(np.eye(k, dtype=bool), 0.0, np.nan) if nested else 0.0
        self.inner_error = np.broadcast_to(off_diagonal, inner_shape).copy()
        self.inner_change = self.inner_error.copy()
        self._weight = np.ones(lattice.n_samples) if sample_weight is None else sample_weight
        self._rows = [
            [np.flatnonzero(fold == t) for t in range(lattice.n_folds)] for fold in lattice.fold
        ]
        self._fold_weight = np.array(
            [[self._weight[rows].sum() for rows in folds] for folds in self._rows]
        )
        # Not the total less a fold: a heavy fold would leave rounding behind.
        self._rest_weight = self._fold_weight @ (1 - np.eye(k))
        if not (self._fold_weight > 0).all():
            r, t = np.argwhere(~(self._fold_weight > 0))[0]
            raise ValueError(
                f"The sample weights of fold {t} (repeat {r}) sum to {self._fold_weight[r, t]:g}; "
                "its mean loss needs a sum above 0."
            )
        self._held: dict[TrainingSet, dict[bytes, _Held]] = {}

    def _unknown(self) -> NDArray[np.float64]:
        return np.full(self._shape, np.nan)

    def missing_final(self, candidates: NDArray[np.intp]) -> Missing:
        """What is still to be fitted before the final choice can weigh the candidates."""
        unknown = np.isnan(self.error[candidates])
        if self.with_change:
            unknown |= np.isnan(self.change[candidates])
            unchanged = np.isnan(self.change[candidates]).any(axis=(1, 2))
            yield from self._not_held(FULL, candidates[unchanged])
        for r, t in np.ndindex(unknown.shape[1:]):
            yield from self._not_held(TrainingSet(r, (t,)), candidates[unknown[:, r, t]])

    def missing_outer(self, candidates: NDArray[np.intp], repeat: int, fold: int) -> Missing:
        """What is still to be fitted before the choice inside an outer fold can."""
        at = (candidates, repeat, fold)
        unknown = np.isnan(self.inner_change[at])
        single, *pairs = self.lattice.outer_sets(repeat, fold)
        yield from self._not_held(single, candidates[np.isnan(self.error[at]) | unknown.any(axis=1)])
        unknown |= np.isnan(self.inner_error[at])
        for pair in pairs:
            yield from self._not_held(pair, candidates[unknown[:, _other(pair.left_out, fold)]])

    def _not_held(self, training_set: TrainingSet, candidates: NDArray[np.intp]) -> Missing:
        for held in self._held.get(training_set, {}).values():
            candidates = np.setdiff1d(candidates, held.candidates, assume_unique=True)
        if len(candidates):
            yield training_set, candidates

    def record(
        self,
        candidates: NDArray[np.intp],
        training_set: TrainingSet,
        losses: NDArray[np.float64],
    ) -> None:
        """Reduce the losses of fits, one row a candidate, to the numbers that they complete.

        A row of NaN is a fit that failed. Losses are held only while a training set that they are
        to be compared with is missing.
        """
        r, left_out = training_set
        for u in left_out:
            rows = self._rows[r][u]
            errors = _weighted_sum(losses[:, rows], self._weight[rows]) / self._fold_weight[r, u]
            errors = np.where(np.isnan(errors), np.inf, errors)
            if len(left_out) == 1:
                self.error[candidates, r, u] = errors
            else:
                self.inner_error[candidates, r, _other(left_out, u), u] = errors
        new = _Held(candidates, losses, np.zeros(len(candidates), dtype=np.intp))
        for partner, table, at in self._comparisons(training_set):
            waiting = np.isnan(table[candidates, *at])
            if waiting.any():
                self._compare(new, partner, table, at, waiting)
        if new.waits_for.any():
            self._held.setdefault(training_set, {})[candidates.tobytes()] = new

    def _compare(
        self,
        new: _Held,
        partner: TrainingSet,
        table: NDArray[np.float64],
        at: tuple[int, ...],
        waiting: NDArray[np.bool_],
    ) -> None:
        """Compare with what is held of the partner; the rest will wait for it."""
        blocks = self._held.get(partner, {})
        key = new.candidates.tobytes()
        # Most often the same candidates were fitted on the partner, in one block.
        for other_key in [key] if key in blocks else list(blocks):
            other = blocks[other_key]
            mine: Any
            theirs: Any
            if other_key == key and waiting.all():
                mine = theirs = slice(None)  # no copies
            elif other_key == key:
                mine = theirs = np.flatnonzero(waiting)
            else:
                _, mine, theirs = np.intersect1d(
                    new.candidates, other.candidates, assume_unique=True, return_indices=True
                )
                still = waiting[mine]
                mine, theirs = mine[still], theirs[still]
            if not waiting[mine].any():
                continue
            change = self._mean_change(new.losses[mine], other.losses[theirs], *at[:-1])
            index: Any = (new.candidates[mine], *at)
            table[index] = change
            waiting[mine] = False
            other.waits_for[theirs] -= 1
            if not other.waits_for.any():
                del blocks[other_key]
                if not blocks:
                    del self._held[partner]
        new.waits_for += waiting

    def record_scores(self, candidates: NDArray[np.intp], training_set: TrainingSet, fit: Fit) -> None:
        """Keep the scores and times of models trained without one fold."""
        at = (candidates, training_set.repeat, training_set.left_out[0])
        self.fit_time[at] = fit.fit_time
        self.score_time[at] = fit.score_time
        for tables, scores in (
            (self.test_scores, fit.test_scores),
            (self.train_scores, fit.train_scores),
        ):
            for name, score in scores.items():
                tables.setdefault(name, self._unknown())[at] = score

    def fields(self, candidate: int) -> Iterator[tuple[str, NDArray[np.float64]]]:
        """All numbers of a candidate, by name."""
        for name, table in self._tables():
            yield name, table[candidate]

    def restore(self, candidate: int, name: str, numbers: NDArray[np.float64]) -> None:
        """Take numbers that `fields` gave; those of no use here are passed over."""
        kind, _, score = name.partition(":")
        if kind in ("test_scores", "train_scores"):
            getattr(self, kind).setdefault(score, self._unknown())
        table = dict(self._tables()).get(name)
        if table is None:
            return
        if numbers.size != table[candidate].size:
            raise ValueError(
                f"{name} of candidate {candidate} has {numbers.size} numbers instead of "
                f"{table[candidate].size}."
            )
        table[candidate] = numbers.reshape(table[candidate].shape)

    def forget_failures(self) -> None:
        """Take failed fits and failed scores as not known."""
        for tables in (self.test_scores, self.train_scores):
            for table in tables.values():
                failed = np.isposinf(table)
                table[failed] = np.nan
                self.error[failed] = np.nan
        for _, table in self._tables():
            table[np.isposinf(table)] = np.nan

    def _tables(self) -> Iterator[tuple[str, NDArray[np.float64]]]:
        names = ["error", "change", "fit_time", "score_time"]
        names += ["inner_error", "inner_change"] if self.nested else []
        for name in names:
            yield name, getattr(self, name)
        for kind in ("test_scores", "train_scores"):
            for score, table in getattr(self, kind).items():
                yield f"{kind}:{score}", table

    def _comparisons(
        self, training_set: TrainingSet
    ) -> Iterator[tuple[TrainingSet, NDArray[np.float64], tuple[int, ...]]]:
        """What to compare a training set with: the other set, the table and the place in it."""
        r, left_out = training_set
        if len(left_out) == 0:
            for single in self.lattice.final_sets(with_full=False):
                yield single, self.change, (single.repeat, *single.left_out)
        elif len(left_out) == 1:
            (t,) = left_out
            if self.with_change:
                yield FULL, self.change, (r, t)
            if self.nested:
                for pair in self.lattice.outer_sets(r, t)[1:]:
                    yield pair, self.inner_change, (r, t, _other(pair.left_out, t))
        else:
            for t in left_out:
                single = TrainingSet(r, (t,))
                yield single, self.inner_change, (r, t, _other(left_out, t))

    def _mean_change(
        self,
        losses: NDArray[np.float64],
        other: NDArray[np.float64],
        repeat: int,
        without: int | None = None,
    ) -> NDArray[np.float64]:
        """Mean absolute change of loss over all samples, or over those outside a fold."""
        weight, total = self._weight, self._fold_weight[repeat].sum()
        if without is not None:
            weight = weight.copy()
            weight[self._rows[repeat][without]] = 0
            total = self._rest_weight[repeat, without]
        difference = losses - other
        change = _weighted_sum(np.abs(difference, out=difference), weight) / total
        return np.where(np.isnan(change), np.inf, change)


@dataclass
class _Held:
    """Losses of some candidates on a training set, and how many comparisons each waits for."""

    candidates: NDArray[np.intp]
    losses: NDArray[np.float64]
    waits_for: NDArray[np.intp]


def _other(pair: tuple[int, ...], fold: int) -> int:
    return pair[0] + pair[1] - fold


def _weighted_sum(losses: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    # Not BLAS: its threads, started for long vectors, wait for each other when all cores fit models.
    total: NDArray[np.float64] = np.einsum("ci,i->c", losses, weight)
    return total
