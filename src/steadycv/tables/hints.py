"""What people should look at before they believe a result: leaks, and rows that are in an order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv.tables.readings import Kind
from steadycv.tables.remarks import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steadycv.tables.readings import Reading
    from steadycv.tables.targets import Target

__all__ = ["leaks", "order"]

ALMOST_ALL = 0.98  # the share of a target that one column explains, if it is a leak
MOST_ROWS = 1000  # that are looked at for leaks
SURE = 5.0  # standard errors that neighbours are more alike than in rows without order


def leaks(X: Any, readings: Sequence[Reading], target: Target) -> list[str]:
    """A line about columns that explain the target almost alone."""
    rows = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]  # among equal values, any is nearest
    y, is_class = target.y[rows], target.task == "classification"
    if len(np.unique(y)) < 2:
        return []
    values = {name: column.to_numpy() for name, column in X.items()}
    found = [
        each.name
        for each in readings
        for name in each.columns
        if each.kind is not Kind.WORDS
        and _explained(_as_numbers(values[name][rows]), y, is_class=is_class) > ALMOST_ALL
    ]
    names = list(dict.fromkeys(found))
    if not names:
        return []
    one = len(names) == 1
    return [
        f"{'' if one else 'Each of '}{listed(names)} explains {target.name!r} almost alone: unless "
        f"{'it is' if one else 'they are'} known before {target.name!r} is, remove "
        f"{'it' if one else 'them'}, as a leak makes every promise too good."
    ]


def order(
    frame: Any, readings: Sequence[Reading], target: Target, option: str = "--time {}"
) -> list[str]:
    """A line about dates, or an order of the rows, where rows are split at random.

    `option` says how to split forward in time.
    """
    dated = [each for each in readings if each.kind is Kind.DATE]
    sorted_by = [each.name for each in dated if _is_sorted(each.dates(frame[each.name]))]
    names = sorted_by or [each.name for each in dated]
    if names:
        have = f"{listed(names)} {'has' if len(names) == 1 else 'have'} dates, and rows are"
        if sorted_by:
            have = f"Rows are in the order of {listed(names)}, and are"
        return [
            f"{have} split at random: if new data are later than these, use {option.format(names[0])}, "
            "which tries models on rows that come after those they were trained on."
        ]
    if _neighbours_are_alike(target):
        return [
            f"Neighbouring rows have a similar {target.name!r}, and rows are split at random: if they "
            "are in the order of time, or some come from one person or machine, name the column that "
            "says so with --time or --groups."
        ]
    return []


def _explained(values: NDArray[np.float64], y: NDArray[Any], *, is_class: bool) -> float:
    """The share of a target that one column explains: the target of the row with the nearest value does.

    Half of what that misses is its own noise.
    """
    order = np.argsort(values, kind="stable")
    x, y = values[order], y[order]
    steps = np.diff(x)
    first_is_nearer = np.append(np.inf, steps) <= np.append(steps, np.inf)
    rows = np.arange(len(x))
    said = y[np.where(first_is_nearer, rows - 1, rows + 1)]
    if is_class:
        return float(1 - (said != y).mean() / 2 / (1 - np.bincount(y).max() / len(y)))
    return float(1 - ((said - y) ** 2).mean() / 2 / y.var())


def _as_numbers(values: NDArray[Any]) -> NDArray[np.float64]:
    """Numbers of a column that may have texts; what is missing is a value far from all others."""
    if values.dtype != np.float64:
        return np.asarray(np.unique(values.astype(str), return_inverse=True)[1], dtype=np.float64)
    known = values[~np.isnan(values)]
    far = 2 * known.min() - known.max() - 1 if len(known) else 0.0
    return np.where(np.isnan(values), far, values)


def _is_sorted(dates: NDArray[Any]) -> bool:
    steps = np.diff(dates[~np.isnat(dates)]).astype(np.int64)
    return bool((steps >= 0).all() or (steps <= 0).all())


def _neighbours_are_alike(target: Target) -> bool:
    """Whether they are, by von Neumann's ratio; not if rows are sorted by the target itself."""
    y = target.y.astype(float)
    if target.task == "classification":
        n_runs = 1 + int((np.diff(y) != 0).sum())
        if n_runs <= 2 * len(target.classes):
            return False
        y = (y == np.bincount(target.y).argmax()).astype(float)
    else:
        y = np.argsort(np.argsort(y, kind="stable"), kind="stable").astype(float)
    steps = np.diff(y)
    if (steps >= 0).all() or (steps <= 0).all():
        return False
    ratio = (steps**2).sum() / ((y - y.mean()) ** 2).sum()
    return bool((1 - ratio / 2) * np.sqrt(len(y)) > SURE)
