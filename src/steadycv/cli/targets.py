"""The target: which column is predicted, and whether it is a number or a class."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv.cli.errors import UserError
from steadycv.cli.request import Task

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Target", "features_and_target", "find_column"]

FEWEST_ROWS = 20
MOST_CLASSES_AS_NUMBERS = 10  # whole numbers with more values are a quantity
ROWS_A_CLASS = 10  # and so are those with fewer rows a value


@dataclass(frozen=True)
class Target:
    """What is predicted.

    Attributes
    ----------
    name : str
        The column.
    task : Task
        Whether it is a number or a class.
    y : ndarray
        The numbers, or the index in `classes` of each row's class.
    classes : list
        The classes in order: texts, whole numbers or truth values; empty for numbers.
    notes : list of str
        What a user should know of it.
    """

    name: str
    task: Task
    y: NDArray[Any]
    classes: list[Any] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def features_and_target(frame: Any, target: str, task: Task | None = None) -> tuple[Any, Target]:
    """The other columns, and the target; without a task the target says what it is."""
    column = find_column(frame, target)
    n_missing = int(column.isna().sum())
    if n_missing:
        raise UserError(
            f"The target {target!r} is missing in {n_missing} of {len(frame)} rows: remove those first."
        )
    if len(frame) < FEWEST_ROWS:
        raise UserError(
            f"There are {len(frame)} rows; {FEWEST_ROWS} are needed at least, to train on some and try "
            "on others."
        )
    if column.nunique() == 1:
        value = column.iloc[0]
        value = f"{value:g}" if _is_numeric(column) else value
        raise UserError(
            f"The target {target!r} has one value only, {value}: there is nothing to predict."
        )
    notes: list[str] = []
    if task is None:
        task, notes = _detected(target, column)
    y, classes = _numbers(frame, target) if task is Task.regression else _classes(target, column)
    return frame.drop(columns=target), Target(target, task, y, classes, notes)


def find_column(frame: Any, name: str) -> Any:
    """A column by its name."""
    if name not in frame.columns:
        names = list(frame.columns)
        close = [each for each in names if each.strip().casefold() == name.strip().casefold()]
        close = close or get_close_matches(name, names, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else f"There are {', '.join(names[:10])}"
        more = f" and {len(names) - 10} more" if not close and len(names) > 10 else ""
        raise UserError(f"There is no column {name!r}. {hint}{more}{'' if close else '.'}")
    return frame[name]


def _detected(target: str, column: Any) -> tuple[Task, list[str]]:
    if not _is_numeric(column):
        return Task.classification, []
    n_values = column.nunique()
    few = n_values <= min(MOST_CLASSES_AS_NUMBERS, max(2, len(column) // ROWS_A_CLASS))
    if not few or not _is_whole(column):
        return Task.regression, []
    return Task.classification, [
        f"The target {target!r} has {n_values} whole numbers, which are taken as classes; with "
        "--task regression they are quantities."
    ]


def _numbers(frame: Any, target: str) -> tuple[NDArray[Any], list[Any]]:
    if not _is_numeric(frame[target]):
        numeric = [name for name in frame.columns if _is_numeric(frame[name])]
        there = f"Numeric columns: {', '.join(numeric[:10])}." if numeric else "No column is."
        raise UserError(f"The target {target!r} is not numeric. {there}")
    y = frame[target].to_numpy(dtype=np.float64)
    if not np.isfinite(y).all():
        raise UserError(f"The target {target!r} is infinite in {int(np.isinf(y).sum())} rows.")
    return y, []


def _classes(target: str, column: Any) -> tuple[NDArray[Any], list[Any]]:
    import pandas

    types = pandas.api.types
    if types.is_datetime64_any_dtype(column) or types.is_timedelta64_dtype(column):
        raise UserError(f"The target {target!r} is a time: neither numbers nor classes.")
    if types.is_bool_dtype(column):
        values = column.to_numpy(dtype=bool)
    elif _is_numeric(column) and _is_whole(column):
        values = column.to_numpy(dtype=np.int64)
    elif _is_numeric(column):
        values = column.to_numpy(dtype=np.float64)
    else:
        values = column.map(str).to_numpy(dtype=str)
    classes, y = np.unique(values, return_inverse=True)
    return y, classes.tolist()


def _is_numeric(column: Any) -> bool:
    import pandas

    return bool(pandas.api.types.is_numeric_dtype(column) and not pandas.api.types.is_bool_dtype(column))


def _is_whole(column: Any) -> bool:
    values = column.to_numpy(dtype=np.float64)
    return bool(np.isfinite(values).all() and (values == np.round(values)).all())
