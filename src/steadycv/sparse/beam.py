"""Forward selection with exact gains, a beam and exact swaps: all sparsities in one pass.

A *state* is a support S with what it takes to know, for every column j at once, what adding it,
leaving a member out, or swapping the two would do to the objective. With M = (I + gamma X_S X_S')^-1
these are

- ``inverse`` = (X_S'X_S + I/gamma)^-1 and ``partial`` = inverse X_S'X, one row for each member,
- ``slope[j]`` = x_j'My, the product of x_j and the residual, and ``spread[j]`` = x_j'Mx_j.

Adding j lowers the objective by 1/2 slope[j]^2 / (1/gamma + spread[j]). Leaving member i out raises it
by 1/2 coef[i]^2 / inverse[i, i], after which slope and spread of j are slope[j] + partial[i, j] coef[i]
/ inverse[i, i] and spread[j] + partial[i, j]^2 / inverse[i, i]: all swaps are judged exactly by one look
at the table. Both moves update a state in O(|S| p), as the sweep operator does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steadycv._jit import fast_kernel, fast_kernel_part
from steadycv.sparse.gram import ALL_AT_ONCE

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from steadycv.sparse.gram import Gram

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]

__all__ = ["FLOOR", "TIE", "Solutions", "beam_search", "likely"]

AT_LEAST = 24  # columns whose products are asked for at once
TIE = 1e-9  # gains that differ relatively by less are equal: the first wins
FLOOR = 1e-13  # what is left of a column, over its square, that rounding cannot be told from


class Solutions(NamedTuple):
    """What a pass found, for sparsities 1, 2, ...

    `support[k]` holds the columns of the solution with at most k + 1 of them and `coef[k]` their
    coefficients, `size[k]` of them; the rest of the row is empty. `n_moves` counts the states built.
    """

    support: Integers
    coef: Floats
    size: Integers
    n_moves: int


def beam_search(gram: Gram, sparsity: int, gamma: float, *, width: int, swaps: bool = True) -> Solutions:
    """Solutions for all sparsities up to the largest.

    The solution for a sparsity depends on nothing that comes after it, so that it does not matter
    up to where a pass goes.

    Parameters
    ----------
    gram : Gram
        Products of the columns with each other and with the target.
    sparsity : int
        The largest sparsity.
    gamma : float
        The inverse of the penalty.
    width : int
        How many supports are kept at each sparsity.
    swaps : bool
        Whether the best one is improved by swaps.
    """
    gram.trim()
    if gram.n_columns > ALL_AT_ONCE and not len(gram.design):
        gram.fetch(likely(gram, max(2 * sparsity, AT_LEAST), gamma))  # many at once are cheaper
    return _run(gram, sparsity, gamma, width, swaps=swaps)


def likely(gram: Gram, sparsity: int, gamma: float) -> Integers:
    """The columns with the largest gains at the start."""
    gain = gram.varies * gram.target**2 / (1.0 / gamma + gram.diagonal)
    rest = len(gain) - sparsity
    chosen = np.argpartition(gain, rest)[rest:] if rest > 0 else np.arange(len(gain))
    largest: Integers = chosen[gain[chosen] > 0]
    return largest


class _State(NamedTuple):
    """A state; or many, by two more axes: which half, and which of the states in it.

    The halves take turns in holding the states of one sparsity and of the next. `free` is 1 for the
    columns that may be added and 0 for others.
    """

    support: Integers
    coef: Floats
    inverse: Floats
    partial: Floats
    slope: Floats
    spread: Floats
    free: Floats


class _Pass(NamedTuple):
    """Where a pass stands: `at` is the sparsity reached, the states held, their half, and all moves.

    `fall[half, state]` is how far the objective has come down, `best[k]` how far in the solution for
    k + 1. `factor` is the Cholesky factor of the products of the columns in `order`, of which there are
    `at[4]`, and `forward` the target solved by it.
    """

    at: Integers
    fall: Floats
    wanted: Integers
    best: Floats
    order: Integers
    factor: Floats
    forward: Floats
    solution: Floats


def _run(gram: Gram, sparsity: int, gamma: float, width: int, *, swaps: bool) -> Solutions:
    shape, n_columns = (2, width), gram.n_columns
    states = _State(
        np.empty((*shape, sparsity), dtype=np.int64),
        np.empty((*shape, sparsity)),
        np.empty((*shape, sparsity, sparsity)),
        np.empty((*shape, sparsity, n_columns)),
        np.empty((*shape, n_columns)),
        np.empty((*shape, n_columns)),
        np.empty((*shape, n_columns)),
    )
    states.slope[0, 0] = gram.target
    states.spread[0, 0] = gram.diagonal
    states.free[0, 0] = gram.varies
    stand = _Pass(
        np.array([0, 1, 0, 0, 0]),
        np.zeros(shape),
        np.empty(width, dtype=np.int64),
        np.zeros(sparsity),
        np.empty(sparsity, dtype=np.int64),
        np.empty((sparsity, sparsity)),
        np.empty(sparsity),
        np.empty(sparsity),
    )
    found = Solutions(
        np.zeros((sparsity, sparsity), dtype=np.int64),
        np.zeros((sparsity, sparsity)),
        np.zeros(sparsity, dtype=np.int64),
        0,
    )
    ridge = 1.0 / gamma
    # The kernel stops until it has the products of the columns that it wants to add.
    while n_wanted := _advance(
        gram.design,
        gram.n_held,
        gram.rows,
        gram.slot,
        gram.target,
        gram.diagonal,
        gram.half_energy,
        ridge,
        swaps,
        states,
        stand,
        found.support,
        found.coef,
        found.size,
    ):
        gram.fetch(stand.wanted[:n_wanted])
    return found._replace(n_moves=int(stand.at[3]))


@fast_kernel
def _advance(
    design: Floats,
    n_held: Integers,
    rows: Floats,
    slot: Integers,
    target: Floats,
    diagonal: Floats,
    half_energy: float,
    ridge: float,
    swaps: bool,
    states: _State,
    stand: _Pass,
    found_support: Integers,
    found_coef: Floats,
    found_size: Integers,
) -> int:
    """Go on until done (returns 0) or until rows are missing (returns how many, in `wanted`)."""
    at, fall, wanted, best = stand.at, stand.fall, stand.wanted, stand.best
    width, sparsity = states.support.shape[1:]
    value = np.empty(len(target))
    most = width * min(width, len(target))
    parent = np.empty(most, dtype=np.int64)
    child = np.empty(most, dtype=np.int64)
    child_fall = np.empty(most)
    trial = np.empty(sparsity, dtype=np.int64)
    while True:
        k, n_states, half = at[0], at[1], at[2]
        top = _pick(states, half, np.int64(0))
        while k > 0 and (swaps or found_size[k - 1] == 0):
            least = TIE * (half_energy - fall[half, 0]) + 1e-14 * half_energy
            leave, enter = -1, -1
            if found_size[k - 1] > 0:
                leave, enter = _best_swap(ridge, k, top, value, least)
                if leave < 0:
                    break
                if not _have(enter, design, n_held, rows, slot):
                    wanted[0] = enter
                    return 1
            for i in range(k):
                trial[i] = top.support[i]
            if leave >= 0:
                trial[leave] = top.support[k - 1]
                trial[k - 1] = enter
            reached = _solve(rows, slot, target, diagonal, half_energy, ridge, k, trial, stand)
            if leave >= 0:
                if not reached > fall[half, 0] + least:  # rounding, with which it might go on for ever
                    break
                _remove(leave, k, top)
                _add(rows, slot, diagonal, ridge, enter, k - 1, top.partial, top)
                at[3] += 1
            fall[half, 0] = reached
            _record(k, reached, stand, found_support, found_coef, found_size)
        # By rounding, or because the best had no children.
        if k > 0 and not best[k - 1] >= (best[k - 2] if k > 1 else 0.0):
            _repeat(k, best, found_support, found_coef, found_size)
        if k == sparsity:
            return 0
        n_children = np.int64(0)  # of that type: for a literal, what it is given to is compiled twice
        for number in range(n_states):
            state = _pick(states, half, number)
            for j in range(len(value)):
                value[j] = state.free[j] * state.slope[j] * state.slope[j] / (ridge + state.spread[j])
            for _ in range(width):
                enter = _first_of_largest(value)
                if not value[enter] > 1e-15 * half_energy:
                    break
                parent[n_children] = number
                child[n_children] = enter
                child_fall[n_children] = fall[half, number] + 0.5 * value[enter]
                n_children += 1
                value[enter] = 0.0
        kept = _best_children(parent, child, child_fall, n_children, states.support[half], k, width)
        if kept == 0:  # nothing is left to explain
            for more in range(k, sparsity):
                _repeat(more + 1, best, found_support, found_coef, found_size)
            return 0
        n_wanted = 0
        for number in range(kept):
            missing = not _have(child[number], design, n_held, rows, slot)
            for i in range(n_wanted):
                missing = missing and wanted[i] != child[number]
            if missing:
                wanted[n_wanted] = child[number]
                n_wanted += 1
        if n_wanted > 0:
            return n_wanted
        for number in range(kept):
            old = _pick(states, half, parent[number])
            new = _pick(states, 1 - half, number)
            for i in range(k):
                new.support[i] = old.support[i]
                new.coef[i] = old.coef[i]
                for m in range(k):
                    new.inverse[i, m] = old.inverse[i, m]
            for j in range(len(target)):
                new.slope[j] = old.slope[j]
                new.spread[j] = old.spread[j]
                new.free[j] = old.free[j]
            _add(rows, slot, diagonal, ridge, child[number], k, old.partial, new)
            fall[1 - half, number] = child_fall[number]
        at[0], at[1], at[2] = k + 1, kept, 1 - half
        at[3] += kept


@fast_kernel_part
def _have(column: int, design: Floats, n_held: Integers, rows: Floats, slot: Integers) -> bool:
    """Whether the products of a column are there, or can be computed here."""
    if slot[column] < 0 and len(design) > 0:
        row = rows[n_held[0]]
        for j in range(len(row)):
            row[j] = 0.0
        for i in range(len(design)):
            for j in range(len(row)):
                row[j] += design[i, column] * design[i, j]
        slot[column] = n_held[0]
        n_held[0] += 1
    return bool(slot[column] >= 0)


@fast_kernel_part
def _pick(states: _State, half: int, number: int | np.int64) -> _State:
    """One of the states; what is done to it is done to them."""
    return _State(
        states.support[half, number],
        states.coef[half, number],
        states.inverse[half, number],
        states.partial[half, number],
        states.slope[half, number],
        states.spread[half, number],
        states.free[half, number],
    )


@fast_kernel_part
def _best_swap(ridge: float, k: int, state: _State, value: Floats, least: float) -> tuple[int, int]:
    """The member to leave and the column to enter; -1 if no swap gains more than `least`."""
    leave, enter = -1, -1
    for i in range(k):
        weight = 1.0 / state.inverse[i, i]
        shift = state.coef[i] * weight
        cost = 0.5 * state.coef[i] * shift
        row = state.partial[i]
        top = 0.0
        for j in range(len(value)):
            moved = state.slope[j] + row[j] * shift
            spread = state.spread[j] + row[j] * row[j] * weight
            value[j] = state.free[j] * moved * moved / (ridge + spread)
            top = max(top, value[j])
        if 0.5 * top - cost > least * (1 + TIE):
            least = 0.5 * top - cost
            leave, enter = i, _first_of_largest(value)
    return leave, enter


@fast_kernel_part
def _add(
    rows: Floats,
    slot: Integers,
    diagonal: Floats,
    ridge: float,
    enter: int,
    k: int,
    old: Floats,
    state: _State,
) -> None:
    """Put a column into a state with k members, whose partial products are in `old`."""
    n_columns = len(state.slope)
    schur: float = ridge + state.spread[enter]
    new = state.partial[k]
    own = rows[slot[enter]]
    for j in range(n_columns):
        new[j] = own[j]
    for i in range(k):
        weight = old[i, enter]
        row = rows[slot[state.support[i]]]
        for j in range(n_columns):
            new[j] -= weight * row[j]
    for j in range(n_columns):
        new[j] /= schur
    pull: float = state.slope[enter]
    for i in range(k):
        weight = old[i, enter]
        before, after = old[i], state.partial[i]
        for j in range(n_columns):
            after[j] = before[j] - weight * new[j]
        state.coef[i] -= weight * pull / schur
        state.inverse[i, k] = -weight / schur
        state.inverse[k, i] = -weight / schur
    for i in range(k):
        for m in range(k):
            state.inverse[i, m] += state.inverse[i, k] * state.inverse[k, m] * schur
    state.inverse[k, k] = 1.0 / schur
    state.coef[k] = pull / schur
    for j in range(n_columns):
        state.slope[j] -= new[j] * pull
        state.spread[j] = max(FLOOR * diagonal[j], state.spread[j] - schur * new[j] * new[j])
    state.free[enter] = 0.0
    state.support[k] = enter


@fast_kernel_part
def _remove(leave: int, k: int, state: _State) -> None:
    """Take a member out of a state with k members; the last one takes its place."""
    n_columns = len(state.slope)
    inverse, partial = state.inverse, state.partial
    weight = 1.0 / inverse[leave, leave]
    shift = state.coef[leave] * weight
    row = partial[leave]
    for j in range(n_columns):
        state.slope[j] += row[j] * shift
        state.spread[j] += row[j] * row[j] * weight
    for i in range(k):
        if i != leave:
            ratio = inverse[i, leave] * weight
            for j in range(n_columns):
                partial[i, j] -= ratio * row[j]
            state.coef[i] -= ratio * state.coef[leave]
            for m in range(k):
                if m != leave:
                    inverse[i, m] -= ratio * inverse[leave, m]
    state.free[state.support[leave]] = 1.0
    last = k - 1
    if leave != last:
        state.support[leave] = state.support[last]
        state.coef[leave] = state.coef[last]
        for j in range(n_columns):
            row[j] = partial[last, j]
        for i in range(k):
            inverse[i, leave] = inverse[i, last]
        for i in range(k):
            inverse[leave, i] = inverse[last, i]


@fast_kernel_part
def _solve(
    rows: Floats,
    slot: Integers,
    target: Floats,
    diagonal: Floats,
    half_energy: float,
    ridge: float,
    k: int,
    support: Integers,
    stand: _Pass,
) -> float:
    """Coefficients of a support computed afresh, in `solution`; and how far they bring the objective.

    Where the support begins as the last one that was solved, so does the factor.
    """
    order, factor, forward, solution = stand.order, stand.factor, stand.forward, stand.solution
    start = 0
    while start < min(k, stand.at[4]) and order[start] == support[start]:
        start += 1
    stand.at[4] = k
    for i in range(start, k):
        order[i] = support[i]
        row = rows[slot[order[i]]]
        for h in range(i + 1):
            rest = row[order[h]]
            for m in range(h):
                rest -= factor[i, m] * factor[h, m]
            if h < i:
                factor[i, h] = rest / factor[h, h]
            else:
                factor[i, i] = np.sqrt(max(rest, FLOOR * diagonal[order[i]]) + ridge)
        rest = target[order[i]]
        for m in range(i):
            rest -= factor[i, m] * forward[m]
        forward[i] = rest / factor[i, i]
    for i in range(k):
        solution[i] = forward[i]
    for i in range(k - 1, -1, -1):
        solution[i] /= factor[i, i]
        for m in range(i):
            solution[m] -= factor[i, m] * solution[i]
    # From the coefficients as they are, which may be mostly rounding when there is hardly any penalty;
    # and no more than is certain.
    fall = 0.0
    size = 0.0
    for i in range(k):
        row = rows[slot[order[i]]]
        slope = ridge * solution[i]
        for h in range(k):
            slope += row[order[h]] * solution[h]
        fall += solution[i] * (target[order[i]] - 0.5 * slope)
        size += abs(solution[i]) * np.sqrt(diagonal[order[i]])
    fall -= 1e-14 * size * size
    return fall if fall <= half_energy * (1 + TIE) else -1.0


@fast_kernel_part
def _record(
    k: int,
    fall: float,
    stand: _Pass,
    found_support: Integers,
    found_coef: Floats,
    found_size: Integers,
) -> None:
    """Write down what was solved last, its columns in order."""
    members, coef = found_support[k - 1], found_coef[k - 1]
    for i in range(k):
        place = i
        while place > 0 and members[place - 1] > stand.order[i]:
            members[place] = members[place - 1]
            coef[place] = coef[place - 1]
            place -= 1
        members[place] = stand.order[i]
        coef[place] = stand.solution[i]
    found_size[k - 1] = k
    stand.best[k - 1] = fall


@fast_kernel_part
def _repeat(
    k: int, best: Floats, found_support: Integers, found_coef: Floats, found_size: Integers
) -> None:
    """Take the solution with one column less; that with none is empty."""
    for i in range(k - 1):
        found_support[k - 1, i] = found_support[k - 2, i]
        found_coef[k - 1, i] = found_coef[k - 2, i]
    found_size[k - 1] = found_size[k - 2] if k > 1 else 0
    best[k - 1] = best[k - 2] if k > 1 else 0.0


@fast_kernel_part
def _first_of_largest(value: Floats) -> int:
    top = 0.0
    for j in range(len(value)):
        top = max(top, value[j])
    for j in range(len(value)):
        if value[j] >= top * (1 - TIE):
            return j
    return 0


@fast_kernel_part
def _best_children(
    parent: Integers,
    child: Integers,
    fall: Floats,
    n_children: int | np.int64,
    support: Integers,
    k: int,
    width: int,
) -> int:
    """Bring the best children with different supports to the front, best first; returns how many."""
    kept = 0
    while kept < width:
        best = -1
        for i in range(kept, n_children):
            if fall[i] > 0 and (best < 0 or fall[i] > fall[best] * (1 + TIE)):
                best = i
        if best < 0:
            break
        parent[kept], parent[best] = parent[best], parent[kept]
        child[kept], child[best] = child[best], child[kept]
        fall[kept], fall[best] = fall[best], fall[kept]
        is_new = True
        for other in range(kept):
            same = True
            for m in range(k + 1):
                column = support[parent[kept], m] if m < k else child[kept]
                among = column == child[other]
                for h in range(k):
                    among = among or column == support[parent[other], h]
                same = same and among
            is_new = is_new and not same
        if is_new:
            kept += 1
        else:
            fall[kept] = -1.0
    return kept
