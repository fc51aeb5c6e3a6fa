"""The lock of the one supervisor: who serves this ledger, and whether it still does.

It lies in the ledger itself, so that a supervisor that was paused and taken over cannot write: what it writes checks
its token in the same transaction.
"""

from __future__ import annotations

from pathlib import Path

from submitter.errors import Place
from submitter.ledger.database import Database
from submitter.ledger.home import LedgerError
from submitter.ledger.model import Holder
from submitter.ledger.process import is_gone

BEAT_EVERY_S = 5.0
STALE_AFTER_S = 60.0
"""Twelve missed beats. A beat that far in the future is no sign of life either: a clock was wrong."""


class LockHeldError(LedgerError):
    """Another supervisor serves this ledger."""


class Lock:
    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, holder: Holder, now_ms: int) -> Holder | None:
        """None: it is ours now, or was. Else the one that has it: alive, or not silent for `STALE_AFTER_S` yet."""
        with self._database.transaction() as connection:
            found = self.holder()
            if found is not None and found.token != holder.token and not is_stale(found, now_ms):
                return found
            connection.execute(
                "INSERT OR REPLACE INTO supervisor VALUES (1, ?, ?, ?, ?, ?)",
                (holder.host, holder.pid, holder.started, holder.token, now_ms),
            )
        return None

    def beat(self, holder: Holder, now_ms: int) -> bool:
        """A sign of life, every `BEAT_EVERY_S`; False: the lock is another's now, write nothing more."""
        with self._database.transaction(durable=False) as connection:
            kept = connection.execute("UPDATE supervisor SET heartbeat_ms = ? WHERE token = ?", (now_ms, holder.token))
        return kept.rowcount == 1

    def leave(self, holder: Holder) -> None:
        """Gives it back; another's stays."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM supervisor WHERE token = ?", (holder.token,))

    def holder(self) -> Holder | None:
        rows = self._database.read("SELECT host, pid, started, token, heartbeat_ms FROM supervisor")
        return Holder(*rows[0]) if rows else None


def is_stale(holder: Holder, now_ms: int) -> bool:
    """Its process has ended, or nothing was heard of it for too long. A process that is paused is silent too."""
    return is_gone(holder) is True or abs(now_ms - holder.heartbeat_ms) >= STALE_AFTER_S * 1000


def held(holder: Holder, home: Path, now_ms: int) -> LockHeldError:
    """The error for a second supervisor."""
    return LockHeldError(
        "ledger.held",
        Place(key="NPURUN_HOME"),
        home=home,
        host=holder.host,
        pid=holder.pid,
        seconds=f"{max(0, now_ms - holder.heartbeat_ms) / 1000:.0f}",
        bound=f"{STALE_AFTER_S:.0f}",
    )
