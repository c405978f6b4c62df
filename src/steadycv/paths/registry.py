"""Which path serves which estimator class.

Paths load when they are first needed. Those of other packages are found by an entry point of the group
``steadycv.paths``: its name is the full name of the estimator's class, its object the path.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from steadycv.paths.protocol import Path, TransformerPath

__all__ = ["find_path", "register_path"]

_PATHS: dict[str, Any] = {}

# The modules that register our own paths, by the package and the name of the classes that they serve.
_MODULES = {
    "trees": ("sklearn", "DecisionTreeClassifier DecisionTreeRegressor"),
    "forests": (
        "sklearn",
        "BaggingClassifier BaggingRegressor ExtraTreesClassifier ExtraTreesRegressor "
        "RandomForestClassifier RandomForestRegressor",
    ),
    "boosting": (
        "sklearn",
        "GradientBoostingClassifier GradientBoostingRegressor "
        "HistGradientBoostingClassifier HistGradientBoostingRegressor",
    ),
    "xgboost": ("xgboost", "XGBClassifier XGBRegressor"),
    "lightgbm": ("lightgbm", "LGBMClassifier LGBMRegressor"),
    "catboost": ("catboost", "CatBoostClassifier CatBoostRegressor"),
    "neighbors": ("sklearn", "KNeighborsClassifier KNeighborsRegressor"),
    "svm": ("sklearn", "NuSVC NuSVR SVC SVR"),
    "linear": (
        "sklearn",
        "ElasticNet KernelRidge Lasso LogisticRegression Ridge RidgeClassifier",
    ),
    "pipelines": ("sklearn", "Pipeline"),
    "transformers": (
        "sklearn",
        "PCA SelectFdr SelectFpr SelectFwe SelectKBest SelectPercentile",
    ),
}
_MODULE_OF = {
    (package, name): f"steadycv.paths.{module}"
    for module, (package, names) in _MODULES.items()
    for name in names.split()
}


def register_path(estimator_class: type | str, path: Path | TransformerPath) -> None:
    """Let a path serve the estimators of a class; not of its subclasses, which may differ.

    Parameters
    ----------
    estimator_class : type or str
        The class, or its full name, so that its package need not be imported.
    path : Path or TransformerPath
        The path; it takes the place of one registered before.
    """
    name = estimator_class if isinstance(estimator_class, str) else _name(estimator_class)
    _PATHS[name] = path


def find_path(estimator: Any) -> Any:
    """The path that serves an estimator or a transformer, or None."""
    name = _name(type(estimator))
    if name not in _PATHS:
        _load(type(estimator), name)
    return _PATHS.get(name)


def _load(estimator_class: type, name: str) -> None:
    """Import what registers the path of a class, if anything does."""
    package = estimator_class.__module__.partition(".")[0]
    module = _MODULE_OF.get((package, estimator_class.__qualname__))
    if module is not None:
        registered = dict(_PATHS)
        import_module(module)
        _PATHS.update(registered)  # for which a module of ours must not take the place
    elif name in _plug_ins():
        _PATHS[name] = _plug_ins()[name].load()


@cache
def _plug_ins() -> dict[str, EntryPoint]:
    return {each.name: each for each in entry_points(group="steadycv.paths")}


def _name(estimator_class: type) -> str:
    return f"{estimator_class.__module__}.{estimator_class.__qualname__}"
