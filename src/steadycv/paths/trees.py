"""Trees, alone or in an ensemble: the smaller ones are truncations of the one that was grown.

Every node of a grown tree knows its value, so a smaller tree is read off by stopping earlier on the way
down from the root. Where several splits are equally good, scikit-learn takes the one whose feature it
drew first, and a tree grown by itself may have drawn another first: the promise is the truncation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import ceil, inf
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.base import ClassifierMixin, clone
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import check_array

from steadycv._compat import Tree, build_pruned_tree
from steadycv.paths.registry import register_path

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from steadycv.paths.protocol import PathData

__all__ = ["BaggingPath", "ForestPath", "TreePath"]

# Those whose decrease at a split follows from the impurities of the node and its children.
CRITERIA = ("squared_error", "absolute_error", "poisson", "gini", "entropy", "log_loss")
EPSILON = np.finfo(np.float64).eps  # scikit-learn's allowance for rounding in that decrease


class _Limits(NamedTuple):
    """What ends a tree early, by scikit-learn's names."""

    max_depth: int | None
    min_samples_split: int | float
    min_impurity_decrease: float
    ccp_alpha: float

    @property
    def are_valid(self) -> bool:
        """Whether scikit-learn would accept them."""
        depth, split, *others = self
        return (
            (depth is None or (isinstance(depth, Integral) and depth >= 1))
            and isinstance(split, Real)
            and (split >= 2 if isinstance(split, Integral) else 0 < split <= 1)
            and all(isinstance(other, Real) and 0 <= other < inf for other in others)
        )

    def for_rows(self, n_rows: int) -> _Limits:
        """The same with the number of rows in place of a fraction, which is at most 1."""
        split = self.min_samples_split
        return self if split > 1 else self._replace(min_samples_split=max(2, ceil(split * n_rows)))


class _TruncationPath(ABC):
    """What trees and ensembles of trees have in common."""

    prefix = ""  # of a tree's parameters among the estimator's

    def parameters(self, estimator: Any) -> Collection[str]:  # noqa: ARG002
        """What ends a tree early."""
        return [self.prefix + name for name in _Limits._fields]

    def serves(self, estimator: Any, setting: dict[str, Any], X: Any, y: Any) -> bool:
        """Whether data and setting are of the usual kind; the separate fit judges the rest."""
        multi_output_labels = isinstance(estimator, ClassifierMixin) and np.ndim(y) > 1
        (limits,) = self._limits(estimator, [setting])
        return not issparse(X) and not multi_output_labels and limits.are_valid

    def prepare(self, estimator: Any, X: Any, y: Any) -> Any:  # noqa: ARG002
        """Nothing: every training set grows its own trees."""
        return None

    def outputs(self, estimator: Any, settings: list[dict[str, Any]], data: PathData) -> NDArray[Any]:
        """Grow as little as possible, and read every setting off what was grown."""
        n_rows, n_features = len(data.rows), np.shape(data.X)[1]

        def growths(
            settings: Sequence[dict[str, Any]],
        ) -> dict[tuple[Any, ...], list[tuple[int, _Limits]]]:
            found: dict[tuple[Any, ...], list[tuple[int, _Limits]]] = {}
            for i, limits in enumerate(self._limits(estimator, settings)):
                limits = limits.for_rows(n_rows)
                found.setdefault(self._growth(estimator, limits, n_features), []).append((i, limits))
            return found

        wanted = growths(settings)
        # Grown as far as any candidate needs it, asked for now or not: how ties are broken depends
        # on how far a tree is grown, and must not depend on who else is asked for.
        some_only = data.together is not None and len(data.together) > len(settings)
        possible = growths(data.together or settings) if some_only else wanted
        parts, rows = [], []
        for key, members in wanted.items():
            rows.append([i for i, _ in members])
            parts.append(
                self._outputs(
                    estimator,
                    [settings[i] for i in rows[-1]],
                    [limits for _, limits in members],
                    _loosest([limits for _, limits in possible[key]]),
                    data,
                )
            )
        if len(parts) == 1:
            return parts[0]
        outputs = np.empty((len(settings), *parts[0].shape[1:]), dtype=parts[0].dtype)
        for some, part in zip(rows, parts, strict=True):
            outputs[some] = part
        return outputs

    def _growth(self, estimator: Any, limits: _Limits, n_features: int) -> tuple[Any, ...]:
        """A key: limits with the same one can be read off the same growth.

        Trees that do not look at all features draw other ones when they are grown less far, and
        those that split their best leaf first end elsewhere. They share what is pruned afterwards.
        """
        tree = self._tree(estimator)
        all_features = tree.max_features is None or (
            int(tree.max_features) >= n_features
            if isinstance(tree.max_features, Integral)
            else tree.max_features == 1.0
        )
        if not all_features or tree.max_leaf_nodes is not None or self._splitter(tree) != "best":
            return limits[:3]
        return () if tree.criterion in CRITERIA else (limits.min_impurity_decrease,)

    def _tree(self, estimator: Any) -> Any:
        """What has the parameters of a tree."""
        return estimator

    def _splitter(self, tree: Any) -> str:
        return str(tree.splitter)

    def _limits(self, estimator: Any, settings: Sequence[dict[str, Any]]) -> list[_Limits]:
        own = self._tree(estimator)
        columns = (
            [setting.get(self.prefix + name, getattr(own, name)) for setting in settings]
            for name in _Limits._fields
        )
        return list(map(_Limits, *columns))

    @abstractmethod
    def _outputs(
        self,
        estimator: Any,
        settings: Sequence[dict[str, Any]],
        limits: Sequence[_Limits],
        loosest: _Limits,
        data: PathData,
    ) -> NDArray[Any]:
        """The outputs of settings that one growth serves."""


