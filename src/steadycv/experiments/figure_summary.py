"""What the results of a figure say: the heat maps, and what cross-validation's choice costs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv.experiments import paper
from steadycv.experiments.figures import COLUMNS, FIGURES, KEY, SETTINGS, STANDARDISATIONS
from steadycv.experiments.result_file import read_frame
from steadycv.experiments.sheets import Sheet

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["draw_figure", "read_figure", "summarize_figure"]

WORDS = {"before": "before splitting, as the paper", "inside": "inside each training set"}


def read_figure(path: Path) -> Any:
    """The rows of a figure's result file, as a data frame."""
    return read_frame(path, KEY, COLUMNS)


def summarize_figure(figure: str, rows: Any) -> Sheet:
    """How the setting with the lowest cross-validation error does on test data, over all seeds."""
    table: list[tuple[str, ...]] = []
    for setting, (n, p) in SETTINGS.items():
        for how in STANDARDISATIONS:
            some = rows[(rows["setting"] == setting) & (rows["standardisation"] == how)]
            if some.empty:
                continue
            chosen = some.loc[some.groupby("seed")["cv_error"].idxmin()].set_index("seed")
            excess = chosen["test_error"] / some.groupby("seed")["test_error"].min() - 1
            promised = chosen["cv_error"] / chosen["test_error"]
            printed = paper.EXCESS[figure, setting] if how == "before" else float("nan")
            table.append(
                (
                    f"{n} x {p}",
                    how,
                    str(len(chosen)),
                    "-" if np.isnan(printed) else f"{printed:.1%}",
                    f"{excess.median():.1%}",
                    f"{excess.quantile(0.25):.1%} to {excess.quantile(0.75):.1%}",
                    f"{promised.median():.2g}",
                    f"{promised.quantile(0.25):.2g} to {promised.quantile(0.75):.2g}",
                )
            )
    header = (
        *("n x p", "scaling", "seeds", "excess: paper, one seed", "ours, median", "quartiles"),
        *("promised / test error, median", "quartiles"),
    )
    notes = [
        "Scaling: standardised before splitting, as in the paper, or inside each training set.",
        "Excess: how far the test error of the setting with the lowest cross-validation error is above "
        "the lowest test error of all settings.",
    ]
    title = f"{_title(figure)}: what {FIGURES[figure]} cross-validation chooses"
    return Sheet(title, header, table, notes)


def draw_figure(figure: str, rows: Any, folder: Path) -> dict[str, Path]:
    """Draw the heat maps, one picture for each way to standardise.

    Parameters
    ----------
    figure : {"figure1", "figure2"}
        Which.
    rows : data frame
        Its results.
    folder : Path
        Where the pictures are put, as PNG files.

    Returns
    -------
    files : dict of str to Path
        The pictures, by the way to standardise.
    """
    try:
        pyplot = import_module("matplotlib.pyplot")
        colors = import_module("matplotlib.colors")
    except ImportError as error:
        raise ImportError("Heat maps are drawn by matplotlib: pip install matplotlib.") from error
    files = {}
    for how in STANDARDISATIONS:
        some = rows[rows["standardisation"] == how]
        settings = [setting for setting in SETTINGS if (some["setting"] == setting).any()]
        if not settings:
            continue
        picture, axes = pyplot.subplots(
            len(settings), 2, figsize=(9, 3.4 * len(settings)), squeeze=False, layout="constrained"
        )
        for setting, line in zip(settings, axes, strict=True):
            some_rows = some[some["setting"] == setting]
            n_seeds = some_rows["seed"].nunique()
            for column, ax in zip(("cv_error", "test_error"), line, strict=True):
                name = FIGURES[figure] if column == "cv_error" else "test"
                values = _geometric_mean(some_rows, column)
                mesh = ax.pcolormesh(
                    values.columns, values.index, values, norm=colors.LogNorm(), cmap="viridis"
                )
                best = np.unravel_index(values.to_numpy().argmin(), values.shape)
                ax.plot(values.columns[best[1]], values.index[best[0]], "x", color="red", mew=2)
                ax.set(xscale="log", xlabel="gamma", ylabel="sparsity", yticks=values.index)
                n, p = SETTINGS[setting]
                seeds = f"{n_seeds} seed{'s' if n_seeds != 1 else ''}"
                ax.set_title(f"{name} error, n = {n}, p = {p}, {seeds}")
                low, high = mesh.get_clim()
                ticks = np.geomspace(low, high, 5)
                picture.colorbar(mesh, ax=ax, ticks=ticks, format="{x:.2g}").minorticks_off()
        picture.suptitle(
            f"{_title(figure)}: errors over the variance of y, geometric mean over seeds,\n"
            f"standardised {WORDS[how]}; x: the lowest"
        )
        files[how] = folder / f"{figure}-{how}.png"
        # Without the date and version, so that the same results give the same file.
        picture.savefig(files[how], dpi=110, metadata={"Software": None})
        pyplot.close(picture)
    return files


def _title(figure: str) -> str:
    return f"Figure {figure[-1]}"


def _geometric_mean(rows: Any, column: str) -> Any:
    """The mean over seeds, sparsities down and gammas across."""
    logs = rows.assign(log=np.log(rows[column]))
    return np.exp(logs.pivot_table("log", "sparsity", "gamma"))
