"""Scores of predicted numbers, of many models at once.

Every function takes the samples and what the models say of them, of shape (n_models, n_samples,
n_targets), and returns a number for each model, as scikit-learn's metric of the same name does.
Sums run over the last axis of contiguous arrays, so that a model's number depends on no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import metrics

from steadycv.losses import tweedie

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv._samples import Samples
    from steadycv.losses import Loss

    Floats = NDArray[np.float64]


def mean_of_loss(samples: Samples, outputs: Floats, *, loss: Loss) -> Floats:
    """The mean of a per-sample loss; NaN for a model whose predictions the loss does not take."""
    n_models, n_samples, n_targets = outputs.shape
    flat = (n_models * n_samples, n_targets) if n_targets > 1 else (n_models * n_samples,)
    try:
        losses = loss(np.tile(samples.y, (n_models, 1)).reshape(flat), outputs.reshape(flat))
    except ValueError:
        if n_models == 1:
            return np.array([np.nan])
        one_by_one = [mean_of_loss(samples, one[np.newaxis], loss=loss) for one in outputs]
        return np.concatenate(one_by_one)
    return samples.mean(losses.reshape(n_models, n_samples))


def root_mean_squared_error(samples: Samples, outputs: Floats) -> Floats:
    """Root of the mean squared error, of each target alone."""
    squares = samples.mean(_errors(samples, outputs) ** 2)
    return np.asarray(np.sqrt(squares).mean(axis=1))


def root_mean_squared_error_by_sample(samples: Samples, outputs: Floats) -> Floats:
    """Numbers whose mean over the samples is the root, and that change as it does."""
    squares = _errors(samples, outputs) ** 2
    mean = samples.mean(squares)[..., np.newaxis]
    root = np.sqrt(mean)
    changes = np.where(root > 0, (squares - mean) / (2 * np.where(root > 0, root, 1)), 0.0)
    return np.asarray((root + changes).mean(axis=1))


def root_mean_squared_log_error(samples: Samples, outputs: Floats) -> Floats:
    """Root of the mean squared logarithmic error; NaN where something is -1 or less."""
    logarithms = samples._replace(y=np.log1p(samples.y))
    refused = (outputs <= -1).any(axis=(1, 2)) | (samples.y <= -1).any()
    return np.where(refused, np.nan, root_mean_squared_error(logarithms, np.log1p(outputs)))


def median_absolute_error(samples: Samples, outputs: Floats) -> Floats:
    """The median error."""
    errors = np.abs(_errors(samples, outputs))
    if samples.weight is None:
        return np.asarray(np.median(errors, axis=-1).mean(axis=1))
    # What a weighted median is depends on scikit-learn's version: it is asked, once for all models.
    columns = errors.reshape(-1, len(samples.y)).T
    medians = metrics.median_absolute_error(
        np.zeros_like(columns), columns, sample_weight=samples.weight, multioutput="raw_values"
    )
    return np.asarray(medians.reshape(len(outputs), -1).mean(axis=1))


def max_error(samples: Samples, outputs: Floats) -> Floats:
    """The largest error."""
    return np.asarray(np.abs(_errors(samples, outputs)).max(axis=(1, 2)))


def r2(samples: Samples, outputs: Floats) -> Floats:
    """Share of the variation that is explained."""
    if len(samples.y) < 2:
        return np.full(len(outputs), np.nan)
    weight = np.ones(len(samples.y)) if samples.weight is None else samples.weight
    around = (samples.y - samples.mean_target(samples.y)) ** 2
    return _explained(
        (_errors(samples, outputs) ** 2 * weight).sum(axis=-1),
        (around * weight[:, np.newaxis]).sum(axis=0),
    )


def r2_by_sample(samples: Samples, outputs: Floats) -> Floats:
    """Numbers whose mean over the samples is the share that is explained."""
    around = samples.mean_target((samples.y - samples.mean_target(samples.y)) ** 2)
    return np.asarray((1 - _errors(samples, outputs) ** 2 / around[:, np.newaxis]).mean(axis=1))


def explained_variance(samples: Samples, outputs: Floats) -> Floats:
    """Share of the variance that is explained, a constant error forgiven."""
    errors = _errors(samples, outputs)
    unexplained = samples.mean((errors - samples.mean(errors)[..., np.newaxis]) ** 2)
    around = (samples.y - samples.mean_target(samples.y)) ** 2
    return _explained(unexplained, samples.mean_target(around))


def d2_pinball(samples: Samples, outputs: Floats, *, alpha: float = 0.5) -> Floats:
    """Share of the pinball loss of the best constant that is explained."""
    if len(samples.y) < 2:
        return np.full(len(outputs), np.nan)
    # Which quantile is the best constant depends on scikit-learn's version. So it is asked for the
    # score of predictions that are all too high by far, whose loss is known.
    y = samples.y - samples.y[0]
    over = 1 + 10 * np.ptp(y)
    asked = metrics.d2_pinball_score(
        y, y + over, sample_weight=samples.weight, alpha=alpha, multioutput="raw_values"
    )
    of_constant = np.where(asked == 0, 0.0, (1 - alpha) * over / (1 - asked))
    errors = _errors(samples, outputs)
    return _explained(samples.mean(np.maximum(alpha * errors, (alpha - 1) * errors)), of_constant)


def d2_tweedie(samples: Samples, outputs: Floats, *, power: float = 0) -> Floats:
    """Share of the deviance of the mean that is explained."""
    if d2_tweedie_undefined(samples, power=power):
        return np.full(len(outputs), np.nan)
    constant = np.full((1, *samples.y.shape), samples.mean_target(samples.y))
    of_constant = mean_of_loss(samples, constant, loss=tweedie(power))
    return 1 - mean_of_loss(samples, outputs, loss=tweedie(power)) / of_constant


def loss_undefined(samples: Samples, *, loss: Loss) -> str | None:
    """What the loss says of the targets."""
    try:
        loss(samples.y, np.ones_like(samples.y))  # a prediction that every loss takes
    except ValueError as error:
        return str(error)
    return None


def log_undefined(samples: Samples) -> str | None:
    """Targets without a logarithm."""
    return "a target of -1 or less" if (samples.y <= -1).any() else None


def one_sample(samples: Samples, **_parameters: Any) -> str | None:
    """Less than two samples."""
    return "less than two samples" if len(samples.y) < 2 else None


def d2_tweedie_undefined(samples: Samples, *, power: float = 0) -> str | None:
    """Targets that the deviance does not take, or that do not differ."""
    if len(samples.y) < 2 or np.ptp(samples.counting) == 0:
        return "targets that are all the same"
    return loss_undefined(samples, loss=tweedie(power))


def _errors(samples: Samples, outputs: Floats) -> Floats:
    """Target minus prediction, of shape (n_models, n_targets, n_samples)."""
    return np.asarray(samples.y.T - np.ascontiguousarray(outputs.transpose(0, 2, 1)))


def _explained(unexplained: Floats, of_constant: Floats) -> Floats:
    """One minus the quotient, averaged over targets; 1 and 0 where nothing was to explain."""
    shares = np.where(of_constant != 0, 1 - unexplained / of_constant, 0.0)
    return np.asarray(np.where(unexplained != 0, shares, 1.0).mean(axis=1))
