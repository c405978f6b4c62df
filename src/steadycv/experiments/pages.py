"""Filling pages of the documentation with results, so that no number is typed by hand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["PageError", "fill"]


class PageError(ValueError):
    """A page has no place for what is to be put into it."""


def fill(page: Path, name: str, text: str) -> None:
    """Put a text between the markers ``<!-- name -->`` and ``<!-- end of name -->`` of a page.

    Parameters
    ----------
    page : Path
        A Markdown file that has both markers, each on a line of its own.
    name : str
        The name of the place.
    text : str
        What comes between; what was there is dropped.
    """
    first, last = f"<!-- {name} -->", f"<!-- end of {name} -->"
    place = re.compile(f"^{first}$.*?^{last}$", re.DOTALL | re.MULTILINE)
    whole = page.read_text(encoding="utf-8")
    if not place.search(whole):
        raise PageError(f"{page} has no lines {first!r} and {last!r} to put the results between.")
    filled = f"{first}\n\n{text.strip()}\n\n{last}"
    page.write_text(place.sub(lambda _: filled, whole), encoding="utf-8")
