"""Text with separators: which letters, which separator, which line ends."""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any

from steadycv.tables.errors import TableError
from steadycv.tables.readings import NOT_KNOWN, plain_numbers

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["read_delimited"]

SEPARATORS = ",\t;|"
LINES_LOOKED_AT = 20
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before that of UTF-16, which it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_NAMES = {"utf-16": "UTF-16", "utf-32": "UTF-32", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}


def read_delimited(
    content: bytes, separator: str | None = None, as_text: Collection[str] = ()
) -> tuple[Any, list[str], list[str]]:
    """A data frame, the names in its first line, and what is to be told.

    Columns of plain numbers are such, but for those in `as_text`; all others are texts.
    """
    import pandas

    text, remarks = _decoded(content)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        raise TableError("it has zero bytes in it, which no text has. Is it a file of another kind?")
    said = re.match(r'"?sep=(.)"?\n', text)  # so Excel writes which one it is
    if said is not None:
        separator, text = str(said[1]), text[said.end() :]
    text = text.lstrip("\n")
    if text[:200].lstrip().lower().startswith(("<!doctype", "<html", "<?xml")):
        raise TableError("it is a web page or XML, and no table of text. Export it as CSV.")
    if separator is None or separator not in text.partition("\n")[0]:
        separator = _separator(text)
    text, above = _without_title(text, separator)
    if above:
        remarks.append(f"Lines above the names of columns are left out: {above!r}.")
    names, *rows = _first_rows(text, separator) or [[]]
    if rows and len({len(row) for row in rows}) == 1 and len(rows[0]) == len(names) + 1:
        at_the_end = all(not row[-1] for row in rows)
        names = [*names, ""] if at_the_end else ["", *names]  # R does not name the rows' names
    with warnings.catch_warnings():
        warnings.simplefilter("error", pandas.errors.ParserWarning)  # that cells are lost
        try:
            frame = pandas.read_csv(
                io.StringIO(text),
                sep=separator,
                dtype=object,  # texts as Python has them: many columns of a few rows are quicker so
                na_values=list(NOT_KNOWN),
                keep_default_na=False,
                header=0,
                names=_unique(names) if any(names) else None,
                index_col=False,
                skipinitialspace=True,
            )
        except (pandas.errors.ParserError, pandas.errors.ParserWarning) as error:
            raise TableError(_why(str(error), text, separator, len(names))) from None
    columns = dict(frame.items())  # put together once: each that is replaced in a frame takes its time
    for name in columns.keys() - set(as_text):
        numbers = plain_numbers(columns[name].to_numpy())
        columns[name] = columns[name] if numbers is None else numbers
    return pandas.DataFrame(columns, columns=frame.columns, index=frame.index), names, remarks


def _decoded(content: bytes) -> tuple[str, list[str]]:
    """The text, and a line about its encoding if that is not the usual one."""
    for mark, encoding in _MARKS.items():
        if content.startswith(mark):
            return content.decode(encoding, errors="replace"), _told(encoding)
    unmarked = _without_mark(content)
    if unmarked is not None:
        return content.decode(unmarked, errors="replace"), _told(unmarked)
    try:
        return content.decode("utf-8"), []
    except UnicodeDecodeError:
        return _otherwise(content)


def _otherwise(content: bytes) -> tuple[str, list[str]]:
    """Text that is not in UTF-8: it is damaged, or of Western Europe."""
    text = content.decode("utf-8", errors="replace")
    damaged = text.count("\ufffd")
    if sum(c > "\x7f" for c in text) > 2 * damaged:
        return text, [f"{damaged} bytes are no text in UTF-8, and stand as \ufffd."]
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return text, [
        "The text is not in UTF-8 and is read as Latin-1 (Windows-1252). If letters look wrong, save it "
        'as what spreadsheets call "CSV UTF-8".'
    ]


def _without_mark(content: bytes) -> str | None:
    """UTF-16 that does not say so: every other byte of Western text is zero."""
    start = content[:2000]
    n = max(len(start) // 2, 1)
    high, low = start[0::2].count(0) / n, start[1::2].count(0) / n
    if low > 0.5 and high < 0.1:
        return "utf-16-le"
    return "utf-16-be" if high > 0.5 and low < 0.1 else None


def _told(encoding: str) -> list[str]:
    return [f"The text is in {_NAMES[encoding]}."] if encoding in _NAMES else []


def _separator(text: str) -> str:
    """The one that makes rows of many cells, all alike; of lines below a title if it parts not that."""
    rows = {each: _first_rows(text, each) for each in SEPARATORS}
    if all(len(found[0]) == 1 for found in rows.values() if found):
        rows = {each: found[_n_above(found) :] for each, found in rows.items()}
    return max(SEPARATORS, key=lambda each: _evenness(rows[each]))


def _without_title(text: str, separator: str) -> tuple[str, str]:
    """The text from the first of its usual lines on, and what stands above: lines of a cell or two."""
    rows = _first_rows(text, separator)
    n_above = _n_above(rows)
    if not n_above:
        return text, ""
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    n_rows = n_lines = 0
    for row in reader:
        n_rows += bool(row)
        if n_rows > n_above:
            break
        n_lines = reader.line_num
    above = " ".join(cell for row in rows[:n_above] for cell in row if cell)
    return text.split("\n", n_lines)[n_lines], above


def _n_above(rows: list[list[str]]) -> int:
    """How many rows stand above the first that has as many cells as most, or one less."""
    usual = Counter(map(len, rows)).most_common(1)[0][0] if rows else 0
    return 0 if usual < 3 else next(i for i, row in enumerate(rows) if len(row) >= usual - 1)


def _first_rows(text: str, separator: str) -> list[list[str]]:
    """The cells of the first lines that have any."""
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    rows = []
    try:
        for row in reader:
            if row:
                rows.append(row)
            if len(rows) == LINES_LOOKED_AT:
                break
    except csv.Error:  # a cell without an end, which the parser refuses in its own words
        pass
    return rows


def _evenness(rows: list[list[str]]) -> tuple[float, float]:
    """How many cells the names have, times the share of rows that have as many; and that share alone."""
    n_names, *n_cells = [len(row) for row in rows] or [1]
    alike = sum(n in (n_names, n_names + 1) for n in n_cells)  # names of rows may have no name
    share = (n_cells.count(n_names) + 1) / (len(n_cells) + 1)
    return (n_names - 1) * (alike + 1) / (len(n_cells) + 1), share


def _unique(names: list[str]) -> list[str]:
    """Names that the parser takes: those that are not there, or were there before, are counted."""
    first = {name: i for i, name in reversed(list(enumerate(names)))}
    return [
        name if name and first[name] == i else f"{name or 'Unnamed'}: {i}"
        for i, name in enumerate(names)
    ]


def _why(error: str, text: str, separator: str, n_names: int) -> str:
    """What the parser stumbled over, for those who look at the file."""
    if "EOF inside string" in error:
        return "a quotation mark has no second one: perhaps a cell begins with one that is none."
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    try:
        for row in reader:
            if len(row) > n_names:
                return (
                    f"line {reader.line_num} has {len(row)} cells, and the first line {n_names}. If a "
                    "cell has the separator in it, put quotes around it."
                )
    except csv.Error as other:
        return str(other)
    return error.strip().partition("\n")[0]
