"""The colours of all pictures, of matplotlib's and the report's, by meaning.

The two choices are after Okabe and Ito, for all kinds of colour vision.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["DARK", "LIGHT", "Palette"]


class Palette(NamedTuple):
    """Colours by meaning, on a page of one brightness.

    Attributes
    ----------
    page, raised : str
        The background, and that of boxes on it.
    ink, muted, line, link : str
        Words, words of less weight, lines between things, and links.
    plain, steady : str
        The two choices.
    steady_row : str
        The background of the steady choice in a table.
    dot : str
        One of many.
    several : tuple of str
        Lines side by side, such as one for each class.
    heat : tuple of str
        From the best, the strongest, to the worst.
    """

    page: str
    raised: str
    ink: str
    muted: str
    line: str
    link: str
    plain: str
    steady: str
    steady_row: str
    dot: str
    several: tuple[str, ...]
    heat: tuple[str, ...]


LIGHT = Palette(
    page="#ffffff",
    raised="#f4f6f8",
    ink="#1b1f24",
    muted="#545c66",
    line="#d4d9df",
    link="#00598c",
    plain="#b84f00",
    steady="#0072b2",
    steady_row="#e3f0f8",
    dot="#98a1ab",
    several=("#0072b2", "#b84f00", "#246c52", "#a0458a", "#8a6d00", "#545c66"),
    heat=(
        *("#0b3d2e", "#14543f", "#246c52", "#3b8467", "#5a9c7f"),
        *("#80b49a", "#a6cbb7", "#cbe0d4", "#eaf3ee"),
    ),
)
DARK = Palette(
    page="#14171a",
    raised="#1f2428",
    ink="#e8eaed",
    muted="#aab2bb",
    line="#3b434b",
    link="#7cc4f0",
    plain="#f5a14b",
    steady="#56b4e9",
    steady_row="#17344a",
    dot="#79838d",
    several=("#56b4e9", "#f5a14b", "#7fd1ae", "#e59fcf", "#f3e79b", "#aab2bb"),
    heat=(
        *("#f3e79b", "#d9d08c", "#bbb884", "#9da07c", "#818a77"),
        *("#667372", "#4d5d6b", "#364660", "#243150"),
    ),
)
