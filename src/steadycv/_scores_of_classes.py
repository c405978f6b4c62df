"""Scores of decision values and probabilities, of many models at once.

Every function takes the samples and what models say of them: decision values of two classes, of
shape (n_models, n_samples), or values by class, of shape (n_models, n_samples, n_classes). It
returns a number for each model, as scikit-learn's metric of the same name does when it is told all
classes in `labels`.
"""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import rankdata
from sklearn import metrics

from steadycv._samples import weighted_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from steadycv._samples import Samples

    Array = NDArray[Any]
    Floats = NDArray[np.float64]

UNNAMED = "two classes with text for labels, of which no pos_label names one"


def roc_auc(
    samples: Samples, outputs: Array, *, multi_class: str = "raise", average: str = "macro"
) -> Floats:
    """Area under the ROC curve; of several classes, averaged over them or over pairs of them."""
    known = samples.known
    if len(known) <= 2:
        return _area(_of_one_class(outputs, last=True), samples.y == known[-1], samples.weight)
    if multi_class == "raise" or (multi_class == "ovo" and samples.weight is not None):
        return np.full(len(outputs), np.nan)
    if multi_class == "ovo":
        scores = _over_pairs(samples, outputs, average)
    else:
        scores = _over_classes(_area, samples, outputs, average)
    return np.where(np.isclose(1, outputs.sum(axis=2)).all(axis=1), scores, np.nan)


def roc_auc_undefined(
    samples: Samples, *, multi_class: str = "raise", average: str = "macro"
) -> str | None:
    """Classes that cannot be told apart because they are not there."""
    if len(samples.there) < 2:
        return "samples of one class only"
    if len(samples.known) == 2:
        return None
    if multi_class == "raise":
        return "more than two classes"
    if multi_class == "ovo":
        weighted = samples.weight is not None
        return "pairs of classes are compared without weights" if weighted else None
    return _missing(samples) if average == "macro" else None


def roc_auc_by_sample(samples: Samples, outputs: Array, **_several: Any) -> Floats | None:
    """Numbers whose mean over the samples is the area: DeLong's placements, for two classes."""
    known = samples.known
    if len(known) != 2 or samples.weight is not None:
        return None
    values, positive = _of_one_class(outputs, last=True), samples.y == known[-1]
    ranks = rankdata(values, axis=1)
    placed = np.empty(ranks.shape)
    for own in (positive, ~positive):
        # How many of the other class are below each, as a share; ties count as a half.
        below = ranks[:, own] - rankdata(values[:, own], axis=1)
        placed[:, own] = below / np.count_nonzero(~own)
    placed[:, ~positive] = 1 - placed[:, ~positive]
    area = placed[:, positive].mean(axis=1, keepdims=True)
    size = np.where(positive, positive.mean(), (~positive).mean())
    return np.asarray(area + (placed - area) / size)


def average_precision(
    samples: Samples, outputs: Array, *, average: str = "macro", pos_label: Any = 1
) -> Floats:
    """Mean precision over the recalls; of several classes, averaged over them."""
    known = samples.known.tolist()
    if (len(known) == 2 and pos_label not in known) or (len(known) > 2 and pos_label != 1):
        return np.full(len(outputs), np.nan)
    if len(known) > 2:
        return _over_classes(_step_area, samples, outputs, average)
    values = _of_one_class(outputs, last=len(known) == 1 or pos_label == known[-1])
    return _step_area(values, samples.y == pos_label, samples.weight)


def average_precision_undefined(samples: Samples, *, pos_label: Any = 1, **_average: Any) -> str | None:
    """No sample of the class that is to be found."""
    known = samples.known.tolist()
    if len(known) > 1 and pos_label not in known:
        return f"no class is called {pos_label!r}"
    if len(known) > 2:  # scikit-learn wants one of them to be called 1, though nothing depends on it
        return _missing(samples) if pos_label == 1 else "more than two classes"
    there = pos_label in samples.there.tolist()
    return None if there else f"no sample of the class {pos_label!r}"


