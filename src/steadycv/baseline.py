"""The baseline: what it would cost to look at no column, from the same splits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier, is_regressor

from steadycv._arrays import one_column, plain
from steadycv._compat import to_numpy
from steadycv.measures import Rows
from steadycv.outputs import ModelsOfPath
from steadycv.scoring import NotAnsweredError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.lattice import Lattice
    from steadycv.scoring import Judging

__all__ = ["Baseline", "baseline"]


class Baseline(NamedTuple):
    """The error of the best model that looks at no column.

    Attributes
    ----------
    what : str
        What it predicts: the mean, the median or the base rate of what it was trained on.
    error : float
        Its mean error over the splits, minus the score where one drives.
    """

    what: str
    error: float

    def explained(self, error: float) -> float:
        """The share of the baseline's error that a model does not have; negative if it has more."""
        return 1 - error / self.error if self.error else 0.0


def baseline(estimator: Any, judging: Judging, lattice: Lattice, targets: Any) -> Baseline | None:
    """The baseline of a search, None where no constant is an answer."""
    y = None if targets is None else plain(one_column(to_numpy(targets)))
    if y is None or not (is_regressor(estimator) or (is_classifier(estimator) and y.ndim == 1)):
        return None
    says = _of_classes if is_classifier(estimator) else _of_numbers
    measure, totals = judging.measure, dict[str, float]()
    for evaluation in lattice.final.evaluations:
        training_set, row_set = lattice.evaluations[evaluation]
        train = lattice.rows(training_set)
        rows = Rows(lattice.row_sets[row_set], judging.weight, lattice.n_samples)
        weight = np.ones(len(train)) if judging.weight is None else judging.weight[train]
        for what, outputs in says(y[train], weight, judging.classes).items():
            if not all(set(methods) & outputs.keys() for methods in measure.methods(estimator)):
                return None  # a score of what only models with a decision function say
            everywhere = {
                method: np.broadcast_to(said, (1, lattice.n_samples, *np.shape(said)))
                for method, said in outputs.items()
            }
            models = ModelsOfPath(everywhere, train, classes=judging.classes)
            try:
                found = measure.errors(models, measure.losses(models, lattice), rows)
            except (ValueError, NotAnsweredError):  # a loss or score that is nothing for this constant
                continue
            totals[what] = totals.get(what, 0.0) + float(found.errors[0])
    finite = {what: total for what, total in totals.items() if np.isfinite(total)}
    if not finite:
        return None
    what = min(finite, key=lambda each: finite[each])
    return Baseline(what, finite[what] / len(lattice.final.evaluations))


def _of_numbers(
    y: NDArray[Any], weight: NDArray[np.float64], classes: NDArray[Any] | None
) -> dict[str, dict[str, Any]]:
    """What the mean and the median say; the median is that of rows without weights."""
    del classes
    mean, median = np.average(y, axis=0, weights=weight), np.median(y, axis=0)
    return {"the mean": {"predict": mean}, "the median": {"predict": median}}


def _of_classes(
    y: NDArray[Any], weight: NDArray[np.float64], classes: NDArray[Any] | None
) -> dict[str, dict[str, Any]]:
    """What the base rates say: the commonest class, and the share of each as its probability."""
    known = np.unique(y) if classes is None else to_numpy(classes)
    shares = np.bincount(np.searchsorted(known, y), weight, len(known))
    shares = shares / shares.sum()
    return {"the base rate": {"predict": known[shares.argmax()], "predict_proba": shares}}
