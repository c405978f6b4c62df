"""Scores of predicted labels, of many models at once.

Every function takes the samples and the labels that models predict for them, of shape (n_models,
n_samples), and returns a number for each model, as scikit-learn's metric of the same name does.
Which labels count is looked up for each model, as there: those that are true or predicted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from steadycv._samples import Samples

    Array = NDArray[Any]
    Floats = NDArray[np.float64]

WIDEST = 256  # whole numbers in a range so wide are their own codes


class Counts(NamedTuple):
    """Weights of samples by model and label; `there` says whether a label occurs at all."""

    hit: Floats
    true: Floats
    said: Floats
    there: NDArray[np.bool_]


def accuracy(samples: Samples, outputs: Array) -> Floats:
    """Share of right predictions."""
    return samples.mean(outputs == samples.y)


def share_wrong(samples: Samples, outputs: Array) -> Floats:
    """Share of wrong predictions."""
    return 1 - accuracy(samples, outputs)


def balanced_accuracy(
    samples: Samples,
    outputs: Array,
    *,
    adjusted: bool = False,
) -> Floats:
    """Mean recall of the classes that are there."""
    _, counts = _count(samples, outputs)
    judged = counts.true[0] > 0
    scores = _sum(np.where(judged, counts.hit / counts.true, 0.0)) / judged.sum()
    if adjusted:
        chance = 1 / judged.sum()
        scores = (scores - chance) / (1 - chance)
    return np.asarray(scores)


def matthews_corrcoef(samples: Samples, outputs: Array) -> Floats:
    """Correlation of what is true and what is predicted."""
    _, counts = _count(samples, outputs)
    # Each total is summed as its parts are, so that one label alone leaves exactly nothing.
    total = _sum(counts.said)
    together = _sum(counts.hit) * total - _sum(counts.true * counts.said)
    alone = (total**2 - _sum(counts.said**2)) * (_sum(counts.true) ** 2 - _sum(counts.true**2))
    return np.where(alone == 0, 0.0, together / np.sqrt(alone))


def cohen_kappa(samples: Samples, outputs: Array, *, weights: str | None = None) -> Floats:
    """Agreement beyond chance; with `weights`, labels far apart in order disagree more."""
    codes, counts = _count(samples, outputs)
    total = _sum(counts.said)
    if weights is None:
        observed = 1 - _sum(counts.hit) / total
        expected = 1 - _sum(counts.true * counts.said) / total**2
    else:
        exponent = 1 if weights == "linear" else 2
        place = np.cumsum(counts.there, axis=1) - 1.0  # among the labels that this model meets
        apart = np.take_along_axis(place, codes.said, axis=1) - np.take(place, codes.true, axis=1)
        observed = samples.mean(np.abs(apart) ** exponent)
        distance = np.abs(place[:, :, np.newaxis] - place[:, np.newaxis]) ** exponent
        chance = counts.true[:, :, np.newaxis] * counts.said[:, np.newaxis]
        expected = _sum((distance * chance).reshape(len(outputs), -1)) / total**2
    alone = counts.there.sum(axis=1) == 1
    return np.where(alone | (expected == 0), np.nan, 1 - observed / expected)


def precision(samples: Samples, outputs: Array, **how: Any) -> Floats:
    """Share of what was predicted that is true."""
    return _averaged(lambda c: (c.hit, c.said), samples, outputs, **how)


def recall(samples: Samples, outputs: Array, **how: Any) -> Floats:
    """Share of what is true that was predicted."""
    return _averaged(lambda c: (c.hit, c.true), samples, outputs, **how)


def fbeta(
    samples: Samples,
    outputs: Array,
    *,
    beta: float = 1.0,
    **how: Any,
) -> Floats:
    """Harmonic mean of precision and recall."""
    square = beta**2
    return _averaged(
        lambda c: ((1 + square) * c.hit, square * c.true + c.said),
        samples,
        outputs,
        **how,
    )


def jaccard(samples: Samples, outputs: Array, **how: Any) -> Floats:
    """Share of what is true or predicted that is both."""
    return _averaged(
        lambda c: (c.hit, c.hit + (c.said - c.hit) + (c.true - c.hit)),
        samples,
        outputs,
        **how,
    )


def of_one_label_undefined(
    samples: Samples,
    *,
    average: str = "binary",
    pos_label: Any = 1,
    **_how: Any,
) -> str | None:
    """Averaged over one label alone: more than two classes, or none that has this name."""
    if average != "binary":
        return f"no class is called {pos_label!r}" if _unknown(samples, pos_label) else None
    known = np.unique(samples.y)
    if len(known) > 2:
        return "more than two classes"
    known = known if samples.classes is None else samples.classes
    if len(known) > 1 and pos_label not in known.tolist():
        return f"no class is called {pos_label!r}"
    return None


def recall_undefined(
    samples: Samples,
    *,
    average: str = "binary",
    pos_label: Any = 1,
    zero_division: Any = "warn",
    **_how: Any,
) -> str | None:
    """As for the others, or nothing to be recalled."""
    why = of_one_label_undefined(samples, average=average, pos_label=pos_label)
    if why is None and average == "binary" and zero_division == "warn":
        there = pos_label in samples.counting.tolist()
        return None if there else f"no sample of the class {pos_label!r}"
    return why


def one_class_adjusted(samples: Samples, *, adjusted: bool = False) -> str | None:
    """Samples of one class only, where chance would be always right."""
    alone = adjusted and len(np.unique(samples.counting)) == 1
    return "samples of one class only" if alone else None


def _unknown(samples: Samples, pos_label: Any) -> bool:
    """Whether there is no such class: scikit-learn's scorers refuse it, though no average needs it."""
    return (
        pos_label is not None
        and samples.classes is not None
        and pos_label not in samples.classes.tolist()
    )


