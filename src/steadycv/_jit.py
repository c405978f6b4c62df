"""Compiled kernels: numba with the options that all kernels of the package share.

Compiled code is kept beside the package (or in the user's cache folder), so that only the first call
after an installation waits for the compiler. Kernels let go of the interpreter's lock. A *part* is
called by other kernels alone: it is compiled into them, without a door to Python of its own. What is
kept is dropped when the file of a kernel changes, so its parts belong into the same file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numba

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["fast_kernel", "fast_kernel_part", "kernel", "kernel_part"]

_Function = TypeVar("_Function", bound="Callable[..., Any]")
_PART: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
_WHOLE: dict[str, Any] = {"nogil": True, "error_model": "numpy", "cache": True}
_REORDERING = {"reassoc", "contract", "nsz", "arcp"}


def kernel(function: _Function) -> _Function:
    """Compile a function; arithmetic is done in the order in which it is written."""
    compiled: _Function = numba.njit(**_WHOLE)(function)
    return compiled


def fast_kernel(function: _Function) -> _Function:
    """Compile a function in which sums may be taken in any order, so that they can be vectorised."""
    compiled: _Function = numba.njit(**_WHOLE, fastmath=_REORDERING)(function)
    return compiled


def kernel_part(function: _Function) -> _Function:
    """Compile a part of kernels; arithmetic is done in the order in which it is written."""
    compiled: _Function = numba.njit(**_PART)(function)
    return compiled


def fast_kernel_part(function: _Function) -> _Function:
    """Compile a part of kernels in which sums may be taken in any order."""
    compiled: _Function = numba.njit(**_PART, fastmath=_REORDERING)(function)
    return compiled
