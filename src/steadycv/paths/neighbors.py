"""Paths of nearest neighbours: one sorted list serves every number of them and both weights."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.metrics import DistanceMetric
from sklearn.neighbors import KDTree, KNeighborsClassifier, KNeighborsRegressor

from steadycv._compat import n_samples_of
from steadycv.estimators import methods_of
from steadycv.paths.common import ChecksDataOnce, are_labels, are_numbers, is_table
from steadycv.paths.registry import register_path
from steadycv.paths.separate import separate_outputs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.paths.protocol import PathData

__all__ = ["ClassifierPath", "RegressorPath"]

MOST_BYTES = 200e6  # for the list of all samples
ROWS_AT_ONCE = 64  # of a table of distances, so that what is computed stays in a processor's cache
WORTH_SORTING = 0.25  # the share of a row from which on sorting all of it is as fast as finding it first
MOST_FEATURES_OF_A_TREE = 15  # in scikit-learn, with algorithm="auto"
# Distances, or votes, whose difference is a smaller share than this may be told apart by rounding alone.
TIE = 1e-12
ROUGH_TIE = 1e-7  # of distances computed by matrix products


class Neighbors(NamedTuple):
    """Neighbours of samples, nearest first; at the same distance in their own order."""

    distances: NDArray[np.float64]
    indices: NDArray[np.intp]


class Nearest:
    """The nearest of some rows to every sample, from the distances of all.

    For one training set they are looked for among its rows. For all samples, or when a second one is
    asked for, a sorted list of all samples is made, of which its rows are kept: the neighbours are the
    same.
    """

    def __init__(self, distances: NDArray[np.float64]) -> None:
        self._distances = distances
        self._list: Neighbors | None = None
        self._was_asked = False

    def among(self, rows: NDArray[np.intp], n_wanted: int) -> Neighbors:
        """The nearest of some rows, one column for each sample."""
        n_samples, was_asked = len(self._distances), self._was_asked
        self._was_asked = True
        if not was_asked and len(rows) < n_samples:
            near = _smallest(self._distances, n_wanted, rows)
            return Neighbors(near.distances.T.copy(), rows[near.indices.T])
        known = np.zeros(n_samples, dtype=bool)
        known[rows] = True
        # The beginning of the list has enough of most training sets.
        width = n_wanted * n_samples // len(rows)
        while True:
            width = min(width + width // 4 + 8, n_samples)
            near = self._first(width)
            kept = known.take(near.indices[:, :width])
            counts = np.count_nonzero(kept, axis=1)
            if counts.min() >= n_wanted:
                break
        first = counts.cumsum() - counts
        places = np.flatnonzero(kept)[first + np.arange(n_wanted)[:, np.newaxis]]
        places += np.arange(n_samples) * (near.indices.shape[1] - width)  # places in whole lists
        return Neighbors(near.distances.ravel().take(places), near.indices.ravel().take(places))

    def _first(self, number: int) -> Neighbors:
        """At least so many nearest samples of each, one row for it."""
        if self._list is None or self._list.indices.shape[1] < number:
            # Room for training sets that are smaller.
            self._list = _smallest(self._distances, min(3 * number, len(self._distances)))
        return self._list


def _smallest(
    distances: NDArray[np.float64], number: int, columns: NDArray[np.intp] | None = None
) -> Neighbors:
    """The smallest numbers of every row, or of some columns of it, in their order, and their places."""
    parts = []
    for start in range(0, len(distances), ROWS_AT_ONCE):
        some = distances[start : start + ROWS_AT_ONCE]
        parts.append(_smallest_of(some if columns is None else some[:, columns], number))
    return Neighbors(*map(np.concatenate, zip(*parts, strict=True)))


def _smallest_of(distances: NDArray[np.float64], number: int) -> Neighbors:
    if number > WORTH_SORTING * distances.shape[1]:
        order = np.argsort(distances, axis=1)[:, :number]
    else:
        near = np.argpartition(distances, number - 1, axis=1)[:, :number]
        order = _taken(near, np.argsort(_taken(distances, near), axis=1))
    found = _taken(distances, order)
    tied = (found[:, 1:] == found[:, :-1]).any(axis=1)
    if tied.any():  # the fast sort does not keep the order of equals
        order[tied] = np.argsort(distances[tied], axis=1, kind="stable")[:, :number]
    return Neighbors(found, order)


def _taken(table: NDArray[Any], columns: NDArray[np.intp]) -> NDArray[Any]:
    """Other columns of every row; NumPy's own function for it takes twice the time."""
    taken: NDArray[Any] = table.ravel().take(
        columns + np.arange(0, table.size, table.shape[1])[:, np.newaxis]
    )
    return taken


