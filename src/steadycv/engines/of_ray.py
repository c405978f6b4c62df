"""The engine of a Ray cluster, or of the Ray that it starts on this machine."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING, Any

import ray

from steadycv.engines.parcels import Refused, other_versions, run_job
from steadycv.engines.protocol import Died, EngineLostError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from steadycv.engines.parcels import Parcel
    from steadycv.engines.protocol import Job
    from steadycv.reducing import Cells
    from steadycv.tasks import Task

__all__ = ["RayEngine"]

AHEAD = 2  # jobs for each core, so that none waits for the next
FEWEST_AHEAD = 4  # jobs, so that a cluster that grows with its work begins to
LOOK = 1.0  # seconds between looks at the cluster
PATIENCE = 20.0  # seconds that its head may be away; Ray itself ends the process after sixty

# What is told of a worker or a machine that is no more. Ray loses what they had, too.
_DEATHS = (
    ray.exceptions.WorkerCrashedError,
    ray.exceptions.NodeDiedError,
    ray.exceptions.OutOfMemoryError,
    ray.exceptions.ObjectLostError,
)


class RayEngine:
    """Runs jobs on the cores of a Ray cluster, and on those that come later.

    Data are in its object store: every machine gets them once. Where this process is in no cluster yet,
    it joins the one that Ray finds (``RAY_ADDRESS``), or starts one on this machine.

    Parameters
    ----------
    limit : int or None
        How many jobs may run at the same time; None for as many as there are cores.
    """

    shares = True
    is_far = True

    def __init__(self, limit: int | None) -> None:
        if not ray.is_initialized():
            ray.init(include_dashboard=False, log_to_driver=False)
        self._limit = limit
        self._cores = 1
        self._looked = -LOOK
        self._seen = time.monotonic()
        context = ray.get_runtime_context()
        self._head = context.gcs_address
        [node] = [each for each in ray.nodes() if each["NodeID"] == context.get_node_id()]
        self._store = f"{node['NodeManagerAddress']}:{node['NodeManagerPort']}"
        self._checked: set[str] = set()

    @property
    def n_workers(self) -> int:
        """How many jobs run at the same time, by now."""
        self._look()
        return self._cores if self._limit is None else min(self._cores, self._limit)

    def check(self, versions: dict[str, str]) -> None:
        """Refuse machines with other packages."""
        self._look()
        for node in ray.nodes():
            if node["Alive"] and node["Resources"].get("CPU") and node["NodeID"] not in self._checked:
                on_node = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
                    node["NodeID"], soft=False
                )
                asked = ray.remote(other_versions).options(num_cpus=0, scheduling_strategy=on_node)
                found = ray.get(asked.remote(versions))
                if found:
                    raise _refusal(node["NodeManagerAddress"], found)
                self._checked.add(node["NodeID"])

    def share(self, parcel: Parcel) -> Any:
        """Put a parcel into the object store."""
        self._check_store()
        return ray.put(parcel)

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Task, list[Cells] | Died]]:
        """Run jobs, some more at a time than there are cores."""
        waiting = iter(jobs)
        under_way: dict[Any, Job] = {}
        is_there = True
        try:
            while True:
                n_ahead = self._limit or max(FEWEST_AHEAD, AHEAD * self.n_workers)
                while len(under_way) < n_ahead and (job := next(waiting, None)) is not None:
                    under_way[self._submitted(job)] = job
                if not under_way:
                    return
                done, _ = ray.wait(list(under_way), timeout=LOOK)
                self._look()
                for future in done:
                    job = under_way.pop(future)
                    yield job.task, self._result(future)
        except EngineLostError:
            is_there = False
            raise
        finally:
            for future in under_way if is_there else ():
                ray.cancel(future, force=True)

    def close(self) -> None:
        """What was shared goes with the handles on it."""

    def _submitted(self, job: Job) -> Any:
        name = f"fit {type(job.task.estimator).__name__}"
        self._check_store()
        # Whose worker dies is not done again by Ray, but by the executor.
        run = _run.options(name=name, max_retries=0)
        return run.remote(job.task, job.X, job.problem, job.prepared)

    def _result(self, future: Any) -> list[Cells] | Died:
        self._check_store()
        try:
            node, left = ray.get(future)
        except ray.exceptions.LocalRayletDiedError:
            raise self._lost() from None
        except _DEATHS as error:
            return Died(f"Ray says: {type(error).__name__}: {str(error).splitlines()[0]}")
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None
        if isinstance(left, Refused):
            raise _refusal(node, left.differences)
        return left  # type: ignore[no-any-return]

    def _look(self) -> None:
        """See whether the cluster's head is there, and how many cores are."""
        if time.monotonic() < self._looked + LOOK:
            return
        if _answers(self._head):
            self._seen = time.monotonic()
            self._cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
        elif time.monotonic() > self._seen + PATIENCE:
            raise self._lost()
        self._looked = time.monotonic()

    def _check_store(self) -> None:
        """See that Ray's own process on this machine is there: without it, asking ends this one."""
        if _answers(self._store) is False:
            raise self._lost()

    def _lost(self) -> EngineLostError:
        ray.shutdown()  # else Ray ends the whole process, as soon as it finds out
        return EngineLostError(
            f"The head of the Ray cluster at {self._head} is gone. What was finished is in the ledger, "
            "where one was named: fit again, with another cluster or without."
        )


def _answers(address: str) -> bool | None:
    """Whether somebody listens there; None if nobody says so in time."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=LOOK):
            return True
    except ConnectionRefusedError:
        return False
    except OSError:  # a busy machine, or one that cannot be reached
        return None


def _refusal(where: str, differences: str) -> EngineLostError:
    return EngineLostError(
        f"The machine {where} of the Ray cluster has {differences}. Install the same versions there."
    )


@ray.remote(num_cpus=1)  # type: ignore[untyped-decorator]
def _run(
    task: Task, X: Parcel, problem: Parcel, prepared: Parcel | None
) -> tuple[str, list[Cells] | Refused]:
    """Run a job, and say where."""
    return ray.util.get_node_ip_address(), run_job(task, X, problem, prepared)
