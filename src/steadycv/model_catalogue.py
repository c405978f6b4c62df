"""The models that can be named, with default grids; nothing of them is imported before it is made.

Values go from the simplest on and the first axis counts most, for the rule of one standard error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Grid: TypeAlias = dict[str, list[Any]]

__all__ = ["MODELS", "CatalogueModel", "Size", "make_estimator"]

EXTRAS = {"xgboost": "xgboost"}
"""What to install for the packages that do not come with this one."""


class Size(NamedTuple):
    """What a default grid depends on."""

    n_rows: int
    n_fewest: int  # rows of the smallest training set
    n_columns: int  # that a model sees at the least
    spread: float | None  # standard deviation of the target; None for classes


@dataclass(frozen=True)
class CatalogueModel:
    """A model by the name that a user gives.

    Attributes
    ----------
    regressor, classifier : callable or None
        Makes it, for targets of numbers and of classes; None where there is none.
    grid : callable
        The grid, by the size of the data to tune on.
    scaled : bool
        Whether its columns are to be scaled to variance 1.
    """

    regressor: Callable[[], Any] | None
    classifier: Callable[[], Any] | None
    grid: Callable[[Size], Grid]
    scaled: bool = False


def make_estimator(full_name: str, /, **parameters: Any) -> Any:
    """An estimator by the full name of its class, which is imported now."""
    module, _, name = full_name.rpartition(".")
    package = module.partition(".")[0]
    try:
        made = getattr(import_module(module), name)
    except ImportError as error:
        if package not in EXTRAS:
            raise
        raise ImportError(
            f"{name} needs {package}: pip install 'steadycv[{EXTRAS[package]}]'."
        ) from error
    return made(**parameters)


def _cart(size: Size) -> Grid:  # noqa: ARG001
    return {"max_depth": list(range(1, 11)), "min_samples_split": list(range(10, 1, -1))}


def _random_forest(size: Size) -> Grid:
    # Trees of classifiers look at some columns only, and then no forest serves for another one.
    sizes = [20, 2] if size.spread is None else [40, 20, 10, 5, 2]
    return {"max_depth": [2, 4, 8, 16], "min_samples_split": sizes}


def _ridge(size: Size) -> Grid:  # noqa: ARG001
    return {"alpha": _powers_of_ten(5, -3, 33)}


def _elastic_net(size: Size) -> Grid:
    # Columns have variance 1, so that with the largest alpha all coefficients are zero.
    alphas = [(size.spread or 1.0) * alpha for alpha in _powers_of_ten(1, -4, 41)]
    return {"alpha": alphas, "l1_ratio": [1.0, 0.9, 0.7, 0.5, 0.3, 0.1]}


def _sparse_ridge(size: Size) -> Grid:
    from steadycv.sparse.cv import largest_sparsity

    sparsities = list(range(1, largest_sparsity(size.n_rows, size.n_columns) + 1))
    return {"sparsity": sparsities, "gamma": _powers_of_ten(-3, 3, 20)}


def _knn(size: Size) -> Grid:
    numbers = [100, 70, 50, 35, 25, 18, 12, 9, 7, 5, 4, 3, 2, 1]
    # Folds of groups are not of one size.
    return {"n_neighbors": [k for k in numbers if k == 1 or k <= 0.8 * size.n_fewest]}


def _svm(size: Size) -> Grid:
    # Columns have variance 1; C and epsilon are in the units of the target.
    scale = 1.0 if size.spread is None else size.spread
    costs = {"C": [scale * cost for cost in _powers_of_ten(-2, 3, 11)]}
    widths = {"gamma": [factor / size.n_columns for factor in (0.01, 0.1, 0.5, 1.0)]}
    return costs | widths | ({} if size.spread is None else {"epsilon": [0.1 * scale]})


def _logistic(size: Size) -> Grid:  # noqa: ARG001
    return {"C": _powers_of_ten(-4, 4, 25)}


def _xgboost(size: Size) -> Grid:  # noqa: ARG001
    return {"max_depth": [1, 2, 3, 4, 6, 8], "n_estimators": [5, 10, 20, 50, 100, 200]}


def _powers_of_ten(first: int, last: int, number: int) -> list[float]:
    import numpy as np

    powers: list[float] = np.logspace(first, last, number).tolist()
    return powers


MODELS = {
    "sparse-ridge": CatalogueModel(
        partial(make_estimator, "steadycv.sparse.SparseRidge", sparsity=1),
        None,
        _sparse_ridge,
        scaled=True,
    ),
    "cart": CatalogueModel(
        partial(make_estimator, "sklearn.tree.DecisionTreeRegressor"),
        partial(make_estimator, "sklearn.tree.DecisionTreeClassifier"),
        _cart,
    ),
    "random-forest": CatalogueModel(
        partial(make_estimator, "sklearn.ensemble.RandomForestRegressor"),
        partial(make_estimator, "sklearn.ensemble.RandomForestClassifier"),
        _random_forest,
    ),
    "xgboost": CatalogueModel(
        partial(make_estimator, "xgboost.XGBRegressor", learning_rate=0.1, n_jobs=1),
        partial(make_estimator, "xgboost.XGBClassifier", learning_rate=0.1, n_jobs=1),
        _xgboost,
    ),
    "elastic-net": CatalogueModel(
        partial(make_estimator, "sklearn.linear_model.ElasticNet"), None, _elastic_net, scaled=True
    ),
    "ridge": CatalogueModel(
        partial(make_estimator, "sklearn.linear_model.Ridge"),
        partial(make_estimator, "sklearn.linear_model.RidgeClassifier"),
        _ridge,
        scaled=True,
    ),
    "knn": CatalogueModel(
        partial(make_estimator, "sklearn.neighbors.KNeighborsRegressor"),
        partial(make_estimator, "sklearn.neighbors.KNeighborsClassifier"),
        _knn,
        scaled=True,
    ),
    "svm": CatalogueModel(
        partial(make_estimator, "sklearn.svm.SVR"),
        partial(make_estimator, "sklearn.svm.SVC"),
        _svm,
        scaled=True,
    ),
    "logistic": CatalogueModel(
        None,
        partial(make_estimator, "sklearn.linear_model.LogisticRegression", max_iter=1000),
        _logistic,
        scaled=True,
    ),
}
"""By name."""
