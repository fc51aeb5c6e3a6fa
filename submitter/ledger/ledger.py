"""Runs and attempts, durable before anything is posted.

SQLite with its rollback journal, not WAL: a home folder is often on NFS, where WAL does not work.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from submitter.errors import Place
from submitter.ledger.home import LedgerError, prepare_home
from submitter.ledger.schema import VERSION, migrate

BUSY_WAIT_S = 10.0
"""Another process holds the file for milliseconds; NFS locks can take seconds."""

_COLUMNS = (
    "submission_id",
    "run",
    "attempt",
    "body",
    "intended_ms",
    "posted_ms",
    "state",
    "reason",
    "end_record",
    "last_step",
    "started_ms",
    "ended_ms",
)

# SQLite has no error codes in Python 3.10: its messages are stable and told apart by these words.
_PROBLEMS = (
    ("readonly", "ledger.readonly"),
    ("unable to open", "ledger.readonly"),
    ("full", "ledger.full"),
    ("locked", "ledger.locked"),
    ("not a database", "ledger.corrupt"),
    ("malformed", "ledger.corrupt"),
)


@dataclass(frozen=True)
class Run:
    run: str
    job: str
    address: str
    spec: str
    """Hash of what its attempts do."""
    total_steps: int | None
    """As the job asks; None when the trainer works it out from its data."""
    created_ms: int


@dataclass(frozen=True)
class Attempt:
    submission_id: str
    run: str
    attempt: int
    body: str
    """The request, as posted; holds no secret's value."""
    intended_ms: int
    posted_ms: int | None = None
    """None: written down, but the cluster never confirmed it."""
    state: str | None = None
    """Ray's last word, once the attempt had ended; else None."""
    reason: str | None = None
    end: dict[str, Any] | None = None
    """The driver's last line; of one that was killed, only the `nodes` that its log proves."""
    last_step: int | None = None
    started_ms: int | None = None
    ended_ms: int | None = None


@dataclass(frozen=True)
class Quarantined:
    """One reason to keep a node out of new attempts. A node may have several; each ends on its own."""

    address: str
    """Of the cluster that the node is in."""
    node: str
    """IP, as Ray shows it."""
    submission_id: str
    """The attempt that found it out."""
    finding: str
    """`NR5xx`, or the reason of an attempt's end (`node_frozen`)."""
    evidence: dict[str, Any]
    since_ms: int
    until_ms: int
    released_ms: int | None = None


