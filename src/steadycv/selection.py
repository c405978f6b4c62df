"""Selection: run a strategy for every weight and every outer fold on one ledger.

This is the one loop of the method: strategies ask for candidates, the ledger says which training
sets are missing, fitting fits them, and the rules turn the ledger into the answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from steadycv import rules
from steadycv.fitting import Fit, Fitter, Job

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from steadycv.candidates import Grid
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
            self._fit(self._missing(runs))
            for run in runs:
                run.proceed(self._errors(run, run.asked))
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
            [
                Job(candidate, training_set)
                for training_set in self._ledger.lattice.final_sets(with_full=False)
                if training_set not in kept
                and np.isfinite(self._ledger.error[candidate][_at(training_set)])
            ]
        )
        return kept

    def _missing(self, runs: list[_Run]) -> list[Job]:
        wanted = {(candidate, run.place) for run in runs for candidate in run.asked}
        jobs = {
            Job(candidate, training_set)
            for candidate, place in wanted
            for training_set in (
                self._ledger.missing_final(candidate)
                if place is None
                else self._ledger.missing_outer(candidate, *place)
            )
        }
        return sorted(jobs, key=_order)

    def _fit(self, jobs: list[Job]) -> None:
        """Fit, and let the ledger reduce the losses as they arrive."""
        if not jobs:
            return
        for observer in self._observers:
            observer.start(jobs)
        for number, (job, fit) in enumerate(self._fitter.fit(jobs), start=1):
            self._record(job, fit)
            for observer in self._observers:
                observer.fitted(job, fit)
            if number == len(jobs) or jobs[number].candidate != job.candidate:
                self._complete(job.candidate)

    def _record(self, job: Job, fit: Fit) -> None:
        self._ledger.record(job.candidate, job.training_set, fit.losses)
        if len(job.training_set.left_out) == 1:
            self._ledger.record_scores(job.candidate, job.training_set, fit)
            if fit.outputs is not None:
                self.outputs.setdefault(job.candidate, {})[job.training_set] = fit.outputs

    def _complete(self, candidate: int) -> None:
        for observer in self._observers:
            observer.complete(candidate)
        self._finalists.enter(
            candidate,
            self._cv_error(self._ledger, [candidate]),
            rules.instability(self._ledger, [candidate]),
        )
        for other in [c for c in self.outputs if self._finalists.is_out(c)]:
            del self.outputs[other]

    def _errors(self, run: _Run, candidates: Sequence[int]) -> NDArray[np.float64]:
        if run.place is None:
            error = self._cv_error(self._ledger, candidates)
            instability = rules.instability(self._ledger, candidates)
        else:
            error = rules.inner_cv_error(self._ledger, candidates, *run.place)
            instability = rules.inner_instability(self._ledger, candidates, *run.place)
        return rules.regularized_error(error, instability, run.weight)


class _Run:
    """A strategy at work for one weight, on all data (place None) or without an outer fold.

    `choice` is None while it goes on, and -1 where every candidate it asked for failed.
    """

    def __init__(
        self, strategy: Strategy, grid: Grid, weight: float, place: tuple[int, int] | None
    ) -> None:
        self._questions = strategy(grid)
        self._n_candidates = len(grid)
        self._known: dict[int, float] = {}
        self.weight = float(weight)
        self.place = place
        self.choice: int | None = None
        self.asked: list[int] = []

    def _ask(self, candidates: Sequence[int]) -> None:
        self.asked = [int(c) for c in candidates]
        unknown = [c for c in self.asked if not 0 <= c < self._n_candidates]
        if unknown:
            raise ValueError(
                f"The search strategy asked for candidate {unknown[0]}, and the grid has "
                f"{self._n_candidates}, counted from 0."
            )
        self._known.update((c, np.nan) for c in self.asked if c not in self._known)

    def may_ask(self, candidate: int) -> bool:
        """Whether the run may still ask for a candidate that it has not asked for."""
        return self.choice is None and candidate not in self._known

    def proceed(self, errors: NDArray[np.float64] | None = None) -> None:
        """Answer what was asked; None to hear the first question."""
        if errors is not None:
            self._known.update(zip(self.asked, errors.tolist(), strict=True))
        try:
            self._ask(self._questions.send(errors))  # type: ignore[arg-type]  # None starts it
        except StopIteration as stop:
            if stop.value not in self._known:
                raise ValueError(
                    f"The search strategy chose candidate {stop.value!r} without asking for it."
                ) from None
            self.choice = int(stop.value) if np.isfinite(self._known[stop.value]) else -1
            self.asked = []


class _Finalists:
    """Which candidates some final run may still choose."""

    def __init__(self, n_candidates: int, runs: list[_Run]) -> None:
        self.runs = runs
        self._errors = np.full((n_candidates, len(runs)), np.nan)
        self._best = np.full(len(runs), np.inf)

    def enter(
        self, candidate: int, error: NDArray[np.float64], instability: NDArray[np.float64]
    ) -> None:
        """Take note of a candidate's error and instability; NaN where not known yet."""
        asked = [not run.may_ask(candidate) for run in self.runs]
        errors = np.concatenate(
            [rules.regularized_error(error, instability, run.weight) for run in self.runs]
        )
        self._errors[candidate] = errors
        self._best = np.fmin(self._best, np.where(asked, errors, np.inf))

    def is_out(self, candidate: int) -> bool:
        """Whether no run will choose the candidate."""
        errors = self._errors[candidate]
        return not (
            (rules.less_a_tie(errors) <= self._best).any()
            or np.isnan(errors).any()
            or any(run.may_ask(candidate) for run in self.runs)
        )


def _at(training_set: TrainingSet) -> tuple[int, ...]:
    return (training_set.repeat, *training_set.left_out)


def _order(job: Job) -> tuple[int, int, int, tuple[int, ...]]:
    """By candidate, then by repeat, the larger training sets first: losses are soon compared."""
    repeat, left_out = job.training_set
    return (job.candidate, repeat if left_out else -1, len(left_out), left_out)
