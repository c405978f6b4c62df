"""The ledger on disk: a SQLite file, so that an interrupted search goes on where it stopped.

The file holds numbers and short texts only; nothing in it is ever unpickled or executed.
"""

from __future__ import annotations

import os
import sqlite3
import time
import warnings
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadycv.fitting import Fit, Job
    from steadycv.ledger import Ledger

__all__ = ["LedgerFile"]

APPLICATION_ID = 0x57EAD1  # tells our files from other SQLite files
FORMAT_VERSION = 1
SECONDS_BETWEEN_COMMITS = 0.2

_SCHEMA = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FORMAT_VERSION};
CREATE TABLE identity (part TEXT PRIMARY KEY, fingerprint TEXT NOT NULL);
CREATE TABLE numbers (
    candidate TEXT NOT NULL,
    field TEXT NOT NULL,
    float64 BLOB NOT NULL,
    PRIMARY KEY (candidate, field)
);
CREATE TABLE candidates (candidate TEXT PRIMARY KEY, settings TEXT NOT NULL);
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
        self._path = os.fspath(path)
        self._keys = keys
        self._settings = settings
        self._ledger: Ledger | None = None
        self._last_commit = time.monotonic()
        with self._explained():
            # Transactions are ours: they begin with the first number written and end in commits.
            self._connection = sqlite3.connect(self._path, isolation_level=None, timeout=60)
            try:
                self._open(identity)
            except BaseException:
                self._connection.close()
                raise

    def _open(self, identity: dict[str, str]) -> None:
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")  # fails here, before any work, if it cannot be written
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)
            connection.executemany("INSERT INTO identity VALUES (?, ?)", identity.items())
        connection.execute("COMMIT")
        [damage] = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if damage != "ok":
            raise sqlite3.DatabaseError(damage)
        if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise ValueError(
                f"{self._path!r} is a SQLite file, but not a ledger. It was left as it is; pass "
                "another path as ledger=."
            )
        [version] = connection.execute("PRAGMA user_version").fetchone()
        if version != FORMAT_VERSION:
            raise ValueError(
                f"The ledger {self._path!r} has format {version}, and this version of steadycv "
                f"reads format {FORMAT_VERSION}. Pass another path as ledger=."
            )
        stored = dict(connection.execute("SELECT part, fingerprint FROM identity"))
        if stored != identity:
            other = [part for part in identity if stored.get(part) != identity[part]]
            raise ValueError(
                f"The ledger {self._path!r} belongs to another search: its {', '.join(other)} "
                f"{'are' if len(other) > 1 else 'is'} different. Pass another path as ledger=, or "
                "delete the file to start anew."
            )

    def load(self, ledger: Ledger) -> None:
        """Fill the ledger with what the file knows of its candidates."""
        self._ledger = ledger
        places: dict[str, list[int]] = {}
        for candidate, key in enumerate(self._keys):
            places.setdefault(key, []).append(candidate)
        with self._explained():
            rows = self._connection.execute("SELECT candidate, field, float64 FROM numbers")
            for key, field, blob in rows:
                for candidate in places.get(key, ()):
                    ledger.restore(candidate, field, np.frombuffer(blob, dtype="<f8"))

    def start(self, jobs: Sequence[Job]) -> None:
        """A batch of fits begins."""

    def fitted(self, job: Job, fit: Fit) -> None:
        """Nothing to keep before a candidate's batch is complete."""

    def complete(self, candidate: int) -> None:
        """Keep what is known of a candidate."""
        if self._ledger is None:
            return
        try:
            if not self._connection.in_transaction:
                self._connection.execute("BEGIN IMMEDIATE")
            key = self._keys[candidate]
            self._connection.execute(
                "INSERT OR IGNORE INTO candidates VALUES (?, ?)", (key, self._settings[candidate])
            )
            self._connection.executemany(
                "INSERT OR REPLACE INTO numbers VALUES (?, ?, ?)",
                [
                    (key, field, np.ascontiguousarray(values, dtype="<f8").tobytes())
                    for field, values in self._ledger.fields(candidate)
                ],
            )
            if time.monotonic() - self._last_commit > SECONDS_BETWEEN_COMMITS:
                self._commit()
        except sqlite3.Error as error:
            self._give_up(error)

    def _commit(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")
        self._last_commit = time.monotonic()

    def _give_up(self, error: sqlite3.Error) -> None:
        """Go on in memory: what was fitted is worth more than the file."""
        self._ledger = None
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        warnings.warn(
            f"The ledger {self._path!r} could not be written any more ({error}). The search goes "
            "on in memory; what the file already has is intact.",
            UserWarning,
            stacklevel=2,
        )

    def __exit__(self, *_: object) -> None:
        try:
            self._commit()
        except sqlite3.Error as error:
            self._give_up(error)
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
