"""The work of ``steadycv tune``: from what the user asked for to fitted searches."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.exceptions import ConvergenceWarning, FitFailedWarning

from steadycv.cli.errors import UserError
from steadycv.cli.folds import fewest_rows, find_folds, find_groups, forward_in_time
from steadycv.cli.grids import check_grid, read_grids
from steadycv.cli.pipelines import behind, default_grid, find_model
from steadycv.cli.request import AUTO, Request
from steadycv.cli.scorings import check_scoring
from steadycv.cli.standard_input import comes_by_a_pipe
from steadycv.cli.time_order import sorted_by_time
from steadycv.failures import HOW_TO_SEE_ALL
from steadycv.rules import CHOOSE_WEIGHT, HAVE_WEIGHT
from steadycv.search import StabilitySearchCV
from steadycv.tables import hints
from steadycv.tables.files import STANDARD_INPUT, name_of, read_file
from steadycv.tables.remarks import remarks
from steadycv.tables.table import find_used
from steadycv.tables.targets import Target, features_and_target
from steadycv.weights import FEWEST_VIEWS

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from steadycv.model_catalogue import CatalogueModel
    from steadycv.tables.readings import Reading

__all__ = ["Problem", "fit", "prepare"]


@dataclass(frozen=True)
class Problem:
    """What is to be done: the data, and a search for each model."""

    request: Request
    name: str
    X: Any
    readings: list[Reading]
    target: Target
    groups: Any
    searches: dict[str, StabilitySearchCV]
    notes: list[str]
    hints: list[str]  # those of the notes that say what to look at before the result is believed


def prepare(request: Request) -> Problem:
    """Read everything that the request names, and refuse what cannot be done."""
    _check_options(request)
    name, frame, target_name, about = _data(request)
    frame, notes = _in_order(frame, request, target_name)
    groups = None
    if request.groups is not None:
        groups = find_groups(frame, request.groups)
        frame = frame.drop(columns=request.groups)
        notes = [f"Rows with the same {request.groups} stay together in a fold."]
    features, target = features_and_target(
        frame,
        target_name,
        None if request.task is None else request.task.value,
        rare_below=request.folds if request.merge_rare else 0,
    )
    if request.merge_rare and not target.classes:
        raise UserError(f"--merge-rare is for classes, and {target_name!r} has numbers.")
    X, readings = find_used(features, request.keep)
    hinted = hints.leaks(X, readings, target)
    if request.time is None and groups is None:
        hinted += hints.order(features, readings, target)
    models = {each: find_model(each, target.task) for each in request.model}
    pipelines = {each: _pipeline(readings, model, target, request) for each, model in models.items()}
    if request.scoring is not None:
        check_scoring(request.scoring, target, pipelines)
    splitter = (
        find_folds(target, groups, request.folds, request.repeats, request.seed)
        if request.time is None
        else forward_in_time(target, request.folds)
    )
    n_fewest = fewest_rows(len(X), request.folds, in_time=request.time is not None)
    grids = {} if request.grid is None else read_grids(request.grid, request.model)
    searches = {
        each: StabilitySearchCV(
            pipelines[each],
            check_grid(each, pipelines[each], grids[each])
            if each in grids
            else default_grid(model, target.task, X, target.y, n_fewest),
            scoring=request.scoring,
            stability_weights=_weights(request.weights),
            rule=request.rule.value,
            deliver=request.deliver.value,
            search=request.search,
            cv=splitter,
            n_jobs=request.jobs,
            ledger=str(request.ledger_of(each)),
        )
        for each, model in models.items()
    }
    notes = [*about, *remarks(readings), *target.notes, *notes, *hinted]
    if request.grid is not None:
        without = [each for each in models if each not in grids]
        notes += [f"{request.grid} has no grid for {each}: it has its default one." for each in without]
    return Problem(request, name, X, readings, target, groups, searches, notes, hinted)


def _check_options(request: Request) -> None:
    """Refuse options that do not go together, before anything is read."""
    if request.seed >= 2**32:
        raise UserError(f"--seed must be below 2**32, got {request.seed}.")
    if request.rule not in CHOOSE_WEIGHT and request.weights != AUTO:
        raise UserError(f"--rule {request.rule} chooses among no weights: leave out --weights.")
    if request.rule not in HAVE_WEIGHT and request.search != "grid":
        raise UserError(f"--rule {request.rule} compares all candidates: leave out --search.")
    if request.time is not None and request.deliver != "model" and request.folds <= FEWEST_VIEWS:
        raise UserError(
            f"--deliver {request.deliver} is judged by {FEWEST_VIEWS} splits that have others before "
            f"them: use --folds {FEWEST_VIEWS + 1} or more."
        )


def _in_order(frame: Any, request: Request, target: str) -> tuple[Any, list[str]]:
    """The rows, sorted if they are to be split forward in time."""
    for what, column in (("groups", request.groups), ("time", request.time)):
        if column is not None and column == target:
            raise UserError(f"The {what} and the target are the same column, {target!r}.")
    if request.time is None:
        return frame, []
    for option in ("groups", "repeats"):
        if getattr(request, option) != getattr(Request, option):
            raise UserError(
                f"--time and --{option} do not go together: there is one way to split forward in time."
            )
    return sorted_by_time(frame, request.time)


def _pipeline(
    readings: list[Reading], model: CatalogueModel, target: Target, request: Request
) -> Pipeline:
    pipeline = behind(readings, model, target.task)
    if "random_state" in pipeline.named_steps["model"].get_params():
        pipeline.set_params(model__random_state=request.seed)
    return pipeline


def fit(problem: Problem, name: str, *, progress: bool) -> None:
    """Fit the search of a model."""
    search = problem.searches[name].set_params(verbose=int(progress))
    params = {} if problem.groups is None else {"groups": problem.groups}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("always", FitFailedWarning)
        warnings.filterwarnings("ignore", message="The promise is")  # told with it
        if problem.request.jobs > 1:  # other processes would print theirs
            warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            search.fit(problem.X, problem.target.y, **params)
        except (ValueError, TypeError) as error:
            raise UserError(f"{name}: {_reason(error)}") from error
    problem.notes.extend(f"{name}: {note}" for note in _in_words(caught))


def _data(request: Request) -> tuple[str, Any, str, list[str]]:
    """The name of the data, the table, the target, and what is to be told of the file."""
    data, target = request.data, request.target
    if data is None and comes_by_a_pipe(surely=target is not None):
        data = STANDARD_INPUT
    if data is None:
        return "diabetes", _diabetes(), target or "progression", []
    frame, about = read_file(data, request.table)
    if target is None:
        names = list(frame.columns)
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        raise UserError(
            f"Name the column to predict with --target: {', '.join(names[:10])}{more} are there."
        )
    return Path(name_of(data)).name, frame, target, about


def _diabetes() -> Any:
    from sklearn.datasets import load_diabetes

    return load_diabetes(as_frame=True, scaled=False).frame.rename(columns={"target": "progression"})


def _weights(text: str) -> str | list[float]:
    if text == AUTO:
        return AUTO
    try:
        weights = [float(part) for part in text.split(",")]
    except ValueError:
        weights = [math.nan]
    if not all(math.isfinite(weight) and weight >= 0 for weight in weights):
        raise UserError(f"--weights must be 'auto' or numbers from 0 on, as in 0,0.1,1; got {text!r}.")
    return weights


def _reason(error: Exception) -> str:
    """An error of a search in one line."""
    text = str(error)
    if "fits failed" in text:
        return f"No candidate could be fitted. {_lines(text)[-1]}"
    for words in ("Pass another path as ledger=", "pass another path as ledger="):
        text = text.replace(words, f"{'N' if words[0] == 'P' else 'n'}ame another --resume or --out")
    return text


def _in_words(caught: list[warnings.WarningMessage]) -> list[str]:
    """What the warnings of a search say, each kind once."""
    others = [each for each in caught if not issubclass(each.category, ConvergenceWarning)]
    lines = [_lines(str(each.message)) for each in others]
    notes = list(dict.fromkeys(" ".join(dict.fromkeys((some[0], some[-1]))) for some in lines))
    if len(others) < len(caught):
        notes.append(f"{len(caught) - len(others)} fits stopped before they had converged.")
    return notes


def _lines(text: str) -> list[str]:
    """The lines of a message but the one for those who write Python."""
    return [line for line in text.strip().splitlines() if line.strip() and line != HOW_TO_SEE_ALL]
