"""Truncations: what smaller trees say, read off the one that was grown.

Every node of a grown tree knows its value, so a smaller tree is read off by stopping earlier on the way
down from the root.
"""

from __future__ import annotations

from math import ceil, inf
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steadycv._compat.trees import NODE_DTYPE, Tree, build_pruned_tree
from steadycv._jit import kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["CRITERIA", "GrownTree", "Limits", "endings", "loosest", "read"]

# Those whose decrease at a split follows from the impurities of the node and its children.
CRITERIA = ("squared_error", "absolute_error", "poisson", "gini", "entropy", "log_loss")
EPSILON = np.finfo(np.float64).eps  # scikit-learn's allowance for rounding in that decrease


class GrownTree(NamedTuple):
    """A tree by scikit-learn's names, and the leaf that each sample falls into.

    Nodes are numbered so that a parent comes before its children. `value` is what the tree says at a
    node. `leaf` knows all samples, also those outside the training set.
    """

    children_left: NDArray[np.int64]
    children_right: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    impurity: NDArray[np.float64]
    n_node_samples: NDArray[np.int64]
    weighted_n_node_samples: NDArray[np.float64]
    value: NDArray[Any]
    leaf: NDArray[Any]
    max_depth: int

    @classmethod
    def empty(cls, n_nodes: int, n_values: int, n_samples: int) -> GrownTree:
        """Room for a tree."""
        return cls(
            children_left=np.full(n_nodes, -1),
            children_right=np.full(n_nodes, -1),
            feature=np.full(n_nodes, -2),
            threshold=np.full(n_nodes, -2.0),
            impurity=np.empty(n_nodes),
            n_node_samples=np.empty(n_nodes, dtype=np.int64),
            weighted_n_node_samples=np.empty(n_nodes),
            value=np.empty((n_nodes, n_values)),
            leaf=np.empty(n_samples, dtype=np.int32),
            max_depth=0,
        )

    @classmethod
    def of(cls, tree: Tree, value: NDArray[Any], leaf: NDArray[Any]) -> GrownTree:
        """A tree that scikit-learn has grown."""
        arrays = {name: getattr(tree, name) for name in cls._fields[:_PER_NODE]}
        return cls(**arrays | {"value": value}, leaf=leaf, max_depth=tree.max_depth)

    def cut(self, n_nodes: int, max_depth: int) -> GrownTree:
        """The tree without the room that it did not need."""
        arrays = {name: getattr(self, name)[:n_nodes] for name in self._fields[:_PER_NODE]}
        return self._replace(**arrays, max_depth=max_depth)


_PER_NODE = 8  # that many fields have one entry a node


class Limits(NamedTuple):
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

    def for_rows(self, n_rows: int) -> Limits:
        """The same with the number of rows in place of a fraction, which is at most 1."""
        split = self.min_samples_split
        return self if split > 1 else self._replace(min_samples_split=max(2, ceil(split * n_rows)))


def loosest(limits: Sequence[Limits]) -> Limits:
    """Limits under which a tree contains all that are wanted."""
    depths, splits, decreases, _ = zip(*limits, strict=True)
    return Limits(None if None in depths else max(depths), min(splits), min(decreases), 0.0)


def endings(tree: GrownTree, limits: Sequence[Limits]) -> NDArray[np.int64]:
    """By limit and node, the node at which a smaller tree ends on the way to it.

    Parameters
    ----------
    tree : GrownTree
        The tree, grown with the loosest of the limits.
    limits : sequence of Limits
        Where to stop.
    """
    parent = _parents(tree)
    stops = _stops(tree, parent, limits)
    ends = _ends(parent, stops)
    alphas = [limit.ccp_alpha for limit in limits]
    if any(alphas):
        for row in np.flatnonzero(alphas).tolist():
            stops[row] = _is_pruned_leaf(tree, ends[row], alphas[row])
        ends = _ends(parent, stops)
    return ends


