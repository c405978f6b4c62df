"""`StabilityDisplay`: pictures of a search, in the manner of scikit-learn's displays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv.error_words import ErrorWords
from steadycv.lattice_picture import LatticeErrors
from steadycv.plotting.axes import finish, heat_map, literal, new_axes, palette_of
from steadycv.plotting.frontier import Frontier
from steadycv.plotting.grid_errors import Axis, GridErrors
from steadycv.plotting.titles import title_of
from steadycv.plotting.weight_path import WeightPath
from steadycv.split_words import SplitWords
from steadycv.words import number, short_names, value_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steadycv.colors import Palette
    from steadycv.search import StabilitySearchCV

__all__ = ["StabilityDisplay"]

MOST_LABELS = 12  # an axis with more values gets round numbers as ticks


class StabilityDisplay:
    """Pictures of a fitted search.

    Make one with :meth:`from_search`. The kinds are:

    - ``"frontier"``: CV error against instability, a point for each candidate. The steady choice lies on
      the frontier, the candidates that are best for some weight; the plain choice at its end
      with the best error.
    - ``"weights"``: the nested error against the stability weight, with the standard deviation over the
      outer folds.
    - ``"grid"``: an error over the grid, as a line for one parameter, as a heat map for two, and for
      three as heat maps side by side. Of more it shows some, with the lowest error over the others.
    - ``"lattice"``: the error of each candidate on each distinct training set, which is all that was
      fitted.

    Where a score drives the search, scores are shown in place of errors.

    Parameters
    ----------
    frontier : Frontier or None
        What the first kind shows; None if no instability is known.
    weight_path : WeightPath or None
        What the second kind shows; None without a nested error.
    grid_errors : GridErrors or None
        What the third kind shows; None if no parameter has two values.
    lattice : LatticeErrors
        What the last kind shows.
    errors : ErrorWords
        How errors are told.
    splits : SplitWords
        How splits are told.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.
    axes_ : list of matplotlib Axes
        Those that stand side by side in its place, where three parameters are shown; else itself.
    figure_ : matplotlib Figure
        Its figure.
    artists_ : dict of str to matplotlib Artist
        What was drawn: ``"plain"`` and ``"steady"``, the marks of the two choices; ``"candidates"`` and
        ``"frontier"``; ``"line"`` and ``"spread"``; ``"mesh"`` and ``"colorbar"``. Each kind has some.

    See Also
    --------
    steadycv.write_report : All pictures on one page, with words and tables.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from steadycv import StabilityDisplay, StabilitySearchCV
    >>> grid = {"max_depth": range(1, 8), "min_samples_leaf": [1, 5, 10, 20]}
    >>> search = StabilitySearchCV(DecisionTreeRegressor(), grid)
    >>> search = search.fit(*load_diabetes(return_X_y=True))
    >>> display = StabilityDisplay.from_search(search)
    >>> figure, axes = plt.subplots(1, 2, figsize=(10, 4))
    >>> _ = display.plot(axes[0], kind="weights")
    >>> _ = display.plot(axes[1], kind="grid")
    >>> plt.close("all")
    """

    ax_: Any
    axes_: list[Any]
    figure_: Any
    artists_: dict[str, Any]

    def __init__(
        self,
        *,
        frontier: Frontier | None,
        weight_path: WeightPath | None,
        grid_errors: GridErrors | None,
        lattice: LatticeErrors,
        errors: ErrorWords,
        splits: SplitWords,
    ) -> None:
        self.frontier = frontier
        self.weight_path = weight_path
        self.grid_errors = grid_errors
        self.lattice = lattice
        self.errors = errors
        self.splits = splits

    @classmethod
    def from_search(
        cls,
        search: StabilitySearchCV,
        *,
        kind: str = "frontier",
        params: Sequence[str] | None = None,
        error: str = "cv_error",
        ax: Any = None,
    ) -> StabilityDisplay:
        """Draw a picture of a fitted search.

        Parameters
        ----------
        search : StabilitySearchCV
            The fitted search.
        kind : {"frontier", "weights", "grid", "lattice"}, default="frontier"
            Which picture.
        params : sequence of str, default=None
            For the grid: up to three parameters, horizontal, vertical and side by side. None for the two
            with most values, and a third one where that has six at most. Of a list of grids it shows the
            one that the choice is in.
        error : {"cv_error", "regularized_error", "instability"}, default="cv_error"
            For the grid: what to show.
        ax : matplotlib Axes, default=None
            What to draw on; None for a new figure.

        Returns
        -------
        display : StabilityDisplay
            The display, which can draw the other kinds as well.
        """
        display = cls(
            frontier=Frontier.from_search(search),
            weight_path=WeightPath.from_search(search),
            grid_errors=GridErrors.from_search(search, error, params),
            lattice=LatticeErrors.from_search(search),
            errors=ErrorWords.of(search),
            splits=SplitWords.of(search.lattice_),
        )
        return display.plot(ax, kind=kind)

    def plot(self, ax: Any = None, *, kind: str = "frontier") -> StabilityDisplay:
        """Draw a picture.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            What to draw on; None for a new figure.
        kind : {"frontier", "weights", "grid", "lattice"}, default="frontier"
            Which picture.

        Returns
        -------
        display : StabilityDisplay
            The display itself.
        """
        kinds: dict[str, tuple[Any, Callable[..., dict[str, Any]], str]] = {
            "frontier": (self.frontier, _draw_frontier, "no instability is known (nested=False)"),
            "weights": (
                self.weight_path,
                _draw_weights,
                "no weight was chosen by nested errors (nested=False, too few splits, or another rule)",
            ),
            "grid": (
                self.grid_errors,
                _draw_grid,
                "no grid was searched, or none of its parameters has two values with a known error",
            ),
            "lattice": (self.lattice, _draw_lattice, ""),
        }
        if kind not in kinds:
            raise ValueError(f"kind must be one of {', '.join(map(repr, kinds))}, got {kind!r}.")
        data, draw, lack = kinds[kind]
        if data is None:
            raise ValueError(f"There is nothing to draw with kind={kind!r}: {lack}.")
        ax = new_axes("StabilityDisplay") if ax is None else ax
        self.ax_, self.axes_, self.figure_ = ax, [ax], ax.figure
        self.artists_ = draw(ax, data, self, palette_of(ax))
        return self


def _draw_frontier(
    ax: Any, data: Frontier, display: StabilityDisplay, colors: Palette
) -> dict[str, Any]:
    errors, splits = display.errors, display.splits
    x, y = data.instability, errors.shown(data.cv_error)
    shown = data.candidates
    candidates = ax.scatter(
        x[shown], y[shown], s=16, color=colors.dot, alpha=0.6, linewidths=0, label="candidates"
    )
    [frontier] = ax.plot(
        x[data.frontier],
        y[data.frontier],
        "-o",
        color=colors.ink,
        linewidth=1.2,
        markersize=3.5,
        label="frontier: best for some weight",
    )
    choices = _mark_choices(ax, colors, (x[data.plain], y[data.plain]), (x[data.steady], y[data.steady]))
    ax.set(xlabel=f"instability: change in loss without {splits.left_out}", ylabel=errors.cv_of_what)
    for values, set_limits in ((x[data.in_view], ax.set_xlim), (y[data.in_view], ax.set_ylim)):
        low, high = values.min(), values.max()
        if high > low:
            set_limits(low - 0.05 * (high - low), high + 0.05 * (high - low))
    finish(ax, title_of("frontier", errors))
    return {"candidates": candidates, "frontier": frontier, **choices}


def _draw_weights(
    ax: Any, data: WeightPath, display: StabilityDisplay, colors: Palette
) -> dict[str, Any]:
    errors, splits = display.errors, display.splits
    weight, mean, spread = data.weight, errors.shown(data.mean_error), data.spread
    band = ax.fill_between(
        weight,
        mean - spread,
        mean + spread,
        color=colors.dot,
        alpha=0.25,
        linewidth=0,
        label=f"standard deviation over outer {splits.word}s",
    )
    [line] = ax.plot(
        weight, np.where(np.isfinite(mean), mean, np.nan), "-o", color=colors.ink, markersize=3.5
    )
    positive = weight[weight > 0]
    if len(positive) and weight[0] == 0:
        # Zero has no place on a logarithmic axis: it stands one step below the smallest weight.
        step = np.log10(positive[1] / positive[0]) if len(positive) > 1 else 1.0
        ax.set_xscale("symlog", linthresh=positive[0], linscale=0.9 * step)
    elif len(positive) > 1:
        ax.set_xscale("log")
    plain = (0.0, mean[0]) if weight[0] == 0 else None
    choices = _mark_choices(ax, colors, plain, (weight[data.chosen], mean[data.chosen]))
    if plain is not None:
        choices["plain"].set_label("weight 0: plain choice")
    choices["steady"].set_label(f"chosen weight: {number(weight[data.chosen])}")
    ax.set(xlabel="stability weight", ylabel=errors.on_outer(f"{splits.word}s"))
    finish(ax, title_of("weights", errors))
    return {"line": line, "spread": band, **choices}


def _draw_grid(ax: Any, data: GridErrors, display: StabilityDisplay, colors: Palette) -> dict[str, Any]:
    errors = display.errors
    label = errors.cv_of_what if data.measure == "cv_error" else errors.measure(data.measure)
    if data.others:
        others = literal(", ".join(short_names(data.others).values()))
        label += f"\n{errors.best_of(data.measure)} over {others}"
    if len(data.axes) == 3:
        return _draw_panels(ax, data, label, display, colors)
    if len(data.axes) == 2:
        artists = _draw_heat_map(ax, data, display, colors)
        is_score = errors.is_score and data.measure != "instability"
        _add_colorbar([ax], artists, data, label, is_score=is_score)
        ax.set_title(title_of("grid", errors), pad=28)
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
        return artists
    _set_ticks(ax, ax.xaxis, data.axes[0])
    x, values = data.axes[0].positions, errors.shown_measure(data.measure, data.error)
    style = "-o" if data.axes[0].is_numeric else "o"
    [line] = ax.plot(x, values, style, color=colors.ink, linewidth=1.2, markersize=3.5)
    ax.set(xlabel=literal(short_names([data.axes[0].name])[data.axes[0].name]), ylabel=label)
    plain, steady = (at and (x[at[0]], values[at]) for at in (data.plain, data.steady))
    choices = _mark_choices(ax, colors, plain, steady)
    finish(ax, title_of("grid", errors))
    return {"line": line, **choices}


def _draw_heat_map(
    ax: Any, data: GridErrors, display: StabilityDisplay, colors: Palette
) -> dict[str, Any]:
    errors = display.errors
    names = [literal(name) for name in short_names([axis.name for axis in data.axes]).values()]
    for axis, name, of in zip((ax.xaxis, ax.yaxis), names, data.axes, strict=True):
        _set_ticks(ax, axis, of)
        axis.set_label_text(name)
    is_score = errors.is_score and data.measure != "instability"
    mesh = ax.pcolormesh(
        data.axes[0].edges,
        data.axes[1].edges,
        np.ma.masked_invalid(errors.shown_measure(data.measure, data.error).T),
        cmap=heat_map(colors, is_score=is_score),
        norm=_colours_of(data.ends.low, data.ends.top, is_score=is_score),
        rasterized=True,
    )
    if not np.isfinite(data.error).all():
        ax.patch.set(hatch="////", edgecolor=colors.dot)
    x, y = (axis.positions for axis in data.axes)
    plain, steady = (at and (x[at[0]], y[at[1]]) for at in (data.plain, data.steady))
    return {"mesh": mesh, **_mark_choices(ax, colors, plain, steady, halo=colors.page)}


def _add_colorbar(
    axes: list[Any], artists: dict[str, Any], data: GridErrors, label: str, *, is_score: bool
) -> None:
    """The key of a heat map, or of several that share it."""
    if not np.isfinite(data.error).all():
        label += "\n(hatched: failed or not looked at)"
    _, top, highest = data.ends
    beyond = "neither" if top == highest else "min" if is_score else "max"
    artists["colorbar"] = axes[0].figure.colorbar(artists["mesh"], ax=axes, extend=beyond)
    artists["colorbar"].set_label(label)


def _draw_panels(
    ax: Any, data: GridErrors, label: str, display: StabilityDisplay, colors: Palette
) -> dict[str, Any]:
    """Heat maps side by side, one for each value of the third axis, in the place of one axes."""
    place = ax.get_subplotspec()
    if place is None:
        raise ValueError(
            "Three parameters are drawn side by side in the place of a subplot, and ax is none: pass "
            "one of plt.subplots, or params= with two parameters."
        )
    panels = data.panels()
    n_columns = 2 if len(panels) == 4 else min(3, len(panels))
    n_rows = -(-len(panels) // n_columns)
    if len(ax.figure.axes) == 1:  # a figure of its own
        ax.figure.set_size_inches(2.6 * n_columns + 1.2, 2.3 * n_rows + 0.8)
    grid = place.subgridspec(1 + n_rows, n_columns, height_ratios=[0.16, *[1] * n_rows])
    ax.set_axis_off()
    axes: list[Any] = []
    artists: dict[str, Any] = {"meshes": []}
    for at, panel in enumerate(panels):
        row, column = divmod(at, n_columns)
        each = ax.figure.add_subplot(grid[1 + row, column])
        artists |= _draw_heat_map(each, panel, display, colors)  # a choice is in one of them
        artists["meshes"].append(artists["mesh"])
        each.set_title(literal(panel.where), fontsize="medium")
        if at + n_columns < len(panels):
            each.set_xlabel("")
            each.tick_params(labelbottom=False)
        if column:
            each.set_ylabel("")
            each.tick_params(labelleft=False)
        axes.append(each)
    is_score = display.errors.is_score and data.measure != "instability"
    _add_colorbar(axes, artists, data, label, is_score=is_score)
    head = ax.figure.add_subplot(grid[0, :])
    head.set_axis_off()
    head.set_title(title_of("grid", display.errors))
    marks = [artists[name] for name in ("plain", "steady") if name in artists]
    head.legend(handles=marks, loc="center", ncols=2, frameon=False)
    display.axes_ = axes
    return artists


def _draw_lattice(
    ax: Any, data: LatticeErrors, display: StabilityDisplay, colors: Palette
) -> dict[str, Any]:
    errors = display.errors
    lowest, highest = data.ends
    mesh = ax.pcolormesh(
        np.ma.masked_invalid(errors.shown(data.error)),
        cmap=heat_map(colors, is_score=errors.is_score),
        norm=_colours_of(lowest, highest, is_score=errors.is_score),
        rasterized=True,
    )
    ax.set_facecolor(colors.dot)
    starts = [np.flatnonzero(data.depth == number) for number in range(3)]
    middles = [(some[0] + some[-1] + 1) / 2 for some in starts if len(some)]
    names = [name for name, some in zip(data.names, starts, strict=True) if len(some)]
    for some in starts[1:]:
        if len(some):
            ax.axvline(some[0], color=colors.page, linewidth=3)
    ax.set_xticks(middles, names)
    ax.tick_params(axis="x", length=0)
    ax.set(xlabel="training sets", ylabel="candidates")
    ax.invert_yaxis()
    colorbar = ax.figure.colorbar(mesh, ax=ax)
    colorbar.set_label(f"{errors.noun}{'' if errors.is_score else f' ({errors.name})'}")
    finish(ax, title_of("lattice", errors), legend=False)
    return {"mesh": mesh, "colorbar": colorbar}


def _colours_of(lowest: float, highest: float, *, is_score: bool) -> Any:
    """Errors, or minus them, to shares of the colours.

    The square root leaves more colours for the good candidates, which are the ones to compare.
    """
    from matplotlib.colors import FuncNorm, PowerNorm

    if not is_score:
        return PowerNorm(0.5, vmin=lowest, vmax=highest)
    best = -lowest
    functions = (lambda score: -np.sqrt(np.maximum(best - score, 0)), lambda place: best - place**2)
    room = 0.0 if highest > lowest else abs(best) or 1.0
    return FuncNorm(functions, vmin=-highest - room, vmax=best)


def _mark_choices(
    ax: Any,
    colors: Palette,
    plain: tuple[float, ...] | None,
    steady: tuple[float, ...] | None,
    halo: str | None = None,
) -> dict[str, Any]:
    """A square around the plain choice, a disc on the steady one.

    A point has room for both.
    """
    from matplotlib.patheffects import withStroke

    marks = {}
    if plain is not None:
        [marks["plain"]] = ax.plot(
            *([at] for at in plain),
            "s",
            markersize=11,
            markerfacecolor="none",
            markeredgecolor=colors.plain,
            markeredgewidth=2,
            label="plain choice",
        )
    if steady is not None:
        [marks["steady"]] = ax.plot(
            *([at] for at in steady),
            "o",
            markersize=7,
            color=colors.steady,
            label="steady choice",
        )
    for mark in marks.values():
        mark.set(zorder=5, clip_on=False)
        if halo is not None:
            mark.set_path_effects([withStroke(linewidth=4, foreground=halo)])
    return marks


def _set_ticks(ax: Any, axis: Any, of: Axis) -> None:
    """The values as ticks where they are few, else round numbers."""
    from matplotlib.ticker import MaxNLocator

    if of.scale == "log":
        (ax.set_xscale if axis is ax.xaxis else ax.set_yscale)("log")
    if len(of.values) <= MOST_LABELS or of.scale == "category":
        step = -(-len(of.values) // (3 * MOST_LABELS))
        labels = [literal(value_text(value)) for value in of.values[::step]]
        crowded = axis is ax.xaxis and sum(map(len, labels)) > 50
        axis.set_ticks(of.positions[::step], labels, rotation=45 if crowded else 0)
        axis.set_ticks([], minor=True)
        if crowded:
            for text in axis.get_ticklabels():
                text.set(ha="right", rotation_mode="anchor")
    elif of.scale == "linear":
        whole = all(float(value).is_integer() for value in of.values)
        axis.set_major_locator(MaxNLocator("auto", integer=whole))
