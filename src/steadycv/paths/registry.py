"""Which path serves which estimator class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steadycv.paths.protocol import Path

__all__ = ["find_path", "register_path"]

_PATHS: dict[type, Path] = {}


def register_path(estimator_class: type, path: Path) -> None:
    """Let a path serve the estimators of a class; not of its subclasses, which may differ.

    Parameters
    ----------
    estimator_class : type
        The class.
    path : Path
        The path; it takes the place of one registered before.
    """
    _PATHS[estimator_class] = path


def find_path(estimator: Any) -> Path | None:
    """The path that serves an estimator, or None."""
    return _PATHS.get(type(estimator))
