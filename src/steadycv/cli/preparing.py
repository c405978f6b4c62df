"""What commands that search on a table begin with: the table read, the models found, all of it sound."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steadycv.cli.errors import UserError
from steadycv.cli.folds import find_groups
from steadycv.cli.grids import check_grid, read_grids
from steadycv.cli.pipelines import behind, default_grid, find_model
from steadycv.cli.request import Deliver, Request
from steadycv.cli.scorings import check_scoring
from steadycv.cli.standard_input import comes_by_a_pipe
from steadycv.cli.time_order import sorted_by_time
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

__all__ = ["Prepared", "TableModel", "prepared"]


@dataclass(frozen=True)
class TableModel:
    """A model for a table, and what is tried.

    Attributes
    ----------
    pipeline : Pipeline
        The model behind the preparation of the columns.
    kind : CatalogueModel
        What it is.
    own_grid : dict or None
        The grid of the user's file; None for the default one, which depends on the rows.
    """

    pipeline: Pipeline
    kind: CatalogueModel
    own_grid: dict[str, list[Any]] | None

    def grid(self, target: Target, X: Any, y: Any, n_fewest: int) -> dict[str, list[Any]]:
        """The grid for some rows, the smallest training set of which has `n_fewest`."""
        if self.own_grid is not None:
            return self.own_grid
        return default_grid(self.kind, target.task, X, y, n_fewest)


@dataclass(frozen=True)
class Prepared:
    """What is to be done, and on which data."""

    request: Request
    name: str
    X: Any
    readings: list[Reading]
    target: Target
    groups: Any
    models: dict[str, TableModel]
    notes: list[str]
    hints: list[str]  # those of the notes that say what to look at before the result is believed

    def facts(self, *more: str) -> str:
        """What was done to the data, for a page."""
        first = [f"Predicted: {self.target.name}.", *more]
        return " ".join([*first, *(note for note in self.notes if note not in self.hints)])


def prepared(request: Request) -> Prepared:
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
        rare_below=request.rows_a_class if request.merge_rare else 0,
    )
    if request.merge_rare and not target.classes:
        raise UserError(f"--merge-rare is for classes, and {target_name!r} has numbers.")
    X, readings = find_used(features, request.keep)
    hinted = hints.leaks(X, readings, target)
    if request.time is None and groups is None:
        hinted += hints.order(features, readings, target)
    kinds = {each: find_model(each, target.task) for each in request.model}
    pipelines = {each: _pipeline(readings, kind, target, request) for each, kind in kinds.items()}
    if request.scoring is not None:
        check_scoring(request.scoring, target, pipelines)
    grids = {} if request.grid is None else read_grids(request.grid, request.model)
    models = {
        each: TableModel(
            pipelines[each],
            kind,
            check_grid(each, pipelines[each], grids[each]) if each in grids else None,
        )
        for each, kind in kinds.items()
    }
    notes = [*about, *remarks(readings), *target.notes, *notes, *hinted]
    if request.grid is not None:
        without = [each for each in models if each not in grids]
        notes += [f"{request.grid} has no grid for {each}: it has its default one." for each in without]
    return Prepared(request, name, X, readings, target, groups, models, notes, hinted)


def _check_options(request: Request) -> None:
    """Refuse options that do not go together, before anything is read."""
    if request.seed >= 2**32:
        raise UserError(f"--seed must be below 2**32, got {request.seed}.")
    averages = [each for each in request.delivers if each != Deliver.model]
    if request.time is not None and averages and request.folds <= FEWEST_VIEWS:
        raise UserError(
            f"--deliver {averages[0]} is judged by {FEWEST_VIEWS} splits that have others before "
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
        if getattr(request, option, None) != getattr(type(request), option, None):
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
