"""What several paths need: what data they can take, and the separate fit for what they cannot."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.multiclass import type_of_target

from steadycv.paths.protocol import FailedOutputs, failures_of
from steadycv.paths.separate import separate_outputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steadycv.paths.protocol import Outputs, PathData

__all__ = [
    "ChecksDataOnce",
    "are_labels",
    "are_numbers",
    "are_weights",
    "complete",
    "is_table",
    "joined",
]


class ChecksDataOnce(ABC):
    """A path that looks at estimator and data once, however many settings it is asked about."""

    def serves(self, estimator: Any, setting: dict[str, Any], X: Any, y: Any) -> bool:
        """Whether both the data and the setting are of the kind that the path takes."""
        return self.serves_each(estimator, [setting], X, y)[0]

    def serves_each(
        self, estimator: Any, settings: Sequence[dict[str, Any]], X: Any, y: Any
    ) -> list[bool]:
        """The same for several settings."""
        taken = self._takes(estimator, X, y)
        return [taken and self._allows(estimator, setting, X) for setting in settings]

    @abstractmethod
    def _takes(self, estimator: Any, X: Any, y: Any) -> bool:
        """Whether the data are of the kind that the path takes, and the estimator's other parameters."""

    @abstractmethod
    def _allows(self, estimator: Any, setting: dict[str, Any], X: Any) -> bool:
        """Whether a setting of the path's parameters is."""


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
    # Of numbers held as objects, nearest neighbours predict objects.
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


def complete(
    outputs: dict[str, NDArray[Any]],
    exact: NDArray[np.bool_],
    estimator: Any,
    settings: list[dict[str, Any]],
    data: PathData,
) -> dict[str, NDArray[Any]]:
    """The outputs, those of settings that are not exact replaced by those of separate fits."""
    for i in np.flatnonzero(~exact):
        for method, found in separate_outputs(estimator, settings[i], data).items():
            outputs[method][i] = found
    return outputs


def joined(members: Sequence[Sequence[int]], parts: Sequence[Outputs]) -> Outputs:
    """Outputs that were found in parts, each with the positions of its settings, in their order."""
    if len(parts) == 1:
        return parts[0]
    order = np.argsort(np.concatenate(members))
    found = {method: np.concatenate([part[method] for part in parts])[order] for method in parts[0]}
    return FailedOutputs(
        found,
        {
            int(positions[i]): text
            for positions, part in zip(members, parts, strict=True)
            for i, text in failures_of(part).items()
        },
    )


def _is_finite(array: NDArray[Any]) -> bool:
    return bool(np.isfinite(array.sum()))
