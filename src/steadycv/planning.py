"""Planning: which candidates are fitted together, and what is still to be fitted, as tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steadycv._compat import has_callbacks, is_foreign
from steadycv.paths.plan import kinds, plan, runs_of
from steadycv.paths.separate import SEPARATE
from steadycv.paths.settings import together
from steadycv.tasks import Task, methods_asked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from steadycv._compat import FitTask
    from steadycv.candidates import Candidates
    from steadycv.lattice import Lattice, View
    from steadycv.ledger import Ledger
    from steadycv.paths.plan import Group
    from steadycv.tasks import Problem
    from steadycv.waiting import Waiting

__all__ = ["Line", "Planner", "Wanted"]


class Line(NamedTuple):
    """Candidates that are always fitted together, as their outputs depend on each other."""

    candidates: NDArray[np.intp]
    group: Group


@dataclass
class Wanted:
    """What is still to be fitted: by line the training sets, and the comparisons they are for."""

    training_sets: NDArray[np.bool_]
    comparisons: NDArray[np.bool_]

    @classmethod
    def nothing(cls, n_lines: int, lattice: Lattice) -> Wanted:
        """Of so many lines nothing yet."""
        return cls(
            np.zeros((n_lines, lattice.n_training_sets), dtype=bool),
            np.zeros((n_lines, len(lattice.comparisons)), dtype=bool),
        )

    def n_models(self, lines: list[Line]) -> int:
        """How many models that is, those that one fit serves counted one by one."""
        return int(self.training_sets.sum(axis=1) @ [len(line.candidates) for line in lines])


class Planner:
    """Puts candidates into lines, and what is wanted of them into tasks.

    Parameters
    ----------
    problem : Problem
        What all fits share.
    candidates : Candidates
        The settings; those that are added later are to be announced by `extend`.
    use_paths : bool
        Whether one fit may serve several candidates.

    Attributes
    ----------
    lines : list of Line
        The candidates that are fitted together.
    line_of : ndarray of int
        By candidate, the number of its line.
    run_of : ndarray of int
        By candidate, the number of the fit, or the solver's run, that it is a part of.
    """

    def __init__(self, problem: Problem, candidates: Candidates, *, use_paths: bool) -> None:
        self._problem = problem
        self._candidates = candidates
        self._use_paths = use_paths
        self._prepared: dict[int, Any] = {}
        self.lines: list[Line] = []
        self.n_groups = 0
        self.line_of = np.zeros(0, dtype=np.intp)
        self.run_of = np.zeros(0, dtype=np.intp)
        self._takes_runs = True
        self.extend()

    def extend(self) -> None:
        """Plan the candidates that have been added."""
        first = len(self.line_of)
        settings = [self._candidates[c] for c in range(first, len(self._candidates))]
        groups = [
            group._replace(members=positions[group.members])
            for methods, positions in self._by_methods(settings)
            for group in self._groups([settings[i] for i in positions.tolist()], methods)
        ]
        self.line_of = np.concatenate([self.line_of, np.zeros(len(settings), dtype=np.intp)])
        self.run_of = np.concatenate([self.run_of, np.full(len(settings), -1)])
        for group in groups:
            for number in range(int(group.lines.max()) + 1):
                candidates = first + group.members[group.lines == number]
                self.line_of[candidates] = len(self.lines)
                self.lines.append(Line(candidates, group))
            self._number_runs(first, group)
        self.n_groups += len(groups)

    def _by_methods(
        self, settings: list[dict[str, Any]]
    ) -> Iterator[tuple[tuple[str, ...], NDArray[np.intp]]]:
        """Settings by the methods that their models are asked for: these, and the positions."""
        problem, found = self._problem, dict[tuple[str, ...], list[int]]()
        if problem.judging.classes is None:
            yield methods_asked(problem, problem.estimator), np.arange(len(settings))
            return
        for one, positions in kinds(problem.estimator, settings):
            found.setdefault(methods_asked(problem, one), []).extend(positions)
        for methods, positions in found.items():
            yield methods, np.sort(np.array(positions, dtype=np.intp))

    def _groups(self, settings: list[dict[str, Any]], methods: tuple[str, ...]) -> list[Group]:
        """What is fitted together of settings whose models are asked for the same."""
        problem = self._problem
        return plan(
            problem.estimator,
            settings,
            problem.X,
            problem.y,
            methods=methods,
            fit_params=problem.fit_params,
            # Paths fit what they like, and take NumPy's arrays: callbacks would not know what is fitted.
            # They take every row once.
            use_paths=self._use_paths
            and not problem.lattice.draws_rows_again
            and not has_callbacks(
                problem.estimator,
                [v for each in settings for v in each.values() if hasattr(v, "get_params")],
            )
            and not any(map(is_foreign, (problem.X, problem.y, *problem.fit_params.values()))),
            n_held=1 + len(problem.lattice.splits),  # those with which others are compared
        )

    def _number_runs(self, first: int, group: Group) -> None:
        """Number the solver's runs of a group."""
        settings = [self._candidates[first + c] for c in group.members.tolist()]
        keys = runs_of(group.path, group.estimator, settings)
        self._takes_runs &= None not in keys
        n_before = int(self.run_of.max(initial=-1)) + 1
        for number, positions in enumerate(together(keys)):
            self.run_of[first + group.members[positions]] = n_before + number

    @property
    def n_runs(self) -> int:
        """How many solver's runs a training set takes; 0 where all candidates of some fit share one."""
        return int(self.run_of.max()) + 1 if self._takes_runs else 0

    def missing(
        self,
        asked: list[tuple[View, NDArray[np.intp]]],
        ledger: Ledger,
        waiting: Waiting,
        *,
        with_change: bool,
        with_parts: bool = False,
        with_rest: bool = True,
    ) -> Wanted:
        """What the ledger does not know of what views ask about candidates.

        Whoever asks for the rest later is not to have models fitted again: with it, losses of those that
        are fitted now wait for other comparisons.
        """
        lattice = ledger.lattice
        wanted = Wanted.nothing(len(self.lines), lattice)
        evaluated = np.array([training_set for training_set, _ in lattice.evaluations], dtype=np.intp)
        pairs = np.array(lattice.comparisons, dtype=np.intp)
        no_error, no_change = (self._unknown(table) for table in (ledger.error, ledger.change))
        if with_parts:
            no_error |= self._unknown(ledger.first_parts())
        errors = np.zeros(no_error.shape, dtype=bool)
        for view, candidates in asked:
            lines = np.unique(self.line_of[candidates])[:, np.newaxis]
            errors[lines, view.evaluations] = True
            if view.judged is not None:
                errors[lines, view.judged] = True
            wanted.comparisons[lines, view.comparisons] = with_change
        needed = wanted.training_sets.T
        np.logical_or.at(needed, evaluated, (errors & no_error).T)
        if with_change:
            wanted.comparisons &= no_change
            held = self._held(waiting, lattice.n_training_sets)
            for training_sets in pairs.T:
                np.logical_or.at(needed, training_sets, (wanted.comparisons & ~held[:, training_sets]).T)
            if with_rest:
                wanted.comparisons |= no_change & wanted.training_sets[:, pairs].any(axis=2)
        return wanted

    def _unknown(self, table: NDArray[np.float64]) -> NDArray[np.bool_]:
        """By line, which numbers of some candidate are not known."""
        by_line = np.argsort(self.line_of, kind="stable")
        starts = np.flatnonzero(np.diff(self.line_of[by_line], prepend=-1))
        return np.logical_or.reduceat(np.isnan(table)[by_line], starts, axis=0)

    def _held(self, waiting: Waiting, n_training_sets: int) -> NDArray[np.bool_]:
        """By line and training set, whether losses are at hand."""
        held = np.zeros((len(self.lines), n_training_sets), dtype=bool)
        for training_set, block in waiting.blocks():
            held[self.line_of[block.candidates[0]], training_set] = True
        return held

    def tasks(self, wanted: Wanted) -> list[Task]:
        """What is wanted, as tasks: a group on all its training sets."""
        return [self._task(*each) for each in self._merged(wanted)]

    def tasks_of(self, lines: list[Line], training_set: int) -> list[Task]:
        """Some lines, each with all of its group, on one training set: a task for each group."""
        groups = {id(line.group): line.group for line in lines}
        found = []
        for key in groups:
            whole = [line for line in self.lines if id(line.group) == key]
            found.append(self._task(whole, [training_set], frozenset()))
        return found

    def _merged(self, wanted: Wanted) -> Iterator[tuple[list[Line], list[int], frozenset[int]]]:
        """Lines of one group, the training sets of which just these are wanted, and the comparisons.

        So a group is fitted on a training set once, whichever of its lines are wanted there.
        """
        by_group: dict[int, list[int]] = {}
        for number in np.flatnonzero(wanted.training_sets.any(axis=1)).tolist():
            by_group.setdefault(id(self.lines[number].group), []).append(number)
        for numbers in by_group.values():
            table = wanted.training_sets[numbers]
            training_sets = np.flatnonzero(table.any(axis=0)).tolist()
            for equal in together(table[:, training_set].tobytes() for training_set in training_sets):
                some = [training_sets[position] for position in equal]
                lines = np.array(numbers)[table[:, some[0]]]
                yield (
                    [self.lines[number] for number in lines.tolist()],
                    some,
                    frozenset(np.flatnonzero(wanted.comparisons[lines].any(axis=0)).tolist()),
                )

    def _task(self, lines: list[Line], training_sets: list[int], comparisons: frozenset[int]) -> Task:
        group = lines[0].group
        candidates = np.concatenate([line.candidates for line in lines])
        return Task(
            candidates=candidates,
            settings=[self._candidates[c] for c in candidates.tolist()],
            lines=np.split(
                np.arange(len(candidates)), np.cumsum([len(line.candidates) for line in lines])[:-1]
            ),
            training_sets=training_sets,
            comparisons=comparisons,
            path=group.path,
            estimator=group.estimator,
            methods=() if group.path is SEPARATE else methods_asked(self._problem, group.estimator),
        )

    def ready(self, tasks: Iterable[Task], callback: Callable[[], FitTask | None]) -> Iterator[Task]:
        """The tasks with what their paths prepare for all training sets; that of the last is kept."""
        for task in tasks:
            callbacks = tuple(callback() for _ in task.training_sets)
            yield replace(task, prepared=self._prepare(task), callbacks=callbacks)

    def _prepare(self, task: Task) -> Any:
        key = id(task.estimator)  # the group's
        assert task.path is not None
        if key not in self._prepared:
            try:
                prepared = task.path.prepare(task.estimator, self._problem.X, self._problem.y)
            except Exception as error:
                prepared = error  # raised again where it can be told from a candidate's failure
            self._prepared = {key: prepared}
        return self._prepared[key]
