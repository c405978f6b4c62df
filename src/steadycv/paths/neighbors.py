"""Paths of nearest neighbours: one sorted list serves every number of them and both weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.metrics import DistanceMetric
from sklearn.neighbors import KDTree, KNeighborsClassifier, KNeighborsRegressor

from steadycv.paths.common import are_labels, are_numbers, is_table, separate_outputs
from steadycv.paths.registry import register_path

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.paths.protocol import PathData

__all__ = ["ClassifierPath", "RegressorPath"]

MOST_BYTES = 200e6  # for the list of all samples
MOST_FEATURES_OF_A_TREE = 15  # in scikit-learn, with algorithm="auto"
# Distances, or votes, whose difference is a smaller share than this may be told apart by rounding alone.
TIE = 1e-12
ROUGH_TIE = 1e-7  # of distances computed by matrix products


class Neighbors(NamedTuple):
    """The neighbours of every sample (a column), nearest first."""

    distances: NDArray[np.float64]
    indices: NDArray[np.intp]


class RegressorPath:
    """All ``n_neighbors`` and ``weights`` of ``KNeighborsRegressor`` from one list of neighbours.

    Where scikit-learn would search with a tree, its distances do not depend on the training set, and one
    list of all samples serves every training set. Otherwise scikit-learn finds the neighbours once for
    a training set. Which of several samples at the same distance is the last neighbour, only
    scikit-learn can tell: such predictions are made by a separate fit.
    """

    def parameters(self, estimator: Any) -> tuple[str, ...]:  # noqa: ARG002
        """The number of neighbours and their weights."""
        return ("n_neighbors", "weights")

    def serves(self, estimator: Any, setting: dict[str, Any], X: Any, y: Any) -> bool:
        """Whether metric and weights are named, and the data dense."""
        n_neighbors = setting.get("n_neighbors", estimator.n_neighbors)
        metric = estimator.metric
        weights = setting.get("weights", estimator.weights)
        return (
            isinstance(n_neighbors, int | np.integer)
            and (weights is None or (isinstance(weights, str) and weights in ("uniform", "distance")))
            and isinstance(metric, str)
            and metric != "precomputed"
            and estimator.metric_params is None
            and estimator.p >= 1
            and is_table(X)
            # A training set with too few samples for one setting would fail for all.
            and 1 <= n_neighbors <= np.shape(X)[0] // 4
            and self._takes(y)
        )

    def _takes(self, y: Any) -> bool:
        return are_numbers(y)

    def prepare(self, estimator: Any, X: Any, y: Any) -> Neighbors | None:  # noqa: ARG002
        """The list of all samples, if a tree would be used and the list is not too large."""
        X = np.asarray(X, dtype=np.float64)
        by_tree = estimator.algorithm in ("kd_tree", "ball_tree") or _may_use_tree(estimator, X)
        if estimator.metric not in KDTree.valid_metrics or not by_tree or len(X) ** 2 * 16 > MOST_BYTES:
            return None
        params = {"p": estimator.p} if estimator.metric in ("minkowski", "p") else {}
        distances = DistanceMetric.get_metric(estimator.metric, **params).pairwise(X)
        order = np.argsort(distances, axis=1)
        return Neighbors(np.take_along_axis(distances, order, axis=1).T, order.T)

    def outputs(self, estimator: Any, settings: list[dict[str, Any]], data: PathData) -> NDArray[Any]:
        """Outputs for every number of neighbours and weighting."""
        numbers = np.array([s.get("n_neighbors", estimator.n_neighbors) for s in settings])
        by_distance = np.array([s.get("weights", estimator.weights) == "distance" for s in settings])
        n_samples, n_train = np.shape(data.X)[0], len(data.rows)
        # There scikit-learn leaves the tree, or complains.
        alone = numbers >= n_train // 2 if _may_use_tree(estimator, data.X) else numbers > n_train
        unsure = np.tile(alone[:, np.newaxis], (1, n_samples))
        table = self._table(data)
        votes = np.zeros((len(settings), n_samples, table.shape[1]))
        if not alone.all():
            largest = numbers[~alone].max()
            neighbors = _nearest(estimator, data, largest, min(largest + 1, n_train))
            tie = ROUGH_TIE if data.prepared is None else TIE
            unsure[~alone] |= _ties(neighbors.distances, numbers[~alone], tie)
            shares = table[neighbors.indices[:largest]]
            for kind in (False, True):
                some = np.flatnonzero(~alone & (by_distance == kind))
                if len(some):
                    weights = _weights(neighbors.distances[:largest]) if kind else None
                    votes[some] = _means(shares, weights, numbers[some])
        outputs, close = self._outputs(votes, data)
        unsure |= close & by_distance[:, np.newaxis]
        for i in np.flatnonzero(unsure.any(axis=1)):
            # Without a tree, distances have rounding errors that depend on what is asked together.
            at = np.flatnonzero(unsure[i]) if data.prepared is not None else np.arange(n_samples)
            outputs[i, at] = separate_outputs(estimator, settings[i], data, at)
        return outputs

    def _table(self, data: PathData) -> NDArray[np.float64]:
        """What a neighbour adds to the output; rows for all samples."""
        y = np.asarray(data.y, dtype=np.float64)
        return y.reshape(len(y), -1)

    def _outputs(
        self, votes: NDArray[np.float64], data: PathData
    ) -> tuple[NDArray[Any], NDArray[np.bool_] | bool]:
        """Outputs from the neighbours' mean votes, and where rounding may decide."""
        return votes[..., 0] if np.ndim(data.y) == 1 else votes, False


