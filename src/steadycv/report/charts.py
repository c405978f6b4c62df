"""The charts of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import fromstring

import numpy as np

from steadycv.lattice_picture import LatticeErrors, lattice_svg
from steadycv.report.svg import (
    LETTER,
    WIDTH,
    Frame,
    Scale,
    Tick,
    add,
    axis_ticks,
    padded,
    points,
    rounded,
)
from steadycv.shades import N_SHADES, shades_of
from steadycv.words import number, short_names, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from xml.etree.ElementTree import Element

    from numpy.typing import NDArray

    from steadycv.error_words import ErrorWords
    from steadycv.plotting.frontier import Frontier
    from steadycv.plotting.grid_errors import Axis, GridErrors
    from steadycv.plotting.weight_path import WeightPath
    from steadycv.split_words import SplitWords

__all__ = ["frontier_chart", "grid_chart", "lattice_chart", "race_chart", "weights_chart"]

MOST_DOTS = 4000


def frontier_chart(data: Frontier, words: ErrorWords) -> Element:
    """CV error against instability."""
    x, y = data.instability, words.shown(data.cv_error)
    shown = data.in_view
    x_scale, y_scale = (padded(values[shown]) for values in (x, y))
    frame = Frame.of_ticks(
        x_scale,
        y_scale,
        x_scale.ticks(),
        y_scale.ticks(8),
        labels=("instability", words.cv_of_what),
        name=(
            f"Chart of {words.cv} against instability, a dot for each of {len(shown)} candidates. "
            f"{len(data.frontier)} of them are best for some weight: from {words.cv} "
            f"{number(y[data.frontier[0]])} and instability {number(x[data.frontier[0]])} to "
            f"{number(y[data.frontier[-1]])} and {number(x[data.frontier[-1]])}."
        ),
    )
    line = set(data.frontier.tolist())
    others = [i for i in shown.tolist() if i not in line]
    _dots(frame, x, y, others[:: -(-len(others) // MOST_DOTS)] if others else [], "dot")
    add(frame.svg, "polyline", points=points(frame.x(x[data.frontier]), frame.y(y[data.frontier])))
    _dots(frame, x, y, data.frontier.tolist(), "dot strong")
    frame.mark(*([x[i], y[i]] if np.isfinite(x[i] + y[i]) else None for i in (data.plain, data.steady)))
    return frame.svg


def weights_chart(data: WeightPath, words: ErrorWords, splits: SplitWords) -> Element:
    """The nested error against the weight."""
    at = _weight_places(data.weight)
    mean, spread = words.shown(data.mean_error), data.spread
    known = np.isfinite(mean)
    y_scale = padded(np.concatenate([(mean - spread)[known], (mean + spread)[known]]))
    x_scale = padded(at, 0.04)
    best, worst = (number(words.shown(end)) for end in _ends(data.mean_error[known]))
    frame = Frame.of_ticks(
        x_scale,
        y_scale,
        _weight_ticks(data.weight, at),
        y_scale.ticks(8),
        labels=("stability weight", words.on_outer(f"{splits.word}s")),
        name=(
            f"Chart of the {words.nested} against the stability weight, from {best} at its "
            f"{words.best} to {worst}. The chosen weight is {number(data.weight[data.chosen])}."
        ),
    )
    x, low, high = frame.x(at[known]), (mean - spread)[known], (mean + spread)[known]
    around = points([*x, *x[::-1]], [*frame.y(low), *frame.y(high)[::-1]])
    add(frame.svg, "polygon", points=around, class_="spread")
    add(frame.svg, "polyline", points=points(x, frame.y(mean[known])))
    _dots(frame, at, mean, np.flatnonzero(known).tolist(), "dot strong")
    plain = [at[0], mean[0]] if data.weight[0] == 0 and known[0] else None
    frame.mark(plain, [at[data.chosen], mean[data.chosen]])
    return frame.svg


def race_chart(held: NDArray[np.intp], splits: SplitWords) -> Element:
    """How many candidates each view holds after each round, the final view in the first column."""
    rounds = np.arange(len(held))
    x_scale = Scale(0, float(rounds[-1]))
    y_scale = Scale(1, float(held[0, 0]), is_log=True)
    counts = sorted({1, *(int(held[0, 0] // 2**i) for i in range(0, 30, 2))} - {0})
    frame = Frame.of_ticks(
        x_scale,
        y_scale,
        [Tick(float(i), str(i)) for i in rounds[:: -(-len(rounds) // 8)].tolist()],
        [Tick(float(count), str(count)) for count in counts],
        labels=("round", "candidates held"),
        name=(
            f"Chart of the candidates that are held after each round of the race: on all data "
            f"{held[0, 0]} at first and {held[-1, 0]} in the end, without a {splits.word} "
            f"{held[-1, 1:].min()} to {held[-1, 1:].max()}."
        ),
    )
    frame.svg.set("class", "chart race")
    x = frame.x(rounds)
    for of_view in held.T[1:]:
        add(frame.svg, "polyline", points=points(x, frame.y(of_view)), class_="view")
    add(frame.svg, "polyline", points=points(x, frame.y(held[:, 0])))
    return frame.svg


def lattice_chart(data: LatticeErrors) -> Element:
    """What is known of each candidate on each training set."""
    svg = fromstring(lattice_svg(data, WIDTH))
    svg.set("class", "chart lattice")
    return svg


def _weight_places(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms; zero, which has none, stands one step below the smallest weight."""
    positive = np.log10(weight[weight > 0])
    step = positive[1] - positive[0] if len(positive) > 1 else 1.0
    zero = [positive[0] - step if len(positive) else 0.0] if weight[0] == 0 else []
    return np.concatenate([zero, positive])


