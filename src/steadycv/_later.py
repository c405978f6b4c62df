"""What is found when it is first asked for, and before it is pickled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Later"]

T = TypeVar("T")


class Later(Generic[T]):
    """A value that few ask for; what it is found from is let go of then.

    Parameters
    ----------
    find : callable
        Returns the value.

    Examples
    --------
    >>> later = Later(lambda: print("found") or 7)
    >>> later(), later()
    found
    (7, 7)
    """

    def __init__(self, find: Callable[[], T]) -> None:
        self._find: Callable[[], T] | None = find
        self._value: Any = None

    def __call__(self) -> T:
        if self._find is not None:
            self._value, self._find = self._find(), None
        value: T = self._value
        return value

    def __getstate__(self) -> dict[str, Any]:
        return {"_find": None, "_value": self()}
