"""How SQLite keeps a transaction: WAL on a local file system, a rollback journal on one that hosts may share.

WAL's index is memory shared by the processes of one host. Two hosts with one WAL file would each have their own, and
damage the file. So a ledger that was once opened on a network file system is marked and keeps its rollback journal,
also for a host to which the same folder is local (the file server itself).
"""

from __future__ import annotations

import sqlite3
import time
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


def settle(connection: sqlite3.Connection, file: Path, filesystem: str, wait_s: float) -> Journal:
    """Brings the file into the mode that its file system allows; LedgerError where a process holds it in the other."""
    if is_network(filesystem):
        return Journal(_shared(connection, file, filesystem), filesystem)
    if _pragma(connection, "application_id") == SHARED_MARK:
        return Journal(str(_pragma(connection, "journal_mode")), filesystem)
    return Journal(_local(connection, wait_s), filesystem)


def wal_of(file: Path) -> Path:
    """What is in it, and not yet in the file, is part of the ledger."""
    return file.with_name(f"{file.name}-wal")


def _shared(connection: sqlite3.Connection, file: Path, filesystem: str) -> str:
    # In exclusive mode SQLite reads a WAL file without shared memory, and only while nobody else has it open.
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    try:
        mode = str(_pragma(connection, "journal_mode = DELETE"))
        if _pragma(connection, "application_id") != SHARED_MARK:
            connection.execute(f"PRAGMA application_id = {SHARED_MARK}")
    except sqlite3.OperationalError as error:
        if "locked" not in str(error) or not wal_of(file).exists():
            raise
        raise LedgerError("ledger.wal_elsewhere", Place(key="NPURUN_HOME"), filesystem=filesystem) from error
    connection.execute("PRAGMA locking_mode = NORMAL")
    _pragma(connection, "user_version")  # the lock goes with the next read
    return mode


def _local(connection: sqlite3.Connection, wait_s: float) -> str:
    """`delete` when others kept the file busy all the time: it works too, and the next one tries again."""
    deadline = time.monotonic() + wait_s
    while True:
        try:
            mode = str(_pragma(connection, "journal_mode = WAL"))
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            mode = "delete"
        if mode == "wal" or time.monotonic() > deadline:
            return mode
        time.sleep(RETRY_S)


def _pragma(connection: sqlite3.Connection, name: str) -> object:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]
