"""Separate fits: the path of all candidates that no other path serves."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv._compat import is_pairwise, n_samples_of, safe_split, to_numpy
from steadycv.estimators import methods_of, new_estimator, overwrites

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steadycv.paths.protocol import PathData

__all__ = ["SEPARATE", "SeparatePath", "fit_model", "model_outputs", "separate_outputs"]


class SeparatePath:
    """Every candidate by itself. Its fit leaves a model, of which a scorer may ask anything."""

    def parameters(self, estimator: Any) -> tuple[str, ...]:  # noqa: ARG002
        """None: no two candidates share a fit."""
        return ()

    def methods(self, estimator: Any) -> tuple[str, ...]:
        """All that there are."""
        return methods_of(estimator)

    def serves(self, estimator: Any, setting: dict[str, Any], X: Any, y: Any) -> bool:  # noqa: ARG002
        """Everything."""
        return True

    def prepare(self, estimator: Any, X: Any, y: Any) -> None:
        """Nothing."""

    def outputs(
        self, estimator: Any, settings: Sequence[dict[str, Any]], data: PathData
    ) -> dict[str, NDArray[Any]]:
        """Outputs of every setting by a fit of its own."""
        each = [separate_outputs(estimator, setting, data) for setting in settings]
        return {method: np.stack([outputs[method] for outputs in each]) for method in data.methods}


SEPARATE = SeparatePath()


def separate_outputs(
    estimator: Any, setting: dict[str, Any], data: PathData, at: NDArray[np.intp] | None = None
) -> dict[str, NDArray[Any]]:
    """Outputs of one setting by a fit of its own, for some samples or all, by method."""
    model = fit_model(new_estimator(estimator, setting), data)
    return {method: model_outputs(model, method, data, at) for method in data.methods}


def fit_model(estimator: Any, data: PathData) -> Any:
    """Fit an estimator on a training set."""
    y = () if data.y_train is None else (data.y_train,)
    return estimator.fit(data.X_train, *y, **data.fit_params)


def model_outputs(
    model: Any, method: str, data: PathData, at: NDArray[np.intp] | None = None
) -> NDArray[Any]:
    """What a fitted model says of some samples, or of all."""
    X = data.X
    if at is not None or is_pairwise(model, X):
        at = np.arange(n_samples_of(X)) if at is None else at
        X, _ = safe_split(model, X, None, at, data.rows)
    elif overwrites(model.get_params(deep=True).items()):
        X = deepcopy(X)  # the model may write into what it is given; a part of X is a copy anyway
    return to_numpy(getattr(model, method)(X))
