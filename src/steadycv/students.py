"""Students: single models that are fitted to what a committee says, in part or in whole.

A regressor learns from ``(1 - share) y + share * committee``. A classifier learns from copies of each
row, one a class, weighted by the same mixture of what is known and what the committee thinks likely.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steadycv._compat import check_method_params, is_pairwise, safe_split, to_numpy
from steadycv.candidates import Candidates
from steadycv.estimators import new_estimator
from steadycv.kept import Heard, KeptOutputs
from steadycv.lattice import Lattice
from steadycv.measures import Found
from steadycv.metadata import routes_weights, weights_of_fit
from steadycv.paths.plan import takes_weights
from steadycv.planning import Planner, Wanted
from steadycv.reducing import Keep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steadycv.averages import Tables
    from steadycv.executor import Executor
    from steadycv.failures import Failures
    from steadycv.measures import Rows
    from steadycv.outputs import OutputsOfModels
    from steadycv.tasks import Problem

__all__ = [
    "NO_TEACHER",
    "TEACHINGS",
    "Lesson",
    "Teaching",
    "can_learn",
    "fitted_student",
    "outputs_of_students",
]


class Teaching(NamedTuple):
    """What a student hears of its teacher: a share of the targets, and perhaps of made rows too."""

    share: float
    with_made_rows: bool = False


NO_TEACHER = Teaching(0.0)
TEACHINGS = (NO_TEACHER, *map(Teaching, (0.5, 0.8, 1.0)), Teaching(0.8, with_made_rows=True))
LEAST_WEIGHT = 1e-9  # of a copy: all copies of a row are to be there, as rows are counted
COUNTS_ROWS = ("min_samples_split", "min_samples_leaf", "min_child_samples", "min_data_in_leaf")


def can_learn(problem: Problem) -> bool:
    """Whether a student can be taught: a classifier by sample weights and copies of rows."""
    if problem.judging.classes is None:
        return True
    estimator = problem.estimator
    takes = routes_weights(estimator)
    takes = takes_weights(estimator, weights_of_fit(estimator)) if takes is None else takes
    return takes and not is_pairwise(estimator, problem.X)


@dataclass(frozen=True)
class Lesson:
    """What a student is fitted on.

    Made rows stand behind the others; of a classifier there are `n_copies` of all, one block after the
    other.
    """

    X: Any
    y: Any
    fit_params: dict[str, Any]
    n_samples: int
    n_made: int = 0
    n_copies: int = 1

    @classmethod
    def of(
        cls,
        problem: Problem,
        X: Any,
        taught: NDArray[Any],
        share: float,
        source: NDArray[np.intp],
    ) -> Lesson:
        """The targets of a problem, mixed with what a teacher says of all rows of X.

        Behind those of the problem are made rows, each of a `source`; of these the teacher alone knows.
        """
        classes, n, n_made = problem.judging.classes, problem.lattice.n_samples, len(source)
        at = np.concatenate([np.arange(n), source])
        known = np.concatenate([np.full(n, 1 - share), np.zeros(n_made)])
        if classes is None:
            y = to_numpy(problem.y)[at]
            known = known.reshape(-1, *[1] * (y.ndim - 1))
            soft = known * y + (1 - known) * taught.reshape(y.shape)
            params = check_method_params(problem.X, params=problem.fit_params, indices=at)
            return cls(X, soft, params, n, n_made)
        hard = to_numpy(problem.y).ravel()[at, np.newaxis] == classes
        shares = known[:, np.newaxis] * hard + (1 - known[:, np.newaxis]) * taught
        k, name = len(classes), weights_of_fit(problem.estimator)
        params = check_method_params(problem.X, params=problem.fit_params, indices=np.tile(at, k))
        own = params.get(name)
        weight = np.maximum(shares.T.ravel(), LEAST_WEIGHT) * (1 if own is None else to_numpy(own))
        copies, _ = safe_split(problem.estimator, X, None, np.tile(np.arange(len(at)), k))
        return cls(copies, np.repeat(classes, len(at)), {**params, name: weight}, n, n_made, k)

    @property
    def n_rows(self) -> int:
        """The number of all rows."""
        return (self.n_samples + self.n_made) * self.n_copies

    def rows(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """All copies of some rows, and of all that are made."""
        n = self.n_samples + self.n_made
        own = np.concatenate([rows, np.arange(self.n_samples, n)])
        return np.concatenate([copy * n + own for copy in range(self.n_copies)])

    def settings(self, estimator: Any, setting: dict[str, Any]) -> dict[str, Any]:
        """A setting where every row is there several times: what counts rows counts as many."""
        if self.n_copies == 1:
            return setting
        params = new_estimator(estimator, setting).get_params(deep=True)
        counts = {
            name: value * self.n_copies
            for name, value in params.items()
            if name.rpartition("__")[2] in COUNTS_ROWS and isinstance(value, (int, np.integer))
        }
        return setting | counts


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


def outputs_of_students(
    problem: Problem,
    candidates: Candidates,
    lesson: Lesson,
    split: tuple[NDArray[np.intp], NDArray[np.intp]],
    methods: Sequence[str],
    *,
    executor: Executor,
    failures: Failures,
    use_paths: bool,
) -> tuple[Tables, NDArray[np.bool_]]:
    """What students trained on some rows say of others, by method, and which of them there are."""
    train, test = split
    settings = Candidates([lesson.settings(problem.estimator, each) for each in candidates])
    of_students = replace(
        problem,
        X=lesson.X,
        y=lesson.y,
        fit_params=lesson.fit_params,
        lattice=Lattice([(lesson.rows(train), test)], lesson.n_rows, nested=False),
        judging=problem.judging._replace(measure=_Unjudged(), name=None, reported=None, weight=None),
        keep=Keep(tuple(methods)),
        return_train_score=False,
    )
    lattice = of_students.lattice
    planner = Planner(of_students, settings, use_paths=use_paths)
    wanted = Wanted.nothing(len(planner.lines), lattice)
    training_set = lattice.training_set_of(0)
    wanted.training_sets[:, training_set] = True
    tasks = planner.tasks(wanted, n_workers=executor.n_workers, one_by_one=False)
    kept = KeptOutputs()
    for task, cells, _ in executor.run(of_students, planner.ready(tasks, lambda: None)):
        failures.count(
            cells.n_fits,
            [(int(task.candidates[i]), task.settings[i], e) for i, e in cells.failures.items()],
            [],
        )
        worked = np.delete(np.arange(len(task.candidates)), list(cells.failures))
        for (_, method), said in cells.kept.items():
            kept.keep(task.candidates[worked], Heard(training_set, 0, method), said[worked])
    return _tables(kept, [Heard(training_set, 0, method) for method in methods], len(candidates))


def _tables(
    kept: KeptOutputs, heard: Sequence[Heard], n_candidates: int
) -> tuple[Tables, NDArray[np.bool_]]:
    """A row a candidate; those that failed have the row of another one."""
    there = np.array([(candidate, heard[0]) in kept for candidate in range(n_candidates)])
    if not there.any():
        return {}, there
    stand_in = np.where(there, np.arange(n_candidates), np.flatnonzero(there)[0])
    return {each.method: kept.table(stand_in, each) for each in heard}, there


def fitted_student(problem: Problem, params: dict[str, Any], lesson: Lesson) -> Any:
    """The student that is delivered: fitted on the rows of the final view."""
    lattice = problem.lattice
    rows = lesson.rows(lattice.rows(lattice.final.reference))
    student = new_estimator(problem.estimator, lesson.settings(problem.estimator, params))
    X, y = safe_split(student, lesson.X, lesson.y, rows)
    student.fit(X, y, **check_method_params(lesson.X, params=lesson.fit_params, indices=rows))
    # Its parameters are those that were chosen, counted in rows and not in copies of them.
    own = new_estimator(problem.estimator, params).get_params(deep=True)
    counts = [name for name in own if name.rpartition("__")[2] in COUNTS_ROWS]
    return student.set_params(**{name: own[name] for name in counts})
