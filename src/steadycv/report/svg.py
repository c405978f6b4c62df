"""The parts that all charts of a report are made of, as SVG; colours come from the page's style."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from steadycv.words import number, superscript, value_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from steadycv.plotting.grid_errors import Axis

__all__ = ["Frame", "Scale", "Tick", "add", "axis_ticks", "padded", "points", "rounded", "shortened"]

WIDTH = 460  # small, so that letters are still letters when a phone shrinks it
LETTER = 7.0  # the width of a letter, on average
TOP = 34
LONGEST_LABEL = 18


@dataclass(frozen=True)
class Tick:
    """A place on an axis and what is written there."""

    at: float
    label: str


@dataclass(frozen=True)
class Scale:
    """From numbers to places on the picture.

    Attributes
    ----------
    low, high : float
        The numbers at the ends.
    start, end : float
        The places of the ends.
    is_log : bool
        Whether equal steps are equal ratios.
    """

    low: float
    high: float
    start: float = 0.0
    end: float = 1.0
    is_log: bool = False

    def __call__(self, values: ArrayLike) -> NDArray[np.float64]:
        """The places of some numbers."""
        at, low, high = np.asarray(values, dtype=np.float64), self.low, self.high
        if self.is_log:
            at, low, high = np.log(at), math.log(low), math.log(high)
        share = (at - low) / (high - low) if high > low else np.full(at.shape, 0.5)
        places: NDArray[np.float64] = self.start + share * (self.end - self.start)
        return places

    def ticks(self, most: int = 6) -> list[Tick]:
        """Round numbers, not more than `most`."""
        if not self.is_log:
            return _even_ticks(self.low, self.high, most)
        exponents = range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
        if len(exponents) < 2:
            return _even_ticks(self.low, self.high, most)
        step = -(-len(exponents) // most)
        return [Tick(10.0**e, _power(e)) for e in exponents if e % step == 0]


def _even_ticks(low: float, high: float, most: int) -> list[Tick]:
    if not high > low:
        return [Tick(low, number(low))]
    rough = (high - low) / most
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * m for m in (1, 2, 5, 10) if size * m >= rough)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    # As many digits as tell neighbours apart.
    digits = 2 + math.floor(math.log10(max(abs(low), abs(high)))) - math.floor(math.log10(step))
    return [Tick(i * step, number(i * step, max(4, digits))) for i in range(first, last + 1)]


def _power(exponent: int) -> str:
    """A power of ten, written out where that is short."""
    if -3 <= exponent <= 4:
        return f"{10.0**exponent:g}"
    return f"10{superscript(exponent)}"


def padded(values: NDArray[np.float64], share: float = 0.06) -> Scale:
    """A scale with some room around the values."""
    low, high = float(values.min()), float(values.max())
    room = share * (high - low) or 0.1 * abs(low) or 1.0
    return Scale(low - room, high + room)


def axis_ticks(axis: Axis, scale: Scale, room: float) -> list[Tick]:
    """The values of a grid's axis where they fit in, else some of them or round numbers."""
    labels = [shortened(value_text(value)) for value in axis.values]
    values = [Tick(at, label) for at, label in zip(axis.positions.tolist(), labels, strict=True)]
    fit = max(1, int(abs(scale.end - scale.start) / room))
    if len(values) <= fit:
        return values
    if axis.scale == "category":
        return values[:: -(-len(values) // fit)]
    ticks = scale.ticks(min(fit, 7))
    if all(float(value).is_integer() for value in axis.values):
        ticks = [tick for tick in ticks if tick.at.is_integer()]
    return ticks


def shortened(label: str, longest: int = LONGEST_LABEL) -> str:
    """A label that does not take all the room."""
    return label if len(label) <= longest else f"{label[: longest - 1]}…"


@dataclass
class Frame:
    """An empty chart: axes, ticks and labels.

    Attributes
    ----------
    x, y : Scale
        The scales of the part that is drawn in.
    svg : Element
        The picture.
    """

    x: Scale
    y: Scale
    svg: Element

    @classmethod
    def of_ticks(
        cls,
        x: Scale,
        y: Scale,
        x_ticks: Sequence[Tick],
        y_ticks: Sequence[Tick],
        *,
        labels: tuple[str, str],
        name: str,
        height: int = 300,
        foot: int = 0,
        grid_lines: bool = True,
    ) -> Frame:
        """A frame around scales whose ends are numbers; their places are set here.

        `labels` are those of the two axes, `name` says what the picture shows, and `foot` is room
        below the horizontal axis.
        """
        left = 10 + 1.2 * LETTER * max((len(tick.label) for tick in y_ticks), default=0)
        right = WIDTH - 10 - LETTER / 2 * len(x_ticks[-1].label if x_ticks else "")
        widest = LETTER * max((len(tick.label) for tick in x_ticks), default=0)
        tilted = widest > (right - left) / max(1, len(x_ticks))
        below = 44
        if tilted:
            left = max(left, 0.72 * widest)
            right = WIDTH - 14.0
            below += int(0.7 * widest)
        height = int(height + (below - 44) + foot)
        bottom = height - below - foot
        x = Scale(x.low, x.high, left, right, x.is_log)
        y = Scale(y.low, y.high, bottom, TOP, y.is_log)
        svg = Element(
            "svg",
            {"viewBox": f"0 0 {WIDTH} {height}", "role": "img", "aria-label": name, "class": "chart"},
        )
        for tick in y_ticks:
            at = rounded(y(tick.at))
            if grid_lines:
                add(svg, "line", x1=left, x2=right, y1=at, y2=at, class_="grid")
            add(svg, "text", tick.label, x=left - 6, y=at + 4, class_="tick end")
        for tick in x_ticks:
            at = rounded(x(tick.at))
            add(svg, "line", x1=at, x2=at, y1=bottom, y2=bottom + 4, class_="axis")
            label = add(svg, "text", tick.label, x=at, y=bottom + 17, class_="tick middle")
            if tilted:
                label.set("class", "tick end")
                label.set("transform", f"rotate(-40 {at:g} {bottom + 17:g})")
        add(svg, "line", x1=left, x2=right, y1=bottom, y2=bottom, class_="axis")
        below_axis, above_axis = (shortened(label, WIDTH // 7 - 2) for label in labels)
        add(svg, "text", above_axis, x=2, y=14, class_="label")
        add(svg, "text", below_axis, x=WIDTH - 4, y=height - foot - 8, class_="label end")
        return cls(x, y, svg)

    def mark(self, plain: Sequence[float] | None, steady: Sequence[float] | None) -> None:
        """A square around the plain choice and a disc on the steady one."""
        if plain is not None:
            x, y = (rounded(scale(at)) for scale, at in zip((self.x, self.y), plain, strict=True))
            for halo in ("halo", "plain"):
                add(self.svg, "rect", x=x - 7, y=y - 7, width=14, height=14, class_=f"mark {halo}")
        if steady is not None:
            x, y = (rounded(scale(at)) for scale, at in zip((self.x, self.y), steady, strict=True))
            add(self.svg, "circle", cx=x, cy=y, r=5, class_="mark steady")


def add(parent: Element, tag: str, text: str = "", **attributes: Any) -> Element:
    """Add an element; `class_` is its class, and ``_`` in other names becomes ``-``."""
    names = {name: name.rstrip("_").replace("_", "-") for name in attributes}
    child = SubElement(
        parent,
        tag,
        {
            names[name]: f"{value:g}" if isinstance(value, float) else str(value)
            for name, value in attributes.items()
        },
    )
    child.text = text
    return child


def points(x: Iterable[float], y: Iterable[float]) -> str:
    """Points of a line, as SVG writes them."""
    return " ".join(f"{rounded(a):g},{rounded(b):g}" for a, b in zip(x, y, strict=True))


def rounded(place: Any) -> float:
    """A place to a tenth of a unit."""
    return round(float(place), 1)
