"""The open nodes of a branch and bound and its best support, in arrays that the search works on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]

__all__ = ["Best", "Nodes", "root", "with_room"]

ROOM = 1024  # nodes, to begin with
MOST_BYTES = 2**28  # of open nodes; beyond, the search goes into depth


class Nodes(NamedTuple):
    """Open nodes, each in a place of its own; `heap` orders those places by bound, lowest first.

    `counts` holds how many are in the heap, how many places are spare, all nodes so far, and, while the
    search goes into depth for want of spare places, where it went down from.
    """

    bound: Floats
    n_in: Integers
    members: Integers
    out: NDArray[np.bool_]
    n_warm: Integers
    warm: Integers
    warm_coef: Floats
    heap: Integers
    spare: Integers
    counts: Integers


class Best(NamedTuple):
    """The best support so far and its number of columns.

    `value` is its objective, and the lowest bound of the nodes that were closed.
    """

    support: Integers
    size: Integers
    value: Floats


def root(n_columns: int, sparsity: int) -> Nodes:
    """Room for some nodes, and the one that leaves everything open."""
    n_warm = min(n_columns, 4 * sparsity + 16)
    nodes = Nodes(
        np.zeros(ROOM),
        np.zeros(ROOM, dtype=np.int64),
        np.zeros((ROOM, sparsity), dtype=np.int64),
        np.zeros((ROOM, n_columns), dtype=np.bool_),
        np.zeros(ROOM, dtype=np.int64),
        np.zeros((ROOM, n_warm), dtype=np.int64),
        np.zeros((ROOM, n_warm)),
        np.zeros(ROOM, dtype=np.int64),
        np.arange(ROOM),
        np.array([1, ROOM - 1, 0, 0]),
    )
    nodes.heap[0] = nodes.spare[ROOM - 1]
    return nodes


def with_room(nodes: Nodes, n_spare: int) -> Nodes:
    """The same, with twice the room if no more places than these are spare and memory allows it."""
    room = len(nodes.bound)
    n_bytes = sum(array.nbytes for array in nodes)
    if nodes.counts[1] > n_spare or n_bytes > MOST_BYTES // 2:
        return nodes
    larger = [np.concatenate([array, np.zeros_like(array)]) for array in nodes[:-1]]
    larger[-1][nodes.counts[1] : nodes.counts[1] + room] = np.arange(room, 2 * room)
    nodes.counts[1] += room
    return Nodes._make([*larger, nodes.counts])
