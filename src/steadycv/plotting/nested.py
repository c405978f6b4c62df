"""`NestedDisplay`: what a model is worth on rows that it never saw, in scikit-learn's manner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv.error_words import ErrorWords
from steadycv.explain.differences import Difference, differences
from steadycv.explain.judged import Judged
from steadycv.explain.learning import LearningCurve
from steadycv.explain.of_classes import (
    Confusion,
    Curve,
    calibrations,
    precision_recall_curves,
    roc_curves,
)
from steadycv.explain.over_rows import OverRows
from steadycv.plotting.axes import finish, heat_map, literal, new_axes, palette_of
from steadycv.plotting.titles import title_of
from steadycv.split_words import SplitWords
from steadycv.words import number, value_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steadycv.colors import Palette
    from steadycv.explain.importance import ColumnImportance
    from steadycv.search import StabilitySearchCV

__all__ = ["NestedDisplay"]

MOST_COLUMNS = 20  # the others are worth less
MOST_CLASSES = 12  # whose numbers are written into a table of confusions


class NestedDisplay:
    """Pictures of what is delivered, made of nested predictions.

    Every row is judged by what was chosen and trained without it.

    Make one with :meth:`from_search`. The kinds are:

    - ``"predicted"``: of numbers, predicted against actual.
    - ``"rows"``: how far single rows were from what was said of them, in the order of the rows, which is
      time where they are in its order; with means of ten runs of them and their 90 % intervals.
    - ``"roc"``, ``"precision_recall"`` and ``"calibration"``: of classifiers with probabilities. Of two
      classes, thin lines are single outer folds.
    - ``"confusion"``: of classifiers, how often each class was taken for each.
    - ``"learning"``: the error of the same choices on the same rows, trained on fewer rows and on more.
    - ``"models"``: how much more each model promises than the best one, with 90 % intervals.
    - ``"importance"``: what columns are worth, by :func:`~steadycv.explain.column_importance`.

    Parameters
    ----------
    judged : Judged or None
        Nested predictions and what happened.
    learning : LearningCurve or None
        Errors by size of the training set.
    models : list of Difference
        The models compared; empty where there is nothing to compare.
    importance : ColumnImportance or None
        What columns are worth.
    errors : ErrorWords
        How errors are told.
    splits : SplitWords
        How splits are told.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        Its figure.
    artists_ : dict of str to matplotlib Artist or list of them
        What was drawn, by what it is.

    See Also
    --------
    StabilityDisplay : Why it was chosen.
    steadycv.write_report : All pictures on one page, with words and tables.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from steadycv import NestedDisplay, StabilitySearchCV
    >>> search = StabilitySearchCV(KNeighborsClassifier(), {"n_neighbors": [5, 10, 20]})
    >>> search = search.fit(*load_breast_cancer(return_X_y=True))
    >>> display = NestedDisplay.from_search(search, kind="roc")
    >>> _ = display.plot(kind="confusion")
    >>> plt.close("all")
    """

    ax_: Any
    figure_: Any
    artists_: dict[str, Any]

    def __init__(
        self,
        *,
        judged: Judged | None,
        learning: LearningCurve | None,
        models: Sequence[Difference],
        importance: ColumnImportance | None,
        errors: ErrorWords,
        splits: SplitWords,
    ) -> None:
        self.judged = judged
        self.learning = learning
        self.models = models
        self.importance = importance
        self.errors = errors
        self.splits = splits

    @classmethod
    def from_search(
        cls,
        search: StabilitySearchCV | Mapping[str, StabilitySearchCV],
        *,
        kind: str | None = None,
        importance: ColumnImportance | None = None,
        ax: Any = None,
    ) -> NestedDisplay:
        """Draw a picture of a fitted search.

        Parameters
        ----------
        search : StabilitySearchCV or dict of str to StabilitySearchCV
            The fitted search; several by name to compare, the first of which the other kinds show.
        kind : str, default=None
            Which picture. None for ``"models"`` of several searches, ``"confusion"`` of a classifier,
            and else ``"predicted"``.
        importance : ColumnImportance, default=None
            For ``kind="importance"``.
        ax : matplotlib Axes, default=None
            What to draw on; None for a new figure.

        Returns
        -------
        display : NestedDisplay
            The display, which can draw the other kinds as well.
        """
        several = isinstance(search, Mapping)
        if several and not search:
            raise ValueError("There is no search to draw: the dict is empty.")
        first: Any = next(iter(search.values())) if isinstance(search, Mapping) else search
        errors = ErrorWords.of(first)
        display = cls(
            judged=Judged.from_search(first),
            learning=LearningCurve.from_search(first),
            models=differences(search),
            importance=importance,
            errors=errors,
            splits=SplitWords.of(first.lattice_),
        )
        is_of_classes = display.judged is not None and display.judged.classes is not None
        usual = "models" if several else "confusion" if is_of_classes else "predicted"
        return display.plot(ax, kind=kind or usual)

    def plot(self, ax: Any = None, *, kind: str) -> NestedDisplay:
        """Draw a picture.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            What to draw on; None for a new figure.
        kind : str
            Which picture.

        Returns
        -------
        display : NestedDisplay
            The display itself.
        """
        kinds = self._kinds()
        if kind not in kinds:
            raise ValueError(f"kind must be one of {', '.join(map(repr, kinds))}, got {kind!r}.")
        data, draw, lack = kinds[kind]
        if data is None or data == []:
            raise ValueError(f"There is nothing to draw with kind={kind!r}: {lack}.")
        ax = new_axes("NestedDisplay") if ax is None else ax
        self.ax_, self.figure_ = ax, ax.figure
        self.artists_ = draw(ax, data, self, palette_of(ax))
        in_time = self.splits.are_forward
        finish(ax, title_of(kind, self.errors, in_time=in_time), legend=bool(_labelled(ax)))
        return self

    def _kinds(self) -> dict[str, tuple[Any, Callable[..., dict[str, Any]], str]]:
        """By kind the data, what draws them, and what is lacking where there are none."""
        judged = self.judged
        of_classes = judged is not None and judged.classes is not None
        no_shares = "it takes probabilities of two classes or more, and a nested error"
        some = judged if of_classes else None
        return {
            "predicted": (
                None if of_classes else judged,
                _draw_predicted,
                "it takes predicted numbers and a nested error",
            ),
            "rows": (
                None if judged is None else OverRows.of(judged),
                _draw_rows,
                "it takes one target of each row and a nested error",
            ),
            "roc": (some and roc_curves(some), _draw_roc, no_shares),
            "precision_recall": (some and precision_recall_curves(some), _draw_found, no_shares),
            "calibration": (some and calibrations(some), _draw_calibration, no_shares),
            "confusion": (
                some and Confusion.of(some),
                _draw_confusion,
                "it takes predicted classes and a nested error",
            ),
            "learning": (
                self.learning,
                _draw_learning,
                "no rows are judged by models of two sizes of training set",
            ),
            "models": (
                list(self.models),
                _draw_models,
                "it takes several grids in one search, or a dict of searches of the same splits and the "
                "same loss or score",
            ),
            "importance": (
                self.importance,
                _draw_importance,
                "pass importance=column_importance(search, X, y) to from_search",
            ),
        }


def _labelled(ax: Any) -> list[Any]:
    handles: list[Any] = ax.get_legend_handles_labels()[0]
    return handles


def _draw_predicted(ax: Any, data: Judged, display: NestedDisplay, colors: Palette) -> dict[str, Any]:
    dots = ax.scatter(
        data.targets, data.predicted, s=14, color=colors.steady, alpha=0.6, linewidths=0, label="rows"
    )
    both = np.concatenate([data.targets, data.predicted]).astype(np.float64)
    ends = [both.min(), both.max()]
    [line] = ax.plot(ends, ends, color=colors.muted, linewidth=1, label="predicted = actual", zorder=0)
    ax.set(xlabel="actual", ylabel=f"predicted without the row's {display.splits.word}")
    return {"rows": dots, "diagonal": line}


def _draw_rows(ax: Any, data: OverRows, display: NestedDisplay, colors: Palette) -> dict[str, Any]:
    dots = ax.scatter(
        data.rows, data.residuals, s=12, color=colors.dot, alpha=0.6, linewidths=0, label="rows"
    )
    bars = ax.errorbar(
        data.at,
        data.mean,
        data.half,
        fmt="o-",
        color=colors.steady,
        markersize=4,
        capsize=3,
        label="mean, 90 % interval",
    )
    what = "actual \N{MINUS SIGN} predicted"
    if display.judged is not None and display.judged.classes is not None:
        has_shares = display.judged.probabilities is not None
        what = (
            "1 \N{MINUS SIGN} probability of the row's class" if has_shares else "wrong (1) or right (0)"
        )
    else:
        ax.axhline(0, color=colors.muted, linewidth=1, zorder=0)
    ax.set(xlabel="row", ylabel=what)
    return {"rows": dots, "means": bars}


def curve_label(curve: Curve, curves: Sequence[Curve], area: str) -> str:
    """What the legend says of a curve: of two classes the mean and the range over the views."""
    single = [each.area for each in curves if each.view is not None]
    if curve.view is not None:
        return ""
    if not single:
        return f"{value_text(curve.positive)}: {area} {number(curve.area, 3)}"
    low, high = number(min(single), 3), number(max(single), 3)
    return f"all rows; {area} of folds {number(float(np.mean(single)), 3)} ({low} to {high})"


def _draw_curves(ax: Any, curves: list[Curve], colors: Palette, area: str) -> dict[str, Any]:
    many = [curve for curve in curves if curve.view is None]
    lines = []
    for curve in reversed(curves):
        of_view = curve.view is not None
        color = colors.dot if of_view else colors.steady
        if len(many) > 1:
            color = colors.several[many.index(curve) % len(colors.several)]
        [line] = ax.plot(
            curve.x,
            curve.y,
            color=color,
            linewidth=0.9 if of_view else 2,
            label=curve_label(curve, curves, area) or None,
        )
        lines.append(line)
    return {"curves": lines[::-1]}


def _draw_roc(ax: Any, data: list[Curve], _: NestedDisplay, colors: Palette) -> dict[str, Any]:
    artists = _draw_curves(ax, data, colors, "area")
    ax.plot([0, 1], [0, 1], color=colors.muted, linewidth=1, linestyle=":", label="guessing")
    one = f" {value_text(data[0].positive)}" if len({curve.positive for curve in data}) == 1 else ""
    ax.set(xlabel="share of the others falsely suspected", ylabel=f"share of class{one} found")
    ax.set_aspect("equal")
    return artists


def _draw_found(ax: Any, data: list[Curve], _: NestedDisplay, colors: Palette) -> dict[str, Any]:
    artists = _draw_curves(ax, data, colors, "average precision")
    one = f" {value_text(data[0].positive)}" if len({curve.positive for curve in data}) == 1 else ""
    ax.set(
        xlabel=f"share of class{one} found (recall)", ylabel="share of the found that are (precision)"
    )
    ax.set_ylim(-0.02, 1.02)
    return artists


def _draw_calibration(ax: Any, data: list[Any], _: NestedDisplay, colors: Palette) -> dict[str, Any]:
    ax.plot([0, 1], [0, 1], color=colors.muted, linewidth=1, linestyle=":", label="as often as said")
    lines = []
    for place, each in enumerate(data):
        [line] = ax.plot(
            each.said,
            each.happened,
            "o-",
            color=colors.steady if len(data) == 1 else colors.several[place % len(colors.several)],
            markersize=4,
            label=f"class {value_text(each.positive)}",
        )
        lines.append(line)
    ax.set(xlabel="probability that was said", ylabel="how often it happened")
    ax.set_aspect("equal")
    return {"curves": lines}


def _draw_confusion(ax: Any, data: Confusion, _: NestedDisplay, colors: Palette) -> dict[str, Any]:
    share = data.n_rows / np.maximum(data.n_rows.sum(axis=1, keepdims=True), 1e-300)
    mesh = ax.imshow(share, cmap=heat_map(colors, is_score=True), vmin=0, vmax=1)
    names = [literal(value_text(each)) for each in data.classes]
    crowded = sum(map(len, names)) > 40
    ax.set_xticks(
        range(len(names)), names, rotation=45 if crowded else 0, ha="right" if crowded else "center"
    )
    ax.set_yticks(range(len(names)), names)
    ax.set(xlabel="predicted", ylabel="actual")
    ax.figure.colorbar(mesh, ax=ax).set_label("share of the actual class")
    texts = []
    if len(names) <= MOST_CLASSES:
        for (i, j), n in np.ndenumerate(data.n_rows):
            strong, faint = colors.page, colors.ink  # what is strong on a page is like its ink
            ink = strong if share[i, j] > 0.5 else faint
            texts.append(ax.text(j, i, number(float(n)), ha="center", va="center", color=ink))
    return {"mesh": mesh, "numbers": texts}


def _draw_learning(
    ax: Any, data: LearningCurve, display: NestedDisplay, colors: Palette
) -> dict[str, Any]:
    errors = display.errors.shown(data.errors)
    percent = 100 * data.shares
    singles = ax.plot(percent, errors, color=colors.dot, linewidth=0.9)
    singles[0].set_label(f"single {display.splits.word}s")
    [line] = ax.plot(percent, errors.mean(axis=1), "-o", color=colors.steady, linewidth=2, label="mean")
    ax.axvline(
        100,
        color=colors.muted,
        linewidth=1,
        linestyle=":",
        label="delivered: no row is left to judge it",
    )
    ax.set(
        xlabel="rows trained on, in % of all", ylabel=display.errors.on_outer(f"{display.splits.word}s")
    )
    return {"folds": singles, "mean": line}


def _draw_models(
    ax: Any, data: list[Difference], display: NestedDisplay, colors: Palette
) -> dict[str, Any]:
    errors = display.errors
    at = np.arange(len(data))[::-1]
    middle = np.array([errors.shown(each.difference) for each in data])
    ends = np.sort([[errors.shown(end) for end in each.interval] for each in data], axis=1)
    bars = ax.errorbar(
        middle,
        at,
        xerr=np.abs(ends.T - middle),
        fmt="o",
        color=colors.steady,
        ecolor=colors.muted,
        capsize=4,
        label="90 % interval of the difference",
    )
    ax.axvline(0, color=colors.muted, linewidth=1, zorder=0)
    ax.set_yticks(at, [literal(f"{each.name} ({number(errors.shown(each.error))})") for each in data])
    ax.set_ylim(-0.6, len(data) - 0.4)
    ax.set_xlabel(
        f"{errors.noun} beside the best model's{'' if errors.is_score else f' ({errors.name})'}"
    )
    return {"differences": bars}


def _draw_importance(
    ax: Any, data: ColumnImportance, display: NestedDisplay, colors: Palette
) -> dict[str, Any]:
    shown = data.order[:MOST_COLUMNS]
    at = np.arange(len(shown))[::-1]
    bars = ax.barh(at, data.mean[shown], color=colors.steady, alpha=0.35, label="mean")
    dots = [
        ax.scatter(row[shown], at, s=14, color=colors.ink, zorder=3, linewidths=0)
        for row in data.by_view
    ]
    dots[0].set_label(f"single outer {data.split_word}s")
    ax.set_yticks(at, [literal(value_text(data.columns[i])) for i in shown])
    ax.axvline(0, color=colors.muted, linewidth=1, zorder=0)
    change = "fall" if display.errors.is_score else "rise"
    of_what = "" if display.errors.is_score else f" ({display.errors.name})"
    ax.set_xlabel(f"{change} of the {display.errors.noun} with the column shuffled{of_what}")
    return {"means": bars, "folds": dots}
