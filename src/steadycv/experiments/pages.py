"""Filling pages of the documentation with results, so that no number is typed by hand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from steadycv._files import write_whole

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["PageError", "fill"]


class PageError(ValueError):
    """A page has no place for what is to be put into it."""


def fill(page: Path, texts: dict[str, str]) -> None:
    """Put texts between the markers ``<!-- name -->`` and ``<!-- end of name -->`` of a page.

    Parameters
    ----------
    page : Path
        A Markdown file that has both markers, each on a line of its own, for at least one of the texts.
    texts : dict of str to str
        What comes between, by name of the place; what was there is dropped.
    """
    whole = page.read_text(encoding="utf-8")
    n_filled = 0
    for name, text in texts.items():
        first, last = f"<!-- {name} -->", f"<!-- end of {name} -->"
        place = re.compile(f"^{first}$.*?^{last}$", re.DOTALL | re.MULTILINE)
        filled = f"{first}\n\n{text.strip()}\n\n{last}".replace("\\", r"\\")
        whole, n = place.subn(filled, whole)
        n_filled += n
    if n_filled == 0:
        names = " or ".join(f"'<!-- {name} -->' and '<!-- end of {name} -->'" for name in texts)
        raise PageError(f"{page} has no lines {names} to put the results between.")
    write_whole(page, whole.encode())