class TreePath(_TruncationPath):
    """A tree."""

    def prepare(self, estimator: Any, X: Any, y: Any) -> Any:
        """The samples as a tree takes them, checked once for all; None if that is scikit-learn's to do.

        On small data its checks of every training set would take as long as all that is done here.
        """
        if estimator.criterion == "poisson" or not (_is_plain(X) and _is_plain(y)):
            return None
        with np.errstate(over="ignore"):
            numbers = X.astype(np.float32)
        return numbers if np.isfinite(numbers).all() and np.isfinite(y).all() else None

    def _outputs(
        self,
        estimator: Any,
        settings: Sequence[dict[str, Any]],  # noqa: ARG002
        limits: Sequence[_Limits],
        loosest: _Limits,
        data: PathData,
    ) -> NDArray[Any]:
        unchecked = data.prepared is None
        X = data.X if unchecked else data.prepared
        X_train = data.X_train if unchecked else X[data.rows]
        grown = clone(estimator).set_params(**loosest._asdict())
        grown.fit(X_train, data.y_train, check_input=unchecked, **data.fit_params)
        values = _node_values(grown)
        if isinstance(grown, ClassifierMixin) and data.method == "predict":
            values = grown.classes_.take(values.argmax(axis=1))
        return _read(grown.tree_, values, grown.apply(X, check_input=unchecked), limits)


class ForestPath(_TruncationPath):
    """A forest: a smaller one is its first trees, and each tree may be cut short.

    Parameters
    ----------
    splitter : str
        How its trees split.
    """

    def __init__(self, splitter: str) -> None:
        self._forest_splitter = splitter

    def parameters(self, estimator: Any) -> Collection[str]:
        """The number of trees, and what ends a tree early."""
        return ["n_estimators", *super().parameters(estimator)]

    def serves(self, estimator: Any, setting: dict[str, Any], X: Any, y: Any) -> bool:
        """Whether data and setting are of the usual kind; the separate fit judges the rest."""
        n_trees = _n_trees(estimator, setting)
        is_number = isinstance(n_trees, Integral) and int(n_trees) >= 1
        return is_number and super().serves(estimator, setting, X, y)

    def _splitter(self, tree: Any) -> str:  # noqa: ARG002
        return self._forest_splitter

    def _outputs(
        self,
        estimator: Any,
        settings: Sequence[dict[str, Any]],
        limits: Sequence[_Limits],
        loosest: _Limits,
        data: PathData,
    ) -> NDArray[Any]:
        n_trees = np.array([_n_trees(estimator, setting) for setting in settings])
        distinct = list(dict.fromkeys(limits))
        which = [distinct.index(limit) for limit in limits]
        grown = self._with_limits(clone(estimator), loosest)
        grown.set_params(n_estimators=int(n_trees.max()))
        grown.fit(data.X_train, data.y_train, **data.fit_params)
        total: Any = 0.0
        means: dict[int, NDArray[np.float64]] = {}
        for n, (tree, leaves) in enumerate(self._members(grown, data.X), start=1):
            total = total + _read(tree.tree_, _node_values(tree), leaves, distinct)
            means |= {i: total[which[i]] / n for i in np.flatnonzero(n_trees == n).tolist()}
        outputs = np.array([means[i] for i in range(len(settings))])
        if isinstance(grown, ClassifierMixin) and data.method == "predict":
            outputs = grown.classes_.take(outputs.argmax(axis=-1))
        return outputs

    def _with_limits(self, forest: Any, limits: _Limits) -> Any:
        return forest.set_params(**limits._asdict())

    def _members(self, forest: Any, X: Any) -> Iterator[tuple[Any, NDArray[np.intp]]]:
        """The trees, each with the leaf that every sample falls into."""
        return zip(forest.estimators_, forest.apply(X).T, strict=True)


