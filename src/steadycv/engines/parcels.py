"""Parcels: data as workers get them once, and a job as it is run from them.

The data X may be part of several of them (the problem, what a path has prepared); it is in a parcel of
its own, and the others name it.
"""

from __future__ import annotations

import io
import pickle
import warnings
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import numpy as np
from sklearn import config_context, get_config

from steadycv._compat.processes import Pickler
from steadycv.tasks import run_task

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from steadycv.reducing import Cells
    from steadycv.tasks import Problem, Task

__all__ = ["Errand", "Parcel", "Refused", "other_versions", "run_job"]

X_ITSELF = "X"
MOST_OPENED = 4  # parcels that a worker keeps open: X, the problem, and what a path has prepared

_opened: dict[str, Any] = {}


class _Packer(Pickler):  # type: ignore[misc]  # one of several packages' own
    """Pickles without X, which is named instead."""

    def __init__(self, file: Any, X: Any, **params: Any) -> None:
        super().__init__(file, **params)
        self._X = X

    def persistent_id(self, value: Any) -> str | None:
        return X_ITSELF if value is self._X and value is not None else None


class _Unpacker(pickle.Unpickler):
    """Puts X in its place."""

    def __init__(self, file: Any, X: Any, **params: Any) -> None:
        super().__init__(file, **params)
        self._X = X

    def persistent_load(self, name: Any) -> Any:  # noqa: ARG002  # there is one
        return self._X


@dataclass(frozen=True)
class Parcel:
    """Something packed: its large arrays apart, so that no engine has to copy them.

    Attributes
    ----------
    token : str
        Its name; what has the same name is the same.
    header : bytes
        All but the arrays.
    buffers : list of ndarray of uint8
        The memory of the arrays.
    """

    token: str
    header: bytes
    buffers: list[NDArray[np.uint8]]

    @classmethod
    def of(cls, value: Any, X: Any = None) -> Parcel:
        """Pack something that may hold X."""
        buffers: list[pickle.PickleBuffer] = []
        file = io.BytesIO()
        try:
            _Packer(file, X, protocol=5, buffer_callback=buffers.append).dump(value)
        except Exception as error:
            raise TypeError(
                f"Something of this search cannot be sent to workers: {type(error).__name__}: {error} "
                "Fit it with n_jobs=1, without an engine."
            ) from error
        arrays = [np.frombuffer(buffer.raw(), dtype=np.uint8) for buffer in buffers]
        return cls(uuid4().hex, file.getvalue(), arrays)

    def opened(self, X: Any = None) -> Any:
        """What is in it; where it was opened in this process before, the same object."""
        value = _opened.pop(self.token, None)
        if value is None:
            value = _Unpacker(io.BytesIO(self.header), X, buffers=self.buffers).load()
        _opened[self.token] = value
        for old in list(_opened)[:-MOST_OPENED]:  # those that were not asked for as long
            _opened.pop(old, None)
        return value


def is_open(token: str) -> bool:
    """Whether a parcel was opened in this process, and was not let go."""
    return token in _opened


class Errand(NamedTuple):
    """The problem, with what else a worker has to know."""

    problem: Problem
    config: dict[str, Any]
    filters: Any
    versions: dict[str, str]

    @classmethod
    def of(cls, problem: Problem, versions: dict[str, str]) -> Errand:
        """As it is in this process."""
        filters = [each for each in warnings.filters if _is_everywhere(each[2])]
        return cls(problem, get_config(), filters, versions)


def _is_everywhere(category: Any) -> bool:
    """Whether a kind of warnings is of a package that all workers have."""
    if isinstance(category, tuple):
        return all(map(_is_everywhere, category))
    package: str = category.__module__.partition(".")[0]
    return package in ("builtins", "numpy", "scipy", "sklearn")


class Refused(NamedTuple):
    """A worker cannot be used, as its packages are of other versions."""

    differences: str


def run_job(
    task: Task,
    X: Parcel,
    problem: Parcel,
    prepared: Parcel | None,
    is_wanted: Callable[[], bool] = lambda: True,
) -> list[Cells] | Refused:
    """Run a job where its data are, as long as it is wanted."""
    data = X.opened()
    errand: Errand = problem.opened(data)
    differences = other_versions(errand.versions)
    if differences:
        return Refused(differences)
    if prepared is not None:
        task = replace(task, prepared=prepared.opened(data))
    with config_context(**errand.config), warnings.catch_warnings():
        warnings.filters[:] = errand.filters  # type: ignore[index]
        return list(takewhile(lambda _: is_wanted(), run_task(errand.problem, task)))


def other_versions(versions: dict[str, str]) -> str:
    """Which packages here are of other versions, in words; nothing if all are the same."""
    found = {name: _version(name) for name in versions}
    return ", ".join(
        f"{name} {found[name] or '(not installed)'} for {wanted}"
        for name, wanted in versions.items()
        if found[name] != wanted
    )


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
