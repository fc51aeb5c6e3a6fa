"""What the trainer logged, step by step."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from submitter.ledger.database import Database
from submitter.ledger.model import Step

EVERY = 2**62
"""More steps than any run has."""


class Metrics:
    def __init__(self, database: Database) -> None:
        self._database = database

    def record_steps(self, run: str, attempt: int, steps: Iterable[tuple[int, int, Mapping[str, Any]]]) -> None:
        """(step, seen_ms, metrics) each. A step of the attempt that is there already stays as it is."""
        rows = [(step, seen_ms, json.dumps(dict(metrics)), run, attempt) for step, seen_ms, metrics in steps]
        if not rows:
            return
        first, last = min(row[0] for row in rows), max(row[0] for row in rows)
        with self._database.transaction(durable=False) as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO metrics"
                " SELECT run, ?, attempt, ?, ? FROM attempts WHERE run = ? AND attempt = ?",
                rows,
            )
            connection.execute(
                "UPDATE attempts SET first_step = min(coalesce(first_step, :first), :first),"
                " last_step = max(coalesce(last_step, :last), :last) WHERE run = :run AND attempt = :attempt",
                {"run": run, "attempt": attempt, "first": first, "last": last},
            )

    def steps(self, run: str, attempt: int | None = None, *, newest: int = EVERY) -> list[Step]:
        """In their order, the last `newest` of them; of one attempt, or of all."""
        where, values = ("run = ? AND attempt = ?", (run, attempt)) if attempt is not None else ("run = ?", (run,))
        rows = self._database.read(
            f"SELECT run, step, attempt, seen_ms, metrics FROM metrics WHERE {where}"
            " ORDER BY step DESC, attempt DESC LIMIT ?",
            (*values, newest),
        )
        return [Step(name, step, number, seen, json.loads(said)) for name, step, number, seen, said in reversed(rows)]
