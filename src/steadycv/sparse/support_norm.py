"""Kernels of the squared k-support norm, and Newton's method for least squares with it.

The penalty of the perspective relaxation is ``|beta|_k^2 / (2 gamma)``, where ``|beta|_k^2`` is the
smallest ``sum(beta_j^2 / z_j)`` over ``0 <= z <= 1``, ``sum(z) <= k``. Its minimiser is
``z_j = min(1, |beta_j| / level)``: coefficients above the level are full, the others partial, and

    |beta|_k^2 = sum over full of beta_j^2 + (sum over partial of |beta_j|)^2 / (k - number of full).

So the objective is quadratic as long as no coefficient crosses the level or zero. Newton's method
solves that quadratic problem and moves on to the next one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadycv._jit import fast_kernel_part, kernel, kernel_part

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["minimise", "split", "squared_norm"]

MAX_STEPS = 300  # far more than it takes, so that numerical trouble ends


@kernel
def split(beta: NDArray[np.float64], places: int) -> tuple[float, int]:
    """The level that parts full from partial coefficients, and the number of full ones.

    With fewer nonzero coefficients than places all are full, and the level is zero.
    """
    full = -1
    count = 0
    level = np.inf
    while True:
        # Each round can only lower the level, so that what is full stays full.
        rest = 0.0
        count = 0
        for i in range(beta.size):
            size = abs(beta[i])
            if size > level:
                count += 1
            else:
                rest += size
        if rest == 0.0:
            return 0.0, count
        if count == full or count >= places:
            return level, max(full, 0)
        full = count
        level = rest / (places - full)


@kernel
def squared_norm(beta: NDArray[np.float64], places: int) -> float:
    """The squared k-support norm for k places."""
    level, _ = split(beta, places)
    squares = 0.0
    rest = 0.0
    for i in range(beta.size):
        size = abs(beta[i])
        if size > level:
            squares += size * size
        else:
            rest += size
    return squares + rest * level


@fast_kernel_part
def factorise(matrix: NDArray[np.float64], size: int) -> bool:
    """Cholesky factor in place of the lower triangle; false if the matrix is not positive definite."""
    for top in range(0, size, 4):
        # Four rows at a time, so that each earlier row is read once for all of them.
        if top + 4 <= size:
            r0, r1, r2, r3 = matrix[top], matrix[top + 1], matrix[top + 2], matrix[top + 3]
            for j in range(top):
                row = matrix[j]
                s0 = s1 = s2 = s3 = 0.0
                for i in range(j):
                    s0 += r0[i] * row[i]
                    s1 += r1[i] * row[i]
                    s2 += r2[i] * row[i]
                    s3 += r3[i] * row[i]
                inverse = 1.0 / row[j]
                r0[j] = (r0[j] - s0) * inverse
                r1[j] = (r1[j] - s1) * inverse
                r2[j] = (r2[j] - s2) * inverse
                r3[j] = (r3[j] - s3) * inverse
            first = top
        else:
            first = 0
        for k in range(top, min(top + 4, size)):
            row_k = matrix[k]
            for j in range(first, k + 1):
                row = matrix[j]
                s = 0.0
                for i in range(j):
                    s += row_k[i] * row[i]
                s = row_k[j] - s
                if j < k:
                    row_k[j] = s / row[j]
                elif s > 0.0:
                    row_k[k] = np.sqrt(s)
                else:
                    return False
    return True


@fast_kernel_part
def solve(factor: NDArray[np.float64], size: int, x: NDArray[np.float64]) -> None:
    """Solve with a Cholesky factor, in place."""
    for i in range(size):
        row = factor[i]
        s = 0.0
        for j in range(i):
            s += row[j] * x[j]
        x[i] = (x[i] - s) / row[i]
    for i in range(size - 1, -1, -1):
        row = factor[i]
        value = x[i] / row[i]
        x[i] = value
        for j in range(i):
            x[j] -= row[j] * value


@fast_kernel_part
def inner(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """The inner product of two vectors."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@kernel
def minimise(
    gram: NDArray[np.float64],
    columns: NDArray[np.float64],
    working: NDArray[np.int64],
    wide: bool,
    correlations: NDArray[np.float64],
    beta: NDArray[np.float64],
    places: int,
    gamma: float,
    value: float,
) -> None:
    """Minimise ``|X beta - y|^2 / 2 + |beta|_k^2 / (2 gamma)`` over the coefficients of working columns.

    `beta` has an element for each working column, and `gram` is their Gram matrix.
    If they are too many for one (`wide`), it is not looked at. `correlations` are those of
    all columns with the residual at the start, and `value` is the objective there.
    """
    size = beta.size
    inv = 1.0 / gamma
    live = np.empty(size, np.int64)
    taking_part = np.empty(size, np.bool_)
    full = np.empty(size, np.bool_)
    sign = np.empty(size)
    d = np.empty(size)
    step = np.empty(size)
    trial = np.empty(size)
    image = np.empty(size)
    matrix = np.empty((0 if wide else size, size))
    c = np.empty(size)
    largest = 0.0
    for i in range(size):
        c[i] = correlations[working[i]]
        largest = max(largest, 0.0 if wide else gram[i, i])
    # A trace of a ridge: columns that depend on each other would make the system singular.
    ridge = 1e-12 * largest
    solved = False
    for _ in range(MAX_STEPS):
        level, n_full = split(beta, places)
        theta = level * inv
        newcomers = _choose(beta, c, places, theta, taking_part)
        if solved and newcomers == 0:
            return
        coupling = inv / (places - n_full) if level > 0.0 else 0.0
        while True:
            count = _gather(beta, c, taking_part, level, inv, live, full, sign, d)
            for i in range(count):
                trial[i] = d[i]
            if wide:
                definite = True
                _wide_direction(gram, columns, working, wide, live, count, full, sign, coupling, inv, d)
            else:
                definite = _direction(gram, live, count, full, sign, coupling, inv, ridge, matrix, d)
            promise = inner(trial[:count], d[:count])
            if not definite or not promise > 1e-20 * value:
                return
            eta, first, wrong = _whole_step(beta, taking_part, level, live, count, sign, d, step)
            for i in range(size):
                trial[i] = 0.0 if step[i] == -beta[i] else beta[i] + step[i]
            solved = eta == 1.0 and wrong == 0 and _same_cell(trial, places, live, count, full)
            _apply(gram, columns, working, wide, step, image)
            accepted = solved or _change(beta, trial, c, image, places, inv) < -0.05 * promise
            if accepted or wrong == 0:
                break
            # Newcomers that were drawn across zero stay out, and the others try again.
        if accepted:
            for i in range(size):
                beta[i] = trial[i]
                c[i] -= image[i]
            continue
        for i in range(count):
            step[live[i]] = d[i]
        _apply(gram, columns, working, wide, step, image)
        eta = _line_search(beta, step, c, image, places, inv, eta, trial)
        for i in range(size):
            beta[i] += eta * step[i]
            c[i] -= eta * image[i]
        if first >= 0 and abs(beta[first]) < 1e-12 * abs(step[first]):
            beta[first] = 0.0