def _weight_ticks(weight: NDArray[np.float64], at: NDArray[np.float64]) -> list[Tick]:
    if len(weight) <= 4:
        return [Tick(place, number(w)) for place, w in zip(at.tolist(), weight, strict=True)]
    positive = weight[weight > 0]
    ticks = Scale(positive[0], positive[-1], is_log=True).ticks(5)
    zero = [Tick(float(at[0]), "0")] if weight[0] == 0 else []
    return zero + [Tick(float(np.log10(tick.at)), tick.label) for tick in ticks]


def grid_chart(data: GridErrors, words: ErrorWords) -> Element:
    """An error over one or two axes of the grid: a line or a heat map."""
    measure = words.cv_of_what if data.measure == "cv_error" else words.measure(data.measure)
    lowest = np.unravel_index(np.nanargmin(data.error), data.error.shape)
    at = " and ".join(
        f"{axis.name} = {value_text(axis.values[i])}" for axis, i in zip(data.axes, lowest, strict=True)
    )
    best = number(words.shown_measure(data.measure, np.nanmin(data.error)))
    where = f" with {data.where}" if data.where else ""
    name = (
        f"of the {measure} over the grid{where}; it is {words.best_of(data.measure)}, {best}, at {at}."
    )
    return _line(data, words, measure, name) if len(data.axes) == 1 else _heat_map(data, words, name)


def _line(data: GridErrors, words: ErrorWords, measure: str, name: str) -> Element:
    [axis] = data.axes
    values = words.shown_measure(data.measure, data.error)
    x = axis.positions
    known = np.isfinite(data.error)
    y_scale = padded(values[known])
    x_scale = _axis_scale(axis, axis.edges)
    frame = Frame.of_ticks(
        x_scale,
        y_scale,
        axis_ticks(axis, _on_page(x_scale), LETTER * 5),
        y_scale.ticks(8),
        labels=(short_names([axis.name])[axis.name], measure),
        name=f"Chart {name}",
    )
    if axis.is_numeric:
        line = points(frame.x(x[known]), frame.y(values[known]))
        add(frame.svg, "polyline", points=line)
    for i in np.flatnonzero(known).tolist():
        _dot(frame, x[i], values[i], int(data.candidate[i]), "dot strong")
    frame.mark(
        *(
            [x[at[0]], values[at]] if at is not None and known[at] else None
            for at in (data.plain, data.steady)
        )
    )
    return frame.svg


