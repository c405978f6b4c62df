"""`write_served`: which choice or delivery served best, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

import numpy as np

from steadycv._files import write_whole
from steadycv.human_units import HumanUnits
from steadycv.report.svg import LETTER, WIDTH, Scale, add
from steadycv.report.write import render

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steadycv.experiments.verdict import Beside, Verdict

__all__ = ["write_served"]

ROW, LEFT, RIGHT, TOP, BELOW = 40, 12, WIDTH - 12, 10, 46


def write_served(
    verdict: Verdict,
    path: str | os.PathLike[str],
    *,
    data_name: str,
    how: str,
    command: str,
    notes: Sequence[str] = (),
) -> Path:
    """Write what a comparison came to as one HTML file that needs nothing else.

    Parameters
    ----------
    verdict : Verdict
        What served best.
    path : path-like
        The file. It is replaced as a whole.
    data_name : str
        What to call the data.
    how : str
        What was tuned on and tested on, in words.
    command : str
        What to run to repeat it.
    notes : sequence of str, default=()
        What else a reader should know, such as what was done to the data beforehand.
    """
    page = render(
        "served.html",
        title=f"What serves best on {data_name}: {', '.join(verdict.names_of_models)}",
        verdict=verdict,
        units=HumanUnits.of(verdict.words),
        beside=_chart(verdict, [line.over_plain for line in verdict.lines], _over_plain(verdict)),
        promised=_chart(verdict, [line.promised for line in verdict.lines], None),
        how=how,
        command=command,
        notes=notes,
        models=[],
        several=False,
    )
    path = Path(path)
    # Half a surrogate pair, which a name of a column can have, is no character.
    write_whole(path, page.encode("utf-8", errors="replace"))
    return path


def _over_plain(verdict: Verdict) -> list[NDArray[np.float64]]:
    """By line the splits' errors beside the plain choice's mean, so that their mean is the line's."""
    found = []
    for line in verdict.lines:
        plain = verdict.plain_of(line).errors
        gap = verdict.words.shown(line.errors - plain)
        found.append(1 + gap / plain.mean() if line.over_plain.is_ratio else gap)
    return found


def _chart(verdict: Verdict, means: list[Beside], splits: list[NDArray[np.float64]] | None) -> Element:
    """A row for each line: its mean and interval, and its splits as dots; a line where all is even."""
    even = 1.0 if means[0].is_ratio else 0.0
    ends = [end for each in means for end in (each.low, each.high)]
    ends += [float(end) for each in splits or () for end in (each.min(), each.max())]
    low, high = min(even, *ends), max(even, *ends)
    room = 0.03 * (high - low) or 0.05
    x = Scale(low - room, high + room, LEFT, RIGHT)
    bottom = TOP + ROW * len(means)
    told = ", ".join(
        f"{verdict.title(line)} {mean.shown()} ({mean.range()})"
        for line, mean in zip(verdict.lines, means, strict=True)
    )
    what = "Promised" if splits is None else "Test"
    beside = "test" if splits is None else "the plain choice's"
    label = f"{what} {verdict.words.kind} {'over' if means[0].is_ratio else 'less'} {beside}"
    svg = Element(
        "svg",
        {
            "viewBox": f"0 0 {WIDTH} {bottom + BELOW}",
            "role": "img",
            "aria-label": f"Chart of means over splits with their intervals. {label}: {told}.",
            "class": "chart",
        },
    )
    for tick in x.ticks(5):
        at = round(float(x(tick.at)), 1)
        add(svg, "line", x1=at, x2=at, y1=TOP, y2=bottom, class_="grid")
        room = LETTER / 2 * len(tick.label) + 2  # so that no label is cut at the edges
        inside = min(max(at, room), WIDTH - room)
        add(svg, "text", tick.label, x=inside, y=bottom + 17, class_="tick middle")
    add(svg, "line", x1=LEFT, x2=RIGHT, y1=bottom, y2=bottom, class_="axis")
    at = round(float(x(even)), 1)
    add(svg, "line", x1=at, x2=at, y1=TOP, y2=bottom, class_="one")
    add(svg, "text", label, x=RIGHT, y=bottom + 38, class_="label end")
    for i, (line, mean) in enumerate(zip(verdict.lines, means, strict=True)):
        best = " best" if i in verdict.best else ""
        y = TOP + ROW * i + 28
        add(svg, "text", verdict.title(line), x=LEFT, y=y - 12, class_=f"tick{best}")
        for place in [] if splits is None else np.round(x(splits[i]), 1).tolist():
            add(svg, "circle", cx=place, cy=y, r=2.5, class_="faint")
        start, middle, end = np.round(x([mean.low, mean.value, mean.high]), 1).tolist()
        add(svg, "line", x1=start, x2=end, y1=y, y2=y, class_=f"reach{best}")
        add(svg, "circle", cx=middle, cy=y, r=5, class_=f"centre{best}")
    return svg
