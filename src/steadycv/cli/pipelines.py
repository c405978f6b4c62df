"""The models of the catalogue behind the preparation of a user's columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv.cli.errors import UserError
from steadycv.cli.folds import fewest_rows
from steadycv.cli.preparation import prepared
from steadycv.cli.request import Task
from steadycv.model_catalogue import MODELS, CatalogueModel, Size

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn.pipeline import Pipeline

    from steadycv.cli.preparation import Columns

__all__ = ["STEP", "behind", "default_grid", "find_model"]

STEP = "model__"  # where the parameters of a model are in a pipeline


def find_model(name: str, task: Task) -> CatalogueModel:
    """The model by its name, if it does the task."""
    able = [known for known, model in MODELS.items() if _maker(model, task) is not None]
    if name not in MODELS:
        raise UserError(f"There is no model {name!r}. There are {', '.join(MODELS)}.")
    if name not in able:
        targets = "numbers" if task is Task.regression else "classes"
        raise UserError(f"The model {name} does not predict {targets}. These do: {', '.join(able)}.")
    return MODELS[name]


def behind(columns: Columns, model: CatalogueModel, task: Task) -> Pipeline:
    """A model behind the preparation of some columns."""
    maker = _maker(model, task)
    if maker is None:
        raise ValueError(f"There is no such model for {task}.")
    return prepared(columns, maker, scaled=model.scaled)


def default_grid(
    columns: Columns, model: CatalogueModel, task: Task, X: Any, y: Any, n_fewest: int | None = None
) -> dict[str, list[Any]]:
    """The grid of a model behind the preparation, for some data to tune on.

    `n_fewest` are the rows of the smallest training set; None for those of five folds.
    """
    spread = float(np.std(y)) if task is Task.regression else None
    if n_fewest is None:
        n_fewest = fewest_rows(len(X), 5, in_time=False)
    grid = model.grid(Size(len(X), n_fewest, columns.fewest, spread))
    return {f"{STEP}{name}": values for name, values in grid.items()}


def _maker(model: CatalogueModel, task: Task) -> Callable[[], Any] | None:
    return model.regressor if task is Task.regression else model.classifier