def _heat_map(data: GridErrors, words: ErrorWords, name: str) -> Element:
    across, up = data.axes
    x_scale, y_scale = _axis_scale(across, across.edges), _axis_scale(up, up.edges)
    y_ticks = axis_ticks(up, Scale(y_scale.low, y_scale.high, 222, 0, y_scale.is_log), 16)
    names = short_names([across.name, up.name])
    frame = Frame.of_ticks(
        x_scale,
        y_scale,
        axis_ticks(across, _on_page(x_scale), LETTER * 5),
        y_ticks,
        labels=(names[across.name], names[up.name]),
        name=f"Heat map {name}",
        foot=34,
        grid_lines=False,
    )
    x, y = (np.round(scale(axis.edges), 1) for scale, axis in ((frame.x, across), (frame.y, up)))
    low, top, highest = data.ends
    levels = shades_of(data.error, low, top)
    for level in range(-1, N_SHADES):
        # A cell is filled, or crossed out where nothing is known.
        cells = "".join(
            f"M{x[i]:g} {y[j]:g}H{x[i + 1]:g}V{y[j + 1]:g}H{x[i]:g}z"
            + (f"L{x[i + 1]:g} {y[j + 1]:g}" if level < 0 else "")
            for i, j in np.argwhere(levels == level).tolist()
        )
        if cells:
            add(frame.svg, "path", d=cells, class_="unknown" if level < 0 else f"heat heat{level}")
    frame.svg.set("data-x", " ".join(f"{edge:g}" for edge in x))
    frame.svg.set("data-y", " ".join(f"{edge:g}" for edge in y))
    frame.svg.set("data-cells", " ".join(map(str, data.candidate.ravel().tolist())))
    best, worst = (words.shown_measure(data.measure, end) for end in (low, top))
    beyond = ("less" if worst < best else "more") if top < highest else ""
    _shades(frame, number(best), number(worst) + (f" or {beyond}" if beyond else ""))
    places = across.positions, up.positions
    frame.mark(
        *(
            None if at is None else [place[i] for place, i in zip(places, at, strict=True)]
            for at in (data.plain, data.steady)
        )
    )
    return frame.svg


def _shades(frame: Frame, best: str, worst: str) -> None:
    """The key of a heat map, at its foot."""
    height = float(frame.svg.get("viewBox", "").split()[-1])
    start, size = 12 + LETTER * (len(best) + 1), 14
    add(frame.svg, "text", best, x=start - 6, y=height - 12, class_="tick end")
    for level in range(N_SHADES):
        at = start + size * level
        add(frame.svg, "rect", x=at, y=height - 22, width=size, height=12, class_=f"heat heat{level}")
    end = start + size * N_SHADES + 6
    add(frame.svg, "text", worst, x=end, y=height - 12, class_="tick")


def _ends(values: NDArray[np.float64]) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _axis_scale(axis: Axis, ends: Sequence[float] | NDArray[np.float64]) -> Scale:
    return Scale(float(ends[0]), float(ends[-1]), is_log=axis.scale == "log")


def _on_page(scale: Scale) -> Scale:
    """A scale with about the width that it will have, to see how many labels it has room for."""
    return Scale(scale.low, scale.high, 0, 390, scale.is_log)


def _dots(
    frame: Frame,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    candidates: Sequence[int],
    class_: str,
) -> None:
    for i in candidates:
        _dot(frame, x[i], y[i], i, class_)


def _dot(frame: Frame, x: float, y: float, index: int, class_: str) -> None:
    cx, cy = rounded(frame.x(x)), rounded(frame.y(y))
    add(frame.svg, "circle", cx=cx, cy=cy, r=2.5, class_=class_, data_i=index)
