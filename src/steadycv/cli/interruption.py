"""Ctrl-C: nothing to tell before the work begins, and told in a line once there is something to keep."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["EXIT_CODE", "interruptible", "leave_when_interrupted"]

EXIT_CODE = 130  # 128 and the number of the signal, as shells have it


def leave_when_interrupted() -> None:
    """From here on Ctrl-C ends the process at once.

    Where an exception comes up amid an import, the import can lose it, or a traceback is printed.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is deaf, or not ours
        signal.signal(signal.SIGINT, _leave)


@contextmanager
def interruptible() -> Iterator[None]:
    """Work that is interrupted by an exception, so that it keeps what is done."""
    before = signal.getsignal(signal.SIGINT)
    if before is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if before is _leave:
            signal.signal(signal.SIGINT, _leave)


def _leave(*_: object) -> None:
    os._exit(EXIT_CODE)