@kernel_part
def _choose(
    beta: NDArray[np.float64],
    c: NDArray[np.float64],
    places: int,
    theta: float,
    taking_part: NDArray[np.bool_],
) -> int:
    """Who takes part in the next step: nonzero coefficients, and zeros that want to leave zero.

    Returns the number of the latter.
    """
    nonzero = 0
    for i in range(beta.size):
        taking_part[i] = beta[i] != 0.0
        if beta[i] != 0.0:
            nonzero += 1
    newcomers = 0
    if nonzero >= places:
        for i in range(beta.size):
            if not taking_part[i] and abs(c[i]) > theta * (1.0 + 1e-9):
                taking_part[i] = True
                newcomers += 1
        return newcomers
    while nonzero < places:
        best = -1
        for i in range(beta.size):
            if not taking_part[i] and c[i] != 0.0 and (best < 0 or abs(c[i]) > abs(c[best])):
                best = i
        if best < 0:
            break
        taking_part[best] = True
        nonzero += 1
        newcomers += 1
    return newcomers


@kernel_part
def _gather(
    beta: NDArray[np.float64],
    c: NDArray[np.float64],
    taking_part: NDArray[np.bool_],
    level: float,
    inv: float,
    live: NDArray[np.int64],
    full: NDArray[np.bool_],
    sign: NDArray[np.float64],
    d: NDArray[np.float64],
) -> int:
    """Positions that take part, which of them are full, their signs, and minus the gradient there."""
    count = 0
    for i in range(beta.size):
        if taking_part[i]:
            live[count] = i
            full[i] = level == 0.0 or abs(beta[i]) > level
            sign[i] = 1.0 if (beta[i] if beta[i] != 0.0 else c[i]) > 0.0 else -1.0
            d[count] = c[i] - inv * (beta[i] if full[i] else sign[i] * level)
            count += 1
    return count


@fast_kernel_part
def _direction(
    gram: NDArray[np.float64],
    live: NDArray[np.int64],
    count: int,
    full: NDArray[np.bool_],
    sign: NDArray[np.float64],
    coupling: float,
    inv: float,
    ridge: float,
    matrix: NDArray[np.float64],
    d: NDArray[np.float64],
) -> bool:
    """Newton's direction in place of minus the gradient; false if the system is singular."""
    for i in range(count):
        source = gram[live[i]]
        target = matrix[i]
        for j in range(i + 1):
            target[j] = source[live[j]]
        if full[live[i]]:
            target[i] += inv
        else:
            factor = coupling * sign[live[i]]
            for j in range(i + 1):
                if not full[live[j]]:
                    target[j] += factor * sign[live[j]]
        target[i] += ridge
    if not factorise(matrix, count):
        return False
    solve(matrix, count, d)
    return True


