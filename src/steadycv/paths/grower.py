"""Who grows trees as an estimator wants them, where that is known to give scikit-learn's own trees."""

from __future__ import annotations

from math import ceil
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_array

from steadycv.paths.common import are_labels
from steadycv.paths.growing import Columns, grow

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.paths.truncation import GrownTree, Limits

__all__ = ["Grower", "checked", "looks_at_all"]


class Grower(NamedTuple):
    """Grows trees of the common kind.

    Attributes
    ----------
    columns : Columns
        All samples.
    target : ndarray of shape (n_samples,)
        Their numbers, or the indices of their classes.
    classes : ndarray or None
        The classes.
    rows : ndarray
        The training set, see `on`.
    """

    columns: Columns
    target: NDArray[Any]
    classes: NDArray[Any] | None
    rows: NDArray[np.intp]

    @classmethod
    def of(cls, estimator: Any, X: NDArray[np.float32], y: NDArray[Any]) -> Grower | None:
        """For an estimator that has the parameters of a tree; its trees take the best split.

        None if its trees are of another kind, or its parameters are such that scikit-learn would
        refuse them.
        """
        is_classifier = isinstance(estimator, ClassifierMixin)
        criteria = ("gini", "entropy", "log_loss") if is_classifier else ("squared_error",)
        leaf, fraction = estimator.min_samples_leaf, estimator.min_weight_fraction_leaf
        if not (
            estimator.criterion in criteria
            and estimator.max_leaf_nodes is None
            and estimator.monotonic_cst is None
            and looks_at_all(estimator, X.shape[1])
            and isinstance(leaf, int | float | np.number)
            and (leaf >= 1 if isinstance(leaf, Integral) else 0 < leaf < 1)
            and isinstance(fraction, int | float | np.number)
            and 0 <= fraction <= 0.5
            and y.ndim == 1
            and (not is_classifier or are_labels(y))
        ):
            return None
        rows = np.zeros(0, dtype=np.intp)
        if not is_classifier:
            return cls(Columns.of(X), np.ascontiguousarray(y, dtype=np.float64), None, rows)
        classes, indices = np.unique(y, return_inverse=True)
        return cls(Columns.of(X), indices, classes, rows)

    def on(self, rows: NDArray[np.intp]) -> Grower:
        """The same on a training set, with the classes that it has."""
        if self.classes is None:
            return self._replace(rows=rows)
        known, indices = np.unique(self.target[rows], return_inverse=True)
        target = np.zeros(len(self.target))
        target[rows] = indices
        return self._replace(target=target, classes=self.classes[known], rows=rows)

    def tree(
        self, estimator: Any, limits: Limits, seed: int, sample_weight: NDArray[Any] | None = None
    ) -> GrownTree:
        """Grow a tree; its values are numbers, or the shares of the classes."""
        n_rows, leaf = len(self.rows), estimator.min_samples_leaf
        weight = np.zeros(len(self.target))
        weight[self.rows] = 1.0 if sample_weight is None else sample_weight
        total = n_rows if sample_weight is None else np.sum(sample_weight, dtype=np.float64)
        tree = grow(
            self.columns,
            self.target,
            weight,
            seed,
            criterion=estimator.criterion,
            n_classes=0 if self.classes is None else len(self.classes),
            max_depth=limits.max_depth,
            min_samples_split=int(limits.min_samples_split),
            min_samples_leaf=int(leaf) if isinstance(leaf, Integral) else ceil(leaf * n_rows),
            min_weight_leaf=estimator.min_weight_fraction_leaf * total,
            min_impurity_decrease=limits.min_impurity_decrease,
        )
        return tree._replace(value=tree.value[:, 0]) if self.classes is None else tree


def checked(estimator: Any, X: Any, y: Any) -> tuple[NDArray[np.float32], NDArray[Any]] | None:
    """The samples as trees hold them; None if scikit-learn would refuse them, or some are missing."""
    try:
        with np.errstate(over="ignore"):
            numbers = check_array(X, dtype=np.float32, ensure_all_finite=False)
    except (TypeError, ValueError):
        return None
    target = np.asarray(y)
    labels = isinstance(estimator, ClassifierMixin) and target.dtype.kind in "bOSU"
    return (numbers, target) if _is_finite(numbers) and (labels or _is_finite(target)) else None


def looks_at_all(tree: Any, n_features: float) -> bool:
    """Whether a tree looks at all features at every split."""
    if isinstance(tree.max_features, Integral):
        return int(tree.max_features) >= n_features
    return tree.max_features is None or bool(tree.max_features == 1.0)


def _is_finite(array: NDArray[Any]) -> bool:
    return array.dtype.kind in "fiu" and bool(np.isfinite(array).all())
