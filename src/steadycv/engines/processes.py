"""The engine of one machine: joblib's processes and threads."""

from __future__ import annotations

import mmap
import os
import tempfile
import weakref
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from steadycv._compat.processes import TerminatedWorkerError
from steadycv.engines.parcels import Parcel, is_open, run_job
from steadycv.engines.protocol import Died
from steadycv.tasks import run_task

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from steadycv.engines.protocol import Job
    from steadycv.reducing import Cells
    from steadycv.tasks import Task

__all__ = ["JoblibEngine"]

MOST_COPIED = 2**20  # bytes of a parcel; larger ones are memory maps that all workers share
ALIGNMENT = 64  # of arrays in such a file


class JoblibEngine:
    """Runs jobs by joblib.

    Parameters
    ----------
    kind : {"processes", "threads", "other"}
        What the backend runs jobs in. Processes of this machine share data in files; others are given
        them as they are.
    n_workers : int
        How many jobs run at the same time.
    pre_dispatch : int or str
        As in joblib.
    backend : str or None, default=None
        As in joblib; None for that of its context.
    """

    is_far = False

    def __init__(
        self, kind: str, n_workers: int, pre_dispatch: int | str, backend: str | None = None
    ) -> None:
        self.n_workers = n_workers
        self.shares = kind == "processes"
        self._params = {"n_jobs": n_workers, "pre_dispatch": pre_dispatch}
        self._params |= {} if backend is None else {"backend": backend}
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def share(self, parcel: Parcel) -> OnDisk:
        """Write a parcel to a file, for all workers to read."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(
                prefix="steadycv-",
                dir=os.environ.get("JOBLIB_TEMP_FOLDER"),  # where joblib puts such files
                ignore_cleanup_errors=True,
            )
        return OnDisk.written(parcel, Path(self._folder.name))

    def check(self, versions: dict[str, str]) -> None:
        """Processes of this machine have what this one has."""

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Task, list[Cells] | Died]]:
        """Run jobs; those that were under way when a process died are given back as such."""
        waiting = iter(jobs)
        under_way: dict[int, Job] = {}
        drawing = Lock()  # joblib draws in threads of its own

        def handed_out() -> Iterator[Any]:
            while True:
                with drawing:
                    job = next(waiting, None)
                    if job is None:
                        return
                    number = id(job)
                    under_way[number] = job
                yield delayed(_run)(number, job)

        again = True
        while again:
            again = False
            try:
                for number, cells in self._results(handed_out()):
                    yield under_way.pop(number).task, cells
            except TerminatedWorkerError as error:
                reason = f"A worker process died: {str(error).splitlines()[0]}"
                for number in list(under_way):
                    yield under_way.pop(number).task, Died(reason)
                again = True  # the rest, in new processes

    def close(self) -> None:
        """Take the files away."""
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _results(self, calls: Iterator[Any]) -> Iterator[tuple[int, list[Cells]]]:
        try:
            parallel = Parallel(return_as="generator_unordered", **self._params)
        except ValueError:
            # A backend that cannot hand out results one by one (multiprocessing): a few at a time, so
            # that what is done is soon known.
            with Parallel(**self._params) as parallel:
                while some := list(islice(calls, 4 * self.n_workers)):
                    yield from parallel(some)
        else:
            yield from parallel(calls)


def _run(number: int, job: Job) -> tuple[int, Any]:
    """Run a job in a worker; it is told by its number."""
    task, X, problem, prepared = job
    if isinstance(problem, OnDisk):
        return number, run_job(task, X.read(), problem.read(), prepared and prepared.read())
    return number, list(run_task(problem, task.with_prepared(prepared)))


@dataclass
class OnDisk:
    """A parcel in a file of this machine, which goes when nobody refers to it here any more.

    Attributes
    ----------
    token : str
        That of the parcel.
    path : str
        The file.
    sizes : list of int
        Of the header, and of one array after the other.
    """

    token: str
    path: str
    sizes: list[int]

    @classmethod
    def written(cls, parcel: Parcel, folder: Path) -> OnDisk:
        """Write a parcel down."""
        path = folder / parcel.token
        with path.open("wb") as file:
            for part in (np.frombuffer(parcel.header, np.uint8), *parcel.buffers):
                part.tofile(file)
                file.write(bytes(-file.tell() % ALIGNMENT))
        written = cls(parcel.token, str(path), [len(parcel.header), *map(len, parcel.buffers)])
        weakref.finalize(written, _take_away, path)
        return written

    def read(self) -> Parcel:
        """The parcel; of a large one the arrays are read-only and in memory that workers share."""
        if is_open(self.token):
            return Parcel(self.token, b"", [])
        with Path(self.path).open("rb") as file:
            is_small = sum(self.sizes) <= MOST_COPIED
            whole = (
                bytearray(file.read())
                if is_small
                else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            )
        starts = np.cumsum([0, *(-(-size // ALIGNMENT) * ALIGNMENT for size in self.sizes)])
        everything = np.frombuffer(whole, dtype=np.uint8)
        header, *arrays = (
            everything[start : start + size] for start, size in zip(starts, self.sizes, strict=False)
        )
        return Parcel(self.token, header.tobytes(), arrays)


def _take_away(path: Path) -> None:
    with suppress(OSError):  # where files that are mapped cannot go, they go with their folder
        path.unlink()
