"""What the trainer logged, step by step."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from submitter.ledger.columns import Columns, ColumnsOf, Row
from submitter.ledger.database import Database
from submitter.ledger.layouts import Layouts, union
from submitter.ledger.model import Step
from submitter.ledger.packed import as_metrics

EVERY = 2**62
"""More steps than any run has."""
CHUNK_ROWS = 2_000
"""Read at once, about 1 MB; others may use the ledger between two of them."""

_ROW = "SELECT id, step, attempt, seen_ms, layout, numbers FROM metrics WHERE"


class Metrics:
    def __init__(self, database: Database) -> None:
        self._database = database

    def record_steps(self, run: str, attempt: int, steps: Iterable[tuple[int, int, Mapping[str, float]]]) -> None:
        """(step, seen_ms, metrics) each. A step of the attempt that is there already stays as it is.

        nan and the infinities are numbers too. The bounds on names are `layouts.LAYOUTS_KEPT` and what follows it.
        """
        read = list(steps)
        if not read:
            return
        first, last = min(one[0] for one in read), max(one[0] for one in read)
        with self._database.transaction(durable=False) as connection:
            known = connection.execute(
                "UPDATE attempts SET first_step = min(coalesce(first_step, :first), :first),"
                " last_step = max(coalesce(last_step, :last), :last) WHERE run = :run AND attempt = :attempt",
                {"run": run, "attempt": attempt, "first": first, "last": last},
            )
            if known.rowcount == 0:
                return
            layouts = Layouts(connection, run)
            connection.executemany(
                "INSERT OR IGNORE INTO metrics (run, step, attempt, seen_ms, layout, numbers)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                [(run, step, attempt, seen_ms, *layouts.row(metrics)) for step, seen_ms, metrics in read],
            )

    def steps(
        self, run: str, attempt: int | None = None, *, newest: int = EVERY, after: int = -1, until: int = EVERY
    ) -> list[Step]:
        """In their order, the last `newest` of those from behind `after` up to `until`; of one attempt, or of all."""
        where, values = ("run = ? AND attempt = ?", (run, attempt)) if attempt is not None else ("run = ?", (run,))
        rows = self._database.read(
            f"{_ROW} {where} AND step > ? AND step <= ? ORDER BY step DESC, attempt DESC LIMIT ?",
            (*values, after, until, newest),
        )
        return self._steps(run, rows[::-1])

    def newest_steps(self, runs: Iterable[str]) -> dict[str, Step]:
        """The last step of each run's newest attempt that has logged one; runs without steps are left out."""
        return {step.run: step for run in runs for step in self._newest_step(run)}

    def metric_names(self, run: str) -> list[str]:
        """All that any of its rows has, in the order of their coming."""
        return [*union([*self._layouts(run, 0, EVERY).values()])]

    def columns(self, run: str, names: Sequence[str], *, after: int = 0, attempt: int | None = None) -> Columns:
        """Rows that were written after the row `after` (the `last` of an earlier call), of all attempts or of one."""
        columns = ColumnsOf(names, after)
        layouts: dict[int, Sequence[str]] = {}
        for rows in self._chunks(run, after, attempt):
            missing = {row[4] for row in rows} - layouts.keys()
            layouts.update(self._layouts_of(run, missing))
            columns.add(rows, layouts)
        return columns.columns()

    def _newest_step(self, run: str) -> list[Step]:
        return self._steps(run, self._database.read(f"{_ROW} run = ? ORDER BY attempt DESC, step DESC LIMIT 1", (run,)))

    def _chunks(self, run: str, after: int, attempt: int | None) -> Iterator[list[Row]]:
        while True:
            # "+": by id, not by the index of attempts, which would sort all rows for each chunk.
            rows = self._database.read(
                f"{_ROW} run = ? AND id > ? AND (? IS NULL OR +attempt = ?) ORDER BY id LIMIT ?",
                (run, after, attempt, attempt, CHUNK_ROWS),
            )
            if rows:
                yield rows
            if len(rows) < CHUNK_ROWS:
                return
            after = rows[-1][0]

    def _steps(self, run: str, rows: Sequence[Row]) -> list[Step]:
        layouts = self._layouts_of(run, {row[4] for row in rows})
        return [
            Step(run, step, attempt, seen_ms, as_metrics(layouts[layout], numbers))
            for _, step, attempt, seen_ms, layout, numbers in rows
        ]

    def _layouts_of(self, run: str, ids: Collection[int]) -> dict[int, Sequence[str]]:
        return self._layouts(run, min(ids), max(ids)) if ids else {}

    def _layouts(self, run: str, first: int, last: int) -> dict[int, Sequence[str]]:
        rows: list[tuple[int, Any]] = self._database.read(
            "SELECT id, names FROM layouts WHERE run = ? AND id BETWEEN ? AND ? ORDER BY id", (run, first, last)
        )
        return {number: json.loads(names) for number, names in rows}
