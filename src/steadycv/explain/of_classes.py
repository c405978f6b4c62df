"""What nested predictions of classes are worth: curves, calibration, and the table of confusions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.metrics import (
    auc,
    average_precision_score,
    confusion_matrix,
    precision_recall_curve,
    roc_curve,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from steadycv.explain.judged import Judged

__all__ = [
    "Calibration",
    "Confusion",
    "Curve",
    "calibrations",
    "precision_recall_curves",
    "roc_curves",
]

N_BINS = 10


class Curve(NamedTuple):
    """One line of a picture, for one class against the others.

    Attributes
    ----------
    positive : object
        The class that is to be found.
    view : int or None
        The view whose rows it is about; None for all rows.
    x, y : ndarray
        Its points.
    area : float
        The area under it: of precision and recall, the average precision.
    """

    positive: Any
    view: int | None
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    area: float


class Calibration(NamedTuple):
    """How often what was given some probability happened.

    Attributes
    ----------
    positive : object
        The class whose probability it is.
    said, happened : ndarray of shape (n_bins,)
        The mean probability of rows that were given about the same, and the share of those that have the
        class. Each bin has about as many rows.
    n_rows : ndarray of int of shape (n_bins,)
        How many these are.
    """

    positive: Any
    said: NDArray[np.float64]
    happened: NDArray[np.float64]
    n_rows: NDArray[np.intp]


class Confusion(NamedTuple):
    """How often each class was taken for each.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The classes.
    n_rows : ndarray of shape (n_classes, n_classes)
        ``n_rows[i, j]``: the rows of class i that were predicted to be of class j; their weight where
        rows have some.
    """

    classes: NDArray[Any]
    n_rows: NDArray[Any]

    @classmethod
    def of(cls, judged: Judged) -> Confusion | None:
        """That of nested predictions; None of regressors."""
        if judged.classes is None:
            return None
        table = confusion_matrix(
            judged.targets, judged.predicted, labels=judged.classes, sample_weight=judged.weight
        )
        return cls(judged.classes, table)


def roc_curves(judged: Judged) -> list[Curve]:
    """The share of others that are taken for a class, and the share of it that is found.

    Of two classes the curve of all rows comes first, then those of single views; of more, one for each
    class. None without probabilities.
    """

    def points(y: NDArray[Any], said: NDArray[Any], weight: Any) -> tuple[Any, Any, float]:
        x, found, _ = roc_curve(y, said, sample_weight=weight)
        return x, found, float(auc(x, found))

    return list(_curves(judged, points))


def precision_recall_curves(judged: Judged) -> list[Curve]:
    """The share of a class that is found, and the share of what was found that is of the class.

    Curves come in the order of `roc_curves`.
    """

    def points(y: NDArray[Any], said: NDArray[Any], weight: Any) -> tuple[Any, Any, float]:
        precision, recall, _ = precision_recall_curve(y, said, sample_weight=weight)
        area = float(average_precision_score(y, said, sample_weight=weight))
        return recall[::-1], precision[::-1], area

    return list(_curves(judged, points))


def calibrations(judged: Judged) -> list[Calibration]:
    """Of two classes that of the second, of more one for each; none without probabilities."""
    found = []
    for number in _positives(judged):
        assert judged.classes is not None
        assert judged.probabilities is not None
        said = judged.probabilities[:, number]
        is_it = judged.targets == judged.classes[number]
        weight = np.ones(len(said)) if judged.weight is None else judged.weight
        edges = np.quantile(said, np.linspace(0, 1, N_BINS + 1))
        bins = np.searchsorted(edges[1:-1], said)
        n_rows = np.bincount(bins)
        total = np.bincount(bins, weight)
        some = total > 0
        found.append(
            Calibration(
                judged.classes[number],
                np.bincount(bins, weight * said)[some] / total[some],
                np.bincount(bins, weight * is_it)[some] / total[some],
                n_rows[some],
            )
        )
    return found


def _positives(judged: Judged) -> list[int]:
    """The classes that are told from the others, by number."""
    if judged.classes is None or judged.probabilities is None or len(judged.classes) < 2:
        return []
    return [1] if len(judged.classes) == 2 else list(range(len(judged.classes)))


def _curves(judged: Judged, points: Callable[..., tuple[Any, Any, float]]) -> Iterator[Curve]:
    for number in _positives(judged):
        yield _curve(judged, number, None, points)
    if judged.classes is not None and len(judged.classes) == 2 and judged.probabilities is not None:
        for view in np.unique(judged.view).tolist():
            own = judged.only(judged.view == view)
            if len(np.unique(own.targets)) == 2:  # else there is nothing to tell apart
                yield _curve(own, 1, view, points)


def _curve(
    judged: Judged, number: int, view: int | None, points: Callable[..., tuple[Any, Any, float]]
) -> Curve:
    assert judged.classes is not None
    assert judged.probabilities is not None
    positive = judged.classes[number]
    x, y, area = points(judged.targets == positive, judged.probabilities[:, number], judged.weight)
    return Curve(positive, view, x, y, area)
