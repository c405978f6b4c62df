"""The work of ``steadycv tune``: from what the user asked for to fitted searches."""

from __future__ import annotations

import math
import shlex
import warnings
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.exceptions import ConvergenceWarning, FitFailedWarning

from steadycv.cli.data_files import STANDARD_INPUT, comes_by_a_pipe, name_of, read_table
from steadycv.cli.errors import UserError
from steadycv.cli.folds import find_folds, find_groups
from steadycv.cli.grids import check_grid, read_grids
from steadycv.cli.models import find_model
from steadycv.cli.preparation import Columns, find_columns
from steadycv.cli.targets import Target, Task, features_and_target
from steadycv.scoring import SCORES_OF_LOSSES
from steadycv.search import StabilitySearchCV

if TYPE_CHECKING:
    from steadycv.cli.models import ModelChoice

__all__ = ["Problem", "Request", "fit", "prepare"]

OUT = Path("steadycv-results")
LEDGER = "ledger.sqlite"
AUTO = "auto"

_SCORES_OF_CLASSES = ("neg_log_loss", "accuracy", "neg_brier_score")
_SCORES = {
    Task.classification: _SCORES_OF_CLASSES,
    Task.regression: tuple(name for name in SCORES_OF_LOSSES if name not in _SCORES_OF_CLASSES),
}


@dataclass(frozen=True)
class Request:
    """What the user asked for, as the options of the command."""

    data: Path | None = None
    target: str | None = None
    model: tuple[str, ...] = ("cart",)
    task: Task | None = None
    groups: str | None = None
    grid: Path | None = None
    scoring: str | None = None
    weights: str = AUTO
    search: str = "grid"
    folds: int = 5
    repeats: int = 1
    seed: int = 0
    jobs: int = 1
    out: Path = OUT
    resume: Path | None = None

    def command(self, **changes: Any) -> str:
        """The command that asks for this."""
        words = ["steadycv", "tune"]
        if self.data is not None:
            words.append(str(self.data))
        for each in fields(self)[1:]:
            value = changes.get(each.name, getattr(self, each.name))
            if value != each.default and value is not None:
                text = ",".join(value) if isinstance(value, tuple) else str(value)
                words += [f"--{each.name}", text]
        return shlex.join(words)

    @property
    def ledger(self) -> Path:
        """The file from which an interrupted run goes on."""
        return self.resume or self.out / LEDGER

    def ledger_of(self, model: str) -> Path:
        """A model's ledger: of several models each has one."""
        path = self.ledger
        return path.with_name(f"{path.stem}-{model}{path.suffix}") if len(self.model) > 1 else path


@dataclass(frozen=True)
class Problem:
    """What is to be done: the data, and a search for each model."""

    request: Request
    name: str
    X: Any
    columns: Columns
    target: Target
    groups: Any
    searches: dict[str, StabilitySearchCV]
    notes: list[str]


def prepare(request: Request) -> Problem:
    """Read everything that the request names, and refuse what cannot be done."""
    if request.seed >= 2**32:
        raise UserError(f"--seed must be below 2**32, got {request.seed}.")
    name, frame, target_name = _data(request)
    groups = None
    if request.groups is not None:
        if request.groups == target_name:
            raise UserError(f"The groups and the target are the same column, {target_name!r}.")
        groups = find_groups(frame, request.groups)
        frame = frame.drop(columns=request.groups)
    features, target = features_and_target(frame, target_name, request.task)
    X, columns = find_columns(features)
    models = {each: find_model(each, target.task) for each in request.model}
    notes = [*columns.in_words(), *target.notes]
    if groups is not None:
        notes.append(f"Rows with the same {request.groups} stay together in a fold.")
    scoring = request.scoring or _default_scoring(target.task, models, notes)
    _check_scoring(scoring, target.task, models)
    grids = {} if request.grid is None else read_grids(request.grid, request.model)
    searches = {}
    for each, model in models.items():
        pipeline = model.behind(columns, target.task)
        if "random_state" in pipeline.named_steps["model"].get_params():
            pipeline.set_params(model__random_state=request.seed)
        searches[each] = StabilitySearchCV(
            pipeline,
            check_grid(each, pipeline, grids[each])
            if each in grids
            else model.default_grid(columns, target.task, X, target.y, request.folds),
            loss=SCORES_OF_LOSSES[scoring].loss,
            stability_weights=_weights(request.weights),
            search=request.search,
            cv=find_folds(target, groups, request.folds, request.repeats, request.seed),
            n_jobs=request.jobs,
            ledger=str(request.ledger_of(each)),
        )
        if request.grid is not None and each not in grids:
            notes.append(f"{request.grid} has no grid for {each}: it has its default one.")
    return Problem(request, name, X, columns, target, groups, searches, notes)