class ClassifierPath(RegressorPath):
    """All ``n_neighbors`` and ``weights`` of ``KNeighborsClassifier``, as for the regressor."""

    def _takes(self, y: Any) -> bool:
        return are_labels(y)

    def _table(self, data: PathData) -> NDArray[np.float64]:
        classes, codes = np.unique(np.asarray(data.y_train), return_inverse=True)
        table = np.zeros((np.shape(data.X)[0], len(classes)))
        table[data.rows, codes] = 1.0
        return table

    def _outputs(
        self, votes: NDArray[np.float64], data: PathData
    ) -> tuple[NDArray[Any], NDArray[np.bool_] | bool]:
        if data.method == "predict_proba":
            return votes, False
        classes = np.unique(np.asarray(data.y_train))
        ranked = np.sort(votes, axis=2)
        close = ranked[..., -1] - ranked[..., -2] <= TIE if len(classes) > 1 else False
        return classes[votes.argmax(axis=2)], close


def _may_use_tree(estimator: Any, X: Any) -> bool:
    return bool(estimator.algorithm == "auto") and np.shape(X)[1] <= MOST_FEATURES_OF_A_TREE


def _nearest(estimator: Any, data: PathData, largest: int, n_wanted: int) -> Neighbors:
    """The nearest samples of the training set, as indices of all samples.

    `largest` is the largest number that a setting asks for, and one more tells ties.
    """
    if data.prepared is not None:
        return _filtered(data.prepared, data.rows, n_wanted)
    fitted = clone(estimator).set_params(n_neighbors=int(largest)).fit(data.X_train, data.y_train)
    distances, indices = fitted.kneighbors(data.X, n_neighbors=int(n_wanted))
    return Neighbors(distances.T, data.rows[indices].T)


def _filtered(every: Neighbors, rows: NDArray[np.intp], n_wanted: int) -> Neighbors:
    order = every.indices.T  # contiguous
    n_samples = len(order)
    known = np.zeros(n_samples, dtype=bool)
    known[rows] = True
    # The beginning of the list has enough of most training sets.
    width = n_wanted * n_samples // len(rows)
    while True:
        width = min(width + width // 4 + 8, n_samples)
        kept = known.take(order[:, :width])
        counts = np.count_nonzero(kept, axis=1)
        if counts.min() >= n_wanted:
            break
    first = counts.cumsum() - counts
    places = np.flatnonzero(kept)[first + np.arange(n_wanted)[:, np.newaxis]]
    places += np.arange(n_samples) * (n_samples - width)  # places in whole lists
    return Neighbors(every.distances.T.ravel().take(places), order.ravel().take(places))


def _ties(distances: NDArray[np.float64], numbers: NDArray[np.intp], tie: float) -> NDArray[np.bool_]:
    """Where the last neighbour is as far as the next one; a row for each number."""
    ties = np.zeros(distances.shape, dtype=bool)
    ties[:-1] = np.diff(distances, axis=0) <= tie * distances[-1]
    return ties[numbers - 1]


def _weights(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        weights = 1.0 / distances
    here = np.isinf(weights)  # a neighbour in the same place gets all the weight
    return np.where(here[0], here, weights)


def _means(
    values: NDArray[np.float64], weights: NDArray[np.float64] | None, numbers: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Weighted means over the first neighbours, for every number of them."""
    if weights is None:
        sums, totals = values, np.arange(1.0, len(values) + 1)[:, np.newaxis, np.newaxis]
    else:
        sums, totals = values * weights[..., np.newaxis], weights.cumsum(axis=0)[..., np.newaxis]
    means: NDArray[np.float64] = sums.cumsum(axis=0)[numbers - 1] / totals[numbers - 1]
    return means


register_path(KNeighborsRegressor, RegressorPath())
register_path(KNeighborsClassifier, ClassifierPath())
