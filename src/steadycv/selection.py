"""Selection: run a strategy for every weight and every outer fold on one ledger.

This is the one loop of the method: strategies ask for candidates, the ledger says which training
sets are missing, fitting fits them, and the rules turn the ledger into the answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from steadycv import rules

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from steadycv.candidates import Grid
    from steadycv.fitting import Fit, Fitter, Job
    from steadycv.folds import TrainingSet
    from steadycv.ledger import Ledger
    from steadycv.strategies import Strategy

__all__ = ["Choices", "Observer", "Selector"]


class Observer(Protocol):
    """Is told of the work as it goes on."""

    def start(self, jobs: Sequence[Job]) -> None:
        """A batch of fits begins."""

    def fitted(self, job: Job, fit: Fit) -> None:
        """A fit is done, and the ledger knows it."""

    def complete(self, candidate: int) -> None:
        """All fits that the batch has for a candidate are done."""


@dataclass(frozen=True)
class Choices:
    """What the strategy chose, as indices of candidates; -1 where every candidate failed.

    Attributes
    ----------
    overall : ndarray of shape (n_weights,)
        The choice on all data.
    outer : ndarray of shape (n_weights, n_repeats, k)
        The choice without each outer fold; empty without nesting.
    kfold : int
        The choice on all data with weight 0: plain cross-validation's.
    """

    overall: NDArray[np.intp]
    outer: NDArray[np.intp]
    kfold: int


class Selector:
    """Runs one strategy for all weights and outer folds, side by side.

    Parameters
    ----------
    grid : Grid
        The candidates.
    ledger : Ledger
        What is known of them.
    fitter : Fitter
        Fits what is missing.
    observers : sequence of Observer
        Told of the work as it goes on.
    cv_error : callable
        The rule for the error of the final choice.

    Attributes
    ----------
    outputs : dict of int to dict of TrainingSet to ndarray
        For candidates that may still be chosen: the outputs on the left-out folds.
    """

    def __init__(
        self,
        grid: Grid,
        ledger: Ledger,
        fitter: Fitter,
        observers: Sequence[Observer] = (),
        cv_error: Callable[[Ledger, rules.Candidates], NDArray[np.float64]] = rules.cv_error,
    ) -> None:
        self._grid = grid
        self._ledger = ledger
        self._fitter = fitter
        self._observers = observers
        self._cv_error = cv_error
        self.outputs: dict[int, dict[TrainingSet, NDArray[Any]]] = {}

    def run(self, strategy: Strategy, weights: NDArray[np.float64]) -> Choices:
        """Choose a candidate for every weight, on all data and without each outer fold."""
        lattice = self._ledger.lattice
        # Plain cross-validation, weight 0, is always among the final choices, to compare with.
        final = [_Run(strategy, self._grid, w, None) for w in np.union1d([0.0], weights)]
        outer = [
            _Run(strategy, self._grid, w, (r, t))
            for w in weights
            for r in range(lattice.n_repeats)
            for t in range(lattice.n_folds)
            if self._ledger.nested
        ]
        self._finalists = _Finalists(len(self._grid), final)
        runs = final + outer
        for run in runs:
            run.proceed()
        while runs:
            self._fit(self._wanted(runs))
            seen = {place: self._errors(place) for place in {run.place for run in runs}}
            for run in runs:
                error, instability = (of_all[run.asked] for of_all in seen[run.place])
                run.proceed(rules.regularized_error(error, instability, run.weight))
            runs = [run for run in runs if run.choice is None]
        overall = {run.weight: -1 if run.choice is None else run.choice for run in final}
        return Choices(
            overall=np.array([overall[w] for w in weights], dtype=np.intp),
            outer=np.array([run.choice for run in outer], dtype=np.intp).reshape(
                (-1, lattice.n_repeats, lattice.n_folds)
            ),
            kfold=overall[0.0],
        )

    def outputs_of(self, candidate: int) -> dict[TrainingSet, NDArray[Any]]:
        """The outputs of a candidate on the left-out folds; fits again what was not kept."""
        kept = self.outputs.setdefault(candidate, {})
        self._fit(
            {
                training_set: np.arange(len(self._grid)) == candidate
                for training_set in self._ledger.lattice.final_sets(with_full=False)
                if training_set not in kept
                and np.isfinite(self._ledger.error[candidate][_at(training_set)])
            }
        )
        return kept

    def _wanted(self, runs: list[_Run]) -> dict[TrainingSet, NDArray[np.bool_]]:
        """The training sets that are missing, each with a mask of the candidates."""
        asked: dict[tuple[int, int] | None, NDArray[np.bool_]] = {}
        for run in runs:
            mask = asked.setdefault(run.place, np.zeros(len(self._grid), dtype=bool))
            mask[run.asked] = True
        wanted: dict[TrainingSet, NDArray[np.bool_]] = {}
        for place, mask in asked.items():
            candidates = np.flatnonzero(mask)
            missing = (
                self._ledger.missing_final(candidates)
                if place is None
                else self._ledger.missing_outer(candidates, *place)
            )
            for training_set, some in missing:
                wanted.setdefault(training_set, np.zeros_like(mask))[some] = True
        return wanted

    def _fit(self, wanted: dict[TrainingSet, NDArray[np.bool_]]) -> None:
        """Fit, and let the ledger reduce the losses as they arrive."""
        batches = self._fitter.batches(wanted)
        if not batches:
            return
        for observer in self._observers:
            observer.start([job for batch in batches for job in batch.jobs])
        for batch, job, fit in self._fitter.fit(batches):
            self._record(job, fit)
            for observer in self._observers:
                observer.fitted(job, fit)
            if job is batch.jobs[-1]:
                self._complete(np.unique(np.concatenate([job.candidates for job in batch.jobs])))

    def _record(self, job: Job, fit: Fit) -> None:
        self._ledger.record(job.candidates, job.training_set, fit.losses)
        if len(job.training_set.left_out) == 1:
            self._ledger.record_scores(job.candidates, job.training_set, fit)
            if fit.outputs is not None:
                for row, candidate in enumerate(job.candidates.tolist()):
                    if row not in fit.failures:
                        kept = self.outputs.setdefault(candidate, {})
                        kept[job.training_set] = fit.outputs[row]

    def _complete(self, candidates: NDArray[np.intp]) -> None:
        for observer in self._observers:
            for candidate in candidates.tolist():
                observer.complete(candidate)
        self._finalists.enter(
            candidates,
            self._cv_error(self._ledger, candidates),
            rules.instability(self._ledger, candidates),
        )
        kept = np.fromiter(self.outputs, dtype=np.intp, count=len(self.outputs))
        for candidate in kept[self._finalists.are_out(kept)].tolist():
            del self.outputs[candidate]

    def _errors(self, place: tuple[int, int] | None) -> tuple[NDArray[np.float64], ...]:
        """Error and instability of all candidates, as seen from a place."""
        if place is None:
            return self._cv_error(self._ledger, rules.ALL), rules.instability(self._ledger)
        return (
            rules.inner_cv_error(self._ledger, rules.ALL, *place),
            rules.inner_instability(self._ledger, rules.ALL, *place),
        )


class _Run:
    """A strategy at work for one weight, on all data (place None) or without an outer fold.

    `choice` is None while it goes on, and -1 where every candidate it asked for failed.
    """

    def __init__(
        self, strategy: Strategy, grid: Grid, weight: float, place: tuple[int, int] | None
    ) -> None:
        self._questions = strategy(grid)
        self._errors = np.full(len(grid), np.nan)
        self.weight = float(weight)
        self.place = place
        self.choice: int | None = None
        self.asked = np.zeros(0, dtype=np.intp)
        self.has_asked = np.zeros(len(grid), dtype=bool)

    def proceed(self, errors: NDArray[np.float64] | None = None) -> None:
        """Answer what was asked; None to hear the first question."""
        if errors is not None:
            self._errors[self.asked] = errors
        try:
            self._ask(self._questions.send(errors))  # type: ignore[arg-type]  # None starts it
        except StopIteration as stop:
            if not (isinstance(stop.value, Integral) and self._is_candidate(stop.value)) or (
                not self.has_asked[stop.value]
            ):
                raise ValueError(
                    f"The search strategy chose candidate {stop.value!r} without asking for it."
                ) from None
            self.choice = int(stop.value) if np.isfinite(self._errors[stop.value]) else -1

    def _ask(self, candidates: Sequence[int]) -> None:
        self.asked = np.asarray(candidates, dtype=np.intp)
        unknown = self.asked[~self._is_candidate(self.asked)]
        if len(unknown):
            raise ValueError(
                f"The search strategy asked for candidate {unknown[0]}, and the grid has "
                f"{len(self._errors)}, counted from 0."
            )
        self.has_asked[self.asked] = True

    def _is_candidate(self, index: Any) -> Any:
        return (index >= 0) & (index < len(self._errors))


class _Finalists:
    """Which candidates some final run may still choose."""

    def __init__(self, n_candidates: int, runs: list[_Run]) -> None:
        self._runs = runs
        self._weights = np.array([run.weight for run in runs])
        self._errors = np.full((n_candidates, len(runs)), np.nan)
        self._best = np.full(len(runs), np.inf)

    def enter(
        self,
        candidates: NDArray[np.intp],
        error: NDArray[np.float64],
        instability: NDArray[np.float64],
    ) -> None:
        """Take note of candidates' errors and instabilities; NaN where not known yet."""
        errors = np.stack(
            [rules.regularized_error(error, instability, w) for w in self._weights], axis=1
        )
        self._errors[candidates] = errors
        asked = np.stack([run.has_asked[candidates] for run in self._runs], axis=1)
        self._best = np.fmin(self._best, np.fmin.reduce(np.where(asked, errors, np.inf), axis=0))

    def are_out(self, candidates: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which of the candidates no run will choose."""
        out = np.ones(len(candidates), dtype=bool)
        for run, errors, best in zip(self._runs, self._errors[candidates].T, self._best, strict=True):
            if run.choice is not None:
                out &= candidates != run.choice
            else:
                out &= run.has_asked[candidates] & (rules.less_a_tie(errors) > best)
        return out


def _at(training_set: TrainingSet) -> tuple[int, ...]:
    return (training_set.repeat, *training_set.left_out)
