"""The run of ``steadycv reproduce``: a table or figure of the paper, beside the paper's figures."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from rich.console import Console

from steadycv import datasets as data_sets
from steadycv.cli.errors import UserError, told_in_one_line
from steadycv.experiments import pages
from steadycv.experiments.figure_summary import draw_figure, read_figure, summarize_figure
from steadycv.experiments.figures import N_SEEDS, run_figure
from steadycv.experiments.result_file import WrongResultsError
from steadycv.experiments.summary import read_results, summarize_shortly, summarize_table
from steadycv.experiments.table_runs import run_table
from steadycv.experiments.tables import TABLES

if TYPE_CHECKING:
    from pathlib import Path

    from steadycv.experiments.sheets import Sheet

__all__ = ["run_reproduce"]


def run_reproduce(
    name: str,
    *,
    splits: int | None,
    datasets: str | None,
    models: str | None,
    jobs: int,
    seed: int | None,
    out: Path,
    run: bool,
    docs: Path | None,
) -> None:
    """Run a table or figure unless what is stored will do, show it and put it into a page."""
    with told_in_one_line(WrongResultsError, pages.PageError):
        path = out / f"{name}.csv"
        pictures: dict[str, Path] = {}
        if name in TABLES:
            chosen = (_names(datasets), _names(models))
            sheets = _table(name, path, splits, *chosen, jobs=jobs, seed=seed, run=run)
        else:
            if datasets or models or seed is not None:
                raise UserError("--datasets, --models and --seed are for tables: figures have none.")
            if run:
                run_figure(name, path, n_seeds=splits or N_SEEDS, jobs=jobs, progress=True)
            rows = read_figure(_existing(path))
            rows = rows if splits is None else rows[rows["seed"] < splits]
            _some(rows, path)
            sheets = [summarize_figure(name, rows)]
            pictures = draw_figure(name, rows, docs.parent if docs else out)
        console = Console()
        for sheet in sheets:
            console.print(sheet.to_rich(console.width))
        for file in (path, *pictures.values()):
            console.print(f"Results: {file}", markup=False, highlight=False)
        if docs:
            parts = [sheet.to_markdown() for sheet in sheets]
            parts += [f"![{name}, standardised {how}]({file.name})" for how, file in pictures.items()]
            texts = {name: "\n\n".join(parts)}
            stored = {t: out / f"{t}.csv" for t in TABLES if (out / f"{t}.csv").exists()}
            if name in stored:
                short = summarize_shortly(TABLES, {t: read_results(file) for t, file in stored.items()})
                texts["in short"] = short.to_markdown()
            pages.fill(docs, texts)


def _table(
    name: str,
    path: Path,
    splits: int | None,
    datasets: list[str] | None,
    models: list[str] | None,
    *,
    jobs: int,
    seed: int | None,
    run: bool,
) -> list[Sheet]:
    table = TABLES[name]
    _check(datasets, list(data_sets.NAMES), "data set")
    _check(models, [model.name for model in table.models], "model")
    if run:
        run_table(
            table,
            path,
            n_splits=splits,
            names=datasets,
            models=models,
            seed=seed or 0,
            jobs=jobs,
            progress=True,
        )
    results = read_results(_existing(path))
    results = results.only(datasets=datasets, models=models, n_splits=splits, seed=seed)
    _some(results.frame, path)
    return summarize_table(table, results)


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _check(names: list[str] | None, known: list[str], what: str) -> None:
    unknown = [name for name in names or () if name not in known]
    if unknown or names == []:
        raise UserError(f"There is no {what} {', '.join(unknown)!r}. There are {', '.join(known)}.")


def _some(rows: Any, path: Path) -> None:
    if rows.empty:
        raise UserError(f"{os.fspath(path)!r} has no results of what was asked for.")


def _existing(path: Path) -> Path:
    if not path.exists():
        raise UserError(
            f"There are no results in {os.fspath(path)!r}. Run without --summary-only first."
        )
    return path
