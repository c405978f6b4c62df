"""The target: which column is predicted, and whether it is a number or a class."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from steadycv.tables.errors import TableError
from steadycv.tables.readings import LARGEST, Kind, decimal_of_table, find_readings, read_column
from steadycv.tables.remarks import in_words, listed

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from steadycv.tables.readings import Reading

    Task: TypeAlias = Literal["classification", "regression"]

__all__ = ["REST", "Target", "features_and_target", "find_column"]

FEWEST_ROWS = 20
MOST_CLASSES_AS_NUMBERS = 10  # whole numbers with more values are a quantity
ROWS_A_CLASS = 10  # and so are those with fewer rows a value
REST = "(rest)"
"""The class that rare ones are put into."""


@dataclass(frozen=True)
class Target:
    """What is predicted.

    Attributes
    ----------
    name : str
        The column.
    task : {"classification", "regression"}
        Whether it is a class or a number.
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


def features_and_target(
    frame: Any, name: str, task: Task | None = None, *, rare_below: int = 0
) -> tuple[Any, Target]:
    """The other columns, and the target; without a task the target says what it is.

    Classes of fewer rows than `rare_below` become one.
    """
    column = find_column(frame, name)
    reading = read_column(column, decimal_of_table(frame))
    _check(column, reading)
    values = reading.numbers(column) if reading.kind is Kind.NUMBER else None
    notes = []
    if reading.example is not None:
        notes.append(f"The target {name!r} is read as numbers: {in_words(reading.example)}.")
    if task is None:
        task, more = _detected(reading, values)
        notes += more
    features = frame.drop(columns=name)
    if task == "regression":
        if values is None or reading.truth:
            raise TableError(_not_numeric(features, column))
        return features, Target(name, task, values, [], notes)
    classes, y = np.unique(_labels(column, reading, values), return_inverse=True)
    target = Target(name, task, y, classes.tolist(), notes)
    return features, _without_rare(target, rare_below) if rare_below else target


def find_column(frame: Any, name: str) -> Any:
    """A column by its name."""
    if name not in frame.columns:
        names = list(frame.columns)
        close = [each for each in names if each.strip().casefold() == name.strip().casefold()]
        close = close or get_close_matches(name, names, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else f"There are {', '.join(names[:10])}"
        more = f" and {len(names) - 10} more" if not close and len(names) > 10 else ""
        if not close and all(map(_is_number, names)):
            more = ". The first line should have the names of columns, and has numbers"
        raise TableError(f"There is no column {name!r}. {hint}{more}{'' if close else '.'}")
    return frame[name]


def _check(column: Any, reading: Reading) -> None:
    """Refuse what cannot be a target."""
    name, n_rows = column.name, len(column)
    n_missing = reading.n_missing - reading.n_too_large
    if n_missing:
        some = f", such as {reading.missing[0]!r}" if reading.missing else ""
        raise TableError(
            f"The target {name!r} is missing in {n_missing} of {n_rows} rows{some}: remove those first."
        )
    if n_rows < FEWEST_ROWS:
        raise TableError(
            f"There are {n_rows} rows; {FEWEST_ROWS} are needed at least, to train on some and try "
            "on others."
        )
    if column.nunique() == 1:
        value = column.iloc[0]
        value = f"{value:g}" if isinstance(value, float | np.floating) else value
        raise TableError(
            f"The target {name!r} has one value only, {value}: there is nothing to predict."
        )
    if reading.n_too_large:
        raise TableError(
            f"The target {name!r} is infinite, or beyond {LARGEST:g}, in {reading.n_too_large} of "
            f"{n_rows} rows: mend or remove those first."
        )
    if reading.kind in (Kind.DATE, Kind.OTHER):
        what = "a time" if reading.kind is Kind.DATE else f"of the type {column.dtype}"
        raise TableError(f"The target {name!r} is {what}: neither numbers nor classes.")


def _detected(reading: Reading, values: NDArray[Any] | None) -> tuple[Task, list[str]]:
    if values is None or reading.truth:
        return "classification", []
    n_values = len(np.unique(values))
    few = n_values <= min(MOST_CLASSES_AS_NUMBERS, max(2, len(values) // ROWS_A_CLASS))
    if not few or not _is_whole(values):
        return "regression", []
    return "classification", [
        f"The target {reading.name!r} has {n_values} whole numbers, which are taken as classes; with "
        "--task regression they are quantities."
    ]


def _labels(column: Any, reading: Reading, values: NDArray[Any] | None) -> NDArray[Any]:
    """The class of each row: a truth value, a whole number, a number or a text."""
    if values is not None:
        whole = bool if reading.truth else np.int64 if _is_whole(values) else np.float64
        return values.astype(whole)
    if reading.kind is Kind.WORDS or column.nunique() == len(column):
        raise TableError(
            f"The target {reading.name!r} is text that differs in most rows, as {str(column.iloc[0])!r} "
            "does: neither numbers nor classes."
        )
    return np.asarray(column.map(str).to_numpy(dtype=str))


def _without_rare(target: Target, rare_below: int) -> Target:
    """The target with rare classes put together; the next rarest too, until they are not rare."""
    sizes = np.bincount(target.y)
    by_size = np.argsort(sizes, kind="stable")
    n_rare = int((sizes < rare_below).sum())
    if not n_rare:
        return target
    while n_rare < len(sizes) and (n_rare < 2 or sizes[by_size[:n_rare]].sum() < rare_below):
        n_rare += 1
    if len(sizes) - n_rare < 1:
        raise TableError(
            f"The target {target.name!r} has {len(sizes)} classes, and together the rare ones leave "
            "no other."
        )
    rare = by_size[:n_rare]
    names = [str(target.classes[i]) for i in rare]
    labels = np.array([str(each) for each in target.classes], dtype=object)
    labels[rare] = REST
    classes, y = np.unique(labels[target.y].astype(str), return_inverse=True)
    note = f"{listed(names)} are one class, {REST}, so that none has fewer than {rare_below} rows."
    return Target(target.name, target.task, y, classes.tolist(), [*target.notes, note])


def _not_numeric(features: Any, column: Any) -> str:
    readings = find_readings(features)
    names = [each.name for each in readings if each.kind is Kind.NUMBER and not each.truth]
    there = f"Numeric columns: {', '.join(names[:10])}." if names else "No column is."
    return f"The target {column.name!r} is not numeric, as {str(column.iloc[0])!r} is not. {there}"


def _is_whole(values: NDArray[Any]) -> bool:
    return bool((values == np.round(values)).all() and (np.abs(values) < 2**53).all())


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
