"""The models of the catalogue behind the preparation of a user's columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline

from steadycv.cli.errors import UserError
from steadycv.cli.folds import fewest_rows
from steadycv.model_catalogue import MODELS, CatalogueModel, Size
from steadycv.tables.preparation import preparation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steadycv.tables.readings import Reading
    from steadycv.tables.targets import Task

__all__ = ["STEP", "behind", "default_grid", "find_model"]

STEP = "model__"  # where the parameters of a model are in a pipeline


def find_model(name: str, task: Task) -> CatalogueModel:
    """The model by its name, if it does the task."""
    able = [known for known, model in MODELS.items() if _maker(model, task) is not None]
    if name not in MODELS:
        raise UserError(f"There is no model {name!r}. There are {', '.join(MODELS)}.")
    if name not in able:
        targets = "numbers" if task == "regression" else "classes"
        raise UserError(f"The model {name} does not predict {targets}. These do: {', '.join(able)}.")
    return MODELS[name]


def behind(readings: Sequence[Reading], model: CatalogueModel, task: Task) -> Pipeline:
    """A model behind the preparation of the columns of a table; the model's step is called ``model``."""
    maker = _maker(model, task)
    if maker is None:
        raise ValueError(f"There is no such model for {task}.")
    before = preparation(readings, scaled=model.scaled)
    return Pipeline([("prepare", before), (STEP.rstrip("_"), maker())])


def default_grid(
    model: CatalogueModel, task: Task, X: Any, y: Any, n_fewest: int | None = None
) -> dict[str, list[Any]]:
    """The grid of a model behind the preparation, for some data to tune on.

    `n_fewest` are the rows of the smallest training set; None for those of five folds.
    """
    spread = float(np.std(y)) if task == "regression" else None
    if n_fewest is None:
        n_fewest = fewest_rows(len(X), 5, in_time=False)
    grid = model.grid(Size(len(X), n_fewest, X.shape[1], spread))
    return {f"{STEP}{name}": values for name, values in grid.items()}


def _maker(model: CatalogueModel, task: Task) -> Callable[[], Any] | None:
    return model.regressor if task == "regression" else model.classifier
