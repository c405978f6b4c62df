"""A support that is given, improved by exact swaps: what the beam does to its own, in numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadycv.sparse.beam import FLOOR, TIE

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from steadycv.sparse.gram import Gram

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]

__all__ = ["improve"]


def improve(
    gram: Gram, support: Integers, gamma: float, *, swaps: bool = True
) -> tuple[Integers, Floats]:
    """A support and its coefficients, after all swaps that help."""
    if len(support) == 0:
        return support, np.empty(0)
    gram.trim()
    gram.fetch(support)
    ridge = 1.0 / gamma
    coef, fall = _refitted(gram, support, ridge)
    if fall < 0:  # nothing but rounding
        return support[:0], coef[:0]
    while swaps:
        least = TIE * (gram.half_energy - fall) + 1e-14 * gram.half_energy
        leave, enter = _swap_of(gram, support, coef, ridge, least)
        if leave < 0:
            break
        gram.fetch(np.array([enter]))
        trial = np.append(np.delete(support, leave), enter)
        found, reached = _refitted(gram, trial, ridge)
        if not reached > fall + least:  # rounding, with which it might go on for ever
            break
        support, coef, fall = trial, found, reached
    order = np.argsort(support)
    return support[order], coef[order]


def _refitted(gram: Gram, support: Integers, ridge: float) -> tuple[Floats, float]:
    """What the beam's ``_solve`` finds, for a support without a state."""
    inner = gram.rows[np.ix_(gram.slot[support], support)]
    target, diagonal = gram.target[support], gram.diagonal[support]
    ridged = inner + ridge * np.eye(len(support))
    try:
        coef = np.linalg.solve(ridged, target)
    except np.linalg.LinAlgError:
        coef = np.linalg.lstsq(ridged, target, rcond=None)[0]
    size = float(np.abs(coef) @ np.sqrt(diagonal))
    fall = float(coef @ (target - 0.5 * ridged @ coef)) - 1e-14 * size * size
    return coef, fall if fall <= gram.half_energy * (1 + TIE) else -1.0


def _swap_of(gram: Gram, support: Integers, coef: Floats, ridge: float, least: float) -> tuple[int, int]:
    """The swap of the beam's ``_best_swap``, for a support without a state."""
    rows = gram.rows[gram.slot[support]]
    inverse = np.linalg.inv(rows[:, support] + np.diag(ridge + FLOOR * gram.diagonal[support]))
    partial = inverse @ rows
    slope = gram.target - coef @ rows
    spread = np.maximum(FLOOR * gram.diagonal, gram.diagonal - np.einsum("ij,ij->j", rows, partial))
    free = gram.varies.copy()
    free[support] = 0.0
    weight = 1.0 / inverse.diagonal()
    shift = (coef * weight)[:, np.newaxis]
    moved, wider = slope + partial * shift, spread + partial**2 * weight[:, np.newaxis]
    gain = 0.5 * free * moved**2 / (ridge + wider)
    leave, enter = -1, -1
    for i, top in enumerate(gain.max(axis=1) - 0.5 * coef**2 * weight):
        if top > least * (1 + TIE):
            least, leave = top, i
            enter = int(np.argmax(gain[i] >= gain[i].max() * (1 - TIE)))
    return leave, enter
