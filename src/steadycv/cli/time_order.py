"""Columns of times: rows sorted by one, and a word about those that nobody named."""

from __future__ import annotations

import re
import warnings
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv.cli.errors import UserError
from steadycv.cli.preparation import listed
from steadycv.cli.targets import find_column

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    _Order: TypeAlias = tuple[int, int, int]
    _Reading: TypeAlias = dict[_Order, str]

__all__ = ["dates_note", "sorted_by_time"]

# A year, or three numbers. Else what is read as a date could be a month's name or a range.
_LIKE_A_DATE = r"(?:\b|\D)\d{4}(?:\b|\D)|\d{1,4}[-/. ]\d{1,2}[-/. ]\d{1,4}"
MOST_LOOKED_AT = 1000  # values of a column that may be dates
LEAST_DATES = 0.9  # the share of them that are; others can say that one is missing, as "unknown" does

# The groups 1, 3 and 4 are a day, a month and a year in some order. No time of day, and no longer list
# of numbers, is taken for them.
_THREE_NUMBERS = re.compile(
    r"(?<!\d)(?<!\d[-/.:])(\d{4}|\d{1,2})\s*([-/.\s])\s*(\d{1,2})\s*\2\s*(\d{4}|\d{1,2})"
    r"(?![\d:])(?![-/.]\d)\.?"
)
# Which groups are year, month and day. The first order that suits all dates of a column is taken.
_MONTH_FIRST, _DAY_FIRST, _YEAR_FIRST = (4, 1, 3), (4, 3, 1), (1, 3, 4)
_ORDERS = {
    _MONTH_FIRST: "the month before the day, and the year last",
    _DAY_FIRST: "the day before the month, and the year last",
    _YEAR_FIRST: "the year first",
}
FIRST_OF_1900S = 69  # years of two digits from this one on are of the last century, as in POSIX


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


def dates_note(frame: Any, command: str = "") -> list[str]:
    """A line about columns of dates in a table whose rows are split at random.

    `command` is the one that has ``--time``, if it is another one.
    """
    found = [name for name in frame.columns if _has_dates(frame[name])]
    if not found:
        return []
    have = "has dates" if len(found) == 1 else "have dates"
    option = f"{command} --time {found[0]}".lstrip()
    return [
        f"{listed(found)} {have}, and rows are split at random: if new data are later than these, use "
        f"{option}, which tries models on rows that come after those they were trained on."
    ]


def _times(column: Any) -> tuple[NDArray[Any], list[str]]:
    """Numbers in the order of time; what is none is refused."""
    import pandas

    types = pandas.api.types
    if types.is_integer_dtype(column) or _is_of_times(column):
        if column.isna().any():
            _refuse(column, column.isna().to_numpy(dtype=bool))
        # In their own unit: floats do not tell all of them apart, and nanoseconds do not reach far.
        unsigned = types.is_unsigned_integer_dtype(column)
        return column.astype("uint64" if unsigned else "int64").to_numpy(), []
    if not types.is_numeric_dtype(column):
        return _dates(column)
    times = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if not np.isfinite(times).all():
        _refuse(column, ~np.isfinite(times))
    return times, []


def _dates(column: Any) -> tuple[NDArray[Any], list[str]]:
    """Dates from texts, and what is to be told of how they are read."""
    texts = _texts(column)
    readings = _readings(texts)
    _refuse_clash(column.name, readings)
    dates = _read(texts, readings)
    if np.isnat(dates).any():
        _refuse(column, np.isnat(dates))
    return dates, _note_of_order(column.name, readings)


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


def _refuse_clash(name: str, readings: dict[str, _Reading]) -> None:
    """Refuse two dates that cannot be read in one order, if there are."""
    # What cannot have the day first can have one other order only.
    one = next((text for text, reading in readings.items() if _DAY_FIRST not in reading), None)
    if one is None:
        return
    others = (text for text, reading in readings.items() if not reading.keys() & readings[one].keys())
    other = next(others, None)
    if other is not None:
        raise UserError(
            f"The time {name!r} has day, month and year in different orders, as in {one!r} and "
            f"{other!r}: write all of them in one, best as 2020-12-31."
        )


def _note_of_order(name: str, readings: dict[str, _Reading]) -> list[str]:
    """A line on the order of day, month and year, if another one is possible."""
    order = _best_order(readings)
    for other in _ORDERS:
        if all(other in each for each in readings.values()) and any(
            each[other] != each[order] for each in readings.values()
        ):
            return [
                f"Dates in {name} are read with {_ORDERS[order]}; as 2020-12-31 they leave no doubt."
            ]
    return []


