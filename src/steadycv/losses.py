"""Per-sample losses: what drives the selection.

The method compares losses sample by sample, so it needs a loss at every sample and not
only a score of a whole fold. A loss is never negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from scipy.special import xlogy
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.multiclass import type_of_target

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["LOSSES", "Loss", "Response", "as_response", "default_loss", "get_loss", "pinball_loss"]


@runtime_checkable
class Loss(Protocol):
    """A per-sample loss: a callable of the targets and a model's outputs.

    A plain function ``loss(y_true, y_pred) -> array of shape (n_samples,)`` is a loss of what
    ``predict`` returns. An object may have an attribute ``response_method`` as well; with
    ``"predict_proba"``, `y_pred` is the matrix of probabilities with one column for each class
    of the whole data, and `y_true` is the column of each sample's class.
    """

    def __call__(self, y_true: Any, y_pred: Any, /) -> NDArray[np.float64]:
        """The loss at every sample."""


def pinball_loss(alpha: float) -> Loss:
    """Loss of the quantile `alpha`.

    Parameters
    ----------
    alpha : float
        The quantile, between 0 and 1.

    Returns
    -------
    loss : Loss
        To be passed as ``StabilitySearchCV(..., loss=pinball_loss(0.9))``.

    Examples
    --------
    >>> from steadycv import pinball_loss
    >>> pinball_loss(0.9)([1.0, 1.0], [0.0, 2.0])
    array([0.9, 0.1])
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha!r}.")
    return _Pinball(float(alpha))


def get_loss(loss: str | Loss) -> Loss:
    """The loss called by a name, or the loss itself."""
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise ValueError(
                f"loss={loss!r} is not known. Known are {', '.join(map(repr, LOSSES))}; or pass a "
                "function loss(y_true, y_pred) that returns one number for each sample."
            )
        return LOSSES[loss]
    if not callable(loss):
        raise ValueError(f"loss must be a name or a function, got {loss!r}.")
    return loss


def default_loss(estimator: Any, y: Any) -> Loss:
    """Squared error for regressors; log loss for classifiers with probabilities, or zero-one."""
    if is_classifier(estimator):
        one_label = y is None or type_of_target(y) in ("binary", "multiclass")
        return LOSSES["log_loss" if one_label and hasattr(estimator, "predict_proba") else "zero_one"]
    if is_regressor(estimator):
        return LOSSES["squared_error"]
    raise ValueError(
        f"{type(estimator).__name__} is neither a classifier nor a regressor, so it has no "
        f"default loss: pass loss= (one of {', '.join(map(repr, LOSSES))}, or a function)."
    )


@dataclass(frozen=True)
class Response:
    """How a loss sees the data and a fitted model.

    Attributes
    ----------
    loss : Loss
        The loss.
    method : str
        The estimator's method whose output the loss takes.
    y : ndarray
        The targets as the loss takes them.
    classes : ndarray or None
        For probabilities: the class of each column.
    """

    loss: Loss
    method: str
    y: NDArray[Any]
    classes: NDArray[Any] | None = None

    def outputs(self, estimator: Any, X: Any) -> NDArray[Any]:
        """What the fitted estimator says of the rows of X, as the loss takes it."""
        outputs = np.asarray(getattr(estimator, self.method)(X))
        if self.classes is None:
            return _one_column(outputs)
        return self.align(outputs, estimator.classes_)

    def align(self, outputs: NDArray[Any], known: NDArray[Any]) -> NDArray[Any]:
        """Probabilities of the `known` classes, the last axis, as probabilities of all classes."""
        if self.classes is None or len(known) == len(self.classes):
            return outputs
        # A class that the training set does not have was given no probability.
        aligned = np.zeros((*outputs.shape[:-1], len(self.classes)), dtype=outputs.dtype)
        aligned[..., np.searchsorted(self.classes, known)] = outputs
        return aligned

    def losses(self, outputs: NDArray[Any]) -> NDArray[np.float64]:
        """The loss of several models at every sample, from their outputs, one model a row.

        Raises where a loss is no finite non-negative number.
        """
        n_models, n_samples = outputs.shape[:2]
        y = self.y if n_models == 1 else np.tile(self.y, (n_models, *[1] * (self.y.ndim - 1)))
        losses = np.asarray(self.loss(y, outputs.reshape(-1, *outputs.shape[2:])), dtype=np.float64)
        if losses.shape != (n_models * n_samples,):
            raise ValueError(
                f"the loss must return one number for each of the {len(y)} samples, got an "
                f"array of shape {losses.shape}"
            )
        losses = losses.reshape(n_models, n_samples)
        if not np.isfinite(losses.sum()) and not np.isfinite(losses).all():
            raise ValueError(f"{int((~np.isfinite(losses)).sum())} losses are not finite")
        if losses.min() < 0:
            raise ValueError(f"a loss must not be negative, got {losses.min():g}")
        return losses