class BaggingPath(ForestPath):
    """Bagged trees.

    Parameters
    ----------
    default : estimator
        The tree that is bagged if none is given.
    """

    prefix = "estimator__"

    def __init__(self, default: Any) -> None:
        self._default = default

    def serves(self, estimator: Any, setting: dict[str, Any], X: Any, y: Any) -> bool:
        """Whether trees are bagged, and data and setting are of the usual kind."""
        # With routing, trees may be given rows instead of weights, and then not know all classes.
        routed = get_config()["enable_metadata_routing"]
        is_tree = type(self._tree(estimator)) is type(self._default)
        return is_tree and not routed and super().serves(estimator, setting, X, y)

    def _tree(self, estimator: Any) -> Any:
        return self._default if estimator.estimator is None else estimator.estimator

    def _splitter(self, tree: Any) -> str:
        return str(tree.splitter)

    def _with_limits(self, forest: Any, limits: _Limits) -> Any:
        return forest.set_params(estimator=clone(self._tree(forest)).set_params(**limits._asdict()))

    def _members(self, forest: Any, X: Any) -> Iterator[tuple[Any, NDArray[np.intp]]]:
        X = check_array(X, dtype=np.float32, ensure_all_finite=False)
        for tree, features in zip(forest.estimators_, forest.estimators_features_, strict=True):
            yield tree, tree.apply(X[:, features])


def _n_trees(estimator: Any, setting: dict[str, Any]) -> Any:
    return setting.get("n_estimators", estimator.n_estimators)


def _is_plain(data: Any) -> bool:
    return isinstance(data, np.ndarray) and data.dtype.kind in "fiu"


def _loosest(limits: Sequence[_Limits]) -> _Limits:
    """Limits under which a tree contains all that are wanted."""
    depths, splits, decreases, _ = zip(*limits, strict=True)
    return _Limits(None if None in depths else max(depths), min(splits), min(decreases), 0.0)


def _node_values(tree: Any) -> NDArray[Any]:
    """What a fitted tree would say at each node: numbers, or the shares of the classes."""
    values: NDArray[Any] = tree.tree_.value
    if isinstance(tree, ClassifierMixin):
        return values[:, 0]
    return values[:, 0, 0] if tree.n_outputs_ == 1 else values[:, :, 0]


def _read(
    tree: Tree, values: NDArray[Any], leaf_of: NDArray[np.intp], limits: Sequence[_Limits]
) -> NDArray[Any]:
    """The values that samples get under each of the limits, of shape (n_limits, n_samples, ...).

    Parameters
    ----------
    tree : Tree
        The tree, grown with the loosest of the limits.
    values : ndarray of shape (n_nodes, ...)
        What it says at each node.
    leaf_of : ndarray of shape (n_samples,)
        The leaf that each sample falls into.
    limits : sequence of _Limits
        Where to stop.
    """
    leaves = np.flatnonzero(tree.children_left == -1)
    routes, skipped = _routes(tree, leaves)
    depths = np.array([tree.max_depth if t.max_depth is None else t.max_depth for t in limits])
    first = _first_stops(tree, routes, limits)
    levels = np.minimum(first, skipped + depths[:, np.newaxis])
    for row, limit in enumerate(limits):
        if limit.ccp_alpha > 0:
            pruned = _is_pruned_leaf(tree, routes, levels[row], limit.ccp_alpha)
            levels[row] = pruned[routes].argmax(axis=1)
    position = np.empty(tree.node_count, dtype=np.intp)
    position[leaves] = np.arange(len(leaves))
    at_levels = values[routes].reshape(-1, *values.shape[1:])
    at_ends = at_levels[levels + routes.shape[1] * np.arange(len(leaves))]
    read: NDArray[Any] = at_ends.take(position[leaf_of], axis=1)
    return read


