"""The executor: runs tasks here or in parallel, and hands out cells as soon as they are there."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from steadycv.tasks import run_task

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from steadycv.reducing import Cells
    from steadycv.tasks import Problem, Task

__all__ = ["Executor"]


class Executor:
    """Runs tasks by joblib.

    Parameters
    ----------
    n_jobs, pre_dispatch
        As in joblib.

    Attributes
    ----------
    n_workers : int
        How many tasks run at the same time.
    """

    def __init__(self, n_jobs: int | None, pre_dispatch: int | str) -> None:
        self._params = {"n_jobs": n_jobs, "pre_dispatch": pre_dispatch}
        self.n_workers = int(effective_n_jobs(n_jobs))

    def run(self, problem: Problem, tasks: Iterable[Task]) -> Iterator[tuple[Task, Cells, bool]]:
        """Run tasks: what each leaves behind, in any order of tasks, and whether it is its last."""
        if self.n_workers == 1:
            for task in tasks:
                yield from _with_last(task, run_task(problem, task))
            return
        try:
            parallel = Parallel(return_as="generator_unordered", **self._params)
        except ValueError:
            # A backend that cannot hand out results one by one (multiprocessing, Ray): a few at a time,
            # so that what is done is soon known.
            waiting = iter(tasks)
            with Parallel(**self._params) as parallel:
                while some := list(islice(waiting, 4 * self.n_workers)):
                    yield from _unpacked(parallel(delayed(_whole)(problem, task) for task in some))
        else:
            yield from _unpacked(parallel(delayed(_whole)(problem, task) for task in tasks))


def _whole(problem: Problem, task: Task) -> tuple[Task, list[Cells]]:
    """A whole task; it comes back without what it was given to work on."""
    return task.without_preparation(), list(run_task(problem, task))


def _unpacked(results: Iterable[tuple[Task, list[Cells]]]) -> Iterator[tuple[Task, Cells, bool]]:
    for task, cells in results:
        yield from _with_last(task, iter(cells))


def _with_last(task: Task, cells: Iterator[Cells]) -> Iterator[tuple[Task, Cells, bool]]:
    n_left = len(task.training_sets)
    for each in cells:
        n_left -= len(each.training_sets)
        yield task, each, n_left == 0
