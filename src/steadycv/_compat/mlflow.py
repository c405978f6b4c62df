"""MLflow's autologging, which would make a run of every fit inside a search."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["without_autologging"]

_LOCK = Lock()
_STATE = {"depth": 0, "before": False}  # of searches inside each other, and of those in other threads


@contextmanager
def without_autologging() -> Iterator[None]:
    """No run for what is fitted inside, as MLflow has it for GridSearchCV's own fits.

    Its own context manager logs again as soon as the first of several ends.
    """
    mlflow: Any = sys.modules.get("mlflow.utils.autologging_utils")
    if mlflow is None:  # nobody has imported it, so nothing is logged
        yield
        return
    with _LOCK:
        if not _STATE["depth"]:
            _STATE["before"] = mlflow._AUTOLOGGING_GLOBALLY_DISABLED
        _STATE["depth"] += 1
        mlflow._AUTOLOGGING_GLOBALLY_DISABLED = True
    try:
        yield
    finally:
        with _LOCK:
            _STATE["depth"] -= 1
            if not _STATE["depth"]:
                mlflow._AUTOLOGGING_GLOBALLY_DISABLED = _STATE["before"]
