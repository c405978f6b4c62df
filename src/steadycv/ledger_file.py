"""The ledger on disk: a SQLite file, so that an interrupted search goes on where it stopped.

The file holds numbers and short texts only; nothing in it is ever unpickled or executed.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
import warnings
from contextlib import AbstractContextManager, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from steadycv.fingerprint import fingerprint

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from steadycv.fitting import Fit, Job, Problem
    from steadycv.ledger import Ledger

__all__ = ["LedgerFile", "identity"]

APPLICATION_ID = 0x57EAD1  # tells our files from other SQLite files
FORMAT_VERSION = 1
SECONDS_BETWEEN_WRITES = 0.2

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
"""


class LedgerFile(AbstractContextManager["LedgerFile"]):
    """Keeps a ledger in a file as it grows.

    Parameters
    ----------
    path : path-like
        The file; made if it does not exist.
    identity : dict of str to str
        Fingerprints of the parts of a search that its numbers depend on. A file with others is
        refused.
    keys : list of str
        Fingerprint of each candidate.
    settings : list of str
        Each candidate as a text, for people who look into the file.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        identity: dict[str, str],
        keys: list[str],
        settings: list[str],
    ) -> None:
        self._path = str(Path(path).absolute())  # ":memory:" would not be a file
        self._keys = keys
        self._settings = settings
        self._ledger: Ledger | None = None
        self._pending: set[int] = set()
        self._begun: set[int] = set()
        self._last_write = time.monotonic()
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
        if not {"identity", "candidates", "numbers"} <= tables:
            raise sqlite3.DatabaseError("a table is missing")
        stored = dict(connection.execute("SELECT part, fingerprint FROM identity"))
        if stored != identity:
            other = [part for part in identity if stored.get(part) != identity[part]]
            raise ValueError(
                f"The ledger {self._path!r} belongs to another search: its {', '.join(other)} "
                f"{'are' if len(other) > 1 else 'is'} different. Pass another path as ledger=, or "
                "delete the file to start anew."
            )

    def load(self, ledger: Ledger) -> None:
        """Fill the ledger with what the file knows of its candidates.

        What failed is not taken over: it is tried again.
        """
        self._ledger = ledger
        places: dict[str, list[int]] = {}
        for candidate, key in enumerate(self._keys):
            places.setdefault(key, []).append(candidate)
        with self._explained():
            query = "SELECT candidate, field, float64, checksum FROM numbers"
            for key, field, blob, checksum in self._connection.execute(query):
                if not isinstance(blob, bytes) or checksum != _checksum(key, field, blob):
                    raise sqlite3.DatabaseError(f"the numbers of {field!r} are not what was written")
                for candidate in places.get(key, ()):
                    ledger.restore(candidate, field, np.frombuffer(blob, dtype="<f8"))
            # A file that cannot be written is to be an error now, and not after the first fits.
            self._connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
        ledger.forget_failures()

    def start(self, jobs: Sequence[Job]) -> None:
        """A batch of fits begins."""

    def fitted(self, job: Job, fit: Fit) -> None:  # noqa: ARG002
        """Keep in mind what is begun; it is written if the search is interrupted."""
        self._begun.update(job.candidates.tolist())

    def complete(self, candidate: int) -> None:
        """Keep what is known of a candidate, soon."""
        self._begun.discard(candidate)
        self._pending.add(candidate)
        if time.monotonic() - self._last_write > SECONDS_BETWEEN_WRITES:
            self._write()

    def _write(self) -> None:
        if self._ledger is None:
            return
        try:
            with self._transaction():
                for candidate in sorted(self._pending):
                    self._write_candidate(self._ledger, candidate)
        except sqlite3.Error as error:
            # What was fitted is worth more than the file.
            self._ledger = None
            warnings.warn(
                f"The ledger {self._path!r} could not be written any more ({error}). The search "
                "goes on in memory; what the file already has is intact.",
                UserWarning,
                stacklevel=2,
            )
        self._pending.clear()
        self._last_write = time.monotonic()

    def _write_candidate(self, ledger: Ledger, candidate: int) -> None:
        key = self._keys[candidate]
        self._connection.execute(
            "INSERT OR IGNORE INTO candidates VALUES (?, ?)", (key, self._settings[candidate])
        )
        stored = dict(
            self._connection.execute("SELECT field, float64 FROM numbers WHERE candidate = ?", [key])
        )
        for field, values in ledger.fields(candidate):
            numbers = np.ascontiguousarray(values, dtype="<f8").ravel()
            if field in stored:  # another search may know what this one does not
                numbers = np.where(np.isnan(numbers), np.frombuffer(stored[field], "<f8"), numbers)
            blob = numbers.tobytes()
            self._connection.execute(
                "INSERT OR REPLACE INTO numbers VALUES (?, ?, ?, ?)",
                (key, field, blob, _checksum(key, field, blob)),
            )

    def __exit__(self, *_: object) -> None:
        self._pending |= self._begun
        try:
            self._write()
        finally:
            self._connection.close()

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


def identity(problem: Problem, *, use_paths: bool) -> dict[str, str]:
    """What the numbers in a ledger depend on, apart from the candidate."""
    packages = ("steadycv", "scikit-learn", "numpy", "scipy", "joblib")
    return {
        "data": fingerprint(problem.X, problem.y, problem.fit_params),
        "folds": fingerprint(problem.lattice.fold),
        "estimator": fingerprint(problem.estimator),
        "scoring": fingerprint(
            problem.driver.loss,
            problem.driver.name,
            problem.loss_weight,
            problem.scorer,
            problem.score_params,
            problem.return_train_score,
        ),
        "use of paths": str(use_paths),  # trees may break ties in another way
        "set of versions": " ".join(f"{name} {version(name)}" for name in packages),
    }


def _checksum(key: str, field: str, blob: bytes) -> str:
    return hashlib.sha256(f"{key} {field} ".encode() + blob).hexdigest()
