"""What several paths need: what data they can take, and the separate fit for what they cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils.multiclass import type_of_target

from steadycv._compat import safe_split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.paths.protocol import PathData

__all__ = ["are_labels", "are_numbers", "are_weights", "is_table", "separate_outputs"]


def is_table(X: Any) -> bool:
    """Whether data are dense, finite, and worked on in double precision."""
    if issparse(X):
        return False
    X = np.asarray(X)
    return X.ndim == 2 and (X.dtype == np.float64 or X.dtype.kind in "iu") and _is_finite(X)


def are_numbers(y: Any) -> bool:
    """Whether targets are finite numbers."""
    y = np.asarray(y)
    # Releases differ in the shape of predictions for a single column.
    shaped = y.ndim == 1 or (y.ndim == 2 and y.shape[1] > 1)
    return shaped and (y.dtype == np.float64 or y.dtype.kind in "iu") and _is_finite(y)


def are_labels(y: Any) -> bool:
    """Whether targets are classes, one for each sample."""
    return np.ndim(y) == 1 and type_of_target(y) in ("binary", "multiclass")


def are_weights(sample_weight: Any) -> bool:
    """Whether weights are finite numbers, one for each sample, none negative and some positive."""
    weight = np.asarray(sample_weight)
    return (
        weight.ndim == 1
        and weight.dtype.kind in "fiu"
        and bool(weight.min() >= 0)
        and bool(0 < weight.max() < np.inf)
    )


def separate_outputs(
    estimator: Any, setting: dict[str, Any], data: PathData, at: NDArray[np.intp] | None = None
) -> NDArray[Any]:
    """What a separate fit gives, for some samples or all; for settings that a path cannot serve here."""
    if at is None:
        at = np.arange(np.shape(data.X)[0])
    fitted = clone(estimator).set_params(**setting)
    fitted.fit(data.X_train, data.y_train, **data.fit_params)
    X, _ = safe_split(estimator, data.X, None, at, data.rows)
    return np.asarray(getattr(fitted, data.method)(X))


def _is_finite(array: NDArray[Any]) -> bool:
    return bool(np.isfinite(array.sum()))