def read(value: NDArray[Any], ends: NDArray[np.int64], leaf: NDArray[Any]) -> NDArray[Any]:
    """The values of nodes that samples get in smaller trees, of shape (n_limits, n_samples, ...)."""
    values: NDArray[Any] = value.take(ends, axis=0).take(leaf, axis=1)
    return values


def _parents(tree: GrownTree) -> NDArray[np.int64]:
    """The parent of each node, which comes before it; the root is its own."""
    inner = np.flatnonzero(tree.children_left >= 0)
    parent = np.zeros(len(tree.children_left), dtype=np.int64)
    parent[tree.children_left[inner]] = inner
    parent[tree.children_right[inner]] = inner
    return parent


def _stops(tree: GrownTree, parent: NDArray[np.int64], limits: Sequence[Limits]) -> NDArray[np.bool_]:
    """Whether a tree ends at a node if it gets there, by limit and node."""
    depths, splits, decreases, _ = zip(*limits, strict=True)
    max_depth = np.array([tree.max_depth if depth is None else depth for depth in depths])
    stops: NDArray[np.bool_] = (
        (tree.children_left < 0)
        | (_depths(parent) >= max_depth[:, np.newaxis])
        | (tree.n_node_samples < np.array(splits)[:, np.newaxis])
    )
    if min(decreases) < max(decreases):  # the tree was grown with the least
        stops |= _decreases(tree) + EPSILON < np.array(decreases)[:, np.newaxis]
    return stops


def _decreases(tree: GrownTree) -> NDArray[np.float64]:
    """The decrease of impurity at each split, in scikit-learn's order of operations."""
    left, right = tree.children_left, tree.children_right  # -1 at leaves, which stop anyway
    impurity, weight = tree.impurity, tree.weighted_n_node_samples
    decreases: NDArray[np.float64] = (weight / weight[0]) * (
        impurity - weight[right] / weight * impurity[right] - weight[left] / weight * impurity[left]
    )
    return decreases


def _is_pruned_leaf(tree: GrownTree, ends: NDArray[np.int64], ccp_alpha: float) -> NDArray[np.bool_]:
    """Which nodes are leaves once a truncation of the tree is pruned."""
    kept, position = np.unique(ends, return_inverse=True)
    is_end = np.isin(kept, ends[tree.children_left < 0])
    nodes = np.zeros(len(kept), dtype=NODE_DTYPE)
    nodes["left_child"] = np.where(is_end, -1, position[tree.children_left[kept]])
    nodes["right_child"] = np.where(is_end, -1, position[tree.children_right[kept]])
    for name in ("impurity", "n_node_samples", "weighted_n_node_samples"):
        nodes[name] = getattr(tree, name)[kept]
    # scikit-learn's pruning renumbers the nodes but carries their values along: let these be names.
    names = kept.astype(np.float64)[:, np.newaxis, np.newaxis]
    truncated, pruned = (Tree(1, np.array([1]), 1) for _ in range(2))
    state = {"max_depth": tree.max_depth, "node_count": len(kept), "nodes": nodes, "values": names}
    truncated.__setstate__(state)
    build_pruned_tree(pruned, truncated, ccp_alpha)
    is_leaf = np.zeros(len(ends), dtype=bool)
    is_leaf[pruned.value[pruned.children_left == -1, 0, 0].astype(np.intp)] = True
    return is_leaf


@kernel
def _depths(parent: NDArray[np.int64]) -> NDArray[np.int64]:
    depths = np.zeros(len(parent), dtype=np.int64)
    for node in range(1, len(parent)):
        depths[node] = depths[parent[node]] + 1
    return depths


@kernel
def _ends(parent: NDArray[np.int64], stops: NDArray[np.bool_]) -> NDArray[np.int64]:
    """By limit and node, the node at which the way to it ends: itself, or one above it."""
    ends = np.zeros(stops.shape, dtype=np.int64)
    for row in range(stops.shape[0]):
        for node in range(1, stops.shape[1]):
            above = ends[row, parent[node]]
            ends[row, node] = above if stops[row, above] else node
    return ends