def _routes(tree: Tree, leaves: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The nodes on the way to each leaf, and how often its route repeats the root.

    Routes have shape (n_leaves, depth + 1) and end at the leaf; shorter ones wait at the root.
    """
    left, right = tree.children_left, tree.children_right
    inner = np.flatnonzero(left != -1)
    parent = np.zeros(tree.node_count, dtype=np.intp)
    parent[left[inner]] = inner
    parent[right[inner]] = inner
    routes = np.empty((len(leaves), tree.max_depth + 1), dtype=np.intp)
    nodes = leaves
    for level in range(tree.max_depth, -1, -1):
        routes[:, level] = nodes
        nodes = parent[nodes]
    return routes, (routes == 0).sum(axis=1) - 1


def _first_stops(tree: Tree, routes: NDArray[np.intp], limits: Sequence[_Limits]) -> NDArray[np.intp]:
    """Where each route meets a node too small or not worth a split, of shape (n_limits, n_leaves)."""
    keys = [(limit.min_samples_split, limit.min_impurity_decrease) for limit in limits]
    distinct = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    least = min(decrease for _, decrease in distinct)
    is_leaf = tree.children_left == -1
    size = tree.n_node_samples
    first = np.empty((len(distinct), len(routes)), dtype=np.intp)
    for (split, decrease), i in distinct.items():
        stops = is_leaf | (size < split)
        if decrease > least:  # the tree was grown with the least
            stops |= _decreases(tree) + EPSILON < decrease
        first[i] = stops[routes].argmax(axis=1)
    return first[[distinct[key] for key in keys]]


def _decreases(tree: Tree) -> NDArray[np.float64]:
    """The decrease of impurity at each split, in scikit-learn's order of operations."""
    left, right = tree.children_left, tree.children_right  # -1 at leaves, which stop anyway
    impurity, weight = tree.impurity, tree.weighted_n_node_samples
    decreases: NDArray[np.float64] = (weight / weight[0]) * (
        impurity - weight[right] / weight * impurity[right] - weight[left] / weight * impurity[left]
    )
    return decreases


def _is_pruned_leaf(
    tree: Tree, routes: NDArray[np.intp], levels: NDArray[np.intp], ccp_alpha: float
) -> NDArray[np.bool_]:
    """Which nodes are leaves once the tree that ends at some levels of its routes is pruned."""
    ends = routes[np.arange(len(routes)), levels]
    kept = np.unique(np.where(np.arange(routes.shape[1]) <= levels[:, np.newaxis], routes, 0))
    state = tree.__getstate__()
    nodes = state["nodes"][kept]
    for child in ("left_child", "right_child"):
        nodes[child] = np.where(np.isin(kept, ends), -1, np.searchsorted(kept, nodes[child]))
    # scikit-learn's pruning renumbers the nodes but carries their values along: let these be names.
    names = np.broadcast_to(kept[:, np.newaxis, np.newaxis], (len(kept), *state["values"].shape[1:]))
    state |= {"nodes": nodes, "node_count": len(kept), "values": np.array(names, dtype=np.float64)}
    shape = (tree.n_features, tree.n_classes, tree.n_outputs)
    truncated, pruned = Tree(*shape), Tree(*shape)
    truncated.__setstate__(state)
    build_pruned_tree(pruned, truncated, ccp_alpha)
    is_leaf = np.zeros(tree.node_count, dtype=bool)
    is_leaf[pruned.value[pruned.children_left == -1, 0, 0].astype(np.intp)] = True
    return is_leaf


register_path(DecisionTreeRegressor, TreePath())
register_path(DecisionTreeClassifier, TreePath())
register_path(RandomForestRegressor, ForestPath("best"))
register_path(RandomForestClassifier, ForestPath("best"))
register_path(ExtraTreesRegressor, ForestPath("random"))
register_path(ExtraTreesClassifier, ForestPath("random"))
register_path(BaggingRegressor, BaggingPath(DecisionTreeRegressor()))
register_path(BaggingClassifier, BaggingPath(DecisionTreeClassifier()))
