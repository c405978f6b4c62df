"""Options that commands on a table have in common; each takes one line of the help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from steadycv.cli.errors import UserError
from steadycv.cli.request import FEWEST_FOLDS, Task
from steadycv.model_catalogue import MODELS

__all__ = [
    "ABOUT",
    "HOW",
    "WHAT",
    "AsJson",
    "Data",
    "Folds",
    "Grid",
    "Groups",
    "Jobs",
    "Keep",
    "MergeRare",
    "Model",
    "Quiet",
    "Scoring",
    "Seed",
    "Table",
    "Target",
    "TaskOption",
    "Time",
    "complete_model",
    "flag",
    "listed",
    "models",
    "option",
]

ABOUT = "Data and models"
HOW = "How to search"
WHAT = "What comes out"


def option(help_text: str, metavar: str, panel: str, **more: Any) -> Any:
    """An option with a value."""
    return typer.Option(
        metavar=metavar, help=help_text, show_default=False, rich_help_panel=panel, **more
    )


def flag(name: str, help_text: str, panel: str) -> Any:
    """An option without one."""
    return typer.Option(name, metavar="", help=help_text, rich_help_panel=panel)


def complete_model(incomplete: str) -> list[str]:
    """The names of models that go on what was typed, after those that are whole."""
    done, _, begun = incomplete.rpartition(",")
    return [f"{done},{name}".lstrip(",") for name in MODELS if name.startswith(begun)]


Data: TypeAlias = Annotated[
    Path | None,
    typer.Argument(
        metavar="DATA",
        help="CSV, Excel, Parquet, SQLite, ..., or - (the diabetes data).",
        show_default=False,
    ),
]
Target: TypeAlias = Annotated[str | None, option("The column to predict.", "COLUMN", ABOUT)]
Model: TypeAlias = Annotated[
    list[str],
    option(
        f"Several are compared: {', '.join(MODELS)} (cart).",
        "NAME",
        ABOUT,
        autocompletion=complete_model,
    ),
]
TaskOption: TypeAlias = Annotated[
    Task | None, option("classification or regression (found by the target).", "KIND", ABOUT)
]
Table: TypeAlias = Annotated[str | None, option("Sheet or table of DATA, or a SELECT.", "NAME", ABOUT)]
Keep: TypeAlias = Annotated[list[str], option("Use a column that would be left out.", "COLUMN", ABOUT)]
MergeRare: TypeAlias = Annotated[bool, flag("--merge-rare", "Put rare classes into one.", ABOUT)]
Groups: TypeAlias = Annotated[str | None, option("Rows with one value stay together.", "COLUMN", ABOUT)]
Time: TypeAlias = Annotated[
    str | None, option("Train on what came before, try on what came after.", "COLUMN", ABOUT)
]
Grid: TypeAlias = Annotated[Path | None, option("Values to try, as YAML, JSON or TOML.", "FILE", HOW)]
Scoring: TypeAlias = Annotated[str | None, option("roc_auc, neg_mean_absolute_error, ...", "NAME", HOW)]
Folds: TypeAlias = Annotated[int, option("Number of folds (5).", "N", HOW, min=FEWEST_FOLDS)]
Seed: TypeAlias = Annotated[int, option("Of folds and models (0).", "N", HOW, min=0)]
Jobs: TypeAlias = Annotated[int, option("Processes at a time (1).", "N", HOW, min=1)]
AsJson: TypeAlias = Annotated[bool, flag("--json", "Print the results as JSON.", WHAT)]
Quiet: TypeAlias = Annotated[bool, flag("--quiet", "Print nothing but errors.", WHAT)]


def models(given: list[str]) -> tuple[str, ...]:
    """The names in a list of lists of models, each once."""
    if not (names := listed(given)):
        raise UserError(f"--model needs a name: {', '.join(MODELS)}.")
    return names


def listed(given: list[str]) -> tuple[str, ...]:
    """What options have, given once with commas or several times."""
    names = (name.strip() for part in given for name in part.split(","))
    return tuple(dict.fromkeys(name for name in names if name))
