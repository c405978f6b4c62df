"""Engines: where tasks run when it is not here, processes of this machine or a cluster's workers.

An engine is small: it hands data to workers once, runs jobs there, and gives back what they leave as it
comes. What to run, and what to do again after a worker has died, is the executor's.
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

from joblib import cpu_count, effective_n_jobs

from steadycv._compat.processes import active_backend
from steadycv.engines.protocol import EngineLostError

if TYPE_CHECKING:
    from steadycv.engines.protocol import Engine

__all__ = ["EngineLostError", "find_engine"]


def find_engine(engine: Any, n_jobs: int | None, pre_dispatch: int | str) -> Engine | None:
    """The engine that is asked for; None where everything runs here, one after the other.

    Without a name it is the one of joblib's context: processes of this machine, threads, Dask or Ray.
    """
    if engine is None:
        return _of_context(n_jobs, pre_dispatch)
    if isinstance(engine, str) and engine == "loky":
        from steadycv.engines.processes import JoblibEngine

        n_workers = effective_n_jobs(cpu_count() if n_jobs is None else n_jobs)
        return JoblibEngine("processes", n_workers, pre_dispatch, backend="loky")
    if isinstance(engine, str) and engine == "ray":
        from steadycv.engines.of_ray import RayEngine

        return RayEngine(_limit(n_jobs))
    if type(engine).__module__.partition(".")[0] == "distributed" and hasattr(engine, "scatter"):
        from steadycv.engines.of_dask import DaskEngine

        return DaskEngine(engine, _limit(n_jobs))
    raise ValueError(f'engine must be None, "loky", "ray" or a dask.distributed.Client, got {engine!r}.')


def _of_context(n_jobs: int | None, pre_dispatch: int | str) -> Engine | None:
    name, backend = active_backend()
    if name == "dask":
        from steadycv.engines.of_dask import DaskEngine

        return DaskEngine(backend.client, _limit(n_jobs))
    if name == "ray":
        from steadycv.engines.of_ray import RayEngine

        return RayEngine(_limit(n_jobs))
    if effective_n_jobs(n_jobs) == 1:
        return None
    from steadycv.engines.processes import JoblibEngine

    return JoblibEngine(name, effective_n_jobs(n_jobs), pre_dispatch)


def _limit(n_jobs: int | None) -> int | None:
    """How many tasks may run at the same time on a cluster; None for as many as it has room for."""
    is_limit = isinstance(n_jobs, numbers.Integral) and n_jobs > 0
    return int(n_jobs) if is_limit else None  # type: ignore[arg-type]
