"""The work of ``steadycv tune``: from what the user asked for to fitted searches."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn.exceptions import ConvergenceWarning, FitFailedWarning

from steadycv.cli.errors import UserError
from steadycv.cli.folds import fewest_rows, find_folds, forward_in_time
from steadycv.cli.preparing import Prepared, prepared
from steadycv.cli.request import AUTO, TuneRequest
from steadycv.cli.scorings import check_threshold
from steadycv.failures import HOW_TO_SEE_ALL
from steadycv.grid_edges import widened
from steadycv.rules import CHOOSE_WEIGHT, HAVE_WEIGHT
from steadycv.search import StabilitySearchCV

if TYPE_CHECKING:
    from steadycv.prices import Price

__all__ = ["Problem", "fit", "prepare", "price", "reason"]

MOST_WIDENINGS = 3


@dataclass(frozen=True)
class Problem(Prepared):
    """The same, with a search for each model."""

    request: TuneRequest
    searches: dict[str, StabilitySearchCV]

    @property
    def fit_params(self) -> dict[str, Any]:
        """What a fit is given besides the data."""
        return {} if self.groups is None else {"groups": self.groups}


def prepare(request: TuneRequest) -> Problem:
    """Read everything that the request names, and refuse what cannot be done."""
    _check_options(request)
    found = prepared(request)
    if request.tune_threshold:
        pipelines = {name: model.pipeline for name, model in found.models.items()}
        check_threshold(request.scoring, found.target, pipelines)
    X, target = found.X, found.target
    splitter = (
        find_folds(target, found.groups, request.folds, request.repeats, request.seed)
        if request.time is None
        else forward_in_time(target, request.folds)
    )
    n_fewest = fewest_rows(len(X), request.folds, in_time=request.time is not None)
    searches = {
        name: StabilitySearchCV(
            model.pipeline,
            model.grid(target, X, target.y, n_fewest),
            scoring=request.scoring,
            stability_weights=_weights(request.weights),
            rule=request.rule.value,
            deliver=request.deliver.value,
            search=request.search,
            cv=splitter,
            n_jobs=request.jobs,
            ledger=str(request.ledger_of(name)),
        )
        for name, model in found.models.items()
    }
    return Problem(**vars(found), searches=searches)


def _check_options(request: TuneRequest) -> None:
    """Refuse options that do not go together, before anything is read."""
    if request.rule not in CHOOSE_WEIGHT and request.weights != AUTO:
        raise UserError(f"--rule {request.rule} chooses among no weights: leave out --weights.")
    if request.rule not in HAVE_WEIGHT and request.search != "grid":
        raise UserError(f"--rule {request.rule} compares all candidates: leave out --search.")


def price(problem: Problem, name: str, *, timed: int) -> Price:
    """What the search of a model takes."""
    try:
        return problem.searches[name].price(
            problem.X, problem.target.y, timed=timed, **problem.fit_params
        )
    except (ValueError, TypeError) as error:
        raise UserError(f"{name}: {reason(error)}") from error


def fit(problem: Problem, name: str, *, progress: bool) -> None:
    """Fit the search of a model, and again on wider grids where that was asked for."""
    search = problem.searches[name].set_params(verbose=int(progress))
    _fit(problem, name)
    for _ in range(MOST_WIDENINGS if problem.request.widen else 0):
        steep = [edge for edge in search.edges_ if not edge.is_flat]
        if not steep:
            break
        told = " and ".join(f"{edge.words}, so {edge.values} were tried as well" for edge in steep)
        problem.notes.append(f"{name}: {told}.")
        search.set_params(param_grid=widened(search.param_grid, search.best_params_, steep))
        _fit(problem, name)


def _fit(problem: Problem, name: str) -> None:
    search = problem.searches[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("always", FitFailedWarning)
        warnings.filterwarnings("ignore", message="The promise is")  # told with it
        if problem.request.jobs > 1:  # other processes would print theirs
            warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            search.fit(problem.X, problem.target.y, **problem.fit_params)
        except (ValueError, TypeError) as error:
            raise UserError(f"{name}: {reason(error)}") from error
    problem.notes.extend(f"{name}: {note}" for note in _in_words(caught))


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


def reason(error: Exception) -> str:
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