def as_response(loss: Loss, y: Any, classes: NDArray[Any] | None = None) -> Response:
    """Prepare the targets for a loss; `classes` are those of y unless given."""
    method = getattr(loss, "response_method", "predict")
    targets = _one_column(np.asarray(y))
    if targets.dtype == object:
        targets = np.array(targets.tolist())  # numbers may come as objects
    if method != "predict_proba":
        return Response(loss, method, targets)
    if targets.ndim != 1:
        raise ValueError(
            f"a loss of probabilities needs a y with one column, got shape {targets.shape}; "
            "use loss='zero_one'."
        )
    if classes is None:
        classes = np.unique(targets)
    elif not np.isin(targets, classes).all():
        unknown = np.unique(targets[~np.isin(targets, classes)])
        raise ValueError(f"y has classes that the estimator does not know: {unknown.tolist()}")
    return Response(loss, method, np.searchsorted(classes, targets), classes)


def _one_column(array: NDArray[Any]) -> NDArray[Any]:
    """A column as a vector, so that it is not spread against one."""
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


@dataclass(frozen=True)
class _Named:
    """A loss with a name; the name is how a ledger file knows it."""

    name: str
    function: Callable[[Any, Any], NDArray[np.float64]]
    response_method: str = "predict"

    def __call__(self, y_true: Any, y_pred: Any, /) -> NDArray[np.float64]:
        return self.function(y_true, y_pred)


@dataclass(frozen=True)
class _Pinball:
    alpha: float

    def __call__(self, y_true: Any, y_pred: Any, /) -> NDArray[np.float64]:
        over = np.subtract(y_pred, y_true, dtype=np.float64)
        return _mean_over_outputs(np.maximum(-self.alpha * over, (1 - self.alpha) * over))


def _mean_over_outputs(losses: NDArray[np.float64]) -> NDArray[np.float64]:
    return losses if losses.ndim == 1 else losses.mean(axis=1)


def _squared_error(y_true: NDArray[Any], y_pred: NDArray[Any]) -> NDArray[np.float64]:
    error = np.subtract(y_pred, y_true, dtype=np.float64)
    return _mean_over_outputs(np.square(error, out=error))


def _absolute_error(y_true: NDArray[Any], y_pred: NDArray[Any]) -> NDArray[np.float64]:
    return _mean_over_outputs(np.abs(np.subtract(y_pred, y_true, dtype=np.float64)))


def _poisson_deviance(y_true: NDArray[Any], y_pred: NDArray[Any]) -> NDArray[np.float64]:
    if (y_pred <= 0).any() or (y_true < 0).any():
        raise ValueError("the Poisson deviance needs predictions above 0 and targets from 0 on")
    deviance = 2 * (xlogy(y_true, y_true / y_pred) - y_true + y_pred)
    return _mean_over_outputs(np.maximum(deviance, 0.0))  # rounding may leave -1e-16


def _gamma_deviance(y_true: NDArray[Any], y_pred: NDArray[Any]) -> NDArray[np.float64]:
    if (y_pred <= 0).any() or (y_true <= 0).any():
        raise ValueError("the gamma deviance needs predictions and targets above 0")
    deviance = 2 * (np.log(y_pred / y_true) + y_true / y_pred - 1)
    return _mean_over_outputs(np.maximum(deviance, 0.0))


def _zero_one(y_true: NDArray[Any], y_pred: NDArray[Any]) -> NDArray[np.float64]:
    wrong = np.asarray(y_true != y_pred)
    if wrong.ndim > 1:
        wrong = np.asarray(wrong.any(axis=1))
    return wrong.astype(np.float64)


def _log_loss(y_true: NDArray[Any], y_pred: NDArray[Any]) -> NDArray[np.float64]:
    # Clipped as in scikit-learn: no probability for what happened costs about 36, not infinity.
    eps = np.finfo(y_pred.dtype).eps
    of_truth = np.take_along_axis(y_pred, y_true[:, np.newaxis], axis=1)[:, 0]
    loss: NDArray[np.float64] = -np.log(np.clip(of_truth, eps, 1 - eps), dtype=np.float64)
    return loss


def _brier(y_true: NDArray[Any], y_pred: NDArray[Any]) -> NDArray[np.float64]:
    truth = np.eye(y_pred.shape[1])[y_true]
    total: NDArray[np.float64] = np.square(y_pred - truth, dtype=np.float64).sum(axis=1)
    return total / 2 if y_pred.shape[1] == 2 else total


LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (
        _Named("squared_error", _squared_error),
        _Named("absolute_error", _absolute_error),
        _Named("poisson_deviance", _poisson_deviance),
        _Named("gamma_deviance", _gamma_deviance),
        _Named("zero_one", _zero_one),
        _Named("log_loss", _log_loss, "predict_proba"),
        _Named("brier", _brier, "predict_proba"),
    )
}
