"""Steps: how far a task is that takes long by itself, for whoever shows progress in this process."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["heard_by", "tell"]

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener: Callable[[str], None]) -> Iterator[None]:
    """Have what is told inside heard by somebody.

    Examples
    --------
    >>> with heard_by(print):
    ...     tell("epoch", 3, 200)
    epoch 3 of 200
    >>> tell("epoch", 4, 200)  # nobody listens
    """
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


def tell(what: str, number: int, of: int) -> None:
    """Tell of a step, by its number."""
    listener = _listener.get()
    if listener is not None:
        listener(f"{what} {number:,} of {of:,}")
