"""The one file: opening it, transactions, and one clear line for each thing that can be wrong with it."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from submitter.errors import Place
from submitter.ledger.home import LedgerError, prepare_home
from submitter.ledger.journal import Journal, settle, wal_of
from submitter.ledger.mounts import MOUNTINFO, filesystem
from submitter.ledger.schema import VERSION, migrate, version

BUSY_WAIT_S = 10.0
"""Another process holds the file for milliseconds; NFS locks can take seconds."""

_OWN_BITS = 32
"""So many bits SQLite's counter of a connection's own changes has."""

# SQLite has no error codes in Python 3.10: its messages are stable and told apart by these words.
_PROBLEMS = (
    ("readonly", "ledger.readonly"),
    ("unable to open", "ledger.readonly"),
    ("full", "ledger.full"),
    ("locked", "ledger.locked"),
    ("not a database", "ledger.corrupt"),
    ("malformed", "ledger.corrupt"),
)


class LockLostError(LedgerError):
    """Another supervisor has taken over: this one must write nothing more."""


class Database:
    """Raises `LedgerError`, one line, for everything that can be wrong with folder or file.

    Threads may share it: one transaction at a time.
    """

    def __init__(self, home: Path, mountinfo: Path = MOUNTINFO) -> None:
        self.path = prepare_home(home)
        self._alone = threading.RLock()
        with self._told():
            self.connection, self.journal = _opened(self.path, filesystem(home, mountinfo))
            try:
                self._check_version()
            except BaseException:  # nobody else has the object yet
                self.connection.close()
                raise

    def read(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        with self._alone, self._told():
            return self.connection.execute(sql, values).fetchall()

    def changes(self) -> int:
        """Another number than before: something was written since, by this connection or by another one."""
        with self._alone, self._told():
            others = self.connection.execute("PRAGMA data_version").fetchone()[0]
            return int(others) << _OWN_BITS | self.connection.total_changes & ~(-1 << _OWN_BITS)

    @contextmanager
    def transaction(self, holder: str | None = None, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """All or nothing; joins one that this thread has begun.

        `holder`: the token of the supervisor's lock, checked inside; LockLostError when it is another's by now.
        `durable`: survives a power failure, not only the process's end. What can be seen again need not.
        """
        with self._alone, self._told():
            if self.connection.in_transaction:
                self._check(holder)
                yield self.connection
                return
            self._sync(durable)
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                self._check(holder)
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:  # Ctrl-C too: another process may be waiting for the file
                with suppress(sqlite3.Error):  # SQLite has rolled back by itself, or will when the file is opened
                    self.connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """After what another thread does with it: a connection that is closed under a statement ends the process."""
        with self._alone:
            self.connection.close()

    def _check_version(self) -> None:
        found = migrate(self.connection) if self.journal.mode != "off" else version(self.connection)
        if found > VERSION:
            raise LedgerError("ledger.newer", self._place(), found=found, known=VERSION)
        if found < VERSION:
            raise LedgerError("ledger.older", self._place(), found=found, known=VERSION)

    def _sync(self, durable: bool) -> None:
        """WAL may leave the sync to the next durable transaction; without it every commit syncs."""
        level = "FULL" if durable or self.journal.mode != "wal" else "NORMAL"
        self.connection.execute(f"PRAGMA synchronous = {level}")

    def _check(self, holder: str | None) -> None:
        if holder is None:
            return
        row = self.connection.execute("SELECT token, host, pid FROM supervisor").fetchone()
        if row is None or row[0] != holder:
            _, host, pid = row or ("", "-", "-")
            raise LockLostError("ledger.lock_lost", self._place(), host=host, pid=pid)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise LedgerError(self._problem(str(error)), self._place(), reason=str(error)) from error

    def _problem(self, said: str) -> str:
        found = next((known for word, known in _PROBLEMS if word in said), "ledger.io")
        # Where its helper files find no room, SQLite says only that it cannot open them, or "disk I/O error".
        return "ledger.full" if found in ("ledger.io", "ledger.readonly") and self._is_full() else found

    def _is_full(self) -> bool:
        with suppress(OSError):
            disk = os.statvfs(self.path.parent)
            return not disk.f_flag & os.ST_RDONLY and (disk.f_bavail == 0 or (disk.f_files > 0 and disk.f_favail == 0))
        return False

    def _place(self) -> Place:
        return Place(file=str(self.path))


def _opened(file: Path, kind: str) -> tuple[sqlite3.Connection, Journal]:
    if os.access(file.parent, os.W_OK):
        return settle(lambda: _connect(file, "mode=rw"), file, kind, BUSY_WAIT_S)
    # A WAL file wants its helper files, which a folder that can only be read may lack; then nobody changes it either.
    return _connect(file, "mode=ro" if wal_of(file).exists() else "immutable=1"), Journal("off", kind)


def _connect(file: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{file.absolute().as_uri()}?{how}",
        uri=True,
        timeout=BUSY_WAIT_S,
        isolation_level=None,  # autocommit: each transaction says where it begins
        check_same_thread=False,
    )
    connection.execute("PRAGMA foreign_keys = ON")
    return connection
