"""The charts of nested predictions: what the model is worth on rows that it never saw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadycv.report.svg import LETTER, Frame, Scale, Tick, add, padded, points, rounded, shortened
from steadycv.shades import N_SHADES
from steadycv.words import number, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from xml.etree.ElementTree import Element

    from numpy.typing import NDArray

    from steadycv.error_words import ErrorWords
    from steadycv.explain.differences import Difference
    from steadycv.explain.importance import ColumnImportance
    from steadycv.explain.learning import LearningCurve
    from steadycv.explain.of_classes import Calibration, Confusion, Curve
    from steadycv.report.explained import DrawnRows
    from steadycv.split_words import SplitWords

__all__ = [
    "calibration_chart",
    "confusion_chart",
    "curves_chart",
    "importance_chart",
    "learning_chart",
    "models_chart",
    "predicted_chart",
    "rows_chart",
]

SHARES = [Tick(share, f"{share:g}") for share in (0, 0.2, 0.4, 0.6, 0.8, 1)]
MOST_COLUMNS = 15  # the others are worth less
N_COLOURS = 6  # of lines side by side, see colors.py


def predicted_chart(data: DrawnRows, word: str) -> Element:
    """Predicted against actual numbers."""
    assert data.predicted is not None
    both = np.concatenate([data.actual, data.predicted])
    scale = padded(both)
    ticks = scale.ticks()
    frame = Frame.of_ticks(
        *(scale, scale, ticks, ticks),
        labels=("actual", f"predicted without the row's {word}"),
        name=f"Chart of predicted against actual numbers, a dot for each of {len(both) // 2} rows.",
        height=380,
    )
    ends = np.array([both.min(), both.max()])
    add(frame.svg, "polyline", points=points(frame.x(ends), frame.y(ends)), class_="guide")
    _dots(frame, data.actual, data.predicted)
    return frame.svg


def rows_chart(data: DrawnRows, *, in_time: bool) -> Element:
    """Errors of single rows in their order, and the means of runs of them."""
    over = data.over
    around = np.concatenate([data.residuals, over.mean - over.half, over.mean + over.half])
    x_scale, y_scale = padded(over.rows.astype(np.float64), 0.02), padded(around)
    frame = Frame.of_ticks(
        *(x_scale, y_scale, x_scale.ticks(), y_scale.ticks(8)),
        labels=("row, in time order" if in_time else "row", data.what),
        name=(
            f"Chart of the errors of single rows in their order, with {len(over.at)} means, from "
            f"{number(over.mean[0])} in the first rows to {number(over.mean[-1])} in the last."
        ),
    )
    _dots(frame, data.rows.astype(np.float64), data.residuals)
    if y_scale.low < 0 < y_scale.high and data.predicted is not None:
        ends = np.array([x_scale.low, x_scale.high])
        add(frame.svg, "polyline", points=points(frame.x(ends), frame.y(ends * 0)), class_="guide")
    low, high = over.mean - over.half, over.mean + over.half
    x = frame.x(over.at)
    band = points([*x, *x[::-1]], [*frame.y(low), *frame.y(high)[::-1]])
    add(frame.svg, "polygon", points=band, class_="spread steady")
    add(frame.svg, "polyline", points=points(x, frame.y(over.mean)), class_="steady")
    return frame.svg


def curves_chart(curves: Sequence[Curve], labels: tuple[str, str], name: str) -> Element:
    """ROC, or precision and recall: of two classes single views are thin."""
    frame = _of_shares(labels, f"Chart of {name}. {'; '.join(_area(each) for each in curves)}.")
    many = [curve for curve in curves if curve.view is None]
    if "ROC" in name:
        _diagonal(frame)
    for curve in reversed(curves):
        kind = "view" if curve.view is not None else _line(many.index(curve), len(many))
        at = _thinned(curve.x, curve.y)
        add(
            frame.svg, "polyline", points=points(frame.x(curve.x[at]), frame.y(curve.y[at])), class_=kind
        )
    return frame.svg


def calibration_chart(data: Sequence[Calibration]) -> Element:
    """How often what was said happened."""
    frame = _of_shares(
        ("probability that was said", "how often it happened"),
        "Chart of how often what was given a probability happened; on the diagonal as often as said.",
    )
    _diagonal(frame)
    for place, each in enumerate(data):
        kind = _line(place, len(data))
        x, y = frame.x(each.said), frame.y(each.happened)
        add(frame.svg, "polyline", points=points(x, y), class_=kind)
        for cx, cy in zip(x, y, strict=True):
            add(frame.svg, "circle", cx=rounded(cx), cy=rounded(cy), r=3, class_=f"knot {kind}")
    return frame.svg


def confusion_chart(data: Confusion) -> Element:
    """How often each class was taken for each; the actual ones from top to bottom."""
    n = len(data.classes)
    names = [shortened(value_text(each)) for each in data.classes]
    places = np.arange(n) + 0.5
    shares = data.n_rows / np.maximum(data.n_rows.sum(axis=1, keepdims=True), 1e-300)
    right = float(np.trace(data.n_rows) / data.n_rows.sum())
    frame = Frame.of_ticks(
        *(Scale(0, n), Scale(0, n)),
        [Tick(at, each) for at, each in zip(places.tolist(), names, strict=True)],
        [Tick(n - at, each) for at, each in zip(places.tolist(), names, strict=True)],
        labels=("predicted", "actual"),
        name=f"Table of actual classes against predicted ones; {right:.1%} of rows are on its diagonal.",
        height=340,
        grid_lines=False,
    )
    x, y = frame.x(np.arange(n + 1)), frame.y(n - np.arange(n + 1))
    for (i, j), share in np.ndenumerate(shares):
        shade = N_SHADES - 1 - min(int(share * N_SHADES), N_SHADES - 1)
        left, top = rounded(x[j]), rounded(y[i])
        width, height = rounded(x[j + 1] - left), rounded(y[i + 1] - top)
        heat = f"heat heat{shade}"
        add(frame.svg, "rect", x=left, y=top, width=width, height=height, class_=heat)
        text = number(float(data.n_rows[i, j]))
        if LETTER * len(text) < width:
            kind = "on strong" if shade < N_SHADES // 2 else "on pale"
            at = rounded(left + width / 2), rounded(top + height / 2 + 5)
            add(frame.svg, "text", text, x=at[0], y=at[1], class_=f"{kind} middle")
    return frame.svg


def learning_chart(data: LearningCurve, words: ErrorWords, splits: SplitWords) -> Element:
    """The error of the same choices on the same rows, by the rows that they were trained on."""
    errors, shares = words.shown(data.errors), 100 * data.shares
    y_scale = padded(errors.ravel())
    x_scale = Scale(float(shares[0]) - 6, 104.0)
    ticks = [Tick(float(share), f"{share:.0f}") for share in (*shares, 100)]
    mean = errors.mean(axis=1)
    frame = Frame.of_ticks(
        *(x_scale, y_scale, ticks, y_scale.ticks(8)),
        labels=("rows trained on, in % of all", words.on_outer(f"{splits.word}s")),
        name=(
            f"Chart of the {words.noun} against the rows trained on: {number(mean[0])} with "
            f"{shares[0]:.0f}% of them, {number(mean[1])} with {shares[1]:.0f}%."
        ),
    )
    for of_view in errors.T:
        add(frame.svg, "polyline", points=points(frame.x(shares), frame.y(of_view)), class_="view")
    add(frame.svg, "polyline", points=points(frame.x(shares), frame.y(mean)), class_="steady")
    for cx, cy in zip(frame.x(shares), frame.y(mean), strict=True):
        add(frame.svg, "circle", cx=rounded(cx), cy=rounded(cy), r=4, class_="knot steady")
    at = rounded(frame.x(100))
    add(frame.svg, "line", x1=at, x2=at, y1=frame.y.end, y2=frame.y.start, class_="guide")
    return frame.svg


def models_chart(data: Sequence[Difference], words: ErrorWords) -> Element:
    """How much worse than the best model each is, with intervals."""
    middle = np.array([words.shown(each.difference) for each in data])
    ends = np.sort([[words.shown(end) for end in each.interval] for each in data], axis=1)
    of_what = "" if words.is_score else f" ({words.name})"
    frame = _by_name(
        [each.name for each in data],
        np.append(ends.ravel(), 0.0),
        f"{words.noun} beside the best one's{of_what}",
        "Chart of how much worse each model is than the best one, with 90% intervals: "
        + "; ".join(
            f"{each.name} {number(at)}, {number(low)} to {number(high)}"
            for each, at, (low, high) in zip(data, middle, ends, strict=True)
        )
        + ".",
    )
    for place, (at, (low, high)) in enumerate(zip(middle, ends, strict=True)):
        y, (cx, x1, x2) = rounded(frame.y(-place)), map(rounded, frame.x([at, low, high]))
        add(frame.svg, "line", x1=x1, x2=x2, y1=y, y2=y, class_="whisker")
        add(frame.svg, "circle", cx=cx, cy=y, r=5, class_="knot steady")
    return frame.svg


def importance_chart(data: ColumnImportance, words: ErrorWords) -> Element:
    """What columns are worth: a bar to the mean, a dot for each view."""
    shown = data.order[:MOST_COLUMNS]
    change, of_what = ("fall", "") if words.is_score else ("rise", f" ({words.name})")
    best = data.columns[shown[0]]
    frame = _by_name(
        [data.columns[i] for i in shown],
        np.append(data.by_view[:, shown].ravel(), 0.0),
        f"{change} of the {words.noun}{of_what}",
        f"Chart of what columns are worth; {best} most, {number(data.mean[shown[0]])}.",
    )
    zero = frame.x(0)
    for place, column in enumerate(shown.tolist()):
        y, end = rounded(frame.y(-place)), frame.x(data.mean[column])
        left, width = rounded(min(zero, end)), rounded(abs(end - zero))
        add(frame.svg, "rect", x=left, y=y - 7, width=width, height=14, class_="spread steady")
        for at in frame.x(data.by_view[:, column]):
            add(frame.svg, "circle", cx=rounded(at), cy=y, r=2.5, class_="knot ink")
    return frame.svg


def _by_name(names: Sequence[str], values: NDArray[np.float64], label: str, description: str) -> Frame:
    """A frame with a name a line, and a line at zero."""
    x_scale = padded(values)
    ticks = [Tick(float(-place), shortened(name)) for place, name in enumerate(names)]
    frame = Frame.of_ticks(
        *(x_scale, Scale(0.4 - len(names), 0.6), x_scale.ticks(), ticks),
        labels=(label, ""),
        name=description,
        height=90 + 26 * len(names),
        grid_lines=False,
    )
    zero = rounded(frame.x(0))
    add(frame.svg, "line", x1=zero, x2=zero, y1=frame.y.end, y2=frame.y.start, class_="axis")
    return frame


def _of_shares(labels: tuple[str, str], name: str) -> Frame:
    """A square from nothing to all."""
    scale = Scale(-0.02, 1.02)
    return Frame.of_ticks(scale, scale, SHARES, SHARES, labels=labels, name=name, height=380)


def _diagonal(frame: Frame) -> None:
    ends = np.array([0.0, 1.0])
    add(frame.svg, "polyline", points=points(frame.x(ends), frame.y(ends)), class_="guide")


def _line(place: int, n: int) -> str:
    return "steady" if n == 1 else f"several{place % N_COLOURS}"


def _area(curve: Curve) -> str:
    of_what = "all rows" if curve.view is None else f"part {curve.view + 1}"
    return f"{value_text(curve.positive)}, {of_what}: {number(curve.area, 3)}"


def _thinned(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.intp]:
    """The points that are seen: the corners, a third of a pixel apart."""
    at = np.round(np.stack([x, y]) * 1000)
    new = np.append(True, (np.diff(at, axis=1) != 0).any(axis=0))
    return np.flatnonzero(new)


def _dots(frame: Frame, x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    places = zip(frame.x(x), frame.y(y), strict=True)
    for i, (cx, cy) in enumerate(places):
        add(frame.svg, "circle", cx=rounded(cx), cy=rounded(cy), r=2.5, class_="dot row", data_i=i)