def top_k_accuracy(samples: Samples, outputs: Array, *, k: int = 2) -> Floats:
    """Share of samples whose class is among the `k` that the model holds most likely."""
    known = samples.known
    codes = np.searchsorted(known, samples.y)
    if len(known) > 2:
        of_truth = np.take_along_axis(outputs, codes[np.newaxis, :, np.newaxis], axis=2)
        later = np.arange(len(known)) > codes[:, np.newaxis]  # of equals, the last comes first
        before = (outputs > of_truth) | ((outputs == of_truth) & later)
        return samples.mean(np.count_nonzero(before, axis=2) < k)
    if k > 1:
        return np.ones(len(outputs))
    values = _of_one_class(outputs, last=True)
    shares = (values.min(axis=1) >= 0) & (values.max(axis=1) <= 1)
    threshold = np.where(shares, 0.5, 0.0)[:, np.newaxis]
    return samples.mean((values > threshold) == codes)


def log_loss(samples: Samples, outputs: Array) -> Floats:
    """Mean of minus the logarithm of what the true class was given."""
    probabilities = _probabilities(outputs)
    scores = samples.mean(_log_losses(samples, probabilities))
    for model in np.flatnonzero(_beyond(probabilities)):  # refused or not, as the version does
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                scores[model] = metrics.log_loss(
                    samples.y,
                    probabilities[model],
                    sample_weight=samples.weight,
                    labels=samples.known,
                )
            except ValueError:
                scores[model] = np.nan
    return scores


def brier(samples: Samples, outputs: Array, *, scale_by_half: bool | None = None) -> Floats:
    """Mean squared error of probabilities; half of the sum over classes where there are two."""
    probabilities = _probabilities(outputs)
    half = probabilities.shape[2] == 2 if scale_by_half is None else scale_by_half
    squares = (_truth(samples) - probabilities) ** 2
    scores = samples.mean(squares.sum(axis=2)) * (0.5 if half else 1.0)
    return np.where(_beyond(probabilities) | _unnamed(samples), np.nan, scores)


def d2_log_loss(samples: Samples, outputs: Array) -> Floats:
    """Share of the log loss of the classes' shares that is explained."""
    if len(samples.there) < 2:
        return np.full(len(outputs), np.nan)
    probabilities, constant = _probabilities(outputs), samples.mean_target(_truth(samples))
    always = np.tile(constant, (1, len(samples.y), 1))
    of_constant = samples.mean(_log_losses(samples, always))
    scores = 1 - samples.mean(_log_losses(samples, probabilities)) / of_constant
    return np.where(_beyond(probabilities), np.nan, scores)


def d2_brier(samples: Samples, outputs: Array) -> Floats:
    """Share of the Brier score of the classes' shares that is explained."""
    if len(samples.there) < 2:
        return np.full(len(outputs), np.nan)
    truth = _truth(samples)
    of_constant = samples.mean(((truth - samples.mean_target(truth)) ** 2).sum(axis=1))
    return np.asarray(1 - brier(samples, outputs, scale_by_half=False) / of_constant)


def one_known(samples: Samples, **_parameters: Any) -> str | None:
    """One class only, and no other is known."""
    return "one class only" if len(samples.known) == 1 else None


def brier_undefined(samples: Samples, **_parameters: Any) -> str | None:
    """One class only, or two of which none is named."""
    return one_known(samples) or (UNNAMED if _unnamed(samples) else None)


def d2_brier_undefined(samples: Samples, **_parameters: Any) -> str | None:
    """Samples of one class only, or of two of which none is named."""
    return one_there(samples) or (UNNAMED if _unnamed(samples) else None)


def one_there(samples: Samples, **_parameters: Any) -> str | None:
    """Samples of one class only."""
    return "samples of one class only" if len(samples.there) == 1 else None


def _unnamed(samples: Samples) -> bool:
    """Whether scikit-learn asks which of two classes is the positive one, as their labels are text."""
    return len(samples.known) == 2 and samples.known.dtype.kind in "OUS"


def _missing(samples: Samples) -> str | None:
    missing = np.setdiff1d(samples.known, samples.there).tolist()
    return f"no sample of the class {missing[0]!r}" if missing else None


def _truth(samples: Samples) -> Floats:
    """One in the column of each sample's class."""
    return np.asarray(samples.known == samples.y[:, np.newaxis], dtype=np.float64)


def _of_one_class(outputs: Array, *, last: bool) -> Array:
    """The decision values of one of two classes."""
    if outputs.ndim == 3:
        return np.asarray(outputs[:, :, -1 if last else 0])
    return outputs if last else -outputs


