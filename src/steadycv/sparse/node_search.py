"""The search of a branch and bound over its nodes: the kernel, with all its parts.

They are in one file because what is compiled is kept for as long as the file of the kernel stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadycv._jit import fast_kernel, fast_kernel_part

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from steadycv.sparse.nodes import Best, Nodes

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]

__all__ = ["search"]

MOST_ACTIVE = 256  # columns that a relaxation works on; their rows are held together
REFUSED, MOVED, SETTLED = 0, 1, 2  # outcomes of a step of Newton's method


@fast_kernel
def search(
    rows: Floats,
    slot: Integers,
    target: Floats,
    diagonal: Floats,
    varies: Floats,
    energy: float,
    gamma: float,
    tol: float,
    nodes: Nodes,
    best: Best,
    n_nodes: int,
    few: bool,
    wanted: Integers,
    last_used: Integers,
) -> int:
    """Work on so many nodes, or until rows are missing; returns how many of them, in `wanted`.

    If columns are `few`, the products of all are there.
    """
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
        node = _pop(nodes)
        close_at = best.value[0] * (1 - tol)
        if nodes.bound[node] >= close_at:
            best.value[1] = min(best.value[1], nodes.bound[node])
            _give_back(nodes, node)
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
        if places <= 1 or places == n_free or (places == 2 and few):
            missing = _complete(rows, slot, target, diagonal, kind, active, n_in, places, n_free, energy,
                                1.0 / gamma, best, c, wanted)  # fmt: skip
            if missing > 0:
                _push(nodes, node)
                return missing
            _give_back(nodes, node)
            continue
        bound, rise, n_active, missing = _bound_of_node(
            rows, slot, target, diagonal, kind, active, n_in, n_active, places, energy, gamma, close_at,
            beta, c, top, wanted,
        )  # fmt: skip
        nodes.bound[node] = max(bound, nodes.bound[node])
        for i in range(n_active):
            last_used[active[i]] = nodes.counts[2]
        if missing > 0:
            _keep_warm(nodes, node, active, n_active, beta)
            _push(nodes, node)
            return missing
        if nodes.bound[node] >= close_at:
            best.value[1] = min(best.value[1], nodes.bound[node])
            _give_back(nodes, node)
            continue
        _keep_warm(nodes, node, active, n_active, beta)
        if _fix(nodes, node, kind, c, top, bound, rise, close_at):
            _push(nodes, node)
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
    best: Best,
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
    with_it = _copy_node(nodes, node)
    nodes.members[with_it, n_in] = choice
    nodes.n_in[with_it] = n_in + 1
    nodes.out[node, choice] = True
    _push(nodes, node)
    _push(nodes, with_it)


@fast_kernel_part
def _bound_of_node(
    rows: Floats,
    slot: Integers,
    target: Floats,
    diagonal: Floats,
    kind: Integers,
    active: Integers,
    n_in: int,
    n_active: int,
    places: int,
    energy: float,
    gamma: float,
    close_at: float,
    beta: Floats,
    c: Floats,
    top: Floats,
    wanted: Integers,
) -> tuple[float, float, int, int]:
    """A bound for a node, as good as it takes; and the number of active columns, and of rows missing.

    In between: how much the bound rises with the square of c for a column that is put in or out.
    """
    n_columns = len(target)
    ridge = 1.0 / gamma
    bound = rise = 0.0
    steep_ones = np.empty(n_columns, dtype=np.int64)
    is_active = np.empty(n_columns, dtype=np.int64)
    for j in range(n_columns):
        is_active[j] = 0
    for i in range(n_active):
        is_active[active[i]] = 1
    theta = 0.0
    before = 0.0
    for turn in range(50):
        n_missing = 0
        for i in range(n_active):
            if slot[active[i]] < 0 and n_missing < len(wanted):
                wanted[n_missing] = active[i]
                n_missing += 1
        if n_missing > 0:
            return bound, rise, n_active, n_missing
        for j in range(n_columns):
            c[j] = target[j]
        fit = energy
        for i in range(n_active):
            b = beta[active[i]]
            if b != 0.0:
                fit -= b * target[active[i]]
                row = rows[slot[active[i]]]
                for j in range(n_columns):
                    c[j] -= b * row[j]
        square = fit
        steep = 0.0
        shrink = 0.0
        for i in range(n_active):
            j = active[i]
            square -= beta[j] * c[j]
            if i < n_in:
                steep += c[j] * c[j]
                shrink += beta[j] * beta[j]
        square = max(square, 0.0)
        _largest(c, kind, places + 1, top)
        for i in range(1, places + 1):
            steep += top[i]
        whole = square + gamma * steep
        along = fit / whole if whole > 0.0 else 0.0
        bound = 0.5 * along * fit
        rise = 0.5 * gamma * along * along
        norm, level = _support_norm(beta, active, n_in, n_active, places)
        value = 0.5 * square + 0.5 * ridge * (shrink + norm)
        if bound >= close_at or value - bound <= 1e-7 * value:
            break
        if value < close_at and value - bound <= 0.1 * (close_at - bound):
            break
        # Splitting a node that cannot be closed does more than a bound that hardly rises.
        if turn >= 3 and value < close_at and bound - before <= 0.02 * (close_at - bound):
            break
        before = max(before, bound)
        theta = level * ridge if level > 0.0 else np.sqrt(top[1])
        # The steepest of the free columns that should be active join them.
        n_steep = 0
        for j in range(n_columns):
            if abs(c[j]) > theta * (1 - 1e-9) and kind[j] == 0 and is_active[j] == 0:
                steep_ones[n_steep] = j
                n_steep += 1
        for i in range(min(n_steep, places + 5, len(wanted), MOST_ACTIVE - n_active)):
            for m in range(i + 1, n_steep):
                if abs(c[steep_ones[m]]) > abs(c[steep_ones[i]]):
                    steep_ones[i], steep_ones[m] = steep_ones[m], steep_ones[i]
            join = steep_ones[i]
            active[n_active] = join
            is_active[join] = 1
            beta[join] = 0.0
            n_active += 1
            if slot[join] < 0:
                wanted[n_missing] = join
                n_missing += 1
        if n_missing > 0:
            return bound, rise, n_active, n_missing
        _descend(rows, slot, diagonal, active, n_in, n_active, places, ridge, theta, beta, c)
        # Columns that are zero need not stay.
        kept = n_in
        for i in range(n_in, n_active):
            if beta[active[i]] != 0.0:
                active[kept] = active[i]
                kept += 1
            else:
                is_active[active[i]] = 0
        n_active = kept
    return bound, rise, n_active, 0


@fast_kernel_part
def _descend(
    rows: Floats,
    slot: Integers,
    diagonal: Floats,
    active: Integers,
    n_in: int,
    n_active: int,
    places: int,
    ridge: float,
    theta: float,
    beta: Floats,
    c: Floats,
) -> None:
    """Minimise over the active columns.

    Sweeps over the coordinates, with the threshold following the coefficients, find out which of them
    are zero; steps of Newton's method take the others to where sweeps alone would creep.
    """
    gram = np.empty((n_active, n_active))
    slope = np.empty(n_active)
    for i in range(n_active):
        slope[i] = c[active[i]]
        row = rows[slot[active[i]]]
        for m in range(n_active):
            gram[i, m] = row[active[m]]
    for sweep in range(40):
        moved = 0.0
        scale = 0.0
        for i in range(n_active):
            j = active[i]
            square = diagonal[j]
            pull = slope[i] + square * beta[j]
            if i < n_in:
                new = pull / (square + ridge)
            else:
                size = abs(pull)
                if size <= theta:
                    size = 0.0
                elif (size - theta) * ridge <= theta * square:
                    size = (size - theta) / square
                else:
                    size = size / (square + ridge)
                new = size if pull > 0 else -size
            step = new - beta[j]
            if step != 0.0:
                beta[j] = new
                for m in range(n_active):
                    slope[m] -= step * gram[i, m]
                moved = max(moved, abs(step))
            scale = max(scale, abs(new))
        _, level = _support_norm(beta, active, n_in, n_active, places)
        if moved > 1e-5 * scale and sweep % 4 == 3:
            outcome = MOVED
            for _ in range(n_active):
                if outcome == MOVED:
                    outcome, level = _newton_step(
                        gram, slope, active, n_in, n_active, places, ridge, beta
                    )
            if outcome == SETTLED:
                break
        if level > 0.0:
            theta = level * ridge
        if moved <= 1e-5 * scale:
            break


@fast_kernel_part
def _newton_step(
    gram: Floats,
    slope: Floats,
    active: Integers,
    n_in: int,
    n_active: int,
    places: int,
    ridge: float,
    beta: Floats,
) -> tuple[int, float]:
    """A step towards the minimum over the columns that are not zero; its outcome, and the new level.

    It ends where a coefficient becomes zero. It is SETTLED if it did not have to and the same columns
    are above the level as before, and REFUSED if the objective would rise.
    """
    norm, level = _support_norm(beta, active, n_in, n_active, places)
    used = np.empty(n_active, dtype=np.int64)
    step = np.empty(n_active)
    n_used = 0
    for i in range(n_active):
        if i < n_in or beta[active[i]] != 0.0:
            used[n_used] = i
            n_used += 1
    n_above = _n_above(beta, active, n_in, n_active, level)
    if not _newton_direction(
        gram, slope, active, n_in, used[:n_used], places - n_above, level, ridge, beta, step
    ):
        return REFUSED, level
    length = 1.0
    zero = -1  # the column that becomes zero first
    for a in range(n_used):
        i = used[a]
        old = beta[active[i]]
        if i >= n_in and (old + length * step[a]) * old < 0.0:
            length = -old / step[a]
            zero = active[i]
    bend = np.zeros(n_active)
    for a in range(n_used):
        for m in range(n_active):
            bend[m] += step[a] * gram[used[a], m]
    linear = 0.0
    curved = 0.0
    before = np.empty(n_used)
    for a in range(n_used):
        i = used[a]
        j = active[i]
        linear -= step[a] * slope[i]
        curved += step[a] * bend[i]
        if i < n_in:
            linear += ridge * step[a] * beta[j]
            curved += ridge * step[a] * step[a]
        before[a] = beta[j]
        beta[j] += length * step[a]
    if zero >= 0:
        beta[zero] = 0.0
    new_norm, new_level = _support_norm(beta, active, n_in, n_active, places)
    if length * linear + 0.5 * length * length * curved + 0.5 * ridge * (new_norm - norm) > 0.0:
        for a in range(n_used):
            beta[active[used[a]]] = before[a]
        return REFUSED, level
    for m in range(n_active):
        slope[m] -= length * bend[m]
    same = _n_above(beta, active, n_in, n_active, new_level) == n_above
    settled = zero < 0 and same and (new_level > 0.0) == (level > 0.0)
    return SETTLED if settled else MOVED, new_level


@fast_kernel_part
def _newton_direction(
    gram: Floats,
    slope: Floats,
    active: Integers,
    n_in: int,
    used: Integers,
    places_below: int,
    level: float,
    ridge: float,
    beta: Floats,
    step: Floats,
) -> bool:
    """From the coefficients of some columns to where the objective would be least; False if nowhere.

    The k-support norm is taken as it is at the coefficients: squares of those above its level, and
    the square of the sum of those below over the places that are left for them.
    """
    n = len(used)
    sign = np.empty(n)  # of those below; 0 for those above or in
    root = np.empty((n, n))  # Cholesky's, of the second derivatives
    for a in range(n):
        i = used[a]
        own = beta[active[i]]
        sign[a] = 0.0
        if i >= n_in and abs(own) <= level:
            sign[a] = 1.0 if own > 0.0 else -1.0
        slip = slope[i] - ridge * (own if sign[a] == 0.0 else sign[a] * level)
        for b in range(a + 1):
            value = gram[i, used[b]]
            if sign[a] * sign[b] != 0.0:
                value += ridge * sign[a] * sign[b] / places_below
            if a == b:
                value += 1e-12 * gram[i, i]
                if sign[a] == 0.0:
                    value += ridge
            for h in range(b):
                value -= root[a, h] * root[b, h]
            if b < a:
                root[a, b] = value / root[b, b]
                slip -= root[a, b] * step[b]
            elif value <= 1e-13 * gram[i, i]:
                return False
            else:
                root[a, a] = np.sqrt(value)
        step[a] = slip / root[a, a]
    for a in range(n - 1, -1, -1):
        for h in range(a + 1, n):
            step[a] -= root[h, a] * step[h]
        step[a] /= root[a, a]
    return True


@fast_kernel_part
def _n_above(beta: Floats, active: Integers, n_in: int, n_active: int, level: float) -> int:
    """How many of the free coefficients are above a level."""
    n = 0
    for i in range(n_in, n_active):
        n += abs(beta[active[i]]) > level
    return n


@fast_kernel_part
def _support_norm(
    beta: Floats, active: Integers, n_in: int, n_active: int, places: int
) -> tuple[float, float]:
    """The squared k-support norm of the free coefficients, and the level above which z is 1."""
    n = 0
    sizes = np.empty(n_active - n_in)
    rest = 0.0
    for i in range(n_in, n_active):
        size = abs(beta[active[i]])
        if size > 0.0:
            place = n
            while place > 0 and sizes[place - 1] < size:
                sizes[place] = sizes[place - 1]
                place -= 1
            sizes[place] = size
            n += 1
            rest += size
    norm = 0.0
    if n <= places:
        for i in range(n):
            norm += sizes[i] * sizes[i]
        return norm, 0.0
    for h in range(places):
        level = rest / (places - h)
        if sizes[h] <= level or h == places - 1:
            return norm + rest * level, level
        norm += sizes[h] * sizes[h]
        rest -= sizes[h]
    return norm, 0.0


@fast_kernel_part
def _largest(c: Floats, kind: Integers, number: int, top: Floats) -> None:
    """The largest squares of the free columns, in increasing order."""
    for i in range(number):
        top[i] = 0.0
    for j in range(len(c)):
        square = c[j] * c[j]
        if square > top[0] and kind[j] == 0:
            place = 0
            while place + 1 < number and top[place + 1] < square:
                top[place] = top[place + 1]
                place += 1
            top[place] = square


@fast_kernel_part
def _keep_warm(nodes: Nodes, node: int, active: Integers, n_active: int, beta: Floats) -> None:
    """Keep the coefficients of a node, the largest if there is no room for all."""
    room = nodes.warm.shape[1]
    n = min(room, n_active)
    for i in range(n):
        nodes.warm[node, i] = active[i]
        nodes.warm_coef[node, i] = beta[active[i]]
    nodes.n_warm[node] = n


@fast_kernel_part
def _copy_node(nodes: Nodes, node: int) -> int:
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
def _give_back(nodes: Nodes, node: int) -> None:
    """Make the place of a node that is done with spare."""
    nodes.spare[nodes.counts[1]] = node
    nodes.counts[1] += 1


@fast_kernel_part
def _push(nodes: Nodes, node: int) -> None:
    """Put a node into the heap; at its end while the search goes into depth."""
    heap, place = nodes.heap, nodes.counts[0]
    nodes.counts[0] += 1
    while nodes.counts[3] == 0 and place > 0 and nodes.bound[heap[(place - 1) // 2]] > nodes.bound[node]:
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = node


@fast_kernel_part
def _pop(nodes: Nodes) -> int:
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
