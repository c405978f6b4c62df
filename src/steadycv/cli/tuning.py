"""The work of ``steadycv tune``: from what the user asked for to fitted searches."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

from sklearn.exceptions import ConvergenceWarning, FitFailedWarning

from steadycv.cli.errors import UserError
from steadycv.cli.folds import fewest_rows, find_folds, forward_in_time
from steadycv.cli.preparing import Prepared, prepared
from steadycv.cli.request import AUTO, TuneRequest
from steadycv.failures import HOW_TO_SEE_ALL
from steadycv.rules import CHOOSE_WEIGHT, HAVE_WEIGHT
from steadycv.search import StabilitySearchCV

__all__ = ["Problem", "fit", "prepare", "reason"]


@dataclass(frozen=True)
class Problem(Prepared):
    """The same, with a search for each model."""

    request: TuneRequest
    searches: dict[str, StabilitySearchCV]


def prepare(request: TuneRequest) -> Problem:
    """Read everything that the request names, and refuse what cannot be done."""
    _check_options(request)
    found = prepared(request)
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
