"""What joblib has in places of its own: its context, its pickler, its dead workers."""

from __future__ import annotations

from typing import Any

from joblib.externals.loky.process_executor import TerminatedWorkerError
from joblib.parallel import get_active_backend

try:
    from cloudpickle import Pickler
except ImportError:  # before joblib 1.6
    from joblib.externals.cloudpickle import Pickler

__all__ = ["Pickler", "TerminatedWorkerError", "active_backend"]

_FAR = {"joblib._dask": "dask", "ray.util.joblib.ray_backend": "ray"}


def active_backend() -> tuple[str, Any]:
    """The backend of joblib's context: "dask", "ray", "processes", "threads", "other"."""
    backend, _ = get_active_backend()
    module = type(backend).__module__
    if module in _FAR:
        return _FAR[module], backend
    kinds = {"LokyBackend": "processes", "MultiprocessingBackend": "processes"}
    kinds |= {"ThreadingBackend": "threads", "SequentialBackend": "threads"}
    return kinds.get(type(backend).__name__, "other"), backend