def fit(problem: Problem, name: str, *, progress: bool) -> None:
    """Fit the search of a model."""
    search = problem.searches[name].set_params(verbose=int(progress))
    params = {} if problem.groups is None else {"groups": problem.groups}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("always", FitFailedWarning)
        if problem.request.jobs > 1:  # other processes would print theirs
            warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            search.fit(problem.X, problem.target.y, **params)
        except (ValueError, TypeError) as error:
            raise UserError(f"{name}: {_reason(error)}") from error
    problem.notes.extend(f"{name}: {note}" for note in _in_words(caught))


def _data(request: Request) -> tuple[str, Any, str]:
    """The name of the data, the table, and the target."""
    data, target = request.data, request.target
    if data is None and comes_by_a_pipe(surely=target is not None):
        data = STANDARD_INPUT
    if data is None:
        return "diabetes", _diabetes(), target or "progression"
    frame = read_table(data)
    if target is None:
        names = list(frame.columns)
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        raise UserError(
            f"Name the column to predict with --target: {', '.join(names[:10])}{more} are there."
        )
    return Path(name_of(data)).name, frame, target


def _diabetes() -> Any:
    from sklearn.datasets import load_diabetes

    return load_diabetes(as_frame=True, scaled=False).frame.rename(columns={"target": "progression"})


def _default_scoring(task: Task, models: dict[str, ModelChoice], notes: list[str]) -> str:
    if task is Task.regression:
        return "neg_mean_squared_error"
    without = [name for name, model in models.items() if not model.probabilities]
    if not without:
        return "neg_log_loss"
    if len(models) > 1:
        notes.append(
            f"Models are judged by the share of wrong predictions, as {' and '.join(without)} "
            f"{'has' if len(without) == 1 else 'have'} no probabilities."
        )
    return "accuracy"


def _check_scoring(scoring: str, task: Task, models: dict[str, ModelChoice]) -> None:
    if scoring not in _SCORES[task]:
        raise UserError(
            f"--scoring {scoring} cannot drive a {task}; these can: {', '.join(_SCORES[task])}."
        )
    if task is Task.classification and scoring != "accuracy":
        for name, model in models.items():
            if not model.probabilities:
                raise UserError(
                    f"--scoring {scoring} needs probabilities, and the model {name} has none: use "
                    "--scoring accuracy."
                )


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
        return f"No candidate could be fitted. {text.strip().rpartition(chr(10))[2]}"
    for words in ("Pass another path as ledger=", "pass another path as ledger="):
        text = text.replace(words, f"{'N' if words[0] == 'P' else 'n'}ame another --resume or --out")
    return text


def _in_words(caught: list[warnings.WarningMessage]) -> list[str]:
    """What the warnings of a search say, each kind once."""
    others = [each for each in caught if not issubclass(each.category, ConvergenceWarning)]
    lines = [str(each.message).strip().splitlines() for each in others]
    notes = list(dict.fromkeys(" ".join(dict.fromkeys((some[0], some[-1]))) for some in lines))
    if len(others) < len(caught):
        notes.append(f"{len(caught) - len(others)} fits stopped before they had converged.")
    return notes