def _best_order(readings: dict[str, _Reading]) -> _Order:
    """The first order of those that suit most dates."""
    return max(_ORDERS, key=lambda order: sum(order in each for each in readings.values()))


def _texts(column: Any) -> Any:
    return column.astype(object).where(column.notna(), None).map(str, na_action="ignore")


def _readings(texts: Any) -> dict[str, _Reading]:
    """What may be meant by each text with a date of three numbers that has not the year first."""
    found = {text: _reading(text) for text in texts.dropna().unique()}
    return {text: reading for text, reading in found.items() if reading}


def _reading(text: str) -> _Reading:
    """The text with the year first, which pandas reads in one way only, for each order it can have."""
    date = _THREE_NUMBERS.search(text)
    if date is None:
        return {}
    before, after = text[: date.start()], text[date.end() :]
    if len(date[1]) == 4:  # there is no doubt, but digits and separators may be unusual
        iso = f"{before}{_iso(date, _YEAR_FIRST)}{after}"
        return {} if iso == text else dict.fromkeys(_ORDERS, iso)
    isos = {order: _iso(date, order) for order in _ORDERS}
    return {order: f"{before}{iso}{after}" for order, iso in isos.items() if iso}


def _iso(date: re.Match[str], order: _Order) -> str:
    """A date of three numbers as 2020-12-31; nothing if they cannot have this order."""
    year, month, day = (int(date[group]) for group in order)
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return ""
    if len(date[order[0]]) < 4:
        year += 1900 if year >= FIRST_OF_1900S else 2000
    return f"{year:04}-{month:02}-{day:02}"


def _read(texts: Any, readings: dict[str, _Reading]) -> NDArray[Any]:
    """Dates in UTC, NaT for what is none; all in one order, if they can."""
    import pandas

    order = _best_order(readings)
    chosen = {text: each.get(order) or next(iter(each.values())) for text, each in readings.items()}
    texts = texts.map(lambda text: chosen.get(text, text), na_action="ignore")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that some are read one by one
        read = pandas.to_datetime(texts, errors="coerce", utc=True)
        if read.isna().sum() > texts.isna().sum():  # not all are written as the first one
            mixed = pandas.to_datetime(texts, errors="coerce", utc=True, format="mixed")
            read = min(mixed, read, key=lambda dates: int(dates.isna().sum()))
    dates = _with_far_ones(read.dt.tz_localize(None).to_numpy(), texts)
    # Texts without a year, as "Jan-20" may be, are read as of the year 1.
    of_year_1 = dates.astype("datetime64[Y]") == np.datetime64("0001")
    said = texts.map(lambda text: "0001" in text, na_action="ignore").eq(True).to_numpy(dtype=bool)
    return np.where(of_year_1 & ~said, np.datetime64("NaT"), dates)


def _with_far_ones(dates: NDArray[Any], texts: Any) -> NDArray[Any]:
    """Dates with those that pandas does not reach, or not in the unit of the others."""
    far = {}
    for row in np.flatnonzero(np.isnat(dates) & texts.notna().to_numpy()):
        try:
            date = datetime.fromisoformat(texts.iloc[row])
            far[row] = date.astimezone(UTC).replace(tzinfo=None) if date.tzinfo else date
        except (ValueError, OverflowError):
            continue
    if far:
        dates = dates.astype("datetime64[us]")
        dates[list(far)] = list(far.values())
    return dates


def _is_of_times(column: Any) -> bool:
    """Whether the type of a column says that it has dates, periods or durations."""
    import pandas

    return _is_of_dates(column) or bool(pandas.api.types.is_timedelta64_dtype(column))


def _is_of_dates(column: Any) -> bool:
    import pandas

    is_period = isinstance(column.dtype, pandas.PeriodDtype)
    return is_period or bool(pandas.api.types.is_datetime64_any_dtype(column))


def _has_dates(column: Any) -> bool:
    """Whether nearly all values are dates, and look like some."""
    import pandas

    types = pandas.api.types
    if isinstance(column.dtype, pandas.CategoricalDtype):
        return _has_dates(column.cat.categories.to_series())
    if _is_of_dates(column):
        return True
    if types.is_numeric_dtype(column) or not (
        types.is_string_dtype(column) or types.is_object_dtype(column)
    ):
        return False
    values = column.dropna().iloc[:MOST_LOOKED_AT]
    if not len(values):
        return False
    alike = values.astype(str).str.contains(_LIKE_A_DATE, regex=True).to_numpy(dtype=bool)
    if alike.mean() < LEAST_DATES:
        return False
    texts = _texts(values)
    is_read = ~np.isnat(_read(texts, _readings(texts)))
    return bool((alike & is_read).mean() >= LEAST_DATES)
