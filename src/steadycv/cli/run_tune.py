"""The run of ``steadycv tune``: what it tells, fits, writes and shows, one after the other."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from steadycv._files import write_whole
from steadycv.cli.columns import worth_of_columns
from steadycv.cli.errors import Interruption, UserError
from steadycv.cli.request import LEDGER
from steadycv.cli.result_files import candidates_csv, results_json
from steadycv.cli.saved_model import (
    TunedModel,
    save_model,
    sorted_residuals,
    versions,
    without_splitter,
)
from steadycv.cli.screen import say, show_results
from steadycv.cli.tuning import fit, prepare, price
from steadycv.model_cards import model_card
from steadycv.report import write_report
from steadycv.report.content import describe
from steadycv.words import number

if TYPE_CHECKING:
    from pathlib import Path

    from steadycv.cli.request import TuneRequest
    from steadycv.cli.tuning import Problem
    from steadycv.report.content import Content
    from steadycv.search import StabilitySearchCV

__all__ = ["make_folder", "run_dry", "run_tune"]

REPORT, RESULTS, JSON, MODEL = "report.html", "results.csv", "results.json", "model.skops"
CARD = "model-card.md"
TIMED = 3  # fits of each model


def run_tune(request: TuneRequest, *, as_json: bool, quiet: bool) -> None:
    """Tune, write the files and show the results."""
    terminal = Console(stderr=True, quiet=quiet)
    watched = terminal.is_terminal and not quiet
    problem = prepare(request)
    if request.mlflow:
        from steadycv.tools.mlflow_runs import reach_mlflow  # few ask for it

        reach_mlflow()
    make_folder(request.out)
    n_told = len(problem.notes) if watched else 0
    for note in problem.notes[:n_told]:
        say(terminal, note)
    try:
        for name in problem.searches:
            if watched:
                say(terminal, _begin(name, request))
            fit(problem, name, progress=watched)
        contents = [describe(search, name) for name, search in problem.searches.items()]
        ranking = _ranked(contents)
        files = _write(problem, ranking)
        if request.mlflow:
            _log(problem, ranking)
    except (KeyboardInterrupt, SystemExit) as stop:
        again = ", given the same standard input" if problem.name == "standard input" else ""
        raise Interruption.by(
            stop,
            f"Interrupted. What is done is kept. To go on{again}: "
            f"{request.command(resume=request.ledger)}",
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
    logged = "; logged to MLflow, too" if request.mlflow else ""
    say(screen, f"In {request.out}: {', '.join(files)}{logged}.")


def run_dry(request: TuneRequest) -> None:
    """Say what tuning would take; nothing is written, and few fits are made, for the time."""
    screen = Console()
    problem = prepare(request)
    for note in problem.notes:
        say(screen, note)
    for name in problem.searches:
        say(screen, f"{name}: {price(problem, name, timed=TIMED)}")
    say(screen, "Nothing is written. Without --dry-run it begins.")


def make_folder(folder: Path) -> None:
    """Make the folder of the results; refused where nothing can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"The folder {folder} cannot be made: {error.strerror}.") from None
    if not os.access(folder, os.W_OK):
        raise UserError(f"Nothing can be written into the folder {folder}.")


def _begin(name: str, request: TuneRequest) -> str:
    ledger = request.ledger_of(name)
    going_on = f"; going on from {ledger}" if ledger.exists() else ""
    return f"{name}: {request.splits}{going_on}."


def _ranked(contents: list[Content]) -> list[Content]:
    """The best model first: by what each promises, or by CV errors where not all do."""
    known = [each.promised.error for each in contents if each.promised.error is not None]
    if len(known) == len(contents):
        errors = dict(zip([each.name for each in contents], known, strict=True))
        return sorted(contents, key=lambda each: errors[each.name])
    return sorted(contents, key=lambda each: each.search.cv_error_)


def _write(problem: Problem, ranking: list[Content]) -> list[str]:
    """Write all files, and return their names."""
    out, best = problem.request.out, ranking[0]
    importance = worth_of_columns(problem, best.search)
    write_report(
        problem.searches,
        out / REPORT,
        data_name=problem.name,
        command=problem.request.command(),
        notes=[problem.facts(f"Splits: {problem.request.splits}."), *problem.hints],
        importance={} if importance is None else {best.name: importance},
    )
    write_whole(out / RESULTS, candidates_csv(ranking).encode())
    write_whole(out / JSON, results_json(problem, ranking).encode())
    model = TunedModel(
        best.name,
        _saved(problem.request, best.search),
        [each.to_dict() for each in problem.readings],
        problem.target.name,
        problem.target.classes,
        versions(),
        problem.request.splits,
        sorted_residuals(best.search),
    )
    save_model(out / MODEL, model)
    card = model_card(
        best.search,
        name=f"{best.name}, predicting {problem.target.name}",
        data=[f"Data: {problem.name}.", problem.facts(f"Splits: {problem.request.splits}.")],
        caveats=[*problem.hints, *_on_saved(problem, best.search)],
        classes=problem.target.classes or None,
    )
    write_whole(out / CARD, card.encode())
    return [REPORT, RESULTS, JSON, CARD, MODEL]


def _on_saved(problem: Problem, search: StabilitySearchCV) -> list[str]:
    """What is to be known of a model that is saved with a threshold."""
    if not _saves_threshold(problem.request, search):
        return []
    second, threshold = problem.target.classes[1], search.threshold_
    return [f"The saved model says {second} from a probability of {number(threshold.value)} on."]


def _saves_threshold(request: TuneRequest, search: StabilitySearchCV) -> bool:
    """Whether a threshold was asked for, and does better than 0.5."""
    return request.tune_threshold and search.threshold_.helps


def _saved(request: TuneRequest, search: StabilitySearchCV) -> Any:
    """The model as it is saved, with a threshold of its own where it is to have one."""
    if not _saves_threshold(request, search):
        return without_splitter(search.best_estimator_)
    model = search.with_threshold()
    model.set_params(estimator=without_splitter(model.estimator), pos_label=1)
    return model


def _log(problem: Problem, ranking: list[Content]) -> None:
    """A run for each model; the best one's is the latest, which is shown first."""
    from steadycv.tools.mlflow_runs import log_to_mlflow

    for content in reversed(ranking):
        log_to_mlflow(
            content.search,
            problem.X,
            name=f"{content.name} on {problem.name}",
            data_name=problem.name,
        )
