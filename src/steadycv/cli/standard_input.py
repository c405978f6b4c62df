"""Data on standard input."""

from __future__ import annotations

import os
import select
import stat
import sys

__all__ = ["comes_by_a_pipe"]


def comes_by_a_pipe(*, surely: bool) -> bool:
    """Whether data come on standard input; `surely` if a pipe that is still silent counts as well."""
    try:
        found = os.fstat(sys.stdin.fileno())
        if not stat.S_ISFIFO(found.st_mode):
            return stat.S_ISREG(found.st_mode) and found.st_size > 0
        ready = surely or bool(select.select([sys.stdin], [], [], 0)[0])
        return ready and bool(sys.stdin.buffer.peek(1))  # type: ignore[union-attr]  # or no file
    except (OSError, ValueError, AttributeError):  # closed, or no file
        return False
