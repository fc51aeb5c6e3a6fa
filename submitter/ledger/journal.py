"""How SQLite keeps a transaction: WAL on a local file system, a rollback journal on one that hosts may share.

WAL's index is memory shared by the processes of one host. Two hosts with one WAL file would each have their own, and
damage the file. So a ledger that was once opened on a network file system is marked and keeps its rollback journal,
also for a host to which the same folder is local (the file server itself).
"""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from submitter.errors import Place
from submitter.ledger.home import LedgerError
from submitter.ledger.mounts import is_network
from submitter.texts import Phrase

SHARED_MARK = 0x6E7072
"""`application_id` of a ledger that hosts may share."""
RETRY_S = 0.02
"""A change of the journal's mode does not wait for other processes by itself."""
YIELD_MS = 100
"""Longer than others' short transactions, also over a network."""


@dataclass(frozen=True)
class Journal:
    mode: str
    """`wal` or `delete`; `off` where the home can only be read."""
    filesystem: str
    """Type of the mount; empty where it is not known."""

    @property
    def warning(self) -> Phrase | None:
        """To be told once by whoever serves the ledger."""
        if is_network(self.filesystem):
            return Phrase("ledger.network", {"filesystem": self.filesystem})
        return None


def settle(
    connect: Callable[[], sqlite3.Connection], file: Path, filesystem: str, wait_s: float
) -> tuple[sqlite3.Connection, Journal]:
    """A connection to the file, in the mode that its file system allows.

    LedgerError where another process has a file on a network file system open as a local one.
    """
    deadline = time.monotonic() + wait_s
    while True:
        connection = connect()
        try:
            return connection, Journal(_mode(connection, filesystem, deadline), filesystem)
        except sqlite3.OperationalError as error:
            connection.close()
            if not _is_busy(error):
                raise
            if time.monotonic() > deadline and wal_of(file).exists():
                raise LedgerError("ledger.wal_elsewhere", Place(key="NPURUN_HOME"), filesystem=filesystem) from error
            if time.monotonic() > deadline:
                raise
        except BaseException:  # nobody else has the object yet
            connection.close()
            raise
        time.sleep(RETRY_S * random.uniform(0.5, 1.5))


def wal_of(file: Path) -> Path:
    """What is in it, and not yet in the file, is part of the ledger."""
    return file.with_name(f"{file.name}-wal")


def _mode(connection: sqlite3.Connection, filesystem: str, deadline: float) -> str:
    if is_network(filesystem):
        return _shared(connection)
    if _pragma(connection, "application_id") == SHARED_MARK:
        return str(_pragma(connection, "journal_mode"))
    return _local(connection, deadline)


def _shared(connection: sqlite3.Connection) -> str:
    """Raises "locked" soon: two that do this at once hold each other up, and one has to let go."""
    wait_ms = _pragma(connection, "busy_timeout")
    connection.execute(f"PRAGMA busy_timeout = {YIELD_MS}")
    # In exclusive mode SQLite reads a WAL file without shared memory, and only while nobody else has it open.
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    mode = str(_pragma(connection, "journal_mode = DELETE"))
    if _pragma(connection, "application_id") != SHARED_MARK:
        connection.execute(f"PRAGMA application_id = {SHARED_MARK}")
    connection.execute("PRAGMA locking_mode = NORMAL")
    _pragma(connection, "user_version")  # the lock goes with the next read
    connection.execute(f"PRAGMA busy_timeout = {wait_ms}")
    return mode


def _local(connection: sqlite3.Connection, deadline: float) -> str:
    """`delete` when others kept the file busy all the time: it works too, and the next one tries again."""
    while True:
        try:
            mode = str(_pragma(connection, "journal_mode = WAL"))
        except sqlite3.OperationalError as error:
            if not _is_busy(error):
                raise
            mode = "delete"
        if mode == "wal" or time.monotonic() > deadline:
            return mode
        time.sleep(RETRY_S)


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return "locked" in str(error)


def _pragma(connection: sqlite3.Connection, name: str) -> object:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]
