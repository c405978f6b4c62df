"""Dates from texts in any of the usual ways of writing them, and the parts of dates that models take."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    from numpy.typing import NDArray

    Readings: TypeAlias = dict[str, str]

__all__ = [
    "MOST_LOOKED_AT",
    "DateFormat",
    "best_order",
    "clash",
    "has_dates",
    "is_of_dates",
    "is_of_times",
    "note_of_order",
    "orders",
    "parts_that_vary",
    "read_dates",
]

# A year, or three numbers. Else what is read as a date could be a month's name or a range.
_LIKE_A_DATE = r"(?:\b|\D)\d{4}(?:\b|\D)|\d{1,4}[-/. ]\d{1,2}[-/. ]\d{1,4}"
MOST_LOOKED_AT = 1000  # values of a column, to see what it may be
LEAST_DATES = 0.9  # the share of them that are; others can say that one is missing, as "unknown" does

# The groups 1, 3 and 4 are a day, a month and a year in some order. No time of day, and no longer list
# of numbers, is taken for them.
_THREE_NUMBERS = re.compile(
    r"(?<!\d)(?<!\d[-/.:])(\d{4}|\d{1,2})\s*([-/.\s])\s*(\d{1,2})\s*\2\s*(\d{4}|\d{1,2})"
    r"(?![\d:])(?![-/.]\d)\.?"
)
# What comes first, and which groups are year, month and day. The first that suits all dates is taken.
MONTH, DAY, YEAR = "month", "day", "year"
_GROUPS = {MONTH: (4, 1, 3), DAY: (4, 3, 1), YEAR: (1, 3, 4)}
_ORDERS = {
    MONTH: "the month before the day, and the year last",
    DAY: "the day before the month, and the year last",
    YEAR: "the year first",
}
FIRST_OF_1900S = 69  # years of two digits from this one on are of the last century, as in POSIX
_DAY_LENGTH = np.timedelta64(1, "D")


@dataclass(frozen=True)
class DateFormat:
    """How the dates of a column are read, and what models get of them.

    Attributes
    ----------
    first : str
        What comes first in dates of three numbers: "month", "day" or "year".
    parts : tuple of str
        Those of "year", "month", "day of week" (Monday is 0), "hour" and "days" that vary.
    origin : str
        The day from which days are counted, as 2020-12-31.
    """

    first: str
    parts: tuple[str, ...]
    origin: str

    def columns(self, name: str) -> dict[str, str]:
        """The column of each part."""
        since = f"days since {self.origin}"
        return {part: f"{name}: {since if part == 'days' else part}" for part in self.parts}

    def values(self, dates: NDArray[Any]) -> dict[str, NDArray[np.float64]]:
        """The numbers of each part; NaN where there is no date."""
        all_parts = _parts(dates, np.datetime64(self.origin))
        return {part: all_parts[part] for part in self.parts}


def parts_that_vary(dates: NDArray[Any], first: str) -> DateFormat:
    """What to take from some dates."""
    known = dates[~np.isnat(dates)]
    origin = known.min().astype("datetime64[D]")
    parts = _parts(known, origin)
    varying = tuple(part for part, values in parts.items() if (values != values[0]).any())
    return DateFormat(first, varying or ("days",), str(origin))


def orders(texts: Any) -> dict[str, Readings]:
    """What may be meant by each text with a date of three numbers that has not the year first."""
    found = {text: _orders_of(text) for text in texts.dropna().unique()}
    return {text: reading for text, reading in found.items() if reading}


def best_order(readings: Mapping[str, Readings]) -> str:
    """The first order of those that suit most dates."""
    return max(_ORDERS, key=lambda order: sum(order in each for each in readings.values()))


def clash(readings: Mapping[str, Readings]) -> tuple[str, str] | None:
    """Two dates that cannot be read in one order, if there are."""
    # What cannot have the day first can have one other order only.
    one = next((text for text, reading in readings.items() if DAY not in reading), None)
    if one is None:
        return None
    others = (text for text, reading in readings.items() if not reading.keys() & readings[one].keys())
    other = next(others, None)
    return None if other is None else (one, other)


def note_of_order(readings: Mapping[str, Readings]) -> str:
    """How dates are read, if there is another way."""
    order = best_order(readings)
    for other in _ORDERS:
        if all(other in each for each in readings.values()) and any(
            each[other] != each[order] for each in readings.values()
        ):
            return f"read with {_ORDERS[order]}; as 2020-12-31 they leave no doubt"
    return ""


def read_dates(texts: Any, readings: Mapping[str, Readings], order: str) -> NDArray[Any]:
    """Dates in UTC, NaT for what is none; in one order, where they can."""
    import pandas

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


def has_dates(texts: Any) -> bool:
    """Whether nearly all of some texts are dates, and look like some."""
    texts = texts.dropna().iloc[:MOST_LOOKED_AT]
    if not len(texts):
        return False
    alike = texts.str.contains(_LIKE_A_DATE, regex=True).to_numpy(dtype=bool)
    if alike.mean() < LEAST_DATES:
        return False
    readings = orders(texts)
    is_read = ~np.isnat(read_dates(texts, readings, best_order(readings)))
    return bool((alike & is_read).mean() >= LEAST_DATES)


def is_of_times(column: Any) -> bool:
    """Whether the type of a column says that it has dates, periods or durations."""
    import pandas

    return is_of_dates(column) or bool(pandas.api.types.is_timedelta64_dtype(column))


def is_of_dates(column: Any) -> bool:
    """Whether the type of a column says that it has dates or periods."""
    import pandas

    is_period = isinstance(column.dtype, pandas.PeriodDtype)
    return is_period or bool(pandas.api.types.is_datetime64_any_dtype(column))


def _orders_of(text: str) -> Readings:
    """The text with the year first, which pandas reads in one way only, for each order it can have."""
    date = _THREE_NUMBERS.search(text)
    if date is None:
        return {}
    before, after = text[: date.start()], text[date.end() :]
    if len(date[1]) == 4:  # there is no doubt, but digits and separators may be unusual
        iso = f"{before}{_iso(date, YEAR)}{after}"
        return {} if iso == text else dict.fromkeys(_ORDERS, iso)
    isos = {order: _iso(date, order) for order in _ORDERS}
    return {order: f"{before}{iso}{after}" for order, iso in isos.items() if iso}


def _iso(date: re.Match[str], order: str) -> str:
    """A date of three numbers as 2020-12-31; nothing if they cannot have this order."""
    groups = _GROUPS[order]
    year, month, day = (int(date[group]) for group in groups)
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return ""
    if len(date[groups[0]]) < 4:
        year += 1900 if year >= FIRST_OF_1900S else 2000
    return f"{year:04}-{month:02}-{day:02}"


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


def _parts(dates: NDArray[Any], origin: np.datetime64) -> dict[str, NDArray[np.float64]]:
    """All parts of some dates as numbers."""
    unknown = np.isnat(dates)
    dates = np.where(unknown, origin, dates)
    years, months, days, hours = (dates.astype(f"datetime64[{unit}]") for unit in "YMDh")
    since_1970 = days.astype(np.int64)
    parts = {
        "year": years.astype(np.int64) + 1970,
        "month": months.astype(np.int64) % 12 + 1,
        "day of week": (since_1970 + 3) % 7,  # the first day of 1970 was a Thursday
        "hour": (hours - days).astype(np.int64),
        "days": (days - origin.astype("datetime64[D]")) / _DAY_LENGTH,
    }
    return {part: np.where(unknown, np.nan, values.astype(float)) for part, values in parts.items()}
