"""The ledger on disk: a SQLite file, so that an interrupted search goes on where it stopped.

The file holds numbers and short texts only; nothing in it is ever unpickled or executed.
"""

from __future__ import annotations

import hashlib
import os
import signal
import sqlite3
import threading
import time
import warnings
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from steadycv.kept import Heard
from steadycv.waiting import Block

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from steadycv.planning import Line
    from steadycv.reducing import Cells
    from steadycv.selection import State
    from steadycv.tasks import Task

__all__ = ["LedgerFile"]

APPLICATION_ID = 0x57EAD1  # tells our files from other SQLite files
FORMAT_VERSION = 3
WRITING_SHARE = 0.1  # of the time, at most, goes into writing after fits that are quicker than it
MOST_WAITING_BYTES = 2**26  # of losses that wait to be compared; more are fitted again later

_SCHEMA = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FORMAT_VERSION};
CREATE TABLE identity (part TEXT PRIMARY KEY, fingerprint TEXT NOT NULL);
CREATE TABLE candidates (candidate TEXT PRIMARY KEY, settings TEXT NOT NULL);
CREATE TABLE numbers (
    candidate TEXT NOT NULL,
    field TEXT NOT NULL,
    float64 BLOB NOT NULL,
    checksum TEXT NOT NULL,
    PRIMARY KEY (candidate, field)
);
CREATE TABLE outputs (
    candidate TEXT NOT NULL,
    training_set INTEGER NOT NULL,
    split INTEGER NOT NULL,
    method TEXT NOT NULL,
    dtype TEXT NOT NULL,
    shape TEXT NOT NULL,
    bytes BLOB NOT NULL,
    checksum TEXT NOT NULL,
    PRIMARY KEY (candidate, training_set, split, method)
);
CREATE TABLE waiting (
    line TEXT NOT NULL,
    training_set INTEGER NOT NULL,
    float64 BLOB NOT NULL,
    checksum TEXT NOT NULL,
    PRIMARY KEY (line, training_set)
);
CREATE TABLE students (
    student TEXT NOT NULL,
    name TEXT NOT NULL,
    dtype TEXT NOT NULL,
    shape TEXT NOT NULL,
    bytes BLOB NOT NULL,
    checksum TEXT NOT NULL,
    PRIMARY KEY (student, name)
);
"""
_TABLES = {"identity", "candidates", "numbers", "outputs", "waiting", "students"}


class LedgerFile(AbstractContextManager["LedgerFile"]):
    """Keeps a ledger in a file as it grows.

    Parameters
    ----------
    path : path-like
        The file; made if it does not exist.
    identity : dict of str to str
        Fingerprints of the parts of a search that its numbers depend on. A file with others is
        refused.
    describe : callable
        Gives, of the candidates from a number on, the fingerprints, and texts for people who look into
        the file.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        identity: dict[str, str],
        describe: Callable[[int], tuple[list[str], list[str]]],
    ) -> None:
        self._path = str(Path(path).absolute())  # ":memory:" would not be a file
        self._describe = describe
        self._keys: list[str] = []
        self._settings: list[str] = []
        self._state: State | None = None
        self._lines: Sequence[Line] = ()
        self._line_keys: list[str] = []
        self._pending: set[int] = set()
        self._taught: dict[str, dict[str, NDArray[Any]]] = {}
        self._written: set[tuple[int, Heard]] = set()
        self._held: dict[tuple[int, int], int] = {}
        self._next_write = self._seconds_to_write = self._next_sync = 0.0
        self._is_synced = True  # the first write makes the log
        with self._explained():
            self._check_is_sqlite()
            # Transactions are ours, and short: another search may use the file as well.
            self._connection = sqlite3.connect(self._path, isolation_level=None, timeout=60)
            try:
                with self._transaction():
                    self._open(identity)
            except BaseException:
                self._connection.close()
                raise

    def _check_is_sqlite(self) -> None:
        """SQLite would take a very short file for an empty one, and write over it."""
        path = Path(self._path)
        if path.is_file() and path.stat().st_size:
            with path.open("rb") as file:
                if file.read(16) != b"SQLite format 3\0":
                    raise sqlite3.DatabaseError("file is not a database")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _open(self, identity: dict[str, str]) -> None:
        connection = self._connection
        [application] = connection.execute("PRAGMA application_id").fetchone()
        [version] = connection.execute("PRAGMA user_version").fetchone()
        [n_tables] = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if (application, version, n_tables) == (0, 0, 0):
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)
            connection.executemany("INSERT INTO identity VALUES (?, ?)", identity.items())
            return
        if application != APPLICATION_ID:
            raise ValueError(
                f"{self._path!r} is a SQLite file, but not a ledger. It was left as it is; pass "
                "another path as ledger=."
            )
        if version != FORMAT_VERSION:
            raise ValueError(
                f"The ledger {self._path!r} has format {version}, and this version of steadycv "
                f"reads format {FORMAT_VERSION}. Pass another path as ledger=."
            )
        [damage] = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if damage != "ok":
            raise sqlite3.DatabaseError(damage)
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if not tables >= _TABLES:
            raise sqlite3.DatabaseError("a table is missing")
        stored = dict(connection.execute("SELECT part, fingerprint FROM identity"))
        if stored != identity:
            other = [part for part in identity if stored.get(part) != identity[part]]
            raise ValueError(
                f"The ledger {self._path!r} belongs to another search: its {', '.join(other)} "
                f"{'are' if len(other) > 1 else 'is'} different. Pass another path as ledger=, or "
                "delete the file to start anew. Where a search is fitted on one part of the data after "
                "another, as in cross_val_score or inside another search, leave ledger= out."
            )

    def load(self, state: State, lines: Sequence[Line], n_losses: int) -> None:
        """Fill the state with what the file knows of its candidates, and go on writing it down.

        What failed is not taken over: it is tried again. A model has `n_losses` losses.
        """
        self._state = state
        self._n_losses = n_losses
        self._lines = lines
        self.grown()
        with self._explained():
            # A file that cannot be written is to be an error now, and not after the first fits.
            self._connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
            # What is committed is with the operating system, and survives us, before it is on the disk.
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")

    def grown(self) -> None:
        """Take from the file what it knows of the candidates that are new."""
        if self._state is None:
            return
        first, first_line = len(self._keys), len(self._line_keys)
        keys, settings = self._describe(first)
        self._keys += keys
        self._settings += settings
        self._line_keys += [
            _digest(*(self._keys[c] for c in line.candidates.tolist()))
            for line in self._lines[first_line:]
        ]
        places: dict[str, list[int]] = {}
        for candidate, key in enumerate(keys, start=first):
            places.setdefault(key, []).append(candidate)
        with self._explained():
            self._load_numbers(places)
            self._load_outputs(places)
            self._state.ledger.forget_failures(first)
            self._load_waiting(first_line)

    def _load_numbers(self, places: dict[str, list[int]]) -> None:
        assert self._state is not None
        query = "SELECT candidate, field, float64, checksum FROM numbers"
        for key, field, blob, checksum in self._connection.execute(query):
            if not isinstance(blob, bytes) or checksum != _digest(key, field, blob):
                raise sqlite3.DatabaseError(f"the numbers of {field!r} are not what was written")
            for candidate in places.get(key, ()):
                self._state.ledger.restore(candidate, field, np.frombuffer(blob, dtype="<f8"))

    def _load_outputs(self, places: dict[str, list[int]]) -> None:
        assert self._state is not None
        query = (
            "SELECT candidate, training_set, split, method, dtype, shape, bytes, checksum FROM outputs"
        )
        for key, *place, dtype, shape, blob, checksum in self._connection.execute(query):
            described = (*map(str, place), dtype, shape)
            if not isinstance(blob, bytes) or checksum != _digest(key, *described, blob):
                raise sqlite3.DatabaseError("the outputs are not what was written")
            for candidate in places.get(key, ()):
                sizes = [1, *(int(size) for size in shape.split())]
                outputs = np.frombuffer(blob, dtype=np.dtype(dtype)).reshape(sizes)
                heard = Heard(*place)
                self._state.kept.keep(np.array([candidate]), heard, outputs)
                self._written.add((candidate, heard))

    def _load_waiting(self, first_line: int) -> None:
        """Losses that wait for others are of use where these are still to come."""
        assert self._state is not None
        ledger = self._state.ledger
        lattice = ledger.lattice
        new_lines = enumerate(self._line_keys[first_line:], start=first_line)
        numbers = {key: number for number, key in new_lines}
        query = "SELECT line, training_set, float64, checksum FROM waiting"
        for key, training_set, blob, checksum in self._connection.execute(query):
            if not isinstance(blob, bytes) or checksum != _digest(key, str(training_set), blob):
                raise sqlite3.DatabaseError("the losses are not what was written")
            number = numbers.get(key)
            if number is None or training_set >= lattice.n_training_sets:
                continue
            candidates = self._lines[number].candidates
            waits_for = {
                comparison
                for comparison, _ in lattice.comparisons_of[training_set]
                if np.isnan(ledger.change[candidates, comparison]).any()
            }
            losses = np.frombuffer(blob, dtype="<f8").reshape(len(candidates), -1)
            if waits_for and losses.shape[1] == self._n_losses:
                self._state.waiting.restore(training_set, Block(candidates, losses, waits_for))
                self._held[number, training_set] = len(blob)

    def start(self, tasks: Sequence[Task]) -> None:
        """Tasks begin."""

    def fitted(self, task: Task, cells: Cells) -> None:
        """Write down what is there at once; of fits that are quicker than that, a few at a time."""
        self._pending.update(task.candidates.tolist())
        self._write_soon(cells.fit_time * len(task.candidates))

    def taught(self, students: dict[str, dict[str, NDArray[Any]]], seconds: float) -> None:
        """Write down what is known of students, by name, in the same way."""
        if self._state is not None:
            self._taught.update(students)
            self._write_soon(seconds)

    def students(self, keys: Sequence[str], names: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """What is known of each student, as far as it was written down by these names."""
        query = "SELECT name, dtype, shape, bytes, checksum FROM students WHERE student = ?"
        with self._explained():
            for key in keys:
                known = {}
                for name, dtype, shape, blob, checksum in self._connection.execute(query, [key]):
                    if not isinstance(blob, bytes) or checksum != _digest(key, name, dtype, shape, blob):
                        raise sqlite3.DatabaseError("what students say is not what was written")
                    if name in names:
                        sizes = [int(size) for size in shape.split()]
                        known[name] = np.frombuffer(blob, dtype=np.dtype(dtype)).reshape(sizes)
                yield known

    def _write_soon(self, seconds: float) -> None:
        """Write at once what took as long as writing does."""
        if seconds >= self._seconds_to_write or time.monotonic() >= self._next_write:
            self._write()

    def _write(self) -> None:
        if self._state is None:
            return
        start = time.monotonic()
        try:
            with self._transaction():
                for candidate in sorted(self._pending):
                    self._write_candidate(candidate)
                written = self._write_outputs()
                held = self._write_waiting()
                self._write_students()
            # Not before it is done: whoever interrupts us takes the transaction back.
            self._written, self._held = written, held
            self._wrote_for(time.monotonic() - start)
        except sqlite3.Error as error:
            # What was fitted is worth more than the file.
            self._state = None
            warnings.warn(
                f"The ledger {self._path!r} could not be written any more ({error}). The search "
                "goes on in memory; what the file already has is intact.",
                UserWarning,
                stacklevel=2,
            )
        self._pending.clear()
        self._taught.clear()

    def _write_candidate(self, candidate: int) -> None:
        assert self._state is not None
        key = self._keys[candidate]
        self._connection.execute(
            "INSERT OR IGNORE INTO candidates VALUES (?, ?)", (key, self._settings[candidate])
        )
        stored = dict(
            self._connection.execute("SELECT field, float64 FROM numbers WHERE candidate = ?", [key])
        )
        for field, values in self._state.ledger.fields(candidate):
            numbers = np.ascontiguousarray(values, dtype="<f8")
            if field in stored:  # another search may know what this one does not
                numbers = _joined(numbers, np.frombuffer(stored[field], "<f8"))
            blob = numbers.tobytes()
            self._connection.execute(
                "INSERT OR REPLACE INTO numbers VALUES (?, ?, ?, ?)",
                (key, field, blob, _digest(key, field, blob)),
            )

    def _wrote_for(self, seconds: float) -> None:
        """See to it that writing takes its share of the time, and no more."""
        if self._is_synced:  # the first write after that waits for the disk as well
            self._is_synced = False
            self._next_sync += seconds / WRITING_SHARE
        else:
            self._seconds_to_write = seconds
            self._next_write = time.monotonic() + seconds / WRITING_SHARE
        if time.monotonic() >= self._next_sync:
            self._sync()

    def _sync(self) -> None:
        """Have what is committed put on the disk, against a power cut; it takes much longer."""
        start = time.monotonic()
        self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        end = time.monotonic()
        self._next_sync = end + (end - start) / WRITING_SHARE
        self._is_synced = True

    def _write_outputs(self) -> set[tuple[int, Heard]]:
        """Write outputs that are new, and take away those that nobody will ask for."""
        assert self._state is not None
        kept = self._state.kept
        for candidate, heard in self._written - set(kept):
            self._connection.execute(
                "DELETE FROM outputs "
                "WHERE candidate = ? AND training_set = ? AND split = ? AND method = ?",
                (self._keys[candidate], *heard),
            )
        for candidate, heard in set(kept) - self._written:
            self._write_array("outputs", (self._keys[candidate], *heard), kept[candidate, heard])
        return set(kept)

    def _write_students(self) -> None:
        for key, known in self._taught.items():
            for name, outputs in known.items():
                self._write_array("students", (key, name), outputs)

    def _write_array(self, table: str, place: tuple[Any, ...], outputs: NDArray[Any]) -> None:
        """Write what stands at a place; labels that are Python's objects are fitted again."""
        outputs = np.asarray(outputs, order="C")
        if outputs.dtype.hasobject:
            return
        row = (*place, outputs.dtype.str, " ".join(map(str, outputs.shape)), outputs.tobytes())
        row = (*row, _digest(*(each if isinstance(each, bytes) else str(each) for each in row)))
        marks = ", ".join("?" * len(row))
        self._connection.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", row)

    def _write_waiting(self) -> dict[tuple[int, int], int]:
        """The same for losses that are still to be compared: their sizes."""
        assert self._state is not None
        line_of = self._line_of
        waiting = {
            (line_of[block.candidates.tobytes()], training_set): block
            for training_set, block in self._state.waiting.blocks()
        }
        held = {place: size for place, size in self._held.items() if place in waiting}
        for number, training_set in self._held.keys() - held.keys():
            self._connection.execute(
                "DELETE FROM waiting WHERE line = ? AND training_set = ?",
                (self._line_keys[number], training_set),
            )
        for place in waiting.keys() - held.keys():
            losses = self._state.waiting.losses(waiting[place])
            blob = np.ascontiguousarray(losses, dtype="<f8").tobytes()
            if sum(held.values()) + len(blob) > MOST_WAITING_BYTES:
                break
            key = self._line_keys[place[0]]
            self._connection.execute(
                "INSERT OR REPLACE INTO waiting VALUES (?, ?, ?, ?)",
                (key, place[1], blob, _digest(key, str(place[1]), blob)),
            )
            held[place] = len(blob)
        return held

    @property
    def _line_of(self) -> dict[bytes, int]:
        return {line.candidates.tobytes(): number for number, line in enumerate(self._lines)}

    def __enter__(self) -> LedgerFile:
        self._at_exit = ExitStack()
        self._at_exit.enter_context(_terminated_like_interrupted())
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._write()
            self._tidy_up()
        finally:
            self._connection.close()
            self._at_exit.close()

    def _tidy_up(self) -> None:
        """Leave one file, unless another search uses it still."""
        with suppress(sqlite3.Error):
            self._connection.execute("PRAGMA busy_timeout = 0")
            self._connection.execute("PRAGMA journal_mode = DELETE")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say what to do about an error of SQLite."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise OSError(
                f"The ledger {self._path!r} cannot be opened for writing: {error}. Is the folder "
                "there and writable, is there room on the disk, does another search use it?"
            ) from error
        except sqlite3.DatabaseError as error:
            raise ValueError(
                f"The ledger {self._path!r} is damaged or not a ledger: {error}. It was left as it "
                "is; move it away, or pass another path as ledger=."
            ) from error


def _terminate(number: int, _: Any) -> None:
    raise SystemExit(128 + number)


def _leave_workers_alone() -> None:
    """A worker that is forked is to end at once, as it would without us."""
    if signal.getsignal(signal.SIGTERM) is _terminate:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


if hasattr(os, "register_at_fork"):  # where processes can be forked
    os.register_at_fork(after_in_child=_leave_workers_alone)


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """Let SIGTERM end a search as Ctrl-C does, so that what is known is written down."""
    is_ours = threading.current_thread() is threading.main_thread() and (
        signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )
    if not is_ours:
        yield
        return

    signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _joined(new: NDArray[np.float64], old: NDArray[np.float64]) -> NDArray[np.float64]:
    """What is known of either: the columns of a lattice without inner views come first in one with."""
    size = max(len(new), len(old))
    new, old = (np.append(numbers, np.full(size - len(numbers), np.nan)) for numbers in (new, old))
    return np.where(np.isnan(new), old, new)


def _digest(*parts: str | bytes) -> str:
    hashed = hashlib.sha256()
    for part in parts:
        hashed.update((part.encode() if isinstance(part, str) else part) + b" ")
    return hashed.hexdigest()
