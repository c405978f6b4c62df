"""``steadycv tune``: hyperparameters for one's own data."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path  # noqa: TC003  # Typer reads the types
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from steadycv._files import write_whole
from steadycv.candidates import Grid
from steadycv.cli.errors import Interruption, UserError, told_in_one_line
from steadycv.cli.folds import FEWEST_FOLDS
from steadycv.cli.models import MODELS
from steadycv.cli.targets import Task  # noqa: TC001
from steadycv.cli.tuning import AUTO, LEDGER, OUT, Request, fit, prepare

if TYPE_CHECKING:
    from steadycv.cli.tuning import Problem
    from steadycv.report.content import Content
    from steadycv.search import StabilitySearchCV

__all__ = ["tune"]

REPORT, RESULTS, JSON, MODEL = "report.html", "results.csv", "results.json", "model.skops"


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
            metavar="DATA", help="CSV, TSV or Parquet, or - (the diabetes data).", show_default=False
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
    groups: Annotated[
        str | None, _option("Rows with one value stay together.", "COLUMN", _ABOUT)
    ] = None,
    grid: Annotated[Path | None, _option("Values to try, as YAML, JSON or TOML.", "FILE", _HOW)] = None,
    scoring: Annotated[
        str | None, _option("neg_mean_absolute_error, accuracy, ...", "NAME", _HOW)
    ] = None,
    weights: Annotated[str, _option("Stability weights, as 0,0.1,1 (auto).", "NUMBERS", _HOW)] = AUTO,
    search: Annotated[Search, _option("grid or coordinate (grid).", "NAME", _HOW)] = Search.grid,
    folds: Annotated[int, _option("Number of folds (5).", "N", _HOW, min=FEWEST_FOLDS)] = 5,
    repeats: Annotated[int, _option("How often to draw new folds (1).", "N", _HOW, min=1)] = 1,
    seed: Annotated[int, _option("Of folds and models (0).", "N", _HOW, min=0)] = 0,
    jobs: Annotated[int, _option("Processes at a time (1).", "N", _HOW, min=1)] = 1,
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

    Writes a report, all results and the fitted model. Without arguments: a decision tree on the diabetes
    data that come along.
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
            groups=groups,
            grid=grid,
            scoring=scoring,
            weights=weights,
            search=search.value,
            folds=folds,
            repeats=repeats,
            seed=seed,
            jobs=jobs,
            out=out,
            resume=resume,
        )
        _tune(request, as_json=as_json, quiet=quiet)


def _tune(request: Request, *, as_json: bool, quiet: bool) -> None:
    from steadycv.cli.result_files import results_json
    from steadycv.cli.screen import say, show_results
    from steadycv.report.content import describe

    terminal = Console(stderr=True, quiet=quiet)
    watched = terminal.is_terminal and not quiet
    problem = prepare(request)
    _make(request.out)
    n_told = len(problem.notes) if watched else 0
    for note in problem.notes[:n_told]:
        say(terminal, note)
    try:
        for name, search in problem.searches.items():
            if watched:
                say(terminal, _begin(name, search, request))
            fit(problem, name, progress=watched)
        contents = [describe(search, name) for name, search in problem.searches.items()]
        ranking = sorted(contents, key=lambda each: each.search.nested_error_)
        files = _write(problem, ranking)
    except KeyboardInterrupt:
        again = ", given the same standard input" if problem.name == "standard input" else ""
        raise Interruption(
            f"Interrupted. What is done is kept. To go on{again}: "
            f"{request.command(resume=request.ledger)}"
        ) from None
    if request.ledger == request.out / LEDGER:  # a file that the user named is kept
        for name in problem.searches:
            request.ledger_of(name).unlink(missing_ok=True)
    if as_json:
        typer.echo(results_json(problem, ranking), nl=False)
    screen = Console(quiet=quiet or as_json)
    for note in problem.notes[n_told:]:
        say(screen, note)
    show_results(screen, problem, ranking)
    say(screen, f"In {request.out}: {', '.join(files)}.")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"The folder {folder} cannot be made: {error.strerror}.") from None
    if not os.access(folder, os.W_OK):
        raise UserError(f"Nothing can be written into the folder {folder}.")


def _begin(name: str, search: StabilitySearchCV, request: Request) -> str:
    repeats = f", {request.repeats} times" if request.repeats > 1 else ""
    ledger = request.ledger_of(name)
    going_on = f"; going on from {ledger}" if ledger.exists() else ""
    n_candidates = len(Grid(search.param_grid))
    return f"{name}: {n_candidates} candidates, {request.folds} folds{repeats}{going_on}."


def _write(problem: Problem, ranking: list[Content]) -> list[str]:
    """Write all files, and return their names."""
    from steadycv.cli.result_files import candidates_csv, results_json
    from steadycv.cli.saved_model import TunedModel, save_model, versions
    from steadycv.report import write_report

    out, best = problem.request.out, ranking[0]
    write_report(
        problem.searches,
        out / REPORT,
        data_name=problem.name,
        command=problem.request.command(),
        notes=[" ".join([f"Predicted: {problem.target.name}.", *problem.notes])],
    )
    write_whole(out / RESULTS, candidates_csv(ranking).encode())
    write_whole(out / JSON, results_json(problem, ranking).encode())
    model = TunedModel(
        best.name,
        best.search.best_estimator_,
        problem.columns.numeric,
        problem.columns.text,
        problem.target.name,
        problem.target.classes,
        versions(),
    )
    save_model(out / MODEL, model)
    return [REPORT, RESULTS, JSON, MODEL]
