"""What each column of a table is, why, and how its values become what models take."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv.tables.dates import (
    MOST_LOOKED_AT,
    DateFormat,
    best_order,
    has_dates,
    is_of_dates,
    note_of_order,
    orders,
    parts_that_vary,
    read_dates,
)
from steadycv.tables.errors import TableError
from steadycv.tables.numbers import COMMA, POINT, NumberFormat, find_formats, is_grouped

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from numpy.typing import NDArray

__all__ = [
    "LARGEST",
    "MOST_CATEGORIES",
    "NOT_KNOWN",
    "Kind",
    "Reading",
    "decimal_of_table",
    "find_readings",
    "plain_numbers",
    "read_column",
]

MISSING = "(missing)"
NOT_KNOWN = (
    *(
        "",
        "NA",
        "N/A",
        "n/a",
        "n.a.",
        "N.A.",
        "NaN",
        "nan",
        "-NaN",
        "-nan",
        "NULL",
        "null",
        "None",
        "<NA>",
    ),
    *("-", "--", "?", ".", "#N/A", "#NA", "#N/A N/A", "#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!"),
)
"""Texts that say that a value is not there."""

CONSTANT = "as it has one value only"
MOST_CATEGORIES = 20
LARGEST = 1e38  # trees have 32 bits for a number
LEAST_NUMBERS = 0.9  # the share of a column that makes it one of numbers: others are taken as missing,
MOST_OTHERS = 20  # if there are not too many different ones
FEW_OTHERS, SHARE_BESIDE_FEW = 2, 0.5  # a word or two, as "unknown", may be more frequent
FEWEST_BESIDE_OTHERS = 10  # different numbers: fewer beside texts are names of categories
LEAST_WORDS = 2  # that texts have on average, to be read as words
LEAST_OF_A_UNIT = 0.3  # the share of a column that has the commonest of several units
_TRUTHS = {"true": 1.0, "false": 0.0}
_PADDED = r"\s*0\d+\s*"
_is_padded = re.compile(_PADDED).fullmatch
_LIKE_COMPACT_DATES = (19000101, 21001231)
_OF_IDENTIFIERS = {"id", "ids", "uuid", "guid", "identifier", "ssn", "isbn", "iban", "sku", "vin"}
_OF_CODES = {"zip", "zipcode", "postcode", "postal", "plz", "postleitzahl", "phone", "telephone"}


class Kind(StrEnum):
    """What a column is read as."""

    NUMBER = "number"
    CATEGORY = "category"
    DATE = "date"
    WORDS = "words"
    OTHER = "other"


@dataclass(frozen=True)
class Reading:
    """How a column is read, and why.

    Attributes
    ----------
    name : str
        The column.
    kind : Kind
        What it is: numbers, categories, dates, words, or something else.
    left_out : str
        Why models do not get it; empty if they do.
    number, date : NumberFormat, DateFormat or None
        How its texts are written, if they are no plain numbers.
    missing : tuple of str
        Texts that are no values, and are taken as missing.
    n_missing : int
        How many values are missing, with those and with what is too large.
    n_too_large : int
        How many numbers are infinite, or larger than models compute with.
    truth : bool
        Whether all that is there is true or false.
    example : tuple of (str, str) or None
        A text, and what it is read as.
    notes : tuple of str
        What else a user should know of it.
    """

    name: str
    kind: Kind
    left_out: str = ""
    number: NumberFormat | None = None
    date: DateFormat | None = None
    missing: tuple[str, ...] = ()
    n_missing: int = 0
    n_too_large: int = 0
    truth: bool = False
    example: tuple[str, str] | None = None
    notes: tuple[str, ...] = ()

    @property
    def can_be_kept(self) -> bool:
        """Whether models could get a column that is left out."""
        return self.kind is not Kind.OTHER and self.left_out != CONSTANT

    @property
    def columns(self) -> list[str]:
        """The columns that models get of it."""
        if self.left_out:
            return []
        return [self.name] if self.date is None else list(self.date.columns(self.name).values())

    @property
    def is_numeric(self) -> bool:
        """Whether models get numbers of it."""
        return self.kind in (Kind.NUMBER, Kind.DATE)

    def values(self, column: Any) -> dict[str, NDArray[Any]]:
        """A column of this table or another one as models take it; TableError if it is no such one."""
        if self.kind is Kind.NUMBER:
            return {self.name: self.numbers(column)}
        if self.date is not None:
            parts = self.date.values(self.dates(column))
            return {self.date.columns(self.name)[part]: each for part, each in parts.items()}
        return {self.name: _categories(column)}

    def numbers(self, column: Any) -> NDArray[np.float64]:
        """A column as numbers; what is missing or infinite is NaN."""
        import pandas

        if pandas.api.types.is_numeric_dtype(column):
            return _finite(column.to_numpy(dtype=np.float64, na_value=np.nan))
        texts = _texts(column)
        read = _plain(texts)
        others = texts[read.isna() & texts.notna()]
        if len(others) or (self.number is not None and self.number.decimal == COMMA):
            others = texts[texts.notna()] if self.number is not None else others
            found = {text: self._number(text) for text in others.unique()}
            read.loc[others.index] = others.map(found).astype(np.float64)
            wrong = [text for text in found if isnan(found[text]) and text not in self.missing]
            if wrong:
                n_wrong = int(others.isin(wrong).sum())
                raise TableError(
                    f"The column {self.name!r} must have numbers; {n_wrong} of its values are none, "
                    f"such as {wrong[0]!r}."
                )
        return _finite(read.to_numpy(dtype=np.float64))

    def dates(self, column: Any) -> NDArray[Any]:
        """A column as dates; what is missing is NaT."""
        import pandas

        assert self.date is not None
        if isinstance(column.dtype, pandas.PeriodDtype):
            column = column.dt.to_timestamp()
        if is_of_dates(column):
            zone = getattr(column.dt, "tz", None)
            column = column if zone is None else column.dt.tz_convert("UTC").dt.tz_localize(None)
            return np.asarray(column.to_numpy(dtype="datetime64[us]"))
        if pandas.api.types.is_float_dtype(column):  # as 20201231.0, where some are missing
            column = column.astype("Int64")
        texts = _texts(column)
        read = read_dates(texts, orders(texts), self.date.first)
        wrong = texts[np.isnat(read) & texts.notna().to_numpy() & ~texts.isin(self.missing).to_numpy()]
        if len(wrong):
            raise TableError(
                f"The column {self.name!r} must have dates; {len(wrong)} of its values are none, such "
                f"as {wrong.iloc[0]!r}."
            )
        return read

    def to_dict(self) -> dict[str, Any]:
        """What it takes to read another table in the same way, as plain texts and lists."""
        return {
            "name": self.name,
            "kind": self.kind.value,
            "left_out": self.left_out,
            "number": None if self.number is None else asdict(self.number),
            "date": None if self.date is None else asdict(self.date),
            "missing": list(self.missing),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Reading:
        """The reading of such a dict."""
        number, date = content["number"], content["date"]
        return cls(
            content["name"],
            Kind(content["kind"]),
            content["left_out"],
            None if number is None else NumberFormat(**number),
            None if date is None else DateFormat(**{**date, "parts": tuple(date["parts"])}),
            tuple(content["missing"]),
        )

    def _number(self, text: str) -> float:
        truth = _TRUTHS.get(text.strip().casefold())
        if truth is not None:
            return truth
        return (self.number or NumberFormat()).number(text)


def find_readings(frame: Any, keep: Collection[str] = ()) -> list[Reading]:
    """How each column is read; those in `keep` are used where others of their kind are left out."""
    decimal = decimal_of_table(frame)
    return [
        _if_worth_it(read_column(column, decimal), column, kept=name in keep)
        for name, column in frame.items()
    ]


def read_column(column: Any, decimal: str = POINT) -> Reading:
    """What a column is, where nothing in it says whether commas or points are decimal by `decimal`."""
    import pandas

    types, name = pandas.api.types, str(column.name)
    missing = np.isnan(column.to_numpy()) if column.dtype == np.float64 else column.isna()
    n_missing = int(missing.sum())
    if n_missing == len(column):
        return Reading(name, Kind.OTHER, "as empty", n_missing=n_missing)
    if types.is_complex_dtype(column):
        return Reading(name, Kind.OTHER, "as neither numbers nor text", n_missing=n_missing)
    if types.is_numeric_dtype(column):  # truth values are numbers, too
        return _of_numbers(Reading(name, Kind.NUMBER, truth=types.is_bool_dtype(column)), column)
    if is_of_dates(column):
        reading = Reading(
            name, Kind.DATE, n_missing=n_missing, date=DateFormat("year", (), "1970-01-01")
        )
        return replace(reading, date=parts_that_vary(reading.dates(column), "year"))
    if not (
        types.is_string_dtype(column)
        or types.is_object_dtype(column)
        or isinstance(column.dtype, pandas.CategoricalDtype)
    ):
        return Reading(name, Kind.OTHER, "as neither numbers nor text", n_missing=n_missing)
    return _of_texts(name, _texts(column), decimal)


def _of_texts(name: str, texts: Any, decimal: str) -> Reading:
    """What a column of texts is."""
    counts = texts.value_counts()
    n_missing = int(texts.isna().sum())
    lowered = {text.strip().casefold() for text in counts.index[: len(_TRUTHS) + 1]}
    if len(counts) <= len(_TRUTHS) and lowered <= _TRUTHS.keys():
        return Reading(name, Kind.NUMBER, n_missing=n_missing, truth=True)
    if not counts.index.str.fullmatch(_PADDED).any():
        number = _as_number(name, texts, counts, decimal)
        if number is not None:
            return number
    elif counts.index.str.fullmatch(r"\s*\d+\s*").all():
        notes = ("has leading zeros, and is taken as codes rather than numbers",)
        return Reading(name, Kind.CATEGORY, n_missing=n_missing, notes=notes)
    if has_dates(texts):
        date = _as_date(name, texts)
        if date is not None:
            return date
    differs = len(counts) > max(MOST_CATEGORIES, 0.5 * counts.sum())
    n_words = (counts.index.str.count(r"\s+") + 1).to_numpy() @ counts.to_numpy() / counts.sum()
    kind = Kind.WORDS if differs and n_words >= LEAST_WORDS else Kind.CATEGORY
    return Reading(name, kind, _mixed_units(counts), n_missing=n_missing)


def _as_number(name: str, texts: Any, counts: Any, decimal: str) -> Reading | None:
    """A column of texts as numbers, if nearly all are."""
    plain = _plain(counts.index.to_series()).notna().to_numpy()
    if plain.all():
        grouped = decimal == COMMA and _are_grouped(counts.index)
        if not grouped:
            return _of_numbers(Reading(name, Kind.NUMBER), _plain(texts))
    some = counts.iloc[:MOST_LOOKED_AT]
    if max(each.n_numbers for each in find_formats(dict(some.items())).values()) < some.sum() / 2:
        return None
    formats = find_formats(dict(counts.items()))
    best = max(each.n_numbers for each in formats.values())
    found = next(
        formats[mark]
        for mark in dict.fromkeys((decimal, POINT, COMMA))
        if formats[mark].n_numbers == best
    )
    if not _enough(found.n_numbers, counts, found.format):
        return None
    read = {text: found.format.number(text) for text in counts.index}
    missing = tuple(text for text, number in read.items() if isnan(number))
    reading = Reading(name, Kind.NUMBER, number=found.format, missing=missing)
    example = next((text for text, number in read.items() if _is_disguised(text, number)), None)
    if example is not None:
        reading = replace(reading, example=(example, f"{read[example]:.12g}"))
    return _of_numbers(reading, texts.map(read, na_action="ignore").astype(np.float64))


def _enough(n_numbers: int, counts: Any, form: NumberFormat) -> bool:
    """Whether so many numbers make a column one of numbers."""
    n, n_others = int(counts.sum()), sum(isnan(form.number(text)) for text in counts.index)
    if len(counts) - n_others < (FEWEST_BESIDE_OTHERS if n_others else 1):
        return False
    few = n_others <= FEW_OTHERS and n_numbers >= SHARE_BESIDE_FEW * n
    return few or (n_others <= MOST_OTHERS and n_numbers >= LEAST_NUMBERS * n)


def _of_numbers(reading: Reading, numbers: Any) -> Reading:
    """The reading of a column of numbers, with what is odd about them."""
    values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    n_too_large = int((np.abs(values) > LARGEST).sum())
    n_missing = int(np.isnan(_finite(values)).sum())
    compact = _compact_dates(reading, values)
    if compact is not None:
        return replace(compact, n_missing=n_missing)
    return replace(reading, n_missing=n_missing, n_too_large=n_too_large)


def _compact_dates(reading: Reading, values: NDArray[np.float64]) -> Reading | None:
    """The reading of days that are written as 20201231."""
    import pandas

    first, last = _LIKE_COMPACT_DATES
    if not first <= values[0] <= last and not np.isnan(values[0]):
        return None
    known = values[~np.isnan(values)]
    if not len(known) or not ((known >= first) & (known <= last) & (known == np.round(known))).all():
        return None
    texts = pandas.Series(known.astype(np.int64).astype(str))
    dates = pandas.to_datetime(texts, format="%Y%m%d", errors="coerce").to_numpy()
    if np.isnat(dates).any() or len(texts.unique()) < 2:
        return None
    return Reading(reading.name, Kind.DATE, date=parts_that_vary(dates, "year"))


def _as_date(name: str, texts: Any) -> Reading | None:
    """A column of texts as dates, if what is none can be said to be missing."""
    readings = orders(texts)
    order = best_order(readings)
    dates = read_dates(texts, readings, order)
    wrong = texts[np.isnat(dates) & texts.notna().to_numpy()].unique()
    if len(wrong) > MOST_OTHERS or np.isnat(dates).all():
        return None
    note = note_of_order(readings)
    return Reading(
        name,
        Kind.DATE,
        date=parts_that_vary(dates, order),
        missing=tuple(wrong),
        n_missing=int(np.isnat(dates).sum()),
        notes=(f"has dates, {note}",) if note else (),
    )


def _if_worth_it(reading: Reading, column: Any, *, kept: bool) -> Reading:
    """The reading of a column that may say nothing of other rows: it counts, names, or is constant."""
    if reading.left_out:
        return replace(reading, left_out="") if kept and reading.can_be_kept else reading
    numbers = np.sort(reading.numbers(column)) if reading.kind is Kind.NUMBER else None
    n_known = len(column) - reading.n_missing
    n_values = column.nunique() if numbers is None else len(np.unique(numbers[:n_known]))
    parts = set(re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", reading.name).lower()))
    is_named = (
        bool(parts & _OF_IDENTIFIERS) and n_values > MOST_CATEGORIES and reading.kind is not Kind.DATE
    )
    reason, notes = "", []
    if n_values <= 1 and not reading.n_missing:
        reason = CONSTANT
    elif numbers is not None and len(numbers) > 1 and (np.diff(numbers) == 1).all():
        reason = "as it just counts the rows"
    elif is_named and n_values == n_known:
        reason = "as an identifier that is another one in every row"
    elif reading.kind is Kind.WORDS:
        reason = "as text of several words that differs in most rows"
    elif reading.kind is Kind.CATEGORY and n_values > max(MOST_CATEGORIES, 0.5 * n_known):
        reason = "as text that differs in most rows"
    elif parts & _OF_CODES and numbers is not None:
        notes.append("looks like a code rather than a quantity")
    elif is_named:
        notes.append(
            "looks like an identifier that several rows share: --groups keeps these together, and a "
            "model knows no new ones"
        )
    if kept and reason != CONSTANT:
        reason = ""
    if not reason and not notes:
        return reading
    return replace(reading, left_out=reason, notes=(*reading.notes, *notes))


def decimal_of_table(frame: Any) -> str:
    """The decimal mark of the columns that leave no doubt; points, unless only commas are such ones."""
    marks = set()
    for column in _columns_of_texts(frame):
        counts = _texts(column.dropna().iloc[:MOST_LOOKED_AT]).value_counts()
        if not len(counts) or not counts.index.str.contains(r"\d[.,]\d").any():
            continue
        n_numbers = {mark: each.n_numbers for mark, each in find_formats(dict(counts.items())).items()}
        if (
            max(n_numbers.values()) >= LEAST_NUMBERS * counts.sum()
            and n_numbers[POINT] != n_numbers[COMMA]
        ):
            marks.add(max(n_numbers, key=lambda mark: n_numbers[mark]))
    return COMMA if marks == {COMMA} else POINT


def _columns_of_texts(frame: Any) -> Iterator[Any]:
    """The columns that are neither numbers nor dates."""
    import pandas

    for position, dtype in enumerate(frame.dtypes):
        if not pandas.api.types.is_numeric_dtype(dtype):
            column = frame.iloc[:, position]
            if not is_of_dates(column):
                yield column


def _are_grouped(texts: Any) -> bool:
    """Whether all texts with a point can be thousands, and some are."""
    with_points = (text for text in texts if POINT in text)
    first = next(with_points, None)
    return first is not None and is_grouped(first) and all(map(is_grouped, with_points))


def _is_disguised(text: str, number: float) -> bool:
    try:
        return not isnan(number) and float(text) != number
    except ValueError:
        return not isnan(number)


def _mixed_units(counts: Any) -> str:
    """Why numbers with different units are not used."""
    some = dict(counts.iloc[:MOST_LOOKED_AT].items())
    found = find_formats(some)[POINT]
    if found.other_units is None or found.n_numbers < LEAST_OF_A_UNIT * sum(some.values()):
        return ""
    one, other = found.other_units
    return f"as numbers of different units, such as {one!r} and {other!r}"


def plain_numbers(texts: NDArray[np.object_]) -> NDArray[Any] | None:
    """Texts as numbers, if all are plain ones, and neither codes nor, perhaps, in thousands."""
    import pandas

    try:
        numbers: NDArray[Any] = pandas.to_numeric(texts)
    except (ValueError, TypeError, OverflowError):
        return None
    if numbers.dtype == object or (numbers.dtype.kind == "f" and np.isnan(numbers).all()):
        return None
    known = [text for text in texts.tolist() if isinstance(text, str)]
    return None if any(map(_is_padded, known)) or _are_grouped(known) else numbers


def _texts(column: Any) -> Any:
    """A column as a series of texts, where what says that there is no value is missing."""
    texts = column.astype(object).where(column.notna(), None).map(str, na_action="ignore")
    return texts.where(~texts.str.strip().isin(NOT_KNOWN), None) if texts.notna().any() else texts


def _categories(column: Any) -> NDArray[np.object_]:
    """A column as texts, where what is missing is a text, too."""
    import pandas

    if pandas.api.types.is_float_dtype(column):  # whole numbers of a column where some are missing
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        known = values[~np.isnan(values)]
        if (
            np.isfinite(known).all()
            and (known == np.round(known)).all()
            and (np.abs(known) < 2**53).all()
        ):
            column = column.astype("Int64")
    texts = _texts(column)
    return np.asarray(texts.where(texts.notna(), MISSING).to_numpy(dtype=object))


def _plain(texts: Any) -> Any:
    """Texts as numbers, NaN where they are no plain ones."""
    import pandas

    numbers = pandas.to_numeric(texts, errors="coerce")
    if numbers.dtype == object:  # whole numbers that are too long for 64 bits
        return numbers.map(str).map(float).astype(np.float64)
    numbers = numbers.astype(np.float64)
    lost = numbers.isna() & texts.notna()
    if lost.any():  # which some releases of pandas take for no numbers
        is_long = lost & texts.astype(str).str.fullmatch("[+-]?[0-9]+")
        numbers[is_long] = texts[is_long].map(float)
    return numbers


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(values) <= LARGEST, values, np.nan)
