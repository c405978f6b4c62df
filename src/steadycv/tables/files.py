"""Tables from files: text with separators, Parquet, Excel and databases."""

from __future__ import annotations

import gzip
import io
import sqlite3
import sys
import zipfile
import zlib
from collections import Counter
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steadycv.tables.delimited import read_delimited
from steadycv.tables.errors import TableError
from steadycv.tables.readings import NOT_KNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

__all__ = ["STANDARD_INPUT", "name_of", "read_file"]

STANDARD_INPUT = Path("-")
TEXT, PARQUET, EXCEL, OLD_EXCEL, SQLITE, DUCKDB = "text", "parquet", "excel", "xls", "sqlite", "duckdb"
_ENDINGS = {
    **dict.fromkeys(("csv", "tsv", "txt", "tab"), TEXT),
    **dict.fromkeys(("parquet", "pq"), PARQUET),
    **dict.fromkeys(("xlsx", "xlsm"), EXCEL),
    "xls": OLD_EXCEL,
    **dict.fromkeys(("sqlite", "sqlite3", "db"), SQLITE),
    **dict.fromkeys(("duckdb", "ddb"), DUCKDB),
}
_BEGINNINGS = {
    b"PAR1": PARQUET,
    b"PK\x03\x04": EXCEL,
    b"\xd0\xcf\x11\xe0": OLD_EXCEL,
    b"SQLite format 3\0": SQLITE,
}
_DUCK = slice(8, 12)  # where a file of DuckDB says so
_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
_NEEDED = {"parquet": "pyarrow", "excel": "openpyxl", "duckdb": "duckdb"}


def read_file(
    path: Path, part: str | None = None, as_text: Collection[str] = ()
) -> tuple[Any, list[str]]:
    """A data frame with texts as names, and what is to be told of the file.

    What a file begins with says what kind it is, and then its ending. `part` is a sheet of Excel, a
    table of a database, or a query. In text with separators, columns in `as_text` are not taken as
    numbers whatever they look like.
    """
    name = name_of(path)
    try:
        content = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
        kind = _kind(path, content)
        _check_installed(kind)
        if part is not None and kind in (TEXT, PARQUET) and not _is_query(part):
            raise TableError(f"it has one table, and none that is called {part!r}.")
        if kind == TEXT:
            frame, names, remarks = _read_text(path, content, part, as_text)
        else:
            frame, names, remarks = _READERS[kind](path, content, part)
    except TableError as error:
        raise TableError(f"{name} cannot be read: {error}") from None
    except (
        *(OSError, ValueError, ImportError, EOFError, KeyError, zlib.error, zipfile.BadZipFile),
        *(sqlite3.Error, RecursionError),
    ) as error:
        reason = getattr(error, "strerror", None) or str(error).strip().partition("\n")[0]
        raise TableError(f"{name} cannot be read: {reason}") from None
    repeated = [each for each, times in Counter(names).items() if times > 1 and each]
    if repeated:
        raise TableError(
            f"{name} cannot be used: several columns are called {repeated[0]!r}. Give each a name of "
            "its own."
        )
    frame.columns = [str(each) for each in frame.columns]
    return frame, remarks


def name_of(path: Path) -> str:
    """What to call the data."""
    return "standard input" if path == STANDARD_INPUT else str(path)


def _kind(path: Path, content: bytes) -> str:
    for beginning, kind in _BEGINNINGS.items():
        if content.startswith(beginning):
            return kind
    if content[_DUCK] == b"DUCK":
        return DUCKDB
    if path == STANDARD_INPUT or not path.is_file():
        return TEXT
    ending = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if ending not in _ENDINGS:
        raise TableError("its name must end in .csv, .tsv, .parquet, .xlsx, .sqlite or .duckdb.")
    return _ENDINGS[ending]


def _check_installed(kind: str) -> None:
    package = _NEEDED.get(kind)
    if package is not None and find_spec(package) is None:
        raise TableError(f"such files need {package}: pip install 'steadycv[tables]'.")


def _read_text(
    path: Path, content: bytes, query: str | None, as_text: Collection[str]
) -> tuple[Any, list[str], list[str]]:
    separator = "\t" if ".tsv" in path.name.lower() else None
    frame, names, remarks = read_delimited(content, separator, as_text)
    return (frame, names, remarks) if query is None else (*_queried(frame, query), remarks)