class RegressorPath(ChecksDataOnce):
    """All ``n_neighbors`` and ``weights`` of ``KNeighborsRegressor`` from one list of neighbours.

    Where scikit-learn would search with a tree, its distances do not depend on the training set, and one
    list of all samples serves every training set. Otherwise scikit-learn finds the neighbours once for
    a training set. Which of several samples at the same distance is the last neighbour, only
    scikit-learn can tell: such predictions are made by a separate fit.
    """

    def parameters(self, estimator: Any) -> tuple[str, ...]:  # noqa: ARG002
        """The number of neighbours and their weights."""
        return ("n_neighbors", "weights")

    def methods(self, estimator: Any) -> tuple[str, ...]:
        """Predictions, and of classifiers probabilities."""
        return methods_of(estimator)

    def _takes(self, estimator: Any, X: Any, y: Any) -> bool:
        """Whether the metric is named, and the data dense."""
        return (
            isinstance(estimator.metric, str)
            and estimator.metric != "precomputed"
            and estimator.metric_params is None
            and estimator.p >= 1
            and is_table(X)
            and self._takes_target(y)
        )

    def _takes_target(self, y: Any) -> bool:
        return are_numbers(y)

    def _allows(self, estimator: Any, setting: dict[str, Any], X: Any) -> bool:
        n_neighbors = setting.get("n_neighbors", estimator.n_neighbors)
        weights = setting.get("weights", estimator.weights)
        return (
            isinstance(n_neighbors, int | np.integer)
            and (weights is None or (isinstance(weights, str) and weights in ("uniform", "distance")))
            # A training set with too few samples for one setting would fail for all.
            and 1 <= n_neighbors <= n_samples_of(X) // 4
        )

    def prepare(self, estimator: Any, X: Any, y: Any) -> Nearest | None:  # noqa: ARG002
        """All distances, if a tree would be used and they are not too many."""
        X = np.asarray(X, dtype=np.float64)
        by_tree = estimator.algorithm in ("kd_tree", "ball_tree") or _may_use_tree(estimator, X)
        if estimator.metric not in KDTree.valid_metrics or not by_tree or len(X) ** 2 * 16 > MOST_BYTES:
            return None
        params = {"p": estimator.p} if estimator.metric in ("minkowski", "p") else {}
        return Nearest(DistanceMetric.get_metric(estimator.metric, **params).pairwise(X))

    def outputs(
        self, estimator: Any, settings: list[dict[str, Any]], data: PathData
    ) -> dict[str, NDArray[Any]]:
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
            shares = table.take(neighbors.indices[:largest], axis=0)
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
            for method, found in separate_outputs(estimator, settings[i], data, at).items():
                outputs[method][i, at] = found
        return outputs

    def _table(self, data: PathData) -> NDArray[np.float64]:
        """What a neighbour adds to the output; rows for all samples."""
        y = np.asarray(data.y, dtype=np.float64)
        return y.reshape(len(y), -1)

    def _outputs(
        self, votes: NDArray[np.float64], data: PathData
    ) -> tuple[dict[str, NDArray[Any]], NDArray[np.bool_] | bool]:
        """Outputs from the neighbours' mean votes, and where rounding may decide."""
        return {"predict": votes[..., 0] if np.ndim(data.y) == 1 else votes}, False


class ClassifierPath(RegressorPath):
    """All ``n_neighbors`` and ``weights`` of ``KNeighborsClassifier``, as for the regressor."""

    def _takes_target(self, y: Any) -> bool:
        return are_labels(y)

    def _table(self, data: PathData) -> NDArray[np.float64]:
        classes, codes = np.unique(np.asarray(data.y_train), return_inverse=True)
        table = np.zeros((np.shape(data.X)[0], len(classes)))
        table[data.rows, codes] = 1.0
        return table

    def _outputs(
        self, votes: NDArray[np.float64], data: PathData
    ) -> tuple[dict[str, NDArray[Any]], NDArray[np.bool_] | bool]:
        outputs: dict[str, NDArray[Any]] = dict.fromkeys(data.methods, votes)
        if "predict" not in outputs:
            return outputs, False
        classes = np.unique(np.asarray(data.y_train))
        outputs["predict"] = classes[votes.argmax(axis=2)]
        ranked = np.sort(votes, axis=2)
        return outputs, ranked[..., -1] - ranked[..., -2] <= TIE if len(classes) > 1 else False


def _may_use_tree(estimator: Any, X: Any) -> bool:
    return bool(estimator.algorithm == "auto") and np.shape(X)[1] <= MOST_FEATURES_OF_A_TREE


def _nearest(estimator: Any, data: PathData, largest: int, n_wanted: int) -> Neighbors:
    """The nearest samples of the training set, as indices of all samples.

    `largest` is the largest number that a setting asks for, and one more tells ties.
    """
    if data.prepared is not None:
        nearest: Neighbors = data.prepared.among(data.rows, n_wanted)
        return nearest
    fitted = clone(estimator).set_params(n_neighbors=int(largest)).fit(data.X_train, data.y_train)
    distances, indices = fitted.kneighbors(data.X, n_neighbors=int(n_wanted))
    return Neighbors(distances.T, data.rows[indices].T)


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
        sums, totals = values * weights[..., np.newaxis], _running(weights)[..., np.newaxis]
    means: NDArray[np.float64] = _running(sums)[numbers - 1] / totals[numbers - 1]
    return means


def _running(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums of the first rows. `cumsum` goes down the columns, and takes thrice the time."""
    return np.array(list(accumulate(table)))


register_path(KNeighborsRegressor, RegressorPath())
register_path(KNeighborsClassifier, ClassifierPath())
