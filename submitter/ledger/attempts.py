"""Attempts, from the intent to the end, and what was seen of them meanwhile."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from submitter.errors import Place
from submitter.ledger.database import Database
from submitter.ledger.home import LedgerError
from submitter.ledger.model import Attempt, Observation, Run
from submitter.ledger.runs import SELECT as SELECT_RUN
from submitter.ledger.runs import as_run

OBSERVATIONS_KEPT = 10_000
"""Of one attempt, the newest: a step every minute for a week, or a cluster that comes and goes."""

_COLUMNS = (
    *("submission_id", "run", "attempt", "body", "intended_ms", "posted_ms", "state", "reason", "end_record"),
    *("last_step", "started_ms", "ended_ms", "resumed_from", "first_step", "seen_state", "seen_ms", "log_bytes"),
    *("changes", "trained", "diagnosis", "ended_by"),
)
_SELECT = f"SELECT {', '.join(f'attempts.{name}' for name in _COLUMNS)} FROM attempts"

_STATE_OF_RUN = "CASE :state WHEN 'SUCCEEDED' THEN 'succeeded' WHEN 'STOPPED' THEN 'stopped' ELSE 'failed' END"


class Attempts:
    def __init__(self, database: Database) -> None:
        self._database = database

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
        holder: str | None = None,
        changes: Sequence[str] = (),
        trained: int | None = None,
        policy: Mapping[str, Any] | None = None,
        supervised: bool = False,
    ) -> Run:
        """On disk when this returns; the POST comes after. Again for the same attempt: changes nothing.

        Returns the run as the ledger has it: another process may have written it first, with another spec.
        A supervisor gives its lock's token as `holder`: LockLostError when it is another's by now, LedgerError
        `ledger.attempt_live` when an attempt of the run has not ended. An active run that was unsupervised so far
        becomes supervised.
        """
        with self._database.transaction(holder) as connection:
            connection.execute(
                "INSERT INTO runs (run, job, address, spec, total_steps, created_ms, policy, supervised)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run) DO UPDATE"
                " SET supervised = 1, policy = excluded.policy"
                " WHERE spec = excluded.spec AND state = 'active' AND supervised < excluded.supervised",
                (run, job, address, spec, total_steps, now_ms, json.dumps(dict(policy or {})), supervised),
            )
            found = as_run(connection.execute(f"{SELECT_RUN} WHERE run = ?", (run,)).fetchone())
            if found.spec != spec:
                return found
            if holder is not None:
                self._check_alone(connection, run, attempt)
            connection.execute(
                "INSERT OR IGNORE INTO attempts (submission_id, run, attempt, body, intended_ms, changes, trained)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (submission_id, run, attempt, body.decode(), now_ms, json.dumps(list(changes)), trained),
            )
        return found

    def take_intent(self, submission_id: str, now_ms: int, *, holder: str) -> bool:
        """An intent that was never posted becomes the supervisor's: its first writer can no longer withdraw it.

        False when it is gone, or was posted meanwhile.
        """
        with self._database.transaction(holder) as connection:
            taken = connection.execute(
                "UPDATE attempts SET intended_ms = max(?, intended_ms + 1) WHERE submission_id = ?"
                " AND posted_ms IS NULL",
                (now_ms, submission_id),
            )
        return taken.rowcount == 1

    def withdraw(self, submission_id: str, intended_ms: int) -> None:
        """Forgets the intent of that moment, which surely never reached the cluster, and its run if that was all of it.

        An earlier intent of the same attempt stays: it may be another process's, or its POST still in doubt.
        """
        with self._database.transaction() as connection:
            connection.execute(
                "DELETE FROM attempts WHERE submission_id = ? AND intended_ms = ? AND posted_ms IS NULL",
                (submission_id, intended_ms),
            )
            connection.execute("DELETE FROM runs WHERE run NOT IN (SELECT run FROM attempts)")

    def record_posted(self, submission_id: str, now_ms: int) -> None:
        """The cluster has it. Of one that has ended nothing changes."""
        with self._database.transaction() as connection:
            connection.execute(
                "UPDATE attempts SET posted_ms = ? WHERE submission_id = ? AND posted_ms IS NULL AND state IS NULL",
                (now_ms, submission_id),
            )

    def record_resumed(self, submission_id: str, step: int | None) -> None:
        """The step of the checkpoint that the attempt goes on from; None: from the start."""
        with self._database.transaction(durable=False) as connection:
            connection.execute("UPDATE attempts SET resumed_from = ? WHERE submission_id = ?", (step, submission_id))

    def observe(
        self, submission_id: str, *, state: str, last_step: int | None, log_bytes: int | None, now_ms: int
    ) -> bool:
        """What the attempt is seen to do; a row only where state or step have changed, True then.

        A step or size that is not known now (None) stays as it was. Steps never go back.
        """
        with self._database.transaction(durable=False) as connection:
            row = connection.execute(
                "SELECT seen_state, last_step FROM attempts WHERE submission_id = ?", (submission_id,)
            ).fetchone()
            if row is None:
                return False
            step = max((one for one in (row[1], last_step) if one is not None), default=None)
            connection.execute(
                "UPDATE attempts SET seen_state = ?, last_step = ?, log_bytes = coalesce(?, log_bytes), seen_ms = ?"
                " WHERE submission_id = ?",
                (state, step, log_bytes, now_ms, submission_id),
            )
            if changed := (state, step) != tuple(row):
                _add_observation(connection, submission_id, Observation(now_ms, state, step, log_bytes))
        return changed

    def observations(self, submission_id: str) -> list[Observation]:
        """In their order; the newest `OBSERVATIONS_KEPT`."""
        rows = self._database.read(
            "SELECT seen_ms, state, last_step, log_bytes FROM observations WHERE submission_id = ? ORDER BY number",
            (submission_id,),
        )
        return [Observation(*row) for row in rows]

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
        diagnosis: Mapping[str, Any] | None = None,
        ended_by: str | None = None,
        holder: str | None = None,
    ) -> None:
        """What Ray and the driver's last line say; kept, since Ray forgets when its head goes.

        An end with a diagnosis is not replaced by one without. A run that nobody supervises ends with its attempt.
        """
        values = {
            "submission_id": submission_id,
            "state": state,
            "reason": reason,
            "end": json.dumps(end) if end else None,
            "last_step": last_step,
            "started_ms": started_ms,
            "ended_ms": ended_ms,
            "diagnosis": json.dumps(dict(diagnosis)) if diagnosis is not None else None,
            "ended_by": ended_by,
        }
        with self._database.transaction(holder) as connection:
            connection.execute(
                "UPDATE attempts SET state = :state, reason = :reason, end_record = :end,"
                " last_step = max(coalesce(last_step, :last_step), coalesce(:last_step, last_step)),"
                " started_ms = :started_ms, ended_ms = :ended_ms, diagnosis = :diagnosis,"
                " ended_by = coalesce(:ended_by, ended_by)"
                " WHERE submission_id = :submission_id AND (diagnosis IS NULL OR :diagnosis IS NOT NULL)",
                values,
            )
            connection.execute(
                f"UPDATE runs SET state = {_STATE_OF_RUN}, reason = :reason, ended_ms = :ended_ms"
                " WHERE supervised = 0 AND run = (SELECT run FROM attempts WHERE submission_id = :submission_id)",
                values,
            )

    def attempts(self, run: str) -> list[Attempt]:
        """In their order."""
        rows = self._database.read(f"{_SELECT} WHERE run = ? ORDER BY attempt", (run,))
        return [_attempt(row) for row in rows]

    def newest_attempts(self) -> dict[str, Attempt]:
        """Of each run that a supervisor has to care for, by the run's name."""
        rows = self._database.read(
            f"{_SELECT} JOIN (SELECT run, max(attempt) AS attempt FROM attempts WHERE run IN"
            " (SELECT run FROM runs WHERE state = 'active' AND supervised = 1) GROUP BY run) USING (run, attempt)"
        )
        return {row[1]: _attempt(row) for row in rows}

    def attempt_counts(self) -> dict[str, int]:
        """How many attempts each run has had."""
        return dict(self._database.read("SELECT run, count(*) FROM attempts GROUP BY run"))

    def posted_ms(self, submission_id: str) -> int | None:
        """When the cluster confirmed the attempt; None: not known here."""
        rows = self._database.read("SELECT posted_ms FROM attempts WHERE submission_id = ?", (submission_id,))
        return rows[0][0] if rows else None

    def unended(self, address: str, limit: int) -> list[str]:
        """Submission ids of that cluster's attempts whose end nobody has read yet, the newest first.

        Not of runs that a supervisor cares for: it reads them itself, with the reason.
        """
        rows = self._database.read(
            "SELECT submission_id FROM attempts JOIN runs USING (run)"
            " WHERE attempts.state IS NULL AND supervised = 0 AND address = ?"
            " ORDER BY intended_ms DESC, attempt DESC LIMIT ?",
            (address, limit),
        )
        return [row[0] for row in rows]

    def _check_alone(self, connection: sqlite3.Connection, run: str, attempt: int) -> None:
        """Two live attempts of a run would train on the same nodes and write the same checkpoints."""
        row = connection.execute(
            "SELECT submission_id FROM attempts WHERE run = ? AND attempt != ? AND state IS NULL", (run, attempt)
        ).fetchone()
        if row is not None:
            place = Place(file=str(self._database.path))
            raise LedgerError("ledger.attempt_live", place, run=run, submission=row[0])


def _add_observation(connection: sqlite3.Connection, submission_id: str, one: Observation) -> None:
    number = connection.execute(
        "SELECT coalesce(max(number), 0) + 1 FROM observations WHERE submission_id = ?", (submission_id,)
    ).fetchone()[0]
    connection.execute(
        "INSERT INTO observations VALUES (?, ?, ?, ?, ?, ?)",
        (submission_id, number, one.seen_ms, one.state, one.last_step, one.log_bytes),
    )
    connection.execute(
        "DELETE FROM observations WHERE submission_id = ? AND number <= ?", (submission_id, number - OBSERVATIONS_KEPT)
    )


def _attempt(row: Sequence[Any]) -> Attempt:
    values = dict(zip(_COLUMNS, row, strict=True))
    end, diagnosis = values.pop("end_record"), values.pop("diagnosis")
    values["changes"] = json.loads(values["changes"])
    return Attempt(
        **values,
        end=json.loads(end) if end else None,
        diagnosis=json.loads(diagnosis) if diagnosis else None,
    )
