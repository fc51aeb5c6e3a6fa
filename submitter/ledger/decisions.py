"""What was decided after each attempt, with the inputs, and when it is due."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from submitter.ledger.database import Database
from submitter.ledger.model import Decided


class Decisions:
    def __init__(self, database: Database) -> None:
        self._database = database

    def record_decision(
        self,
        run: str,
        after_attempt: int,
        decision: Mapping[str, Any],
        due_ms: int,
        now_ms: int,
        *,
        holder: str | None = None,
    ) -> Decided:
        """The first one for that attempt counts until the run is reopened; returned as the ledger has it."""
        with self._database.transaction(holder) as connection:
            connection.execute(
                "INSERT OR IGNORE INTO decisions SELECT run, ?, reopened, ?, ?, ? FROM runs WHERE run = ?",
                (after_attempt, json.dumps(dict(decision)), due_ms, now_ms, run),
            )
            found = self.decision(run, after_attempt)
            if found is None:
                raise KeyError(f"{run} has no attempt {after_attempt}")
        return found

    def decision(self, run: str, after_attempt: int) -> Decided | None:
        """None: none yet, or none since the run was reopened."""
        rows = self._database.read(
            "SELECT run, after_attempt, decision, due_ms, decided_ms FROM decisions JOIN runs USING (run, reopened)"
            " WHERE run = ? AND after_attempt = ?",
            (run, after_attempt),
        )
        return _decided(rows[0]) if rows else None

    def decisions(self, run: str) -> list[Decided]:
        """All of them, in their order; an attempt that a reopening followed has two."""
        rows = self._database.read(
            "SELECT run, after_attempt, decision, due_ms, decided_ms FROM decisions WHERE run = ?"
            " ORDER BY after_attempt, reopened",
            (run,),
        )
        return [_decided(row) for row in rows]


def _decided(row: tuple[Any, ...]) -> Decided:
    run, after_attempt, decision, due_ms, decided_ms = row
    return Decided(run, after_attempt, json.loads(decision), due_ms, decided_ms)
