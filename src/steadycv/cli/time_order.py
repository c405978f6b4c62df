"""Columns of times: rows sorted by one, and a word about those that nobody named."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv.cli.errors import UserError
from steadycv.cli.preparation import listed
from steadycv.cli.targets import find_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["dates_note", "sorted_by_time"]

# A year, or three numbers. Else what is read as a date could be a month's name or a range.
_LIKE_A_DATE = r"(?:\b|\D)\d{4}(?:\b|\D)|\d{1,4}[-/. ]\d{1,2}[-/. ]\d{1,4}"
MOST_LOOKED_AT = 1000  # values of a column that may be dates


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
    n_shared = len(times) - len(np.unique(times))
    if n_shared:
        notes.append(
            f"{n_shared} rows have the time of another one, which can be on the other side of a split."
        )
    return frame.drop(columns=name).iloc[order].reset_index(drop=True), notes


def dates_note(frame: Any) -> list[str]:
    """A line about columns of dates in a table whose rows are split at random."""
    found = [name for name in frame.columns if _has_dates(frame[name])]
    if not found:
        return []
    have = "has dates" if len(found) == 1 else "have dates"
    return [
        f"{listed(found)} {have}, and rows are split at random: if new data are later than these, use "
        f"--time {found[0]}, which tries models on rows that come after those they were trained on."
    ]


def _times(column: Any) -> tuple[NDArray[Any], list[str]]:
    """Numbers in the order of time; what is none is refused."""
    import pandas

    notes: list[str] = []
    if pandas.api.types.is_numeric_dtype(column):
        times = column.to_numpy(dtype=np.float64, na_value=np.nan)
        unknown = ~np.isfinite(times)
    else:
        dates, notes = _dates(column)
        times = dates.dt.tz_localize(None).to_numpy(dtype="datetime64[ns]")
        unknown = np.isnat(times)
    if unknown.any():
        _refuse(column, unknown)
    return times, notes


def _refuse(column: Any, unknown: NDArray[np.bool_]) -> None:
    missing = column.isna().to_numpy()
    reasons = []
    if missing.any():
        reasons.append(f"is missing in {int(missing.sum())} of {len(column)} rows")
    wrong = column[unknown & ~missing]
    if len(wrong):
        value = wrong.iloc[0]
        reasons.append(
            f"is neither a date nor a number in {len(wrong)} of {len(column)} rows, such as "
            f"{value if isinstance(value, float) else str(value)!r}"
        )
    raise UserError(f"The time {column.name!r} {' and '.join(reasons)}: remove or mend those first.")


def _dates(column: Any) -> tuple[Any, list[str]]:
    """Dates, NaT where a value is none; texts in the way that reads most of them."""
    import pandas

    if pandas.api.types.is_datetime64_any_dtype(column):
        return pandas.to_datetime(column, utc=True), []
    texts = column.astype(object).where(column.notna(), None).map(str, na_action="ignore")
    ways: list[dict[str, Any]] = [{}, {"dayfirst": True}, {"format": "ISO8601"}, {"format": "mixed"}]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that some are read one by one
        read = [pandas.to_datetime(texts, errors="coerce", utc=True, **way) for way in ways]
    best = min(read, key=lambda dates: int(dates.isna().sum()))
    month_first, day_first, *_ = read
    is_open = not (month_first.isna().any() or day_first.isna().any() or month_first.equals(day_first))
    note = f"Dates in {column.name} are read with the month before the day; years first leave no doubt."
    return best, [note] if is_open else []


def _has_dates(column: Any) -> bool:
    """Whether all values are dates, and look like some."""
    import pandas

    types = pandas.api.types
    if types.is_datetime64_any_dtype(column):
        return True
    if types.is_numeric_dtype(column) or not (
        types.is_string_dtype(column) or types.is_object_dtype(column)
    ):
        return False
    values = column.dropna().iloc[:MOST_LOOKED_AT]
    if not len(values) or not values.astype(str).str.contains(_LIKE_A_DATE, regex=True).all():
        return False
    return not _dates(values)[0].isna().any()
