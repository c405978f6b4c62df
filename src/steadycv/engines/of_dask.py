"""The engine of a Dask cluster, by the client that the user has."""

from __future__ import annotations

import time
import warnings
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from uuid import uuid4

from distributed import KilledWorker, as_completed, get_worker, wait

from steadycv.engines.parcels import Refused, other_versions, run_job
from steadycv.engines.protocol import Died, EngineLostError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distributed import Client, Future

    from steadycv.engines.parcels import Parcel
    from steadycv.engines.protocol import Job
    from steadycv.reducing import Cells
    from steadycv.tasks import Task

__all__ = ["DaskEngine"]

AHEAD = 2  # jobs for each thread, so that none waits for the next
FEWEST_AHEAD = 4  # jobs, so that a cluster that grows with its work begins to
LOOK = 1.0  # seconds between looks at who is there
PATIENCE = 300.0  # seconds for a first worker


class DaskEngine:
    """Runs jobs on the workers of a Dask cluster, and on those that come later.

    Data are scattered: every worker gets them once. What a worker that died had under way is done again
    by Dask itself, as often as its scheduler allows (``distributed.scheduler.allowed-failures``).

    Parameters
    ----------
    client : distributed.Client
        The user's, which stays open.
    limit : int or None
        How many jobs may run at the same time; None for as many as there are threads.
    """

    shares = True
    is_far = True

    def __init__(self, client: Client, limit: int | None) -> None:
        self._client = client
        self._address = str(client.scheduler.address)
        self._limit = limit
        self._threads: dict[str, int] = {}
        self._looked = -LOOK
        self._refused: dict[str, str] = {}  # by worker, why
        self._versions: dict[str, str] = {}
        self._is_near = True  # workers can be reached without the scheduler, as far as is known

    @property
    def n_workers(self) -> int:
        """How many jobs run at the same time, by now."""
        self._look()
        n = max(1, sum(n for worker, n in self._threads.items() if worker not in self._refused))
        return n if self._limit is None else min(n, self._limit)

    def check(self, versions: dict[str, str]) -> None:
        """Wait for a worker, and refuse those with other packages."""
        self._versions = versions
        with self._reached():
            self._wait_for_worker()
            self._threads, self._looked = {}, -LOOK
            self._look()

    def share(self, parcel: Parcel) -> _Shared:
        """Hand a parcel to every worker that is there; those that come later get it from these."""
        shared = _Shared(parcel)
        self._scatter(shared)
        return shared

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Task, list[Cells] | Died]]:
        """Run jobs, some more at a time than there are threads."""
        waiting = iter(jobs)
        under_way: dict[Future, Job] = {}
        done = as_completed(loop=self._client.loop)

        def begin(job: Job) -> None:
            future = self._submitted(job)
            under_way[future] = job
            done.add(future)

        def fill() -> None:
            n_ahead = max(FEWEST_AHEAD, AHEAD * self.n_workers) if self._limit is None else self._limit
            while len(under_way) < n_ahead and (job := next(waiting, None)) is not None:
                begin(job)

        try:
            with self._reached():
                fill()
            while under_way:
                with self._reached():
                    future = next(done)
                    job = under_way.pop(future)
                    left = self._result(future, job)
                    if left is None:
                        begin(job)
                if left is not None:
                    yield job.task, left
                with self._reached():
                    fill()
        finally:
            if under_way and self._client.status == "running":
                self._client.cancel(list(under_way), force=True)

    def close(self) -> None:
        """What was shared goes with the handles on it."""

    def _submitted(self, job: Job) -> Future:
        handles = [each and each.future for each in (job.X, job.problem, job.prepared)]
        name = type(job.task.estimator).__name__
        good = [worker for worker in self._threads if worker not in self._refused]
        return self._client.submit(
            _run,
            job.task,
            *handles,
            key=f"fit-{name}-{uuid4().hex}",  # Dask's pages count what begins alike together
            workers=good if self._refused else None,
            pure=False,
        )

    def _result(self, future: Future, job: Job) -> list[Cells] | Died | None:
        """What a job left; None where it is to be done again, elsewhere or with data sent anew."""
        try:
            left = self._client.gather(future, direct=self._is_near)
        except KilledWorker as error:
            return Died(f"Dask's scheduler says: {str(error).splitlines()[0]}")
        except (CancelledError, OSError):
            if future.status == "error":  # the fit's own
                raise
            self._wait_for_scheduler()
            for shared in (job.X, job.problem, job.prepared):  # no worker has it any more
                if shared is not None and shared.future.status != "finished":
                    self._scatter(shared)
            return None
        if isinstance(left, Refused):
            self._looked = -LOOK
            self._look()
            return None
        return left  # type: ignore[no-any-return]

    def _scatter(self, shared: _Shared) -> None:
        """Send a parcel to all workers: straight to them where they can be reached from here."""
        for is_near in (self._is_near, False, False):
            self._wait_for_worker()
            try:
                [shared.future] = self._client.scatter(
                    [shared.parcel], broadcast=True, direct=is_near, hash=False
                )
            except OSError as error:  # time-outs are some; workers may have gone meanwhile
                failed = error
            else:
                self._is_near = is_near
                return
        raise failed

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """Tell what ends inside because the scheduler is gone."""
        try:
            yield
        except (CancelledError, OSError):  # time-outs and closed connections are some of these
            self._wait_for_scheduler()
            raise

    def _wait_for_worker(self) -> None:
        """Wait for somebody to be there, so that a cluster that grows with its work begins to."""
        if self._client.nthreads():
            return
        try:
            wait([self._client.submit(_nothing, pure=False)], timeout=PATIENCE)
        except TimeoutError:
            raise EngineLostError(
                f"The Dask cluster at {self._address} had no worker for {PATIENCE:.0f} seconds."
            ) from None

    def _wait_for_scheduler(self) -> None:
        """Wait while the client tries to reach its scheduler again."""
        while self._client.status in ("running", "connecting"):
            with suppress(OSError):
                self._client.nthreads()
                return
            time.sleep(LOOK / 5)
        raise EngineLostError(
            f"The Dask scheduler at {self._address} is gone. What was finished is in the ledger, "
            "where one was named: fit again, with another client or without."
        )

    def _look(self) -> None:
        """See who is there by now, and whether newcomers have the same packages."""
        if time.monotonic() < self._looked + LOOK or self._client.status != "running":
            return
        before, self._threads = self._threads, self._client.nthreads()
        new = [worker for worker in self._threads if worker not in before]
        if new and self._versions:
            found = self._client.run(other_versions, self._versions, workers=new, on_error="return")
            for worker in [w for w, what in found.items() if isinstance(what, OSError)]:
                self._threads.pop(worker, None)  # it went meanwhile
                del found[worker]
            others = {worker: str(what) for worker, what in found.items() if what}
            self._refused |= others
            if others and all(worker in self._refused for worker in self._threads):
                raise EngineLostError(f"No worker can be used. {_named(others)}")
            if others:
                warnings.warn(f"Workers that are left out: {_named(others)}", UserWarning, stacklevel=2)
        self._looked = time.monotonic()


class _Shared:
    """A parcel, and where it is."""

    future: Future

    def __init__(self, parcel: Parcel) -> None:
        self.parcel = parcel


def _named(others: dict[str, str]) -> str:
    told = "; ".join(f"{worker} has {what}" for worker, what in others.items())
    return f"{told}. Install the same versions there."


def _nothing() -> None:
    """To see that somebody works."""


def _run(task: Task, X: Parcel, problem: Parcel, prepared: Parcel | None) -> list[Cells] | Refused:
    """Run a job, between the fits of which it is seen whether it is still wanted."""
    worker = get_worker()
    key = worker.get_current_task()

    def is_wanted() -> bool:
        state = worker.state.tasks.get(key)
        return state is not None and state.state == "executing"

    return run_job(task, X, problem, prepared, is_wanted)
