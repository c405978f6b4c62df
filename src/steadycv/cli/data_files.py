"""Reading a user's table: CSV, TSV or Parquet, from a file or from standard input."""

from __future__ import annotations

import csv
import gzip
import io
import os
import select
import stat
import sys
import zlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steadycv.cli.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["STANDARD_INPUT", "comes_by_a_pipe", "name_of", "read_table"]

STANDARD_INPUT = Path("-")
SEPARATORS = ",\t;"
_KINDS = {"csv": "text", "tsv": "text", "parquet": "parquet", "pq": "parquet"}


def read_table(path: Path, as_text: Collection[str] = ()) -> Any:
    """A data frame, with the names of columns as texts.

    The ending of a name says what kind of file it is; of standard input and of pipes, the content does.
    Columns in `as_text` of a CSV file are not taken as numbers, whatever they look like.
    """
    import pandas

    try:
        content = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
        if _kind(path, content) == "parquet":
            frame = pandas.read_parquet(io.BytesIO(content))
            names = list(map(str, frame.columns))
        else:
            frame, names = _read_text(content, "\t" if _ending(path) == "tsv" else None, as_text)
    except UnicodeDecodeError:
        raise UserError(
            f"{name_of(path)} cannot be read: its text is not in UTF-8. Save it as that, which "
            'spreadsheets call "CSV UTF-8".'
        ) from None
    except (OSError, ValueError, ImportError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error).strip().partition("\n")[0]
        raise UserError(f"{name_of(path)} cannot be read: {reason}") from None
    repeated = [name for name, times in Counter(names).items() if times > 1 and name]
    if repeated:
        raise UserError(
            f"{name_of(path)} cannot be used: several columns are called {repeated[0]!r}. Give each a "
            "name of its own."
        )
    frame.columns = frame.columns.map(str)
    return frame


def name_of(path: Path) -> str:
    """What to call the data."""
    return "standard input" if path == STANDARD_INPUT else str(path)


def comes_by_a_pipe(*, surely: bool) -> bool:
    """Whether data come on standard input; `surely` if a pipe that is still silent counts as well."""
    try:
        found = os.fstat(sys.stdin.fileno())
        if not stat.S_ISFIFO(found.st_mode):
            return stat.S_ISREG(found.st_mode) and found.st_size > 0
        ready = surely or bool(select.select([sys.stdin], [], [], 0)[0])
        return ready and bool(sys.stdin.buffer.peek(1))  # type: ignore[union-attr]  # or no file
    except (OSError, ValueError, AttributeError):  # closed, or no file
        return False


def _ending(path: Path) -> str:
    return path.name.lower().removesuffix(".gz").rpartition(".")[2]


def _kind(path: Path, content: bytes) -> str:
    if path == STANDARD_INPUT or not path.is_file():
        return "parquet" if content[:4] == b"PAR1" else "text"
    if _ending(path) not in _KINDS:
        raise ValueError("its name must end in .csv, .tsv or .parquet.")
    return _KINDS[_ending(path)]


def _read_text(content: bytes, separator: str | None, as_text: Collection[str]) -> tuple[Any, list[str]]:
    import pandas

    header = content.partition(b"\n")[0].decode("utf-8-sig")
    if separator is None:
        separator = max(SEPARATORS, key=lambda each: len(_cells(header, each)))
    # Where semicolons separate, a comma may be the decimal point.
    points = ".," if separator == ";" else "."
    frames = [pandas.read_csv(io.BytesIO(content), sep=separator, decimal=point) for point in points]
    frame = max(frames, key=lambda each: each.select_dtypes("number").shape[1])
    texts = [name for name in frame.select_dtypes("number").columns if name in as_text]
    for name in texts:
        frame[name] = pandas.read_csv(io.BytesIO(content), sep=separator, usecols=[name], dtype=str)[
            name
        ]
    return frame, _cells(header, separator)


def _cells(line: str, separator: str) -> list[str]:
    return next(csv.reader([line], delimiter=separator), [])
