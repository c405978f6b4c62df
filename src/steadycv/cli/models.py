"""The models that a user can name, with default grids.

Values go from the simplest on and the first axis counts most, for the rule of one standard error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import ElasticNet, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from steadycv.cli.preparation import Columns, prepared
from steadycv.experiments.comparison import ComparedModel
from steadycv.sparse.cv import largest_sparsity
from steadycv.sparse.estimator import SparseRidge

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["MODELS", "ModelChoice"]


@dataclass(frozen=True)
class ModelChoice:
    """A model by the name that a user gives.

    Attributes
    ----------
    estimator : callable
        Makes it.
    grid : callable
        The grid, given the number of rows to tune on, the least number of columns and the target.
    scaled : bool
        Whether its columns are scaled to variance 1.
    """

    estimator: Callable[[], Any]
    grid: Callable[[int, int, NDArray[np.float64]], dict[str, list[Any]]]
    scaled: bool = False

    def on(self, name: str, columns: Columns) -> ComparedModel:
        """The model behind the preparation of some columns."""
        return ComparedModel(
            name,
            partial(prepared, columns, self.estimator, scaled=self.scaled),
            partial(_grid_of_step, self.grid, columns.fewest),
        )


def _grid_of_step(grid: Any, n_columns: int, X: Any, y: NDArray[np.float64]) -> dict[str, list[Any]]:
    return {f"model__{name}": values for name, values in grid(len(X), n_columns, y).items()}


def _cart(n: int, p: int, y: Any) -> dict[str, list[Any]]:  # noqa: ARG001
    return {"max_depth": list(range(1, 11)), "min_samples_split": list(range(10, 1, -1))}


def _random_forest(n: int, p: int, y: Any) -> dict[str, list[Any]]:  # noqa: ARG001
    return {"max_depth": [2, 4, 8, 16], "min_samples_split": [40, 20, 10, 5, 2]}


def _ridge(n: int, p: int, y: Any) -> dict[str, list[Any]]:  # noqa: ARG001
    return {"alpha": np.logspace(5, -3, 33).tolist()}


def _elastic_net(n: int, p: int, y: NDArray[np.float64]) -> dict[str, list[Any]]:  # noqa: ARG001
    # Columns have variance 1, so that with the largest alpha all coefficients are zero.
    alphas = np.std(y) * np.logspace(1, -4, 41)
    return {"alpha": alphas.tolist(), "l1_ratio": [1.0, 0.9, 0.7, 0.5, 0.3, 0.1]}


def _sparse_ridge(n: int, p: int, y: Any) -> dict[str, list[Any]]:  # noqa: ARG001
    sparsities = list(range(1, largest_sparsity(n, p) + 1))
    return {"sparsity": sparsities, "gamma": np.logspace(-3, 3, 20).tolist()}


def _knn(n: int, p: int, y: Any) -> dict[str, list[Any]]:  # noqa: ARG001
    # Without two of five folds, three fifths of the rows are left.
    numbers = [100, 70, 50, 35, 25, 18, 12, 9, 7, 5, 4, 3, 2, 1]
    return {"n_neighbors": [k for k in numbers if k <= n // 2]}


def _xgboost(n: int, p: int, y: Any) -> dict[str, list[Any]]:  # noqa: ARG001
    return {"max_depth": [1, 2, 3, 4, 6, 8], "n_estimators": [5, 10, 20, 50, 100, 200]}


def _xgboost_regressor() -> Any:
    try:
        regressor = import_module("xgboost").XGBRegressor
    except ImportError as error:
        raise ImportError("The model xgboost needs XGBoost: pip install 'steadycv[xgboost]'.") from error
    return regressor(learning_rate=0.1, n_jobs=1)


MODELS = {
    "cart": ModelChoice(DecisionTreeRegressor, _cart),
    "random-forest": ModelChoice(RandomForestRegressor, _random_forest),
    "ridge": ModelChoice(Ridge, _ridge, scaled=True),
    "elastic-net": ModelChoice(ElasticNet, _elastic_net, scaled=True),
    "sparse-ridge": ModelChoice(partial(SparseRidge, 1), _sparse_ridge, scaled=True),
    "knn": ModelChoice(KNeighborsRegressor, _knn, scaled=True),
    "xgboost": ModelChoice(_xgboost_regressor, _xgboost),
}
"""By name."""
