"""A candidate's estimator: the user's, with the candidate's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import clone

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ANSWERS", "COPIES", "methods_of", "new_estimator", "overwrites"]

ANSWERS = ("predict", "predict_proba", "decision_function")  # the methods that yield outputs
COPIES = ("copy", "copy_X", "copy_x")  # parameters that say whether data are copied


def new_estimator(estimator: Any, params: dict[str, Any]) -> Any:
    """A candidate's estimator, unfitted.

    Parameters that are themselves estimators are cloned. A ``random_state`` of None becomes 0:
    otherwise a training set would not stand for one model, and the change of loss between two
    training sets would measure the dice as well.
    """
    # Cloned parameters, as they may be estimators, which a fit must not touch.
    new = clone(estimator).set_params(**{k: clone(v, safe=False) for k, v in params.items()})
    seeds = {
        name: 0
        for name, value in new.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return new.set_params(**seeds) if seeds else new


def overwrites(params: Iterable[tuple[str, Any]]) -> bool:
    """Whether some parameter tells an estimator not to copy its data."""
    return any(value is False and name.rpartition("__")[2] in COPIES for name, value in params)


def methods_of(estimator: Any) -> tuple[str, ...]:
    """The methods of an estimator that yield outputs."""
    return tuple(name for name in ANSWERS if hasattr(estimator, name))