def _read_parquet(path: Path, content: bytes, query: str | None) -> tuple[Any, list[str], list[str]]:  # noqa: ARG001
    import pandas

    frame = pandas.read_parquet(io.BytesIO(content))
    if query is not None:
        return *_queried(frame, query), []
    return frame, list(map(str, frame.columns)), []


def _read_excel(path: Path, content: bytes, sheet: str | None) -> tuple[Any, list[str], list[str]]:  # noqa: ARG001
    import pandas

    with pandas.ExcelFile(io.BytesIO(content), engine="openpyxl") as book:
        sheets = [str(each) for each in book.sheet_names]
        if sheet is not None and sheet not in sheets:
            raise TableError(f"it has no sheet {sheet!r}. There are {', '.join(sheets)}.")
        rows = pandas.read_excel(
            book,
            sheet_name=sheet or sheets[0],
            header=None,
            dtype=object,
            na_values=list(NOT_KNOWN),
            keep_default_na=False,
        ).dropna(how="all")
    if not len(rows):
        raise TableError(f"the sheet {sheet or sheets[0]!r} is empty.")
    names = ["" if pandas.isna(each) else str(each) for each in rows.iloc[0]]
    frame = rows.iloc[1:].reset_index(drop=True).infer_objects()
    frame.columns = [name or f"Unnamed: {i}" for i, name in enumerate(names)]
    first = f"The first of {len(sheets)} sheets is read, {sheets[0]!r}; --table NAME takes another."
    return frame, names, [first] if sheet is None and len(sheets) > 1 else []


def _refuse_old_excel(*_: Any) -> tuple[Any, list[str], list[str]]:
    raise TableError("it is of an Excel before 2007. Save it as .xlsx.")


def _read_sqlite(path: Path, content: bytes, part: str | None) -> tuple[Any, list[str], list[str]]:  # noqa: ARG001
    import pandas

    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(content)
        tables = [row[0] for row in database.execute(_TABLES)]
        frame = pandas.read_sql_query(_query(part, tables), database)
    return frame, list(map(str, frame.columns)), []


def _read_duckdb(path: Path, content: bytes, part: str | None) -> tuple[Any, list[str], list[str]]:  # noqa: ARG001
    import duckdb

    try:
        with closing(duckdb.connect(str(path), read_only=True)) as database:
            tables = [row[0] for row in database.execute("SHOW TABLES").fetchall()]
            frame = database.execute(_query(part, tables)).df()
    except duckdb.Error as error:
        raise TableError(str(error).partition("\n")[0]) from None
    return frame, list(map(str, frame.columns)), []


def _query(part: str | None, tables: list[str]) -> str:
    """What to ask a database for."""
    if part is not None and _is_query(part):
        return part
    if part is None and len(tables) == 1:
        part = tables[0]
    if part not in tables:
        there = f"It has {', '.join(tables[:10])}." if tables else "It has none."
        what = "name a table with --table" if part is None else f"there is no table {part!r}"
        raise TableError(f"{what}. {there}")
    quoted = part.replace('"', '""')
    return f'SELECT * FROM "{quoted}"'


def _is_query(part: str) -> bool:
    return part.lstrip().lower().startswith(("select ", "with ", "from "))


def _queried(frame: Any, query: str) -> tuple[Any, list[str]]:
    """What a query makes of a table, which it calls data."""
    _check_installed(DUCKDB)
    import duckdb

    try:
        with closing(duckdb.connect(config={"enable_external_access": "false"})) as database:
            database.register("data", frame)
            frame = database.execute(query).df()
    except duckdb.Error as error:
        raise TableError(str(error).partition("\n")[0]) from None
    return frame, list(map(str, frame.columns))


_READERS: dict[str, Callable[[Path, bytes, str | None], tuple[Any, list[str], list[str]]]] = {
    PARQUET: _read_parquet,
    EXCEL: _read_excel,
    OLD_EXCEL: _refuse_old_excel,
    SQLITE: _read_sqlite,
    DUCKDB: _read_duckdb,
}
