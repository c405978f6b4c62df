"""steadycv: choose hyperparameters so that what you were promised is what you get."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steadycv import (  # noqa: F401
        datasets,
        experiments,
        explain,
        losses,
        networks,
        paths,
        plotting,
        report,
        sparse,
        strategies,
        tables,
        testing,
        tools,
    )
    from steadycv.bound import generalization_bound, nested_bound
    from steadycv.committees import Committee
    from steadycv.early_stopping import EarlyStopping
    from steadycv.losses import pinball_loss
    from steadycv.model_cards import model_card
    from steadycv.optuna_search import OptunaSearch
    from steadycv.plotting import NestedDisplay, StabilityDisplay
    from steadycv.report import write_report
    from steadycv.search import StabilityRandomizedSearchCV, StabilitySearchCV
    from steadycv.sparse import SparseRidge, SparseRidgeCV, sparse_ridge_path

    __version__: str

__all__ = [
    "Committee",
    "EarlyStopping",
    "NestedDisplay",
    "OptunaSearch",
    "SparseRidge",
    "SparseRidgeCV",
    "StabilityDisplay",
    "StabilityRandomizedSearchCV",
    "StabilitySearchCV",
    "generalization_bound",
    "model_card",
    "nested_bound",
    "pinball_loss",
    "sparse_ridge_path",
    "write_report",
]

_HOMES = {
    "Committee": "committees",
    "EarlyStopping": "early_stopping",
    "NestedDisplay": "plotting",
    "OptunaSearch": "optuna_search",
    "SparseRidge": "sparse",
    "SparseRidgeCV": "sparse",
    "StabilityDisplay": "plotting",
    "StabilityRandomizedSearchCV": "search",
    "StabilitySearchCV": "search",
    "generalization_bound": "bound",
    "model_card": "model_cards",
    "nested_bound": "bound",
    "pinball_loss": "losses",
    "sparse_ridge_path": "sparse",
    "write_report": "report",
}
_MODULES = {
    "datasets",
    "experiments",
    "explain",
    "losses",
    "networks",
    "paths",
    "plotting",
    "report",
    "sparse",
    "strategies",
    "tables",
    "testing",
    "tools",
}

if not TYPE_CHECKING:  # a type checker would take any name

    def __getattr__(name: str) -> Any:
        """What is asked for, imported when it first is: who searches waits for no picture."""
        if name in _HOMES:
            value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        elif name in _MODULES:
            value = import_module(f"{__name__}.{name}")
        elif name == "__version__":
            value = import_module("importlib.metadata").version(__name__)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES, "__version__"})