class _Codes(NamedTuple):
    """Labels as their positions in the sorted `labels`."""

    labels: Array
    true: NDArray[np.intp]
    said: NDArray[np.intp]


def _encode(samples: Samples, outputs: Array) -> _Codes:
    y = samples.y
    if y.dtype.kind in "iub" and outputs.dtype.kind in "iub":
        low = min(int(y.min()), int(outputs.min()))
        high = max(int(y.max()), int(outputs.max()))
        if high - low < WIDEST:
            codes = [np.subtract(array, low, dtype=np.intp) for array in (y, outputs)]
            return _Codes(np.arange(low, high + 1), *codes)
    if samples.classes is not None:
        labels = samples.classes
        true, said = (np.searchsorted(labels[:-1], array) for array in (y, outputs))
        if (labels[true] == y).all() and (labels[said] == outputs).all():
            return _Codes(labels, true, said)
    labels = np.unique(np.concatenate([np.unique(y), np.unique(outputs)]))
    return _Codes(labels, np.searchsorted(labels, y), np.searchsorted(labels, outputs))


def _count(samples: Samples, outputs: Array) -> tuple[_Codes, Counts]:
    """Count what is true, said, and both, by model and label."""
    codes = _encode(samples, outputs)
    n_models, n_labels = len(outputs), len(codes.labels)
    cells = codes.said + n_labels * np.arange(n_models)[:, np.newaxis]
    right = codes.said == codes.true

    def counted(some: NDArray[np.intp], weight: Floats | None, n_rows: int = n_models) -> Floats:
        counts = np.bincount(some, weight, minlength=n_rows * n_labels)
        return counts.reshape(n_rows, n_labels).astype(np.float64, copy=False)

    said, true = counted(cells.ravel(), None), counted(codes.true, None, n_rows=1)
    there = (said > 0) | (true > 0)
    if samples.weight is None:
        return codes, Counts(counted(cells[right], None), true, said, there)
    weights = np.broadcast_to(samples.weight, right.shape)
    said, true = counted(cells.ravel(), weights.ravel()), counted(codes.true, samples.weight, n_rows=1)
    return codes, Counts(counted(cells[right], weights[right]), true, said, there)


def _averaged(
    quotient: Callable[[Counts], tuple[Floats, Floats]],
    samples: Samples,
    outputs: Array,
    *,
    average: str = "binary",
    pos_label: Any = 1,
    labels: Any = None,
    zero_division: Any = "warn",
) -> Floats:
    """A quotient of counts of one label, of all labels together, or its mean over labels."""
    codes, counts = _count(samples, outputs)
    met = counts.there.sum(axis=1)
    if average == "binary":
        strange = isinstance(pos_label, str) != (codes.labels.dtype.kind == "U")
        counts = _of(counts, codes.labels, [pos_label])
        refused = (met > 2) | ~counts.there[:, 0] & (strange | (met == 2))
        counts = counts._replace(there=np.ones_like(counts.there))
    elif labels is not None:
        counts = _of(counts, codes.labels, labels)
        counts = counts._replace(there=np.ones_like(counts.there))
    if average == "micro":
        hit, true, said = (_sum(part)[:, np.newaxis] for part in counts[:3])
        counts = Counts(hit, true, said, there=np.ones((len(outputs), 1), dtype=np.bool_))
    above, below = np.broadcast_arrays(*quotient(counts))
    of_nothing = 0.0 if zero_division == "warn" else float(zero_division)
    values = np.where(below == 0, of_nothing, above / below)
    known = counts.there & ~np.isnan(values)
    alike = known.astype(np.float64)
    importance = alike * counts.true if average == "weighted" else alike
    importance = np.where((_sum(importance) == 0)[:, np.newaxis], alike, importance)
    scores = _sum(importance * np.where(known, values, 0.0)) / _sum(importance)
    return np.where(refused, np.nan, scores) if average == "binary" else scores


def _of(counts: Counts, labels: Array, some: Any) -> Counts:
    """The counts of some labels, nothing for those that are nowhere."""
    places = {label: place for place, label in enumerate(labels.tolist())}
    wanted = np.array([places.get(label, len(labels)) for label in np.asarray(some).tolist()])

    def chosen(part: Array) -> Array:
        return np.pad(part, ((0, 0), (0, 1)))[:, wanted]

    return Counts(*map(chosen, counts))


def _sum(values: Floats) -> Floats:
    """The sum over labels one after the other: labels that a model does not meet change no bit."""
    return np.cumsum(values, axis=-1)[..., -1]
