"""Families: several grids in one search, compared by their nested errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steadycv import rules
from steadycv.promise_intervals import errors_interval
from steadycv.results import choice_of, grid_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadycv.candidates import Box
    from steadycv.ledger import Ledger
    from steadycv.rules import Rule

__all__ = ["CLOSE", "Family", "families"]

CLOSE = (
    "The difference is smaller than what leaving out a fold changes in the losses of these models. Of "
    "two models so alike no interval from one data set is known to be valid: take them as equal."
)


class Family(NamedTuple):
    """What the rule of a search chooses in one of its grids.

    Attributes
    ----------
    name : str
        The class of the estimator that the grid alone has, or the number of the grid.
    candidate : int
        The choice on all data, as its number in ``cv_results_``.
    params : dict
        Its parameters.
    nested_error : float
        The mean error in the views of what is chosen there, among the candidates of this grid.
    difference : float
        By how much that is above the lowest of all families.
    interval : tuple of float
        Of the difference: Nadeau and Bengio's corrected t interval over the views, at 90 %.
    caution : str
        Why the interval is not to be relied on; empty where nothing is known to speak against it.
    """

    name: str
    candidate: int
    params: dict[str, Any]
    nested_error: float
    difference: float
    interval: tuple[float, float]
    caution: str


def families(
    ledger: Ledger,
    settings: Sequence[dict[str, Any]],
    boxes: Sequence[Box],
    rule: str | Rule,
    weights: Sequence[float],
) -> list[Family]:
    """The grids of a search, the best first.

    Parameters
    ----------
    ledger : Ledger
        Errors and changes of all candidates.
    settings : sequence of dict
        The candidates.
    boxes : sequence of Box
        The grids that they come from.
    rule : str or callable
        How each view chooses.
    weights : sequence of float
        The stability weights to choose from.
    """
    lattice = ledger.lattice
    taken, names = [], []
    for number, box in enumerate(boxes):
        own = np.zeros(len(ledger), dtype=np.bool_)
        own[box.table().ravel()] = True
        of_family = ledger.only(own)
        table = grid_table(of_family, [0.0] if rule == "plain" else weights)
        taken.append(choice_of(rule, of_family, settings, table))
        names.append(_name(settings, box.table().ravel(), number))
    order = np.argsort([each.nested_error for each in taken], kind="stable")
    best = taken[order[0]]
    steadiness = rules.instability(ledger, lattice.final)
    n_test = float(np.mean([len(lattice.splits[view.test_split].test) for view in lattice.views]))
    n_train = float(np.mean([lattice.n_rows(view.reference) for view in lattice.views]))
    found = []
    for number in order.tolist():
        each = taken[number]
        apart = each.view_errors - best.view_errors
        difference = float(apart.mean())
        change = float(np.max(steadiness[[each.candidate, best.candidate]]))
        is_close = number != order[0] and difference < change
        found.append(
            Family(
                names[number],
                each.candidate,
                each.params,
                each.nested_error,
                difference,
                errors_interval(apart, n_test / n_train, 0.9),
                CLOSE if is_close else "",
            )
        )
    return found


def _name(settings: Sequence[dict[str, Any]], candidates: Any, number: int) -> str:
    """The class of an estimator that all candidates of a grid have as a parameter, or its number."""
    for value in settings[int(candidates[0])].values():
        of_all = {
            type(v).__name__ for c in candidates.tolist() for v in settings[c].values() if _is_model(v)
        }
        if _is_model(value) and len(of_all) == 1:
            return type(value).__name__
    return f"grid {number}"


def _is_model(value: Any) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)
