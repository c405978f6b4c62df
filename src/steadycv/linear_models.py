"""Linear models: what predicts by one product, and the average of several as one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from sklearn.linear_model import (
    ARDRegression,
    BayesianRidge,
    HuberRegressor,
    LinearRegression,
    Ridge,
    RidgeCV,
    SGDRegressor,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from steadycv._compat import to_numpy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    Predict = TypeVar("Predict", bound=Callable[..., Any])

__all__ = ["LinearModel", "average_of", "is_linear", "linear_model_of", "predicts_linearly"]

# Coefficients do not say whether a link follows, as in PoissonRegressor; whose `predict` it is does.
# Nearly all linear regressors of scikit-learn have theirs from the same place as one of these.
_KINDS = (ARDRegression, BayesianRidge, HuberRegressor, LinearRegression, Ridge, RidgeCV, SGDRegressor)
_LINEAR: set[Callable[..., Any]] = {kind.predict for kind in _KINDS}


class LinearModel(NamedTuple):
    """What predicts ``X @ coef.T + intercept``.

    Attributes
    ----------
    coef : ndarray of shape (n_outputs, n_features)
        The coefficients.
    intercept : ndarray of shape (n_outputs,)
        The intercepts.
    """

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]


def predicts_linearly(predict: Predict) -> Predict:
    """Say of a ``predict`` that it is ``X @ coef_.T + intercept_`` of the model, and no more."""
    _LINEAR.add(predict)
    return predict


def is_linear(estimator: Any) -> bool:
    """Whether an estimator predicts by one product once it is fitted, or the last step of a pipeline."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return getattr(type(estimator), "predict", None) in _LINEAR


def linear_model_of(model: Any) -> LinearModel | None:
    """A fitted regressor, alone or behind scalers, as a linear model of the raw columns; or None.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> model = make_pipeline(MinMaxScaler(), LinearRegression()).fit([[1], [3]], [10, 50])
    >>> print(*linear_model_of(model))
    [[20.]] [-10.]
    """
    if type(model) is Pipeline:
        return _behind_scalers(model)
    if getattr(type(model), "predict", None) not in _LINEAR:
        return None
    coef = np.atleast_2d(to_numpy(model.coef_).astype(np.float64))
    intercept = to_numpy(model.intercept_).astype(np.float64).ravel()
    return LinearModel(coef, np.broadcast_to(intercept, len(coef)))


def average_of(models: Iterable[Any], weights: NDArray[np.float64]) -> LinearModel | None:
    """The weighted average of fitted models as one linear model; None unless all of them are such."""
    found = []
    for model in models:
        linear = linear_model_of(model)
        if linear is None:
            return None
        found.append(linear)
    coefs, intercepts = zip(*found, strict=True)
    return LinearModel(
        np.average(coefs, axis=0, weights=weights), np.average(intercepts, axis=0, weights=weights)
    )


def _behind_scalers(pipeline: Pipeline) -> LinearModel | None:
    """A linear model of the columns before they are scaled."""
    model = linear_model_of(pipeline.steps[-1][1])
    for _, step in reversed(pipeline.steps[:-1]):
        line = None if model is None else _line_of(step)
        if model is None or line is None:
            return None
        factor, shift = map(to_numpy, line)
        shifts = np.broadcast_to(shift, model.coef.shape[1])
        model = LinearModel(model.coef * factor, model.intercept + model.coef @ shifts)
    return model


def _line_of(step: Any) -> tuple[Any, Any] | None:
    """What a step multiplies each column by, and adds to it then; None where it does something else."""
    if step is None or step == "passthrough":
        return 1.0, 0.0
    if type(step) is StandardScaler:
        factor = 1.0 / step.scale_ if step.with_std else 1.0
        return factor, (-step.mean_ * factor if step.with_mean else 0.0)
    if getattr(step, "clip", False):
        return None
    if type(step) is MinMaxScaler:
        return step.scale_, step.min_
    if type(step) is MaxAbsScaler:
        return 1.0 / step.scale_, 0.0
    return None