def _over_classes(area: Callable[..., Floats], samples: Samples, outputs: Array, average: str) -> Floats:
    """The mean over classes of the area of each against the rest."""
    positive = _truth(samples).astype(np.bool_)
    classes = range(outputs.shape[2])
    areas = [area(outputs[:, :, c], positive[:, c], samples.weight) for c in classes]
    scores = np.stack(areas, axis=1)
    if average == "macro":
        return weighted_mean(scores, None)
    totals = np.bincount(np.nonzero(positive)[1], samples.weight, minlength=len(classes))
    importance = totals.astype(np.float64)
    return weighted_mean(np.where(importance == 0, 0.0, scores), importance)


def _over_pairs(samples: Samples, outputs: Array, average: str) -> Floats:
    """The mean over pairs of classes that are there of the area, seen from both."""
    y, known = samples.y, samples.known
    areas: list[Floats] = []
    shares: list[float] = []
    for a, b in combinations(np.flatnonzero(np.isin(known, y)), 2):
        rows = (y == known[a]) | (y == known[b])
        first, second = (_area(outputs[:, rows, c], y[rows] == known[c], None) for c in (a, b))
        areas.append((first + second) / 2)
        shares.append(float(rows.mean()))
    if not areas:
        return np.full(len(outputs), np.nan)
    importance = np.array(shares) if average == "weighted" else None
    return weighted_mean(np.stack(areas, axis=1), importance)


class _Curve(NamedTuple):
    """Weights found at each threshold, from the highest value to the lowest.

    `ends` marks the last of equal values, where a threshold lies; the sums before are those of the
    threshold above.
    """

    ends: NDArray[np.bool_]
    true: Floats
    false: Floats
    true_before: Floats
    false_before: Floats


def _curve(values: Array, positive: NDArray[np.bool_], weight: Floats | None) -> _Curve:
    if weight is not None and not weight.all():
        counts = weight != 0
        values, positive, weight = values[:, counts], positive[counts], weight[counts]
    order = np.argsort(-values, axis=1, kind="stable")
    ranked = np.take_along_axis(values, order, axis=1)
    ends = np.ones(ranked.shape, dtype=np.bool_)
    np.not_equal(ranked[:, 1:], ranked[:, :-1], out=ends[:, :-1])
    ones = np.ones(len(positive)) if weight is None else weight
    true = np.cumsum((ones * positive)[order], axis=1)
    false = np.cumsum((ones * ~positive)[order], axis=1)
    return _Curve(ends, true, false, _before(true, ends), _before(false, ends))


def _before(sums: Floats, ends: NDArray[np.bool_]) -> Floats:
    before = np.zeros_like(sums)
    np.maximum.accumulate(np.where(ends, sums, 0.0)[:, :-1], axis=1, out=before[:, 1:])
    return before


def _area(values: Array, positive: NDArray[np.bool_], weight: Floats | None) -> Floats:
    """Area under the ROC curve; NaN with one class only."""
    curve = _curve(values, positive, weight)
    slices = (curve.false - curve.false_before) * (curve.true + curve.true_before)
    twice = np.where(curve.ends, slices, 0.0).sum(axis=1)
    return np.asarray(twice / (2 * curve.true[:, -1] * curve.false[:, -1]))


def _step_area(values: Array, positive: NDArray[np.bool_], weight: Floats | None) -> Floats:
    """Area under the steps of the curve of precision over recall; 0 where nothing is to be found."""
    curve = _curve(values, positive, weight)
    found = curve.true + curve.false
    precision = np.where(found == 0, 0.0, curve.true / found)
    steps = np.where(curve.ends, (curve.true - curve.true_before) * precision, 0.0)
    total = curve.true[:, -1]
    return np.maximum(np.where(total == 0, 0.0, steps.sum(axis=1) / total), 0.0)


def _probabilities(outputs: Array) -> Array:
    """By class. Of two classes the first gets what the second leaves, as in scikit-learn."""
    if outputs.ndim == 3 and outputs.shape[2] > 2:
        return outputs
    second = _of_one_class(outputs, last=True)
    return np.stack([1 - second, second], axis=2)


def _log_losses(samples: Samples, probabilities: Array) -> Floats:
    eps = np.finfo(probabilities.dtype).eps
    codes = np.searchsorted(samples.known, samples.y)
    of_truth = probabilities[:, np.arange(len(codes)), codes]
    return np.asarray(-np.log(np.clip(of_truth, eps, 1 - eps), dtype=np.float64))


def _beyond(probabilities: Array) -> NDArray[np.bool_]:
    """Which models give something that is no probability."""
    low, high = probabilities.min(axis=(1, 2)), probabilities.max(axis=(1, 2))
    return np.asarray((low < 0) | (high > 1))
