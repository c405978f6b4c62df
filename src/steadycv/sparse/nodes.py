"""The open nodes of a branch and bound, in arrays that kernels work on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steadycv._jit import fast_kernel_part

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]

__all__ = ["Nodes", "copy_node", "give_back", "keep_warm", "pop", "push", "root", "with_room"]

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


@fast_kernel_part
def keep_warm(nodes: Nodes, node: int, active: Integers, n_active: int, beta: Floats) -> None:
    """Keep the coefficients of a node, the largest if there is no room for all."""
    room = nodes.warm.shape[1]
    n = min(room, n_active)
    for i in range(n):
        nodes.warm[node, i] = active[i]
        nodes.warm_coef[node, i] = beta[active[i]]
    nodes.n_warm[node] = n


@fast_kernel_part
def copy_node(nodes: Nodes, node: int) -> int:
    """A node like another, in a spare place."""
    nodes.counts[1] -= 1
    new: int = nodes.spare[nodes.counts[1]]
    nodes.bound[new] = nodes.bound[node]
    nodes.n_in[new] = nodes.n_in[node]
    nodes.n_warm[new] = nodes.n_warm[node]
    for i in range(nodes.n_in[node]):
        nodes.members[new, i] = nodes.members[node, i]
    for i in range(nodes.out.shape[1]):
        nodes.out[new, i] = nodes.out[node, i]
    for i in range(nodes.n_warm[node]):
        nodes.warm[new, i] = nodes.warm[node, i]
        nodes.warm_coef[new, i] = nodes.warm_coef[node, i]
    return new


@fast_kernel_part
def give_back(nodes: Nodes, node: int) -> None:
    """Make the place of a node that is done with spare."""
    nodes.spare[nodes.counts[1]] = node
    nodes.counts[1] += 1


@fast_kernel_part
def push(nodes: Nodes, node: int) -> None:
    """Put a node into the heap; at its end while the search goes into depth."""
    heap, place = nodes.heap, nodes.counts[0]
    nodes.counts[0] += 1
    while nodes.counts[3] == 0 and place > 0 and nodes.bound[heap[(place - 1) // 2]] > nodes.bound[node]:
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = node


@fast_kernel_part
def pop(nodes: Nodes) -> int:
    """The node with the lowest bound; or, when places run out, the last one, so that few are needed."""
    heap = nodes.heap
    if nodes.counts[0] < nodes.counts[3]:
        nodes.counts[3] = 0
    if nodes.counts[3] == 0 and nodes.counts[1] < nodes.members.shape[1] + 2:
        nodes.counts[3] = nodes.counts[0]
    first: int = heap[0]
    nodes.counts[0] -= 1
    size = nodes.counts[0]
    last: int = heap[size]
    if nodes.counts[3] > 0:
        return last
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and nodes.bound[heap[child + 1]] < nodes.bound[heap[child]]:
            child += 1
        if nodes.bound[heap[child]] >= nodes.bound[last]:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = last
    return first
