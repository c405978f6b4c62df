"""``steadycv tune``: hyperparameters for one's own data."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path  # noqa: TC003  # Typer reads the types
from typing import Annotated, Any

import typer

from steadycv.cli.errors import UserError, told_in_one_line
from steadycv.cli.interruption import interruptible
from steadycv.cli.request import AUTO, FEWEST_FOLDS, OUT, Deliver, Request, Rule, Task
from steadycv.model_catalogue import MODELS

__all__ = ["tune"]


class Search(StrEnum):
    """How the grid is searched."""

    grid = "grid"
    coordinate = "coordinate"


def _complete_model(incomplete: str) -> list[str]:
    done, _, begun = incomplete.rpartition(",")
    return [f"{done},{name}".lstrip(",") for name in MODELS if name.startswith(begun)]


_ABOUT = "Data and models"
_HOW = "How to search"
_WHAT = "What comes out"


def _option(help_text: str, metavar: str, panel: str, **limits: Any) -> Any:
    """An option that takes one line of the help."""
    return typer.Option(
        metavar=metavar, help=help_text, show_default=False, rich_help_panel=panel, **limits
    )


def tune(
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA",
            help="CSV, Excel, Parquet, SQLite, ..., or - (the diabetes data).",
            show_default=False,
        ),
    ] = None,
    target: Annotated[str | None, _option("The column to predict.", "COLUMN", _ABOUT)] = None,
    model: Annotated[
        list[str],
        typer.Option(
            metavar="NAME",
            help=f"Several are compared: {', '.join(MODELS)} (cart).",
            autocompletion=_complete_model,
            show_default=False,
            rich_help_panel=_ABOUT,
        ),
    ] = ["cart"],  # noqa: B006  # Typer reads it, nobody changes it
    task: Annotated[
        Task | None, _option("classification or regression (found by the target).", "KIND", _ABOUT)
    ] = None,
    table: Annotated[str | None, _option("Sheet or table of DATA, or a SELECT.", "NAME", _ABOUT)] = None,
    keep: Annotated[list[str], _option("Use a column that would be left out.", "COLUMN", _ABOUT)] = [],  # noqa: B006
    merge_rare: Annotated[
        bool,
        typer.Option(
            "--merge-rare", metavar="", help="Put rare classes into one.", rich_help_panel=_ABOUT
        ),
    ] = False,
    groups: Annotated[
        str | None, _option("Rows with one value stay together.", "COLUMN", _ABOUT)
    ] = None,
    time: Annotated[
        str | None, _option("Train on what came before, try on what came after.", "COLUMN", _ABOUT)
    ] = None,
    grid: Annotated[Path | None, _option("Values to try, as YAML, JSON or TOML.", "FILE", _HOW)] = None,
    scoring: Annotated[
        str | None, _option("roc_auc, neg_mean_absolute_error, ...", "NAME", _HOW)
    ] = None,
    weights: Annotated[str, _option("Stability weights, as 0,0.1,1 (auto).", "NUMBERS", _HOW)] = AUTO,
    rule: Annotated[
        Rule, _option("steady, paper, plain or one_standard_error (steady).", "NAME", _HOW)
    ] = Rule.steady,
    search: Annotated[Search, _option("grid or coordinate (grid).", "NAME", _HOW)] = Search.grid,
    folds: Annotated[int, _option("Number of folds (5).", "N", _HOW, min=FEWEST_FOLDS)] = 5,
    repeats: Annotated[int, _option("How often to draw new folds (1).", "N", _HOW, min=1)] = 1,
    seed: Annotated[int, _option("Of folds and models (0).", "N", _HOW, min=0)] = 0,
    jobs: Annotated[int, _option("Processes at a time (1).", "N", _HOW, min=1)] = 1,
    deliver: Annotated[
        Deliver, _option("model, committee, ensemble or student (model).", "NAME", _WHAT)
    ] = Deliver.model,
    out: Annotated[Path, _option(f"Folder of the results ({OUT}).", "DIR", _WHAT)] = OUT,
    resume: Annotated[Path | None, _option("Ledger to keep, and to go on from.", "FILE", _WHAT)] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", metavar="", help="Print the results as JSON.", rich_help_panel=_WHAT),
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", metavar="", help="Print nothing but errors.", rich_help_panel=_WHAT),
    ] = False,
) -> None:
    """Choose hyperparameters that are steady, and say what to expect on new data.

    Writes a report, all results and the fitted model. Without DATA: a tree on diabetes data.
    """
    with told_in_one_line():
        names = [name.strip() for part in model for name in part.split(",") if name.strip()]
        if not names:
            raise UserError(f"--model needs a name: {', '.join(MODELS)}.")
        request = Request(
            data=data,
            target=target,
            model=tuple(dict.fromkeys(names)),
            task=task,
            table=table,
            keep=tuple(keep),
            merge_rare=merge_rare,
            groups=groups,
            time=time,
            grid=grid,
            scoring=scoring,
            weights=weights,
            rule=rule,
            deliver=deliver,
            search=search.value,
            folds=folds,
            repeats=repeats,
            seed=seed,
            jobs=jobs,
            out=out,
            resume=resume,
        )
        from steadycv.cli.run_tune import run_tune

        with interruptible():
            run_tune(request, as_json=as_json, quiet=quiet)
