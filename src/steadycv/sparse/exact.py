"""Branch and bound: the best support, with proof.

A node fixes some columns in and some out, and leaves the rest free with so many places to fill. With
alpha any vector and c = X'alpha, no support of the node has a lower objective than

    1/2 (y'alpha)^2 / (|alpha|^2 + gamma (sum of c_j^2 over those in + sum of the largest free c_j^2)),

as many of them as there are places. The best alpha is the residual of the relaxation, which is solved
by coordinate descent and Newton's method, warm-started from the parent, only until the node can be
closed or has to be split. With one place left the best column is known exactly from the gains; with
two, if columns are few, all pairs are looked at.
"""

from __future__ import annotations

import time
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steadycv.sparse.gram import ALL_AT_ONCE
from steadycv.sparse.node_search import search
from steadycv.sparse.nodes import Best, root, with_room
from steadycv.sparse.swaps import improve

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from steadycv.sparse.gram import Gram

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]

__all__ = ["Proof", "branch_and_bound"]

NODES_AT_A_TIME = 200
MOST_WANTED = 32  # rows at a time


class Proof(NamedTuple):
    """The best support that was found, and what was proven.

    `lower_bound` is below the objective of every support. `status` is ``"optimal"``, or the limit that
    ended the search before that was proven: ``"time_limit"`` or ``"node_limit"``.
    """

    support: Integers
    objective: float
    lower_bound: float
    n_nodes: int
    status: str


def branch_and_bound(
    gram: Gram,
    sparsity: int,
    gamma: float,
    start: Integers,
    *,
    tol: float = 1e-4,
    time_limit: float = inf,
    node_limit: float = inf,
) -> Proof:
    """The support with the lowest objective.

    Parameters
    ----------
    gram : Gram
        Products of the columns with each other and with the target.
    sparsity : int
        The largest number of columns.
    gamma : float
        The inverse of the penalty.
    start : ndarray of int
        A support to begin with.
    tol : float
        The relative gap at which the search ends.
    time_limit, node_limit : float
        Seconds and nodes after which it ends with what it has.
    """
    deadline = time.monotonic() + time_limit
    nodes = root(gram.n_columns, sparsity)
    best = Best(np.zeros(sparsity, dtype=np.int64), np.zeros(1, dtype=np.int64), np.array([inf, inf]))
    wanted = np.empty(MOST_WANTED, dtype=np.int64)
    last_used = np.zeros(gram.n_columns, dtype=np.int64)
    _offer(gram, best, start, gamma)
    status = "optimal"
    while True:
        nodes = with_room(nodes, NODES_AT_A_TIME + sparsity + 2)
        before = best.value[0]
        n_wanted = search(
            gram.rows,
            gram.slot,
            gram.target,
            gram.diagonal,
            gram.varies,
            2 * gram.half_energy,
            gamma,
            tol,
            nodes,
            best,
            NODES_AT_A_TIME,
            gram.n_columns <= ALL_AT_ONCE,
            wanted,
            last_used,
        )
        gram.trim(last_used)
        gram.fetch(wanted[:n_wanted])
        if best.value[0] < before:
            _offer(gram, best, best.support[: best.size[0]].copy(), gamma)
        if nodes.counts[0] == 0:
            break
        if nodes.counts[2] >= node_limit:
            status = "node_limit"
            break
        if time.monotonic() >= deadline:
            status = "time_limit"
            break
    objective, closed = best.value
    still_open = nodes.bound[nodes.heap[: nodes.counts[0]]]
    lower = max(0.0, min(objective, closed, still_open.min(initial=inf)))
    support = np.sort(best.support[: best.size[0]])
    return Proof(support, float(objective), float(lower), int(nodes.counts[2]), status)


def _offer(gram: Gram, best: Best, support: Integers, gamma: float) -> None:
    """Take a support for the best, after swaps, if it is."""
    columns, coef = improve(gram, support, gamma)
    value = gram.half_energy - 0.5 * float(coef @ gram.target[columns])
    if value <= best.value[0] * (1 + 1e-12):
        best.support[: len(columns)] = columns
        best.size[0] = len(columns)
        best.value[0] = min(value, best.value[0])
