"""The result file: a tidy CSV that grows by whole units of work, and survives a kill at any moment.

A unit is one model on one split. Its rows are written by one call and flushed to the disk. What a kill
left half written is dropped when the file is opened again, and that unit is done again. Every row
says by a short fingerprint which configuration it was made with, and rows of another one are refused.
"""

from __future__ import annotations

import csv
import io
import os
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import BinaryIO, TypeAlias

    Key: TypeAlias = tuple[str, ...]

__all__ = ["CONFIGURATION", "ResultFile", "Unit", "WrongResultsError", "read_frame"]

CONFIGURATION = "configuration"  # the last column


class WrongResultsError(ValueError):
    """A file has other results than those asked for."""


class Unit(NamedTuple):
    """Work that is done and stored as a whole.

    Attributes
    ----------
    key : dict
        The columns that name it, with their values.
    configuration : str
        Fingerprint of what its results depend on.
    n_rows : int
        How many rows it gives.
    work : callable
        Does it, and returns the rows without the key.
    """

    key: dict[str, Any]
    configuration: str
    n_rows: int
    work: Callable[[], list[dict[str, Any]]]


class ResultFile(AbstractContextManager["ResultFile"]):
    """A CSV file of results, open for more.

    Parameters
    ----------
    path : Path
        The file; made, with its folder, if it does not exist.
    key : sequence of str
        The columns that name a unit.
    columns : sequence of str
        All other columns.
    seed : int, optional
        What every row has in the column of this name, if the file has one.

    Raises
    ------
    WrongResultsError
        If the file is not one of these results.
    BlockingIOError
        If another run is writing to it.
    """

    def __init__(
        self, path: Path, key: Sequence[str], columns: Sequence[str], *, seed: int | None = None
    ) -> None:
        self._path = path
        self._key = tuple(key)
        self._columns = (*key, *columns, CONFIGURATION)
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder. Name a CSV file, such as {path / 'x.csv'}.")
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = _lock(path)
        self._rows: dict[Key, list[list[str]]] = {}
        try:
            rows = whole_rows(path, self._columns)
            if seed is not None:
                self._refuse_other_seeds(rows, str(seed))
        except BaseException:
            self._unlock()
            raise
        for row in rows:
            self._rows.setdefault(tuple(row[: len(self._key)]), []).append(row)

    def missing(self, units: Iterable[Unit]) -> list[Unit]:
        """The units that are still to be done; drops what is there of those only half written."""
        todo = []
        for unit in units:
            key = self._key_of(unit)
            rows = self._rows.get(key, [])
            others = [row[-1] for row in rows if row[-1] != unit.configuration]
            if others:
                raise WrongResultsError(
                    f"{self._path} has results of {', '.join(key)} that were made with another "
                    f"configuration ({others[0]} instead of {unit.configuration}): other settings, "
                    "another seed, other data or another version. Store these elsewhere, or delete the "
                    "file to start anew."
                )
            if len(rows) != unit.n_rows:
                self._rows.pop(key, None)
                todo.append(unit)
        self._write_all()
        return todo

    def append(self, unit: Unit, rows: list[dict[str, Any]]) -> None:
        """Store a unit that is done."""
        whole = [unit.key | row | {CONFIGURATION: unit.configuration} for row in rows]
        table = [[_text(row[name]) for name in self._columns] for row in whole]
        with self._path.open("ab") as file:
            _write(file, table)
        self._rows[self._key_of(unit)] = table

    def __exit__(self, *_: object) -> None:
        self._write_all()
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            Path(self._lock.name).unlink()  # while it is locked: later it may be another run's
            self._lock.close()

    def _key_of(self, unit: Unit) -> Key:
        return tuple(_text(unit.key[name]) for name in self._key)

    def _refuse_other_seeds(self, rows: list[list[str]], seed: str) -> None:
        others = {row[self._columns.index("seed")] for row in rows} - {seed}
        if others:
            raise WrongResultsError(
                f"{self._path} has results that were made with another configuration: seed "
                f"{min(others)} instead of {seed}. "
                "Store these elsewhere, or delete the file to start anew."
            )

    def _write_all(self) -> None:
        """Put the file in order, in one step."""
        rows = [row for key in sorted(self._rows, key=_order) for row in self._rows[key]]
        part = self._path.with_name(self._path.name + ".part")
        with part.open("wb") as file:
            _write(file, [list(self._columns), *rows])
        part.replace(self._path)


def read_frame(
    path: Path, key: Sequence[str], columns: Sequence[str], *, kind: str | None = None
) -> Any:
    """The results in a file as a data frame, without what a kill left half written.

    That is a line that has no end, or a unit that has fewer rows than others; than others that have the
    same in the column `kind`, if the number depends on it.
    """
    import pandas

    names = (*key, *columns, CONFIGURATION)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([names, *whole_rows(path, names)])
    text.seek(0)
    frame = pandas.read_csv(text)
    if frame.empty:
        return frame
    n_rows = frame.groupby(list(key))[CONFIGURATION].transform("size")
    most = n_rows.max() if kind is None else n_rows.groupby(frame[kind]).transform("max")
    return frame[n_rows == most].reset_index(drop=True)


def whole_rows(path: Path, columns: Sequence[str]) -> list[list[str]]:
    """The rows of a file that were written to their end; none if there is no file."""
    if not path.exists():
        return []
    text = path.read_bytes().decode()
    whole = text[: text.rfind("\n") + 1]
    header, *rows = csv.reader(io.StringIO(whole)) if whole else [list(columns)]
    if tuple(header) != tuple(columns):
        raise WrongResultsError(
            f"{path} is not a result file of this version: its columns are "
            f"{', '.join(header)} instead of {', '.join(columns)}. Store these elsewhere."
        )
    return [row for row in rows if len(row) == len(columns)]


def _write(file: BinaryIO, rows: list[list[str]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    file.write(text.getvalue().encode())
    file.flush()
    os.fsync(file.fileno())


def _text(cell: Any) -> str:
    return repr(float(cell)) if isinstance(cell, float) else str(cell)


def _order(key: Key) -> list[tuple[bool, float, str]]:
    """Numbers by size, other texts by the alphabet."""
    return [(part.isdigit(), float(part) if part.isdigit() else 0.0, part) for part in key]


def _lock(path: Path) -> Any:
    """Keep other runs from writing to the file, as long as this one lives. None on a system without."""
    try:
        import fcntl
    except ImportError:  # not on this system
        return None
    name = path.with_name(path.name + ".lock")
    lock = name.open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise BlockingIOError(
            f"Another run is writing to {path}. Wait for it, or store these elsewhere."
        ) from None
    with suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(lock.fileno()), name.stat()):
            return lock
    lock.close()  # a run that ended just now took its file away, so nobody else would see this lock
    return _lock(path)
