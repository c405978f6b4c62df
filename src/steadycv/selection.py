"""Selection: run a strategy for every weight and every view on one ledger.

This is the one loop of the method: strategies ask for candidates, the planner says what is still to be
fitted, the executor fits it, and the rules turn the ledger into the answers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle
from numbers import Integral
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from steadycv import rules
from steadycv.kept import Heard
from steadycv.planning import Wanted
from steadycv.racing import rounds_of
from steadycv.strategies import Found, exhaustive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from steadycv._compat import FitTask
    from steadycv.candidates import Candidates
    from steadycv.executor import Executor
    from steadycv.failures import Failures
    from steadycv.kept import KeptOutputs
    from steadycv.lattice import View
    from steadycv.ledger import Ledger
    from steadycv.planning import Planner
    from steadycv.racing import Race
    from steadycv.reducing import Cells
    from steadycv.stopping import Stops
    from steadycv.strategies import Proposals, Strategy
    from steadycv.tasks import Problem, Task
    from steadycv.waiting import Waiting

__all__ = ["Choices", "Observer", "Selector", "State"]

MOST_KEPT_BYTES = 2**25  # of outputs; beyond it, those that no view will choose are let go
MOST_WAITING_BYTES = 2**28  # of losses that a round of a race leaves; beyond it, none are held


class Observer(Protocol):
    """Is told of the work as it goes on."""

    def grown(self) -> None:
        """There are more candidates, of which the ledger knows nothing."""

    def start(self, tasks: Sequence[Task]) -> None:
        """Tasks begin."""

    def fitted(self, task: Task, cells: Cells) -> None:
        """The models of a task on one training set are there, and the ledger knows them."""


@dataclass(frozen=True)
class State:
    """What is known so far.

    Attributes
    ----------
    ledger : Ledger
        Errors and changes.
    kept : KeptOutputs
        Outputs of those that may still be chosen.
    waiting : Waiting
        Losses that are still to be compared.
    """

    ledger: Ledger
    kept: KeptOutputs
    waiting: Waiting


@dataclass(frozen=True)
class Choices:
    """What the strategy chose, as numbers of candidates; -1 where every candidate failed.

    Attributes
    ----------
    final : dict of float to int
        By weight, the choice on all data.
    inner : dict of float to ndarray
        By weight, the choice in each view.
    looked_at : ndarray of bool
        Which candidates the choices on all data asked for. Of others more may be known: what was fitted
        with them, or is in a file.
    """

    final: dict[float, int]
    inner: dict[float, NDArray[np.intp]]
    looked_at: NDArray[np.bool_]


class Selector:
    """Runs one strategy for all weights and views, side by side.

    Parameters
    ----------
    problem : Problem
        What all fits share.
    grid : Candidates
        The candidates; a strategy may add some.
    state : State
        What is known of them.
    planner : Planner
        Makes tasks of what is missing.
    executor : Executor
        Runs them.
    failures : Failures
        Counts what failed.
    observers : sequence of Observer
        Told of the work as it goes on.
    callback : callable
        Makes the tasks that scikit-learn's callbacks are told of.
    with_change : bool
        Whether instabilities are wanted.
    one_by_one : bool
        Whether every training set is a task of its own, so that it can be written down at once.
    """

    def __init__(
        self,
        problem: Problem,
        grid: Candidates,
        state: State,
        planner: Planner,
        executor: Executor,
        failures: Failures,
        *,
        observers: Sequence[Observer],
        callback: Callable[[], FitTask | None],
        with_change: bool,
        one_by_one: bool,
    ) -> None:
        self._problem = problem
        self._grid = grid
        self._state = state
        self._planner = planner
        self._executor = executor
        self._failures = failures
        self._observers = observers
        self._callback = callback
        self._with_change = with_change
        self._one_by_one = one_by_one
        self._finalists: _Finalists | Race | Stops | None = (
            None  # before anything was asked, all may be chosen
        )

    def run(
        self,
        strategy: Strategy,
        weights: Sequence[float],
        inner_weights: Sequence[float],
        *,
        race: Race | None = None,
        stops: Stops | None = None,
        proposals: Proposals | None = None,
        space: Any = None,
    ) -> Choices:
        """Choose a candidate for every weight, on all data and in each view.

        After a race or early stops, and of candidates that were proposed from a space, every view looks
        at those that it holds.
        """
        lattice = self._state.ledger.lattice
        held: dict[int | None, NDArray[np.intp]] = {}
        if race is not None:
            self._finalists = race
            self._race(race, stops)
        elif stops is not None:
            self._finalists = stops
            self._stop_early(stops)
        elif proposals is not None:
            held = self._propose(proposals, space)
        if race is not None or stops is not None:
            held = {view.split: self._held(view) for view in (lattice.final, *lattice.views)}

        views = lattice.views if inner_weights else ()
        runs: list[_Run | _WholeRun]
        if strategy is exhaustive:
            everybody = np.arange(len(self._grid))
            runs = [
                _WholeRun(held.get(view.split, everybody), len(self._grid), some, view)
                for view, some in [(lattice.final, weights), *((view, inner_weights) for view in views)]
            ]
        else:
            runs = [_Run(strategy, self._grid, weight, lattice.final) for weight in weights]
            runs += [_Run(strategy, self._grid, w, view) for w in inner_weights for view in views]
        self._finalists = _Finalists(self._state.ledger, runs)
        while going := [run for run in runs if not run.choices]:
            self._grow()
            self._fit(self._wanted(going))
            seen = {run.view.split: self._seen(run.view) for run in going}
            for run in going:
                error, instability = seen[run.view.split]
                run.proceed(error[run.asked], instability[run.asked])
        self._grow()
        final, inner = (
            [run for run in runs if (run.view.split is None) == is_final] for is_final in (True, False)
        )
        return Choices(
            final={weight: choice for run in final for weight, choice in run.choices.items()},
            inner={
                w: np.array([run.choices[w] for run in inner if w in run.choices], dtype=np.intp)
                for w in inner_weights
            },
            looked_at=np.logical_or.reduce([run.has_asked for run in final]),
        )

    def _race(self, race: Race, stops: Stops | None) -> None:
        """Let candidates leave views. What a round holds depends on who is left, and on nothing else."""
        for number in range(len(race.rounds)):
            views = race.asking(number)
            self._look(views, stops)
            if stops is not None:
                stops.stop(views, number + 1)
            race.judge(number)
            self._let_losses_go(race)

    def _stop_early(self, stops: Stops) -> None:
        """Find how far each view looks.

        A few training sets, of which every view sees one, say how many rounds to begin with, so that few
        models are fitted again with more rounds.
        """
        lattice = self._state.ledger.lattice
        for views in rounds_of(lattice)[:1]:
            first = [replace(view, comparisons=view.comparisons[:0]) for view in views]
            self._look(first, stops)
            stops.settle(first)
            self._let_losses_go(stops)
        all_views = [lattice.final, *lattice.views]
        self._look(all_views, stops)
        stops.stop(all_views)

    def _look(self, views: Sequence[View], stops: Stops | None) -> None:
        """Fit what views ask for of the candidates that they hold, as many rounds as it takes."""
        ledger, waiting = self._state.ledger, self._state.waiting
        losses = 8 * self._problem.judging.measure.n_losses(ledger.lattice)
        while True:
            asked = [(view, self._held(view)) for view in views]
            missing = partial(
                self._planner.missing, asked, ledger, waiting, with_parts=ledger.with_parts
            )
            wanted = missing(with_change=self._with_change)
            is_much = losses * wanted.n_models(self._planner.lines) > MOST_WAITING_BYTES
            goes_by_errors = ledger.with_parts and not any(len(view.comparisons) for view in views)
            if is_much and ledger.with_parts:  # what stays is fitted again for its other changes
                wanted = missing(with_change=self._with_change and not goes_by_errors, with_rest=False)
            self._fit(wanted)
            if stops is None or not stops.go_on(views):
                return

    def _let_losses_go(self, held: Race | Stops) -> None:
        """Hold no losses of candidates that no view holds."""
        are_out = held.are_out(np.arange(len(self._grid)))
        self._state.waiting.let_go(np.logical_and.reduce(are_out))

    def _held(self, view: View) -> NDArray[np.intp]:
        """The candidates that have not left a view."""
        return np.flatnonzero(self._state.ledger.left_from(view) == 0)

    def _propose(self, proposals: Proposals, space: Any) -> dict[int | None, NDArray[np.intp]]:
        """Have candidates proposed, batch by batch, by what one view or each finds of them.

        By split of the view, those that were proposed to it, in their order.
        """
        ledger = self._state.ledger
        views = [ledger.lattice.final, *ledger.lattice.views]
        asking = views if proposals.per_view else views[:1]
        proposers = [proposals.proposer(space, of_all=view.split is None) for view in asking]
        proposed: list[NDArray[np.intp]] = []
        while any(map(len, asked := [self._taken_up(each.ask()) for each in proposers])):
            self._fit(self._missing(list(zip(views, cycle(asked), strict=False))))
            for proposer, view, candidates in zip(proposers, asking, asked, strict=True):
                proposer.tell(
                    Found(
                        candidates,
                        rules.error(ledger, view, candidates),
                        rules.instability(ledger, view, candidates),
                        ledger.error[np.ix_(candidates, view.evaluations)],
                    )
                )
            proposed = asked if not proposed else list(map(np.append, proposed, asked))
        held = {view.split: own for view, own in zip(views, cycle(proposed), strict=False)}
        for view in views:
            others = np.ones(len(ledger), dtype=bool)
            others[held[view.split]] = False
            ledger.left_from(view)[others] = 1
        return held

    def _taken_up(self, settings: Sequence[dict[str, Any]]) -> NDArray[np.intp]:
        """The numbers of settings; the new ones are in lines of their own, whoever else gets some."""
        candidates = self._grid.add(settings)
        self._grow()
        return candidates

    def _grow(self) -> None:
        """Take up the candidates that strategies have added."""
        n_more = len(self._grid) - len(self._state.ledger)
        if n_more:
            self._state.ledger.grow(n_more)
            self._planner.extend()
            for observer in self._observers:
                observer.grown()

    def outputs_of(self, chosen: dict[int, int]) -> dict[int, NDArray[Any]]:
        """By split, the outputs of a candidate on its test rows; what was not kept is fitted again."""
        lattice, kept, ledger = self._state.ledger.lattice, self._state.kept, self._state.ledger
        if not self._problem.keep.methods:
            return {}
        known = {
            split: candidate
            for split, candidate in chosen.items()
            if candidate >= 0
            and np.isfinite(ledger.error[candidate, lattice.evaluation_of_split[split]])
        }
        keys = {split: (candidate, self._own(split)) for split, candidate in known.items()}
        self.hear(list(keys.values()))
        return {split: kept[key] for split, key in keys.items() if key in kept}

    def _own(self, split: int) -> Heard:
        """Where the outputs of a split's own models are."""
        training_set = self._state.ledger.lattice.training_set_of(split)
        return Heard(training_set, split, self._problem.keep.methods[0])

    def hear(self, keys: Sequence[tuple[int, Heard]]) -> None:
        """Have outputs kept; models are fitted again for those that are not.

        What such fits say of errors is not recorded: the ledger keeps its first answers.
        """
        lattice, kept = self._state.ledger.lattice, self._state.kept
        missing = [key for key in keys if key not in kept]
        if not missing:
            return
        wanted = Wanted.nothing(len(self._planner.lines), lattice)
        for candidate, heard in missing:
            wanted.training_sets[self._planner.line_of[candidate], heard.training_set] = True
        of_members = self._problem.keep._replace(of_members=True)
        self._fit(wanted, again=replace(self._problem, keep=of_members))

    def out_of_fold(self, candidates: NDArray[np.intp]) -> dict[int, dict[str, NDArray[Any]]]:
        """By split and method, the outputs of candidates on its test rows; none of them failed there."""
        lattice, kept = self._state.ledger.lattice, self._state.kept
        judged = np.flatnonzero(lattice.evaluation_of_split >= 0).tolist()
        places = {
            split: [
                Heard(lattice.training_set_of(split), split, method)
                for method in self._problem.keep.methods
            ]
            for split in judged
        }
        self.hear([key for each in places.values() for p in each for key in kept.missing(candidates, p)])
        return {
            split: {place.method: kept.table(candidates, place) for place in each}
            for split, each in places.items()
        }

    def lines_of(self, candidates: NDArray[np.intp]) -> NDArray[np.intp]:
        """The line of each candidate: what is heard of one is heard of all of its line."""
        return self._planner.line_of[candidates]

    def _wanted(self, runs: Sequence[_Run | _WholeRun]) -> Wanted:
        """What is missing of all that the runs ask for."""
        asked: dict[int, tuple[View, NDArray[np.bool_]]] = {}
        for run in runs:
            _, mask = asked.setdefault(id(run.view), (run.view, np.zeros(len(self._grid), dtype=bool)))
            mask[run.asked] = True
        return self._missing([(view, np.flatnonzero(mask)) for view, mask in asked.values()])

    def _missing(self, asked: list[tuple[View, NDArray[np.intp]]]) -> Wanted:
        """What the ledger does not know of what views ask about candidates."""
        state = self._state
        return self._planner.missing(asked, state.ledger, state.waiting, with_change=self._with_change)

    def _fit(self, wanted: Wanted, *, again: Problem | None = None) -> None:
        """Run tasks for what is wanted, and take what they leave as it arrives.

        What is fitted `again` is not recorded.
        """
        record = again is None
        tasks = self._planner.tasks(wanted)
        if not tasks:
            return
        for observer in self._observers:
            observer.start(tasks)
        n_losses = self._problem.judging.measure.n_losses(self._state.ledger.lattice)
        parted = self._executor.parted(tasks, n_losses=n_losses, one_by_one=self._one_by_one)
        ready = self._planner.ready(parted, self._callback)
        for task, cells, is_last in self._executor.run(again or self._problem, ready):
            self._take(task, cells, record=record)
            for observer in self._observers:
                observer.fitted(task, cells)
            too_many = self._state.kept.n_bytes > MOST_KEPT_BYTES and not self._problem.keep.of_all
            if is_last and record and too_many:
                self.let_go()

    def _take(self, task: Task, cells: Cells, *, record: bool) -> None:
        candidates = task.candidates
        self._failures.count(
            cells.n_fits,
            [(int(candidates[i]), task.settings[i], error) for i, error in cells.failures.items()],
            cells.scoring_failures.values(),
        )
        worked: Any = slice(None)  # no copy
        if cells.failures:
            worked = [i for i in range(len(candidates)) if i not in cells.failures]
        for (split, method), outputs in cells.kept.items():
            heard = Heard(cells.training_sets[0], split, method)
            self._state.kept.keep(candidates[worked], heard, outputs[worked])
        if record:
            self._state.ledger.record(candidates, cells)
            self._compare(task, cells)

    def _compare(self, task: Task, cells: Cells) -> None:
        """Compare losses that waited in a task with those of other tasks, a line at a time."""
        for training_set, (losses, waits_for) in cells.waiting.items():
            for line in np.unique(self._planner.line_of[task.candidates]).tolist():
                at = np.flatnonzero(self._planner.line_of[task.candidates] == line)
                candidates = task.candidates[at]
                own = losses[at] if isinstance(losses, np.ndarray) else losses.some(at)
                compared = self._state.waiting.add(candidates, [training_set], [own], waits_for)
                for comparison, changes in compared:
                    self._state.ledger.change[candidates, comparison] = changes

    def let_go(self) -> None:
        """Let go of outputs of candidates that no view will choose."""
        kept = self._state.kept
        if self._finalists is None:
            return
        if len(candidates := np.unique([candidate for candidate, _ in kept]).astype(np.intp)):
            out = self._finalists.are_out(candidates)
            kept.drop(
                [(c, heard) for c, heard in kept if out[heard.split, np.searchsorted(candidates, c)]]
            )

    def _seen(self, view: View) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Error and instability of all candidates, as a view sees them."""
        ledger = self._state.ledger
        return rules.error(ledger, view), rules.instability(ledger, view)


class _WholeRun:
    """All candidates, or those that a view holds, for all weights in one view.

    So chooses `exhaustive` that is run for each weight by itself.

    Attributes
    ----------
    weights : sequence of float
        The weights.
    view : View
        The view.
    choices : dict of float to int
        By weight the choice, -1 where every candidate that was asked for failed; empty before.
    asked : ndarray of int
        The candidates whose errors are wanted now.
    """

    def __init__(
        self, candidates: NDArray[np.intp], n_candidates: int, weights: Sequence[float], view: View
    ) -> None:
        self.weights = weights
        self.view = view
        self.choices: dict[float, int] = {}
        self.asked = candidates
        self.has_asked = np.zeros(n_candidates, dtype=bool)
        self.has_asked[candidates] = True

    def proceed(self, error: NDArray[np.float64], instability: NDArray[np.float64]) -> None:
        """Hear of what was asked."""
        best = rules.weighted_choices(error, instability, self.weights)
        found = np.where(best < 0, -1, self.asked[best])
        self.choices = dict(zip(self.weights, found.tolist(), strict=True))


class _Run:
    """A strategy at work for one weight in one view; attributes as those of `_WholeRun`."""

    def __init__(self, strategy: Strategy, grid: Candidates, weight: float, view: View) -> None:
        self._questions = strategy(grid)
        self._grid = grid
        self._errors = np.full(len(grid), np.nan)
        self._has_asked = np.zeros(len(grid), dtype=bool)
        self.weights = [float(weight)]
        self.view = view
        self.choices: dict[float, int] = {}
        self.asked = np.zeros(0, dtype=np.intp)
        self._answer(None)

    @property
    def has_asked(self) -> NDArray[np.bool_]:
        """Which of all candidates that there are by now it has asked for."""
        self._grow()
        return self._has_asked

    def proceed(self, error: NDArray[np.float64], instability: NDArray[np.float64]) -> None:
        """Hear of what was asked, and ask again or choose."""
        errors = rules.regularized_error(error, instability, *self.weights)
        self._errors[self.asked] = errors
        self._answer(errors)

    def _answer(self, errors: NDArray[np.float64] | None) -> None:
        """Answer what was asked; None to hear the first question."""
        try:
            self._ask(self._questions.send(errors))  # type: ignore[arg-type]  # None starts it
        except StopIteration as stop:
            if not (isinstance(stop.value, Integral) and self._is_candidate(stop.value)) or (
                not self._has_asked[stop.value]
            ):
                raise ValueError(
                    f"The search strategy chose candidate {stop.value!r} without asking for it."
                ) from None
            choice = int(stop.value) if np.isfinite(self._errors[stop.value]) else -1
            self.choices = dict.fromkeys(self.weights, choice)

    def _ask(self, candidates: Sequence[int] | NDArray[np.intp]) -> None:
        self._grow()
        self.asked = np.asarray(candidates, dtype=np.intp)
        n = len(self._errors)
        if self.asked.min(initial=0) < 0 or self.asked.max(initial=0) >= n > 0:
            unknown = self.asked[~self._is_candidate(self.asked)]
            raise ValueError(
                f"The search strategy asked for candidate {unknown[0]}, and there are {n}, counted "
                "from 0; more come by grid.add([...])."
            )
        self._has_asked[self.asked] = True

    def _grow(self) -> None:
        """Know of all candidates that there are by now."""
        n_more = len(self._grid) - len(self._errors)
        if n_more:
            self._errors = np.append(self._errors, np.full(n_more, np.nan))
            self._has_asked = np.append(self._has_asked, np.zeros(n_more, dtype=bool))

    def _is_candidate(self, index: Any) -> Any:
        return (index >= 0) & (index < len(self._errors))


class _Finalists:
    """Which candidates some run may still choose."""

    def __init__(self, ledger: Ledger, runs: Sequence[_Run | _WholeRun]) -> None:
        self._ledger = ledger
        self._runs = runs

    def are_out(self, candidates: NDArray[np.intp]) -> NDArray[np.bool_]:
        """By split, which of the candidates neither the final view nor that of the split will choose."""
        lattice = self._ledger.lattice
        out = np.ones((len(lattice.splits), len(candidates)), dtype=bool)
        for run in self._runs:
            is_out = self._is_out(run, candidates)
            if run.view.split is None:
                out &= is_out
            else:
                out[run.view.split] &= is_out
        return out

    def _is_out(self, run: _Run | _WholeRun, candidates: NDArray[np.intp]) -> NDArray[np.bool_]:
        if run.choices:
            return np.isin(candidates, list(run.choices.values()), invert=True)
        error, instability = (each(self._ledger, run.view) for each in (rules.error, rules.instability))
        errors = rules.regularized_errors(error, instability, run.weights)
        best = np.fmin.reduce(np.where(run.has_asked, errors, np.inf), axis=1, keepdims=True)
        is_behind = (rules.less_a_tie(errors[:, candidates]) > best).all(axis=0)
        is_out: NDArray[np.bool_] = run.has_asked[candidates] & is_behind
        return is_out | (self._ledger.left_from(run.view)[candidates] > 0)
