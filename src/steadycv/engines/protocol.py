"""What an engine is, and what comes back from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from steadycv.reducing import Cells
    from steadycv.tasks import Task

__all__ = ["Died", "Engine", "EngineLostError", "Job"]


class EngineLostError(RuntimeError):
    """The engine itself is gone: a scheduler, the head of a cluster, or all of its workers."""


class Job(NamedTuple):
    """A task, and what it is fitted on: as it is, or by handles where an engine shares it."""

    task: Task
    X: Any
    problem: Any
    prepared: Any


class Died(NamedTuple):
    """What is left of a job whose worker died."""

    reason: str


class Engine(Protocol):
    """Runs jobs in workers.

    Attributes
    ----------
    shares : bool
        Whether workers have memory of their own, so that data are to be shared as parcels.
    is_far : bool
        Whether what workers send goes over a network.
    """

    shares: bool
    is_far: bool

    @property
    def n_workers(self) -> int:
        """How many jobs run at the same time, by now."""

    def share(self, parcel: Any) -> Any:
        """A handle on something that every worker gets once, if it needs it."""

    def check(self, versions: dict[str, str]) -> None:
        """Refuse workers that have not these versions of packages."""

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Task, list[Cells] | Died]]:
        """Run jobs, drawn no faster than workers take them; in any order."""

    def close(self) -> None:
        """Let go of what was shared."""
