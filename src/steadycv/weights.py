"""Stability weights: which of them are tried, and which is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv import rules

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from steadycv.lattice import Lattice
    from steadycv.rules import Rule

__all__ = [
    "FEWEST_VIEWS",
    "NO_VIEW",
    "cannot_choose",
    "chosen_row",
    "table_weights",
    "too_few_views",
    "weights_that_decide",
    "weights_to_run",
]

FEWEST_VIEWS = 3  # that can choose a weight
NO_VIEW = (
    "none of these splits sees another one inside its training rows. Use three or more splits that do, "
    "as KFold(5) or, in time order, TimeSeriesSplit(5)."
)


def cannot_choose(lattice: Lattice, weights: NDArray[np.float64]) -> bool:
    """Whether there are several weights and too few views to choose one of them."""
    return len(lattice.views) < FEWEST_VIEWS and len(weights) > 1


def too_few_views(lattice: Lattice, weights: NDArray[np.float64], rule: str | Rule) -> list[str]:
    """What cannot be had of splits with so few views; a line, or nothing."""
    n_views = len(lattice.views)
    if not n_views:
        is_plain = len(weights) > 1 or weights[0] == 0
        choice = "plain choice is made" if is_plain else f"stability weight stays {weights[0]:g}"
        if rule not in rules.HAVE_WEIGHT:
            choice = "rule chooses all the same"
        return [f"No nested cross-validation: {NO_VIEW} The {choice}."]
    if n_views >= FEWEST_VIEWS:
        return []
    views = f"{n_views} view{'s' if n_views > 1 else ''}"
    if cannot_choose(lattice, weights):
        return [
            f"The stability weight is 0, as {views} cannot choose one, and the nested error rests on so "
            f"many: with more splits {FEWEST_VIEWS} or more views choose a weight."
        ]
    return [f"The nested error rests on {views} only: with more splits it rests on more."]


def weights_that_decide(search: Any, weights: NDArray[np.float64]) -> list[float]:
    """At which weights candidates may hold their places in a race, or early stopping goes on.

    For the lowest error alone where the weights are not somebody's own.
    """
    is_auto = isinstance(search.stability_weights, str)
    decide: list[float] = [0.0] if is_auto else np.union1d([0.0], weights).tolist()
    return decide


def weights_to_run(
    lattice: Lattice, weights: NDArray[np.float64], *, everywhere: bool
) -> tuple[list[float], list[float]]:
    """The weights that are tried on all data, and in the views.

    Plain cross-validation, weight 0, is always among the first, to compare with. In the views it is
    where it costs no fits, `everywhere`, or where no other weight may be chosen.
    """
    with_plain = np.union1d([0.0], weights)
    inner = with_plain if everywhere or cannot_choose(lattice, weights) else weights
    return with_plain.tolist(), inner.tolist() if lattice.views else []


def table_weights(lattice: Lattice, weights: NDArray[np.float64]) -> list[float]:
    """The weights that are compared: with 0, which is taken where too few views choose another."""
    compared = np.union1d([0.0], weights) if cannot_choose(lattice, weights) else weights
    return list(map(float, compared))


def chosen_row(rule: str, lattice: Lattice, table: dict[str, NDArray[Any]]) -> int:
    """Where a table of weights has the one that a rule chooses; the first where too few views choose.

    Of several weights the first is 0 then.
    """
    if len(lattice.views) < FEWEST_VIEWS or len(table["weight"]) == 1:
        return 0
    return rules.choose_weight(rule, np.stack([table[f"split{v.split}_error"] for v in lattice.views]))
