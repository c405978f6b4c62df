"""The models that a user can name, with default grids.

Values go from the simplest on and the first axis counts most, for the rule of one standard error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from steadycv.cli.errors import UserError
from steadycv.cli.preparation import Columns, prepared
from steadycv.cli.targets import Task
from steadycv.experiments.comparison import ComparedModel
from steadycv.sparse.cv import largest_sparsity
from steadycv.sparse.estimator import SparseRidge

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn.pipeline import Pipeline

__all__ = ["MODELS", "ModelChoice", "Size", "find_model"]

STEP = "model__"  # where the parameters of a model are in a pipeline


class Size(NamedTuple):
    """What a default grid depends on."""

    n_rows: int
    n_fewest: int  # rows of the smallest training set
    n_columns: int  # that a model sees at the least
    spread: float | None  # standard deviation of the target; None for classes


@dataclass(frozen=True)
class ModelChoice:
    """A model by the name that a user gives.

    Attributes
    ----------
    regressor, classifier : callable or None
        Makes it, for targets of numbers and of classes; None where there is none.
    grid : callable
        The grid, by the size of the data to tune on.
    scaled : bool
        Whether its columns are scaled to variance 1.
    probabilities : bool
        Whether the classifier gives probabilities.
    """

    regressor: Callable[[], Any] | None
    classifier: Callable[[], Any] | None
    grid: Callable[[Size], dict[str, list[Any]]]
    scaled: bool = False
    probabilities: bool = True

    def behind(self, columns: Columns, task: Task) -> Pipeline:
        """The model behind the preparation of some columns."""
        model = self.regressor if task is Task.regression else self.classifier
        if model is None:
            raise ValueError(f"There is no such model for {task}.")
        return prepared(columns, model, scaled=self.scaled)

    def default_grid(
        self, columns: Columns, task: Task, X: Any, y: Any, n_folds: int = 5
    ) -> dict[str, list[Any]]:
        """The grid for some data to tune on."""
        spread = float(np.std(y)) if task is Task.regression else None
        n_fewest = len(X) * (n_folds - 2) // n_folds
        grid = self.grid(Size(len(X), n_fewest, columns.fewest, spread))
        return {f"{STEP}{name}": values for name, values in grid.items()}

    def on(self, name: str, columns: Columns) -> ComparedModel:
        """The regressor, for a comparison of selections."""
        return ComparedModel(
            name,
            partial(self.behind, columns, Task.regression),
            partial(self.default_grid, columns, Task.regression),
        )


def find_model(name: str, task: Task) -> ModelChoice:
    """The model by its name, if it does the task."""
    able = [known for known, model in MODELS.items() if _does(model, task)]
    if name not in MODELS:
        raise UserError(f"There is no model {name!r}. There are {', '.join(MODELS)}.")
    if name not in able:
        targets = "numbers" if task is Task.regression else "classes"
        raise UserError(f"The model {name} does not predict {targets}. These do: {', '.join(able)}.")
    return MODELS[name]


def _does(model: ModelChoice, task: Task) -> bool:
    return (model.regressor if task is Task.regression else model.classifier) is not None


def _cart(size: Size) -> dict[str, list[Any]]:  # noqa: ARG001
    return {"max_depth": list(range(1, 11)), "min_samples_split": list(range(10, 1, -1))}


def _random_forest(size: Size) -> dict[str, list[Any]]:
    # Trees of classifiers look at some columns only, and then no forest serves for another one.
    sizes = [20, 2] if size.spread is None else [40, 20, 10, 5, 2]
    return {"max_depth": [2, 4, 8, 16], "min_samples_split": sizes}


def _ridge(size: Size) -> dict[str, list[Any]]:  # noqa: ARG001
    return {"alpha": np.logspace(5, -3, 33).tolist()}


def _elastic_net(size: Size) -> dict[str, list[Any]]:
    # Columns have variance 1, so that with the largest alpha all coefficients are zero.
    alphas = (size.spread or 1.0) * np.logspace(1, -4, 41)
    return {"alpha": alphas.tolist(), "l1_ratio": [1.0, 0.9, 0.7, 0.5, 0.3, 0.1]}


def _sparse_ridge(size: Size) -> dict[str, list[Any]]:
    sparsities = list(range(1, largest_sparsity(size.n_rows, size.n_columns) + 1))
    return {"sparsity": sparsities, "gamma": np.logspace(-3, 3, 20).tolist()}


def _knn(size: Size) -> dict[str, list[Any]]:
    numbers = [100, 70, 50, 35, 25, 18, 12, 9, 7, 5, 4, 3, 2, 1]
    # Folds of groups are not of one size.
    return {"n_neighbors": [k for k in numbers if k == 1 or k <= 0.8 * size.n_fewest]}


def _svm(size: Size) -> dict[str, list[Any]]:
    # Columns have variance 1; C and epsilon are in the units of the target.
    scale = 1.0 if size.spread is None else size.spread
    costs = {"C": (scale * np.logspace(-2, 3, 11)).tolist()}
    widths = {"gamma": [factor / size.n_columns for factor in (0.01, 0.1, 0.5, 1.0)]}
    return costs | widths | ({} if size.spread is None else {"epsilon": [0.1 * scale]})


def _logistic(size: Size) -> dict[str, list[Any]]:  # noqa: ARG001
    return {"C": np.logspace(-4, 4, 25).tolist()}


def _xgboost(size: Size) -> dict[str, list[Any]]:  # noqa: ARG001
    return {"max_depth": [1, 2, 3, 4, 6, 8], "n_estimators": [5, 10, 20, 50, 100, 200]}


def _xgboost_model(name: str) -> Any:
    try:
        model = getattr(import_module("xgboost"), name)
    except ImportError as error:
        raise ImportError("The model xgboost needs XGBoost: pip install 'steadycv[xgboost]'.") from error
    return model(learning_rate=0.1, n_jobs=1)


MODELS = {
    "sparse-ridge": ModelChoice(partial(SparseRidge, 1), None, _sparse_ridge, scaled=True),
    "cart": ModelChoice(DecisionTreeRegressor, DecisionTreeClassifier, _cart),
    "random-forest": ModelChoice(RandomForestRegressor, RandomForestClassifier, _random_forest),
    "xgboost": ModelChoice(
        partial(_xgboost_model, "XGBRegressor"), partial(_xgboost_model, "XGBClassifier"), _xgboost
    ),
    "elastic-net": ModelChoice(ElasticNet, None, _elastic_net, scaled=True),
    "ridge": ModelChoice(Ridge, RidgeClassifier, _ridge, scaled=True, probabilities=False),
    "knn": ModelChoice(KNeighborsRegressor, KNeighborsClassifier, _knn, scaled=True),
    "svm": ModelChoice(SVR, SVC, _svm, scaled=True, probabilities=False),
    "logistic": ModelChoice(None, partial(LogisticRegression, max_iter=1000), _logistic, scaled=True),
}
"""By name."""