class Ledger:
    """Raises `LedgerError`, one line, for everything that can be wrong with folder or file."""

    def __init__(self, home: Path) -> None:
        self.path = prepare_home(home)
        with self._told():
            # Autocommit: each method says where its transaction begins.
            self._connection = sqlite3.connect(self.path, timeout=BUSY_WAIT_S, isolation_level=None)
            try:
                found = migrate(self._connection)
                if found > VERSION:
                    raise LedgerError("ledger.newer", self._place(), found=found, known=VERSION)
            except BaseException:  # nobody else has the object yet
                self._connection.close()
                raise

    def close(self) -> None:
        self._connection.close()

    def record_intent(
        self,
        *,
        run: str,
        attempt: int,
        submission_id: str,
        address: str,
        spec: str,
        job: str,
        total_steps: int | None,
        body: bytes,
        now_ms: int,
    ) -> Run:
        """On disk when this returns; the POST comes after. Again for the same attempt: changes nothing.

        Returns the run as the ledger has it: another process may have written it first, with another spec.
        """
        with self._transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?, ?)",
                (run, job, address, spec, total_steps, now_ms),
            )
            found = self._run(run)
            if found.spec == spec:
                connection.execute(
                    "INSERT OR IGNORE INTO attempts (submission_id, run, attempt, body, intended_ms)"
                    " VALUES (?, ?, ?, ?, ?)",
                    (submission_id, run, attempt, body.decode(), now_ms),
                )
        return found

    def withdraw(self, submission_id: str, intended_ms: int) -> None:
        """Forgets the intent of that moment, which surely never reached the cluster, and its run if that was all of it.

        An earlier intent of the same attempt stays: it may be another process's, or its POST still in doubt.
        """
        with self._transaction() as connection:
            connection.execute(
                "DELETE FROM attempts WHERE submission_id = ? AND intended_ms = ? AND posted_ms IS NULL",
                (submission_id, intended_ms),
            )
            connection.execute("DELETE FROM runs WHERE run NOT IN (SELECT run FROM attempts)")

    def record_posted(self, submission_id: str, now_ms: int) -> None:
        """The cluster has it."""
        with self._transaction() as connection:
            connection.execute(
                "UPDATE attempts SET posted_ms = ? WHERE submission_id = ? AND posted_ms IS NULL",
                (now_ms, submission_id),
            )

    def record_end(
        self,
        submission_id: str,
        *,
        state: str,
        reason: str | None,
        end: Mapping[str, Any] | None,
        last_step: int | None = None,
        started_ms: int | None,
        ended_ms: int | None,
    ) -> None:
        """What Ray and the driver's last line say; kept, since Ray forgets when its head goes."""
        with self._transaction() as connection:
            connection.execute(
                "UPDATE attempts SET state = ?, reason = ?, end_record = ?, last_step = ?, started_ms = ?, ended_ms = ?"
                " WHERE submission_id = ?",
                (state, reason, json.dumps(end) if end else None, last_step, started_ms, ended_ms, submission_id),
            )

    def quarantine(self, entries: Sequence[Quarantined]) -> None:
        """Again for the same attempt, node and finding: changes nothing, so that a release lasts."""
        with self._transaction() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO quarantine VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        *(one.address, one.node, one.submission_id, one.finding, json.dumps(one.evidence)),
                        *(one.since_ms, one.until_ms, one.released_ms),
                    )
                    for one in entries
                ],
            )

    def quarantined(self, now_ms: int, address: str | None = None) -> list[Quarantined]:
        """What holds at that moment, by cluster and node; of one cluster when `address` is given."""
        with self._told():
            rows = self._connection.execute(
                "SELECT * FROM quarantine WHERE released_ms IS NULL AND since_ms <= ? AND until_ms > ?"
                " AND (? IS NULL OR address = ?) ORDER BY address, node, since_ms, finding",
                (now_ms, now_ms, address, address),
            ).fetchall()
        return [_quarantined(row) for row in rows]

    def release(self, node: str, now_ms: int, address: str | None = None) -> int:
        """Ends every entry of the node that holds; how many that were."""
        with self._transaction() as connection:
            done = connection.execute(
                "UPDATE quarantine SET released_ms = ? WHERE node = ? AND released_ms IS NULL AND since_ms <= ?"
                " AND until_ms > ? AND (? IS NULL OR address = ?)",
                (now_ms, node, now_ms, now_ms, address, address),
            )
        return done.rowcount

    def run(self, run: str) -> Run | None:
        return self.runs().get(run)

    def runs(self) -> dict[str, Run]:
        """By name, the newest first."""
        with self._told():
            rows = self._connection.execute("SELECT * FROM runs ORDER BY created_ms DESC, run").fetchall()
        return {row[0]: Run(*row) for row in rows}

    def attempts(self, run: str) -> list[Attempt]:
        """In their order."""
        with self._told():
            rows = self._connection.execute(
                f"SELECT {', '.join(_COLUMNS)} FROM attempts WHERE run = ? ORDER BY attempt", (run,)
            ).fetchall()
        return [_attempt(row) for row in rows]

    def posted_ms(self, submission_id: str) -> int | None:
        """When the cluster confirmed the attempt; None: not known here."""
        with self._told():
            row = self._connection.execute(
                "SELECT posted_ms FROM attempts WHERE submission_id = ?", (submission_id,)
            ).fetchone()
        return row[0] if row else None

    def unended(self, address: str, limit: int) -> list[str]:
        """Submission ids of that cluster's attempts whose end nobody has read yet, the newest first."""
        with self._told():
            rows = self._connection.execute(
                "SELECT submission_id FROM attempts JOIN runs USING (run) WHERE state IS NULL AND address = ?"
                " ORDER BY intended_ms DESC, attempt DESC LIMIT ?",
                (address, limit),
            ).fetchall()
        return [row[0] for row in rows]

    def _run(self, run: str) -> Run:
        return Run(*self._connection.execute("SELECT * FROM runs WHERE run = ?", (run,)).fetchone())

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._told():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:  # Ctrl-C too: another process may be waiting for the file
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            said = str(error)
            text_id = next((known for word, known in _PROBLEMS if word in said), "ledger.io")
            raise LedgerError(text_id, self._place(), reason=said) from error

    def _place(self) -> Place:
        return Place(file=str(self.path))


def _quarantined(row: Sequence[Any]) -> Quarantined:
    address, node, submission_id, finding, evidence, *times = row
    return Quarantined(address, node, submission_id, finding, json.loads(evidence), *times)


def _attempt(row: Sequence[Any]) -> Attempt:
    values = dict(zip(_COLUMNS, row, strict=True))
    end = values.pop("end_record")
    return Attempt(**values, end=json.loads(end) if end else None)
