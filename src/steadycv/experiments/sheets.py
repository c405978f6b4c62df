"""Sheets: tables of texts, for the terminal and for the documentation."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isnan

from rich.box import SIMPLE_HEAD
from rich.table import Table as RichTable

from steadycv import words

__all__ = ["Sheet", "interval", "number", "percent", "with_error"]


@dataclass(frozen=True)
class Sheet:
    """A table of texts with a title, and what is to be said about it."""

    title: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    notes: list[str] = field(default_factory=list)

    def to_markdown(self) -> str:
        """As Markdown.

        Examples
        --------
        >>> print(Sheet("Sizes", ("what", "size"), [("a", "1")], ["A note."]).to_markdown())
        **Sizes**
        <BLANKLINE>
        | what | size |
        | --- | ---: |
        | a | 1 |
        <BLANKLINE>
        A note.
        """
        lines = [self.header, ("---", *["---:"] * (len(self.header) - 1)), *self.rows]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return "\n\n".join([f"**{self.title}**", table, *self.notes])

    def to_rich(self, width: int) -> RichTable:
        """As a table of rich, for a terminal of some width: first headings are wrapped, then cells."""
        table = RichTable(
            title=self.title,
            caption="\n".join(self.notes) or None,
            title_justify="left",
            caption_justify="left",
            box=SIMPLE_HEAD,
            padding=(0, 0, 0, 1),
            pad_edge=False,
        )
        widest = [
            max(map(len, [*name.split(), *cells]))
            for name, *cells in zip(self.header, *self.rows, strict=True)
        ]
        fits = sum(widest) + 2 * len(widest) <= width
        for i, name in enumerate(self.header):
            fixed = widest[i] if fits else None
            table.add_column(name, justify="right" if i else "left", width=fixed)
        for row in self.rows:
            table.add_row(*row)
        return table


def number(value: float) -> str:
    """A number with four digits; a dash where there is none."""
    return "-" if isnan(value) else words.number(value)


def with_error(value: float, error: float) -> str:
    """A number and its standard error, to the error's second digit.

    Examples
    --------
    >>> with_error(23.6842, 1.234), with_error(0.53, 0.00012), with_error(11.0, 0.0)
    ('23.7 ± 1.2', '0.53000 ± 0.00012', '11 ± 0')
    """
    if isnan(value) or isnan(error):
        return number(value)
    if error == 0:
        return f"{value:.4g} ± 0"
    exponent = int(f"{error:.1e}".partition("e")[2])
    digits = max(0, 1 - exponent)
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def interval(low: float, high: float) -> str:
    """An interval of ratios; a dash where there is none."""
    return "-" if isnan(low) else f"{low:.3f} to {high:.3f}"


def percent(share: float) -> str:
    """A share, in percent; a dash where there is none."""
    return "-" if isnan(share) else f"{share:.0%}"