@fast_kernel_part
def _wide_direction(
    gram: NDArray[np.float64],
    columns: NDArray[np.float64],
    working: NDArray[np.int64],
    wide: bool,
    live: NDArray[np.int64],
    count: int,
    full: NDArray[np.bool_],
    sign: NDArray[np.float64],
    coupling: float,
    inv: float,
    d: NDArray[np.float64],
) -> None:
    """The same without a matrix, by conjugate gradients."""
    rest = d[:count].copy()
    way = np.zeros(working.size)
    product = np.empty(working.size)
    square = inner(rest, rest)
    goal = 1e-24 * square
    for i in range(count):
        way[live[i]] = rest[i]
        d[i] = 0.0
    for _ in range(10 * columns.shape[1]):
        if square <= goal:
            break
        _apply(gram, columns, working, wide, way, product)
        together = 0.0
        for i in range(count):
            if not full[live[i]]:
                together += sign[live[i]] * way[live[i]]
        curvature = 0.0
        for i in range(count):
            at = live[i]
            product[at] += inv * way[at] if full[at] else coupling * together * sign[at]
            curvature += product[at] * way[at]
        before = square
        for i in range(count):
            d[i] += before / curvature * way[live[i]]
            rest[i] -= before / curvature * product[live[i]]
        square = inner(rest, rest)
        for i in range(count):
            way[live[i]] = rest[i] + square / before * way[live[i]]


@kernel_part
def _whole_step(
    beta: NDArray[np.float64],
    taking_part: NDArray[np.bool_],
    level: float,
    live: NDArray[np.int64],
    count: int,
    sign: NDArray[np.float64],
    d: NDArray[np.float64],
    step: NDArray[np.float64],
) -> tuple[float, int, int]:
    """The step along a direction in which coefficients that would change sign stop at zero.

    Returns the part of the way at which the first one stops, which one that is, and how many
    newcomers were drawn the wrong way; those take part no longer.
    """
    eta = 1.0
    first = -1
    wrong = 0
    for i in range(step.size):
        step[i] = 0.0
    for i in range(count):
        at = live[i]
        step[at] = d[i]
        if (beta[at] + d[i]) * sign[at] >= 0.0 or (beta[at] == 0.0 and level == 0.0):
            continue
        step[at] = -beta[at]
        if beta[at] == 0.0:
            wrong += 1
            taking_part[at] = False
            d[i] = 0.0
        elif abs(beta[at]) < eta * abs(d[i]):
            eta = -beta[at] / d[i]
            first = at
    return eta, first, wrong


@kernel_part
def _same_cell(
    trial: NDArray[np.float64],
    places: int,
    live: NDArray[np.int64],
    count: int,
    full: NDArray[np.bool_],
) -> bool:
    """Whether the same coefficients are full after a step."""
    level, _ = split(trial, places)
    for i in range(count):
        at = live[i]
        if full[at] != (abs(trial[at]) > level):
            return False
    return True


@fast_kernel_part
def _change(
    beta: NDArray[np.float64],
    trial: NDArray[np.float64],
    c: NDArray[np.float64],
    image: NDArray[np.float64],
    places: int,
    inv: float,
) -> float:
    """How much the objective changes from one set of coefficients to another."""
    change = 0.5 * inv * (squared_norm(trial, places) - squared_norm(beta, places))
    for i in range(beta.size):
        change += (trial[i] - beta[i]) * (0.5 * image[i] - c[i])
    return change


@kernel_part
def _line_search(
    beta: NDArray[np.float64],
    step: NDArray[np.float64],
    c: NDArray[np.float64],
    image: NDArray[np.float64],
    places: int,
    inv: float,
    longest: float,
    trial: NDArray[np.float64],
) -> float:
    """The best part of the way along a step, on which no coefficient changes its sign."""
    linear = inner(step, c)
    quadratic = inner(step, image)
    low = 0.0
    high = longest
    eta = longest * (1.0 - 1e-12)
    for _ in range(40):
        for i in range(beta.size):
            trial[i] = beta[i] + eta * step[i]
        level, _ = split(trial, places)
        slope = 0.0
        for i in range(beta.size):
            value = trial[i]
            if abs(value) <= level:
                value = level if value > 0.0 else -level
            slope += value * step[i]
        if eta * quadratic - linear + inv * slope <= 0.0:
            if high == longest and low == 0.0:
                return longest
            low = eta
        else:
            high = eta
        eta = 0.5 * (low + high)
    return low


@fast_kernel_part
def _apply(
    gram: NDArray[np.float64],
    columns: NDArray[np.float64],
    working: NDArray[np.int64],
    wide: bool,
    step: NDArray[np.float64],
    image: NDArray[np.float64],
) -> None:
    """The Gram matrix times a step."""
    for j in range(step.size):
        image[j] = 0.0
    fitted = np.zeros(columns.shape[1])
    for i in range(step.size):
        if step[i] != 0.0:
            row = columns[working[i]] if wide else gram[i]
            out = fitted if wide else image
            for j in range(out.size):
                out[j] += row[j] * step[i]
    if wide:
        for i in range(step.size):
            image[i] = inner(columns[working[i]], fitted)
