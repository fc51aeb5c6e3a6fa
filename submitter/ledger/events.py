"""What people are told about a run, kept for those who look later."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from submitter.ledger.database import Database
from submitter.ledger.model import Event

EVENTS_KEPT = 5_000
"""Of one run, the newest."""


class Events:
    def __init__(self, database: Database) -> None:
        self._database = database

    def event(
        self,
        run: str,
        attempt: int | None,
        text_id: str,
        values: Mapping[str, Any],
        now_ms: int,
        *,
        once: bool = False,
    ) -> bool:
        """False, and nothing written: again right after itself (`once`: or ever), or of no run.

        `values`: JSON, never a secret.
        """
        said = json.dumps(dict(values), sort_keys=True, default=str)
        with self._database.transaction(durable=False) as connection:
            same = connection.execute(
                "SELECT 1 FROM (SELECT * FROM events WHERE run = ? ORDER BY id DESC LIMIT ?)"
                " WHERE attempt IS ? AND text_id = ? AND said = ?",
                (run, EVENTS_KEPT if once else 1, attempt, text_id, said),
            ).fetchone()
            if same is not None:
                return False
            added = connection.execute(
                "INSERT INTO events (run, attempt, text_id, said, at_ms)"
                " SELECT run, ?, ?, ?, ? FROM runs WHERE run = ?",
                (attempt, text_id, said, now_ms, run),
            )
            connection.execute(
                "DELETE FROM events WHERE run = :run AND id <="
                " (SELECT id FROM events WHERE run = :run ORDER BY id DESC LIMIT 1 OFFSET :kept)",
                {"run": run, "kept": EVENTS_KEPT},
            )
        return added.rowcount == 1

    def events(self, run: str, after_id: int = 0) -> list[Event]:
        """In their order, those after the event `after_id`; the newest `EVENTS_KEPT` of the run."""
        rows = self._database.read(
            "SELECT id, run, attempt, text_id, said, at_ms FROM events WHERE run = ? AND id > ? ORDER BY id",
            (run, after_id),
        )
        return [
            Event(number, name, attempt, text_id, json.loads(said), at_ms)
            for number, name, attempt, text_id, said, at_ms in rows
        ]
