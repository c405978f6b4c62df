"""A bound for a node of a branch and bound, by coordinate descent on the relaxation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadycv._jit import fast_kernel_part
from steadycv.sparse.gram import ALL_AT_ONCE

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]

__all__ = ["bound_of_node"]

MOST_ACTIVE = 256  # columns that a relaxation works on


@fast_kernel_part
def bound_of_node(
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
    """Coordinate descent over the active columns, with the threshold following the coefficients."""
    gram = np.empty((n_active, n_active))
    slope = np.empty(n_active)
    scale = 0.0
    for i in range(n_active):
        slope[i] = c[active[i]]
        row = rows[slot[active[i]]]
        for m in range(n_active):
            gram[i, m] = row[active[m]]
    # Where columns are few, a sweep costs much less than the nodes that a better bound saves.
    few = len(diagonal) <= ALL_AT_ONCE
    for _ in range(150 if few else 40):
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
        if level > 0.0:
            theta = level * ridge
        if moved <= (1e-5 if few else 1e-4) * scale:
            break


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
