"""The executor: runs tasks here or by an engine, and hands out cells as soon as they are there.

What a worker that died had under way is done again; a task that takes every worker with it fails.
"""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any

from steadycv.engines import find_engine
from steadycv.engines.parcels import Errand, Parcel
from steadycv.engines.protocol import Died, Job
from steadycv.tasks import failed_task, run_task
from steadycv.versions import PACKAGES, versions_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from steadycv.engines.protocol import Engine
    from steadycv.reducing import Cells
    from steadycv.tasks import Problem, Task

__all__ = ["Executor"]

TASKS_PER_WORKER = 2  # fewer tasks than this leave workers idle: then training sets are put apart
PARTS_PER_WORKER = 16  # into so many parts; alone where there are no more of them
MOST_TIMES = 3  # that a task is tried whose worker dies
MOST_BYTES_A_SECOND = 1e5  # of losses that a far worker sends while it fits
MOST_SHARED = 4  # X, the problem, and what paths have prepared for two groups
STACK = 5  # from a warning here to the caller of ``fit``


class Executor(AbstractContextManager["Executor"]):
    """Runs tasks; a context, at the end of which what workers share is let go.

    Parameters
    ----------
    engine
        As of the search: None for joblib's context, ``"loky"``, ``"ray"``, or a client of Dask.
    n_jobs, pre_dispatch
        As in joblib.
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        pre_dispatch: int | str = "2*n_jobs",
        engine: Any = None,
    ) -> None:
        self._engine: Engine | None = find_engine(engine, n_jobs, pre_dispatch)
        self._shared: dict[int, tuple[Any, Any]] = {}
        self._seconds = 0.0
        self._n_fitted = 0
        self._n_died = 0

    @property
    def n_workers(self) -> int:
        """How many tasks run at the same time, by now."""
        return 1 if self._engine is None else self._engine.n_workers

    def __exit__(self, *_: object) -> None:
        self._shared.clear()
        if self._engine is not None:
            self._engine.close()
            self._engine = None  # what is asked for later is fitted here
        if self._n_died:
            warnings.warn(
                f"{self._n_died} tasks were done again, as their worker died under way. If that comes "
                "again, there may be too little memory: use fewer workers.",
                UserWarning,
                stacklevel=STACK,
            )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_engine": None, "_shared": {}}

    def parted(self, tasks: list[Task], *, n_losses: int, one_by_one: bool) -> Iterator[Task]:
        """Tasks, with a training set at a time where that is better.

        That is where there would be too few for the workers; where what is finished is to be written
        down at once (`one_by_one`); and where losses, which then have to be sent, are few beside the
        time that a fit takes.
        """
        engine, n_parts = self._engine, 0
        is_few = engine is not None and len(tasks) < TASKS_PER_WORKER * engine.n_workers
        if is_few and not one_by_one:
            n_parts = PARTS_PER_WORKER * self.n_workers
        for task in tasks:
            if engine is not None and engine.is_far and not is_few:
                is_apart = self._is_slow(8 * n_losses * len(task.candidates))
            else:
                is_apart = is_few or one_by_one
            yield from task.apart(n_parts or len(task.training_sets)) if is_apart else [task]

    def run(self, problem: Problem, tasks: Iterable[Task]) -> Iterator[tuple[Task, Cells, bool]]:
        """Run tasks: what each leaves behind, in any order of tasks, and whether it is its last."""
        if self._engine is None:
            for task in tasks:
                yield from _with_last(task, run_task(problem, task))
            return
        if self._engine.is_far:
            self._engine.check(_versions(problem))
        died: list[Task] = []
        for task, left in self._engine.run(self._jobs(problem, tasks)):
            if isinstance(left, Died):
                died.append(task)
            else:
                yield from self._taken(task, left)
        if died:
            self._n_died += len(died)
            yield from self._done_again(problem, died)

    def _done_again(self, problem: Problem, died: list[Task]) -> Iterator[tuple[Task, Cells, bool]]:
        """What was under way when workers died: together once more, then one by one.

        So it is known whose worker dies whoever else is at work.
        """
        assert self._engine is not None
        alone: list[Task] = []
        for task, left in self._engine.run(self._jobs(problem, died)):
            if isinstance(left, Died):
                alone.append(task)
            else:
                yield from self._taken(task, left)
        for each in alone:
            for task, left in self._engine.run(self._jobs(problem, [each])):
                if not isinstance(left, Died):
                    yield from self._taken(task, left)
                    continue
                reason = f"Its worker died each of the {MOST_TIMES} times it was tried. {left.reason}"
                if problem.raises:
                    raise RuntimeError(f"A fit failed. {reason} Settings: {task.settings[0]}")
                yield from _with_last(task, failed_task(problem, task, reason))

    def _jobs(self, problem: Problem, tasks: Iterable[Task]) -> Iterator[Job]:
        """Tasks by names and numbers, with handles on the data."""
        for task in tasks:
            if self._engine is not None and self._engine.is_far and any(task.callbacks):
                raise ValueError(
                    "scikit-learn's callbacks are told in this process: fit without an engine, or leave "
                    "them out."
                )
            prepared, alone = task.prepared, task.without_prepared()
            if self._engine is None or not self._engine.shares:
                yield Job(alone, None, problem, prepared)
                continue
            yield Job(
                alone,
                self._handle(problem.X, Parcel.of),
                self._handle(problem, self._packed),
                prepared
                if prepared is None
                else self._handle(prepared, partial(Parcel.of, X=problem.X)),
            )

    def _handle(self, value: Any, packed: Callable[[Any], Parcel]) -> Any:
        """What stands for something that workers share; of the last few that were used."""
        assert self._engine is not None
        _, handle = self._shared.pop(id(value), (None, None))
        if handle is None:
            handle = self._engine.share(packed(value))
        self._shared[id(value)] = (value, handle)  # held, so that its number is not another's
        for old in list(self._shared)[:-MOST_SHARED]:
            del self._shared[old]
        return handle

    def _packed(self, problem: Problem) -> Parcel:
        assert self._engine is not None
        versions = _versions(problem) if self._engine.is_far else {}
        return Parcel.of(Errand.of(problem, versions), problem.X)

    def _taken(self, task: Task, left: list[Cells]) -> Iterator[tuple[Task, Cells, bool]]:
        self._seconds += sum(cells.fit_time for cells in left) * len(task.candidates)
        self._n_fitted += len(left)
        return _with_last(task, iter(left))

    def _is_slow(self, n_bytes: int) -> bool:
        """Whether fits take so long that sending so many bytes for each is nothing."""
        return n_bytes * self._n_fitted <= MOST_BYTES_A_SECOND * self._seconds


def _with_last(task: Task, cells: Iterator[Cells]) -> Iterator[tuple[Task, Cells, bool]]:
    n_left = len(task.training_sets)
    for each in cells:
        n_left -= len(each.training_sets)
        yield task, each, n_left == 0


def _versions(problem: Problem) -> dict[str, str]:
    """The versions of packages that the numbers of a problem depend on."""
    return versions_of([problem.estimator, problem.judging.loss], PACKAGES)
