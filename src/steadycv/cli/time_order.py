"""Rows sorted by a column of times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv.cli.errors import UserError
from steadycv.tables.dates import best_order, clash, is_of_times, note_of_order, orders, read_dates
from steadycv.tables.targets import find_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["sorted_by_time"]


def sorted_by_time(frame: Any, name: str) -> tuple[Any, list[str]]:
    """The rows in the order of a column, without it, and what is to be told; ties keep their order."""
    column = find_column(frame, name)
    times, notes = _times(column)
    order = np.argsort(times, kind="stable")
    notes.insert(
        0,
        f"Rows are sorted by {name}, which is not used itself, and split forward in time: models are "
        "tried on rows that come after those that they were trained on.",
    )
    _, counts = np.unique(times, return_counts=True)
    n_shared = int(counts[counts > 1].sum())  # never 1
    if n_shared:
        notes.append(
            f"{n_shared} rows share their time with others, which can be on the other side of a split."
        )
    return frame.drop(columns=name).iloc[order].reset_index(drop=True), notes


def _times(column: Any) -> tuple[NDArray[Any], list[str]]:
    """Numbers in the order of time; what is none is refused."""
    import pandas

    types = pandas.api.types
    if types.is_integer_dtype(column) or is_of_times(column):
        if column.isna().any():
            _refuse(column, column.isna().to_numpy(dtype=bool))
        # In their own unit: floats do not tell all of them apart, and nanoseconds do not reach far.
        unsigned = types.is_unsigned_integer_dtype(column)
        return column.astype("uint64" if unsigned else "int64").to_numpy(), []
    if not types.is_numeric_dtype(column):
        numbers = pandas.to_numeric(column, errors="coerce")  # files of text have nothing but texts
        if numbers.notna().any() and (numbers.notna() | column.isna()).all():
            return _times(numbers)
        return _dates(column)
    times = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if not np.isfinite(times).all():
        _refuse(column, ~np.isfinite(times))
    return times, []


def _dates(column: Any) -> tuple[NDArray[Any], list[str]]:
    """Dates from texts, and what is to be told of how they are read."""
    texts = column.astype(object).where(column.notna(), None).map(str, na_action="ignore")
    readings = orders(texts)
    different = clash(readings)
    if different is not None:
        raise UserError(
            f"The time {column.name!r} has day, month and year in different orders, as in "
            f"{different[0]!r} and {different[1]!r}: write all of them in one, best as 2020-12-31."
        )
    dates = read_dates(texts, readings, best_order(readings))
    if np.isnat(dates).any():
        _refuse(column, np.isnat(dates))
    note = note_of_order(readings)
    return dates, [f"Dates in {column.name} are {note}."] if note else []


def _refuse(column: Any, unknown: NDArray[np.bool_]) -> None:
    missing = column.isna().to_numpy(dtype=bool)
    reasons = []
    if missing.any():
        reasons.append(f"is missing in {int(missing.sum())} of {len(column)} rows")
    wrong = column[unknown & ~missing]
    if len(wrong):
        value = wrong.iloc[0]
        is_number = isinstance(value, float | np.floating)
        reasons.append(
            f"is neither a date nor a number in {len(wrong)} of {len(column)} rows, such as "
            + (str(value) if is_number else f"{str(value)!r}; 2020-12-31 would be a date")
        )
    raise UserError(f"The time {column.name!r} {' and '.join(reasons)}: remove or mend those first.")
