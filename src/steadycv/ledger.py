"""The ledger: what the fits left behind.

Every quantity of the method is a function of these numbers, ``O(k^2)`` of them for a
candidate, however many samples there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steadycv.folds import FULL, Lattice, TrainingSet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from steadycv.fitting import Fit

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
        if not (self._fold_weight > 0).all():
            r, t = np.argwhere(~(self._fold_weight > 0))[0]
            raise ValueError(
                f"The sample weights of fold {t} (repeat {r}) sum to {self._fold_weight[r, t]:g}; "
                "its mean loss needs a sum above 0."
            )
        self._held: dict[int, dict[TrainingSet, _Held]] = {}

    def _unknown(self) -> NDArray[np.float64]:
        return np.full(self._shape, np.nan)

    def missing_final(self, candidate: int) -> list[TrainingSet]:
        """Training sets still to be fitted before the final choice can weigh a candidate."""
        unknown = np.isnan(self.error[candidate])
        sets = []
        if self.with_change:
            unknown |= np.isnan(self.change[candidate])
            sets = [FULL] if np.isnan(self.change[candidate]).any() else []
        sets += [TrainingSet(int(r), (int(t),)) for r, t in np.argwhere(unknown)]
        return self._not_held(candidate, sets)

    def missing_outer(self, candidate: int, repeat: int, fold: int) -> list[TrainingSet]:
        """Training sets still to be fitted before the choice inside an outer fold can."""
        at = (candidate, repeat, fold)
        unknown = np.isnan(self.inner_change[at])
        single, *pairs = self.lattice.outer_sets(repeat, fold)
        sets = [single] if np.isnan(self.error[at]) or unknown.any() else []
        unknown |= np.isnan(self.inner_error[at])
        sets += [pair for pair in pairs if unknown[_other(pair.left_out, fold)]]
        return self._not_held(candidate, sets)

    def _not_held(self, candidate: int, sets: list[TrainingSet]) -> list[TrainingSet]:
        held = self._held.get(candidate, {})
        return [each for each in sets if each not in held]

    def record(
        self, candidate: int, training_set: TrainingSet, losses: NDArray[np.float64] | None
    ) -> None:
        """Reduce the losses of one fit (None: it failed) to the numbers that they complete.

        Losses are held only while a training set that they are to be compared with is missing.
        """
        r, left_out = training_set
        for u in left_out:
            rows = self._rows[r][u]
            error = (
                np.inf if losses is None else losses[rows] @ self._weight[rows] / self._fold_weight[r, u]
            )
            if len(left_out) == 1:
                self.error[candidate, r, u] = error
            else:
                self.inner_error[candidate, r, _other(left_out, u), u] = error
        held = self._held.setdefault(candidate, {})
        waits_for = 0
        for partner, table, at in self._comparisons(training_set):
            if not np.isnan(table[candidate][at]):
                continue
            if partner not in held:
                waits_for += 1
                continue
            other = held[partner]
            table[candidate][at] = self._mean_change(losses, other.losses, *at[:-1])
            other.waits_for -= 1
            if other.waits_for == 0:
                del held[partner]
        if waits_for:
            held[training_set] = _Held(losses, waits_for)
        if not held:
            del self._held[candidate]

    def record_scores(self, candidate: int, training_set: TrainingSet, fit: Fit) -> None:
        """Keep the scores and times of a model trained without one fold."""
        at = (candidate, training_set.repeat, training_set.left_out[0])
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
        losses: NDArray[np.float64] | None,
        other: NDArray[np.float64] | None,
        repeat: int,
        without: int | None = None,
    ) -> float:
        """Mean absolute change of loss over all samples, or over those outside a fold."""
        if losses is None or other is None:
            return np.inf
        change = np.abs(losses - other)
        weights = self._fold_weight[repeat]
        if without is not None:
            change[self._rows[repeat][without]] = 0
            weights = np.delete(weights, without)
        return float(change @ self._weight / weights.sum())


@dataclass
class _Held:
    """Losses (None: the fit failed) and how many comparisons they wait for."""

    losses: NDArray[np.float64] | None
    waits_for: int


def _other(pair: tuple[int, ...], fold: int) -> int:
    return pair[0] + pair[1] - fold
