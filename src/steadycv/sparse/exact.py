"""Branch and bound: the best support, with proof.

A node fixes some columns in and some out, and leaves the rest free with so many places to fill. With
alpha any vector and c = X'alpha, no support of the node has a lower objective than

    1/2 (y'alpha)^2 / (|alpha|^2 + gamma (sum of c_j^2 over those in + sum of the largest free c_j^2)),

as many of them as there are places. The best alpha is the residual of the relaxation, which is solved
by coordinate descent, warm-started from the parent, only until the node can be closed or has to be
split. With one place left the best column is known exactly from the gains; with two, if columns are few,
all pairs are looked at.
"""

from __future__ import annotations

import time
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steadycv._jit import fast_kernel, fast_kernel_part
from steadycv.sparse.beam import improve
from steadycv.sparse.gram import ALL_AT_ONCE
from steadycv.sparse.node_bound import bound_of_node
from steadycv.sparse.nodes import copy_node, give_back, keep_warm, pop, push, root, with_room

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from steadycv.sparse.gram import Gram
    from steadycv.sparse.nodes import Nodes

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


class _Best(NamedTuple):
    """The best support so far and its number of columns.

    `value` is its objective, and the lowest bound of the nodes that were closed.
    """

    support: Integers
    size: Integers
    value: Floats


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
    best = _Best(np.zeros(sparsity, dtype=np.int64), np.zeros(1, dtype=np.int64), np.array([inf, inf]))
    wanted = np.empty(MOST_WANTED, dtype=np.int64)
    last_used = np.zeros(gram.n_columns, dtype=np.int64)
    _offer(gram, best, start, gamma)
    status = "optimal"
    while True:
        nodes = with_room(nodes, NODES_AT_A_TIME + sparsity + 2)
        before = best.value[0]
        n_wanted = _search(
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


def _offer(gram: Gram, best: _Best, support: Integers, gamma: float) -> None:
    """Take a support for the best, after swaps, if it is."""
    columns, coef = improve(gram, support, gamma)
    value = gram.half_energy - 0.5 * float(coef @ gram.target[columns])
    if value <= best.value[0] * (1 + 1e-12):
        best.support[: len(columns)] = columns
        best.size[0] = len(columns)
        best.value[0] = min(value, best.value[0])


@fast_kernel
def _search(
    rows: Floats,
    slot: Integers,
    target: Floats,
    diagonal: Floats,
    varies: Floats,
    energy: float,
    gamma: float,
    tol: float,
    nodes: Nodes,
    best: _Best,
    n_nodes: int,
    wanted: Integers,
    last_used: Integers,
) -> int:
    """Work on so many nodes, or until rows are missing; returns how many of them, in `wanted`."""
    n_columns, sparsity = len(target), nodes.members.shape[1]
    kind = np.empty(n_columns, dtype=np.int64)  # 1 in, 0 free, -1 out
    c = np.empty(n_columns)
    beta = np.empty(n_columns)
    for j in range(n_columns):
        beta[j] = 0.0
    active = np.empty(n_columns, dtype=np.int64)
    top = np.empty(sparsity + 1)
    for _ in range(n_nodes):
        if nodes.counts[0] == 0:
            return 0
        node = pop(nodes)
        close_at = best.value[0] * (1 - tol)
        if nodes.bound[node] >= close_at:
            best.value[1] = min(best.value[1], nodes.bound[node])
            give_back(nodes, node)
            continue
        # Lay the node out.
        n_in = nodes.n_in[node]
        n_free = 0
        for j in range(n_columns):
            kind[j] = -1 if varies[j] == 0.0 or nodes.out[node, j] else 0
            n_free += 1 + kind[j]
        for i in range(n_in):
            kind[nodes.members[node, i]] = 1
            active[i] = nodes.members[node, i]
            beta[active[i]] = 0.0
        n_free -= n_in
        places = min(sparsity - n_in, n_free)
        n_active = n_in
        for i in range(nodes.n_warm[node]):
            j = nodes.warm[node, i]
            beta[j] = nodes.warm_coef[node, i]
            if kind[j] == 0:
                active[n_active] = j
                n_active += 1
        nodes.counts[2] += 1
        if places <= 1 or places == n_free or (places == 2 and n_columns <= ALL_AT_ONCE):
            missing = _complete(rows, slot, target, diagonal, kind, active, n_in, places, n_free, energy,
                                1.0 / gamma, best, c, wanted)  # fmt: skip
            if missing > 0:
                push(nodes, node)
                return missing
            give_back(nodes, node)
            continue
        bound, rise, n_active, missing = bound_of_node(
            rows, slot, target, diagonal, kind, active, n_in, n_active, places, energy, gamma, close_at,
            beta, c, top, wanted,
        )  # fmt: skip
        nodes.bound[node] = max(bound, nodes.bound[node])
        for i in range(n_active):
            last_used[active[i]] = nodes.counts[2]
        if missing > 0:
            keep_warm(nodes, node, active, n_active, beta)
            push(nodes, node)
            return missing
        if nodes.bound[node] >= close_at:
            best.value[1] = min(best.value[1], nodes.bound[node])
            give_back(nodes, node)
            continue
        keep_warm(nodes, node, active, n_active, beta)
        if _fix(nodes, node, kind, c, top, bound, rise, close_at):
            push(nodes, node)
        else:
            _split(nodes, node, kind, active, n_in, n_active, beta, c)
    return 0


@fast_kernel_part
def _complete(
    rows: Floats,
    slot: Integers,
    target: Floats,
    diagonal: Floats,
    kind: Integers,
    active: Integers,
    n_in: int,
    places: int,
    n_free: int,
    energy: float,
    ridge: float,
    best: _Best,
    slope: Floats,
    wanted: Integers,
) -> int:
    """Fill the last places exactly: none, one, two, or all free columns."""
    n_columns = len(target)
    members = np.empty(n_in + places, dtype=np.int64)
    for i in range(n_in):
        members[i] = active[i]
    size = n_in
    if places == n_free:
        for j in range(n_columns):
            if kind[j] == 0:
                members[size] = j
                size += 1
    missing = 0
    for i in range(size):
        if slot[members[i]] < 0 and missing < len(wanted):
            wanted[missing] = members[i]
            missing += 1
    if missing > 0:
        return missing
    spread = np.empty(n_columns)
    for j in range(n_columns):
        slope[j] = target[j]
        spread[j] = diagonal[j]
    fall = 0.0
    half = np.empty((size, n_columns))
    for i in range(size):
        j = members[i]
        row = rows[slot[j]]
        new = half[i]
        for m in range(n_columns):
            new[m] = row[m]
        for h in range(i):
            weight = half[h, j]
            other = half[h]
            for m in range(n_columns):
                new[m] -= weight * other[m]
        schur = ridge + max(spread[j], 0.0)
        root = 1.0 / np.sqrt(schur)
        step = slope[j] * root
        for m in range(n_columns):
            new[m] *= root
            slope[m] -= new[m] * step
            spread[m] -= new[m] * new[m]
        fall += 0.5 * step * step
    enter = -1
    partner = -1
    gain = 0.0
    if size < n_in + places:
        for j in range(n_columns):
            if kind[j] == 0:
                spread[j] = ridge + max(spread[j], 0.0)
                value = 0.5 * slope[j] * slope[j] / spread[j]
                if value > gain:
                    gain = value
                    enter = j
    if size + 2 == n_in + places:
        for j in range(n_columns):
            if kind[j] == 0:
                row = rows[slot[j]]
                for m in range(j):
                    if kind[m] == 0:
                        shared = row[m]
                        for h in range(size):
                            shared -= half[h, j] * half[h, m]
                        share = shared / spread[j]
                        left = spread[m] - shared * share
                        if left > ridge + 1e-13 * diagonal[m]:  # if not, one does what both would
                            step = slope[m] - slope[j] * share
                            value = 0.5 * (slope[j] * slope[j] / spread[j] + step * step / left)
                            if value > gain:
                                gain = value
                                enter, partner = j, m
    value = 0.5 * energy - fall - gain
    if value < best.value[0] * (1 - 1e-12):
        if enter >= 0:
            members[size] = enter
            size += 1
        if partner >= 0:
            members[size] = partner
            size += 1
        for i in range(size):
            best.support[i] = members[i]
        best.size[0] = size
        best.value[0] = value
    return 0


@fast_kernel_part
def _fix(
    nodes: Nodes,
    node: int,
    kind: Integers,
    c: Floats,
    top: Floats,
    bound: float,
    rise: float,
    close_at: float,
) -> bool:
    """Fix what every good support of a node has in common; whether a column was put in.

    To put in a column that is not among the steepest takes the place of the least of them, top[1]; to
    leave out one that is brings in the next, top[0]. If that lifts the bound far enough it is settled.
    """
    found = False
    for j in range(len(c)):
        if kind[j] == 0:
            square = c[j] * c[j]
            if square < top[1]:
                if bound + rise * (top[1] - square) >= close_at:
                    kind[j] = -1
                    nodes.out[node, j] = True
            elif bound + rise * (square - top[0]) >= close_at:
                nodes.members[node, nodes.n_in[node]] = j
                nodes.n_in[node] += 1
                found = True
    return found


@fast_kernel_part
def _split(
    nodes: Nodes,
    node: int,
    kind: Integers,
    active: Integers,
    n_in: int,
    n_active: int,
    beta: Floats,
    c: Floats,
) -> None:
    """Two nodes out of one: with a column in, and with it out."""
    choice = -1
    largest = 0.0
    for i in range(n_in, n_active):
        j = active[i]
        size = abs(beta[j])
        if size > largest and kind[j] == 0:
            largest = size
            choice = j
    if choice < 0:
        for j in range(len(c)):
            if kind[j] == 0 and (choice < 0 or abs(c[j]) > abs(c[choice])):
                choice = j
    with_it = copy_node(nodes, node)
    nodes.members[with_it, n_in] = choice
    nodes.n_in[with_it] = n_in + 1
    nodes.out[node, choice] = True
    push(nodes, node)
    push(nodes, with_it)
