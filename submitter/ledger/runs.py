"""Runs: written with their first intent, wanted or not, ended, reopened."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from submitter.ledger.database import Database
from submitter.ledger.model import Run, RunState, Wanted

COLUMNS = (
    *("run", "job", "address", "spec", "total_steps", "created_ms", "policy", "wanted", "state", "reason", "ended_ms"),
    *("supervised", "reopened", "reopened_after"),
)
SELECT = f"SELECT {', '.join(COLUMNS)} FROM runs"
RESUMED: Mapping[str, Any] = {
    "action": "retry",
    "wait_s": 0.0,
    "exclude": [],
    "changes": [],
    "why": "resumed",
    "values": {},
    "inputs": {},
}
"""The decision behind the first attempt after a reopening: the user's own."""


class Runs:
    def __init__(self, database: Database) -> None:
        self._database = database

    def run(self, run: str) -> Run | None:
        rows = self._database.read(f"{SELECT} WHERE run = ?", (run,))
        return as_run(rows[0]) if rows else None

    def runs(self) -> dict[str, Run]:
        """By name, the newest first."""
        rows = self._database.read(f"{SELECT} ORDER BY created_ms DESC, run")
        return {row[0]: as_run(row) for row in rows}

    def active_runs(self) -> list[Run]:
        """Those that a supervisor has to care for, the oldest first."""
        rows = self._database.read(f"{SELECT} WHERE state = 'active' AND supervised = 1 ORDER BY created_ms, run")
        return [as_run(row) for row in rows]

    def want(self, run: str, wanted: Wanted) -> bool:
        """False when there is no such run. A run that has ended stays ended."""
        with self._database.transaction() as connection:
            return connection.execute("UPDATE runs SET wanted = ? WHERE run = ?", (wanted, run)).rowcount == 1

    def learn_total(self, run: str, total_steps: int) -> None:
        """What the trainer worked out from its data; what the job asks for stays."""
        with self._database.transaction(durable=False) as connection:
            connection.execute(
                "UPDATE runs SET total_steps = ? WHERE run = ? AND total_steps IS NULL", (total_steps, run)
            )

    def end_run(self, run: str, state: RunState, reason: str | None, now_ms: int, *, holder: str | None = None) -> None:
        """The first end counts, until the run is reopened."""
        with self._database.transaction(holder) as connection:
            connection.execute(
                "UPDATE runs SET state = ?, reason = ?, ended_ms = ? WHERE run = ? AND state = 'active'",
                (state, reason, now_ms, run),
            )

    def reopen(self, run: str, now_ms: int, *, decision: Mapping[str, Any] = RESUMED) -> Run | None:
        """Active, wanted and supervised again, as it is then; None when there is no such run.

        Where its newest attempt has ended, `decision` follows it, due now. A run that is active keeps its decisions.
        """
        with self._database.transaction() as connection:
            connection.execute("UPDATE runs SET wanted = 'run', supervised = 1 WHERE run = ?", (run,))
            ended = connection.execute(
                "UPDATE runs SET state = 'active', reason = NULL, ended_ms = NULL, reopened = reopened + 1,"
                " reopened_after = (SELECT max(attempt) FROM attempts WHERE attempts.run = runs.run)"
                " WHERE run = ? AND state != 'active'",
                (run,),
            )
            if ended.rowcount == 1:
                connection.execute(
                    "INSERT INTO decisions SELECT run, attempt, reopened, ?, ?, ? FROM attempts JOIN runs USING (run)"
                    " WHERE run = ? AND attempt = reopened_after AND attempts.state IS NOT NULL",
                    (json.dumps(dict(decision)), now_ms, now_ms, run),
                )
            return self.run(run)


def as_run(row: Sequence[Any]) -> Run:
    values = dict(zip(COLUMNS, row, strict=True))
    values["policy"] = json.loads(values["policy"])
    values["supervised"] = bool(values["supervised"])
    return Run(**values)
