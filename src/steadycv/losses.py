"""Per-sample losses: what drives the selection.

The method compares losses sample by sample, so it needs a loss at every sample and not
only a score of a whole fold. A loss is never negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from scipy.special import xlogy
from sklearn.base import is_classifier

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["LOSSES", "Loss", "default_loss", "get_loss", "pinball_loss", "tweedie"]


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


def tweedie(power: float) -> Loss:
    """Deviance of a Tweedie distribution; 0, 1 and 2 are squared error, Poisson and gamma deviance.

    Parameters
    ----------
    power : float
        How the variance grows with the mean: 0 or less, or 1 or more.

    Returns
    -------
    loss : Loss
        To be passed as ``StabilitySearchCV(..., loss=tweedie(1.5))``.

    Examples
    --------
    >>> from steadycv.losses import tweedie
    >>> tweedie(1.5)([0.0, 4.0], [1.0, 4.0])
    array([4., 0.])
    """
    if 0 < power < 1:
        raise ValueError(f"power must be 0 or less, or 1 or more, got {power!r}.")
    named: dict[float, str] = {0: "squared_error", 1: "poisson_deviance", 2: "gamma_deviance"}
    return LOSSES[named[power]] if power in named else _Tweedie(float(power))


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


def default_loss(estimator: Any) -> Loss:
    """What GridSearchCV judges by: the share of wrong labels of classifiers; squared error of others."""
    return LOSSES["zero_one" if is_classifier(estimator) else "squared_error"]


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


@dataclass(frozen=True)
class _Tweedie:
    power: float

    def __call__(self, y_true: Any, y_pred: Any, /) -> NDArray[np.float64]:
        p = self.power
        y, mean = np.asarray(y_true, dtype=np.float64), np.asarray(y_pred, dtype=np.float64)
        if (mean <= 0).any() or (p > 0 and (y < 0).any()) or (p > 2 and (y == 0).any()):
            least = " and targets above 0" if p > 2 else " and targets from 0 on" if p > 0 else ""
            raise ValueError(f"the Tweedie deviance of the power {p:g} needs predictions above 0{least}")
        positive = y if p > 0 else np.maximum(y, 0.0)
        deviance = positive ** (2 - p) / ((1 - p) * (2 - p)) - y * mean ** (1 - p) / (1 - p)
        deviance += mean ** (2 - p) / (2 - p)
        return _mean_over_outputs(np.maximum(2 * deviance, 0.0))


def _mean_over_outputs(losses: NDArray[np.float64]) -> NDArray[np.float64]:
    return losses if losses.ndim == 1 else losses.mean(axis=1)


def _squared_error(y_true: NDArray[Any], y_pred: NDArray[Any]) -> NDArray[np.float64]:
    error = np.subtract(y_pred, y_true, dtype=np.float64)
    return _mean_over_outputs(np.square(error, out=error))


def _absolute_error(y_true: NDArray[Any], y_pred: NDArray[Any]) -> NDArray[np.float64]:
    return _mean_over_outputs(np.abs(np.subtract(y_pred, y_true, dtype=np.float64)))


def _squared_log_error(y_true: NDArray[Any], y_pred: NDArray[Any]) -> NDArray[np.float64]:
    if (y_pred <= -1).any() or (y_true <= -1).any():
        raise ValueError("the squared logarithmic error needs predictions and targets above -1")
    return _squared_error(np.log1p(y_true, dtype=np.float64), np.log1p(y_pred, dtype=np.float64))


def _absolute_percentage_error(y_true: NDArray[Any], y_pred: NDArray[Any]) -> NDArray[np.float64]:
    # As in scikit-learn: of a target of zero, any error is a huge share, not an infinite one.
    size = np.maximum(np.abs(np.asarray(y_true, dtype=np.float64)), np.finfo(np.float64).eps)
    return _mean_over_outputs(np.abs(np.subtract(y_pred, y_true, dtype=np.float64)) / size)


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
        _Named("squared_log_error", _squared_log_error),
        _Named("absolute_percentage_error", _absolute_percentage_error),
        _Named("poisson_deviance", _poisson_deviance),
        _Named("gamma_deviance", _gamma_deviance),
        _Named("zero_one", _zero_one),
        _Named("log_loss", _log_loss, "predict_proba"),
        _Named("brier", _brier, "predict_proba"),
    )
}
