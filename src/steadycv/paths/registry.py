"""Which path serves which estimator class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steadycv.paths.protocol import Path

__all__ = ["find_path", "register_path"]

_PATHS: dict[str, Path] = {}


def register_path(estimator_class: type | str, path: Path) -> None:
    """Let a path serve the estimators of a class; not of its subclasses, which may differ.

    Parameters
    ----------
    estimator_class : type or str
        The class, or its full name, so that its package need not be imported.
    path : Path
        The path; it takes the place of one registered before.
    """
    name = estimator_class if isinstance(estimator_class, str) else _name(estimator_class)
    _PATHS[name] = path


def find_path(estimator: Any) -> Path | None:
    """The path that serves an estimator, or None."""
    return _PATHS.get(_name(type(estimator)))


def _name(estimator_class: type) -> str:
    return f"{estimator_class.__module__}.{estimator_class.__qualname__}"
