"""Docstrings of classes that have most of their parameters in common."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["documented_like"]

Class = TypeVar("Class", bound=type)
_HEADER = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


def documented_like(other: type) -> Callable[[Class], Class]:
    """Complete the docstring of a class: parameters and sections that it does not tell are the other's.

    Parameters come in the order of the signature.
    """

    def complete(cls: Class) -> Class:
        if cls.__doc__ is None or other.__doc__ is None:  # python -OO
            return cls
        summary, own = _sections(cls.__doc__)
        _, others = _sections(other.__doc__)
        told = _entries(others["Parameters"]) | _entries(own["Parameters"])
        own["Parameters"] = "\n".join(told[name] for name in inspect.signature(cls).parameters)
        names = [*others, *(name for name in own if name not in others)]
        parts = [f"{name}\n{'-' * len(name)}\n{own.get(name, others.get(name))}" for name in names]
        cls.__doc__ = "\n\n".join([summary, *parts])
        return cls

    return complete


def _sections(docstring: str) -> tuple[str, dict[str, str]]:
    """What comes before the sections, and these by name."""
    summary, *parts = _HEADER.split(inspect.cleandoc(docstring))
    return summary.strip(), {
        name: text.rstrip() for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


def _entries(section: str) -> dict[str, str]:
    """The entries of a section, by the name that each begins with."""
    entries = re.split(r"\n(?=\S)", section)
    return {entry.partition(" :")[0]: entry for entry in entries}
