"""The fits of students: what is not known yet is fitted, judged, and kept."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv.candidates import Candidates
from steadycv.kept import Heard, KeptOutputs
from steadycv.lattice import Lattice
from steadycv.measures import Found
from steadycv.outputs import answering
from steadycv.paths.plan import kinds
from steadycv.planning import Planner, Wanted
from steadycv.reducing import Keep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from steadycv.averages import FoldJudge, Tables
    from steadycv.executor import Executor
    from steadycv.failures import Failures
    from steadycv.ledger_file import LedgerFile
    from steadycv.measures import Rows
    from steadycv.outputs import OutputsOfModels
    from steadycv.students import Lesson, Teaching
    from steadycv.tasks import Problem

__all__ = ["Course", "Students"]

ERROR = "error"  # its name beside those of methods


@dataclass(frozen=True)
class Course:
    """What all students of one view by one teaching have in common.

    Attributes
    ----------
    view : int
        The number of the view.
    teaching : Teaching
        What they hear of their teacher.
    teacher : dict
        The parameters of the candidate whose committee that is.
    lesson : callable
        Makes what they are fitted on; ``lesson(blank=True)`` the same with an empty teaching, which
        takes no fit.
    """

    view: int
    teaching: Teaching
    teacher: dict[str, Any]
    lesson: Callable[..., Lesson]


class Students:
    """Students of all candidates, where they are not known yet from the file.

    Parameters
    ----------
    problem : Problem
        What the fits of the search share.
    candidates : Candidates
        The settings.
    judge : FoldJudge
        Judges what they say of the rows of their view.
    executor : Executor
        Runs the fits.
    failures : Failures
        Counts them.
    use_paths : bool
        Whether one fit may serve several candidates.
    keeps : bool
        Whether outputs are kept; else those that are asked for are fitted again.
    file : LedgerFile or None
        Where all is written down.
    """

    def __init__(
        self,
        problem: Problem,
        candidates: Candidates,
        judge: FoldJudge,
        executor: Executor,
        failures: Failures,
        *,
        use_paths: bool,
        keeps: bool,
        file: LedgerFile | None,
    ) -> None:
        self._problem = problem
        self._candidates = candidates
        self._judge = judge
        self._executor = executor
        self._failures = failures
        self._use_paths = use_paths
        self._keeps = keeps
        self._file = file
        self._said: dict[tuple[int, Teaching], KeptOutputs] = defaultdict(KeptOutputs)
        self._methods = tuple(dict.fromkeys([*problem.keep.methods, *self._asked()]))

    def _asked(self) -> Iterator[str]:
        """What they are judged by, as far as all of them have it."""
        each = [one for one, _ in kinds(self._problem.estimator, list(self._candidates))]
        for one in each:
            for methods in self._problem.judging.measure.methods(one):
                if all(hasattr(other, method := answering(one, methods)) for other in each):
                    yield method

    def errors(self, course: Course) -> NDArray[np.float64]:
        """By candidate, the error of its student on the rows of the view; infinity where it failed."""
        errors = np.full(len(self._candidates), np.nan)
        keys = self._keys(course)
        for candidate, known in enumerate(self._known(keys)):
            if ERROR in known:
                errors[candidate] = known.pop(ERROR)
                self._keep(
                    course, np.array([candidate]), {m: said[np.newaxis] for m, said in known.items()}
                )
        for candidates, tables, seconds in self._fitted(course, np.flatnonzero(np.isnan(errors))):
            found = self._judge.errors_in(course.view, tables)
            errors[candidates] = found
            self._keep(course, candidates, tables)
            if self._file is not None:
                written = tables if self._keeps else {}
                rows = [{ERROR: e} | {m: t[i] for m, t in written.items()} for i, e in enumerate(found)]
                self._file.taught(dict(zip([keys[c] for c in candidates], rows, strict=True)), seconds)
        errors[np.isnan(errors)] = np.inf
        return errors

    def says(self, course: Course, candidate: int) -> Tables:
        """What one says of the rows of the view, by method; fitted again where that is not kept."""
        said, one = self._said[course.view, course.teaching], np.array([candidate])
        places = {method: self._place(course, method) for method in self._methods}
        if all((candidate, place) in said for place in places.values()):
            return {method: said.table(one, place) for method, place in places.items()}
        [(candidates, tables, _)] = self._fitted(course, one)
        return {method: table[candidates == candidate] for method, table in tables.items()}

    def _place(self, course: Course, method: str) -> Heard:
        """Where the outputs of students are among those of their course."""
        return Heard(0, self._problem.lattice.views[course.view].test_split, method)

    def _keep(self, course: Course, candidates: NDArray[np.intp], tables: Tables) -> None:
        if self._keeps:
            for method, table in tables.items():
                self._said[course.view, course.teaching].keep(
                    candidates, self._place(course, method), table
                )

    # The file.

    def _keys(self, course: Course) -> list[str]:
        """By which the file knows them: by the candidate, its line, and what it is taught."""
        if self._file is None:
            return []
        from steadycv.identity import candidate_keys, student_keys

        problem = self._problem
        [teacher] = candidate_keys(problem.estimator, Candidates([course.teacher]), [])
        lesson = course.lesson(blank=True)
        planner, settings = self._planner(self._of_students(course, lesson), lesson)
        split = problem.lattice.views[course.view].test_split
        return student_keys(
            problem.estimator, settings, planner.lines, (split, teacher, course.teaching)
        )

    def _known(self, keys: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """By candidate, what the file has of its student."""
        if self._file is not None:
            names = (ERROR, *self._methods) if self._keeps else (ERROR,)
            yield from self._file.students(keys, names)

    # Fits.

    def _fitted(
        self, course: Course, wanted: NDArray[np.intp]
    ) -> Iterator[tuple[NDArray[np.intp], Tables, float]]:
        """Some students, with all of their lines: which of them worked, what these say, and seconds."""
        if not len(wanted):
            return
        lesson = course.lesson()
        problem = self._of_students(course, lesson)
        planner, _ = self._planner(problem, lesson)
        lattice = problem.lattice
        missing = Wanted.nothing(len(planner.lines), lattice)
        missing.training_sets[planner.line_of[wanted], lattice.training_set_of(0)] = True
        tasks = self._executor.parted(planner.tasks(missing), n_losses=1, one_by_one=False)
        for task, cells, _ in self._executor.run(problem, planner.ready(tasks, lambda: None)):
            self._failures.count(
                cells.n_fits,
                [(int(task.candidates[i]), task.settings[i], e) for i, e in cells.failures.items()],
                [],
            )
            worked = np.delete(np.arange(len(task.candidates)), list(cells.failures))
            if len(worked):
                kept = cells.kept.items()
                tables = {method: np.asarray(said[worked]) for (_, method), said in kept}
                yield task.candidates[worked], tables, cells.fit_time * len(task.candidates)

    def _of_students(self, course: Course, lesson: Lesson) -> Problem:
        """What the fits of a course share: one training set."""
        problem = self._problem
        view = problem.lattice.views[course.view]
        train = lesson.rows(problem.lattice.rows(view.reference))
        test = problem.lattice.splits[view.test_split].test
        return replace(
            problem,
            X=lesson.X,
            y=lesson.y,
            fit_params=lesson.fit_params,
            lattice=Lattice([(train, test)], lesson.n_rows, nested=False),
            judging=problem.judging._replace(measure=_Unjudged(), name=None, reported=None, weight=None),
            keep=Keep(self._methods),
            return_train_score=False,
        )

    def _planner(self, problem: Problem, lesson: Lesson) -> tuple[Planner, Candidates]:
        """What plans them, and their settings."""
        settings = Candidates([lesson.settings(problem.estimator, each) for each in self._candidates])
        return Planner(problem, settings, use_paths=self._use_paths), settings


class _Unjudged:
    """A measure of nothing, for fits of which only the outputs are wanted."""

    def methods(self, estimator: Any) -> list[tuple[str, ...]]:  # noqa: ARG002
        return []

    def undefined(self, rows: Rows) -> None:  # noqa: ARG002
        return None

    def n_losses(self, lattice: Lattice) -> int:  # noqa: ARG002
        return 1

    def losses(self, models: OutputsOfModels, lattice: Lattice) -> NDArray[np.float64]:  # noqa: ARG002
        return np.zeros((models.n_models, 1))

    def errors(self, models: OutputsOfModels, losses: NDArray[np.float64], rows: Rows) -> Found:  # noqa: ARG002
        return Found(np.zeros(models.n_models))

    def parts(
        self,
        models: OutputsOfModels,  # noqa: ARG002
        losses: NDArray[np.float64],  # noqa: ARG002
        rows: Rows,  # noqa: ARG002
        n_parts: int,  # noqa: ARG002
    ) -> None:
        return None

    def change(
        self,
        losses: NDArray[np.float64],
        others: NDArray[np.float64],  # noqa: ARG002
        reference: int,  # noqa: ARG002
        rows: Rows,  # noqa: ARG002
    ) -> NDArray[np.float64]:
        return np.zeros(len(losses))
