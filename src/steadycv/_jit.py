"""Compiled kernels: numba with the options that all kernels of the package share.

Compiled code is kept beside the package (or in the user's cache folder), so that only the first call
after an installation waits for the compiler. Kernels let go of the interpreter's lock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numba

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["fast_kernel", "kernel"]

_Function = TypeVar("_Function", bound="Callable[..., Any]")
_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}


def kernel(function: _Function) -> _Function:
    """Compile a function; arithmetic is done in the order in which it is written."""
    compiled: _Function = numba.njit(**_OPTIONS)(function)
    return compiled


def fast_kernel(function: _Function) -> _Function:
    """Compile a function in which sums may be taken in any order, so that they can be vectorised."""
    reordering = {"reassoc", "contract", "nsz", "arcp"}
    compiled: _Function = numba.njit(**_OPTIONS, fastmath=reordering)(function)
    return compiled
