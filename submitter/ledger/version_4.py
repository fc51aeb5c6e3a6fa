"""From version 3 to 4: metrics as packed numbers instead of JSON texts; what nodes measured, and alerts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from submitter.ledger.layouts import Layouts

_TABLES = (
    """
    CREATE TABLE layouts (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        run TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
        wide INTEGER NOT NULL CHECK (wide IN (0, 1)),
        size INTEGER NOT NULL,
        names TEXT NOT NULL,
        UNIQUE (run, wide, names)
    )
    """,
    """
    CREATE TABLE packed (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        run TEXT NOT NULL,
        step INTEGER NOT NULL,
        attempt INTEGER NOT NULL,
        seen_ms INTEGER NOT NULL,
        layout INTEGER NOT NULL,
        numbers BLOB NOT NULL,
        UNIQUE (run, attempt, step),
        FOREIGN KEY (run, attempt) REFERENCES attempts (run, attempt) ON DELETE CASCADE
    )
    """,
    """
    CREATE TABLE node_samples (
        id INTEGER PRIMARY KEY,
        run TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
        node TEXT NOT NULL,
        attempt INTEGER NOT NULL,
        at_ms INTEGER NOT NULL,
        sample BLOB NOT NULL,
        UNIQUE (run, node, at_ms)
    )
    """,
    """
    CREATE TABLE alerts (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        run TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
        id TEXT NOT NULL,
        severity TEXT NOT NULL,
        node TEXT,
        attempt INTEGER NOT NULL,
        first_step INTEGER,
        last_step INTEGER,
        said TEXT NOT NULL,
        since_ms INTEGER NOT NULL,
        until_ms INTEGER
    )
    """,
    "CREATE INDEX alerts_of_runs ON alerts (run, number)",
    "CREATE UNIQUE INDEX open_alerts ON alerts (run, id, coalesce(node, '')) WHERE until_ms IS NULL",
)
_RENAMED = (
    "DROP TABLE metrics",
    "ALTER TABLE packed RENAME TO metrics",
    # With the id that every index holds: the rows of a run in the order of their coming.
    "CREATE INDEX metrics_of_runs ON metrics (run)",
    "CREATE INDEX steps_of_runs ON metrics (run, step, attempt)",
)
_CHUNK_ROWS = 1_000
_WORDS = ("nan", "inf", "-inf")
"""Version 3 had no way to say these as numbers."""


def to_version_4(connection: sqlite3.Connection) -> None:
    for statement in _TABLES:
        connection.execute(statement)
    for run, rows in _runs(connection):
        layouts = Layouts(connection, run)
        connection.executemany(
            "INSERT INTO packed (run, step, attempt, seen_ms, layout, numbers) VALUES (?, ?, ?, ?, ?, ?)",
            [(*row[:4], *layouts.row(_numbers(json.loads(row[4])))) for row in rows],
        )
    for statement in _RENAMED:
        connection.execute(statement)


def _runs(connection: sqlite3.Connection) -> Iterator[tuple[str, list[Any]]]:
    """The rows of one run after the other, in chunks, in the order in which they were written."""
    for (run,) in connection.execute("SELECT DISTINCT run FROM metrics").fetchall():
        rows = connection.execute(
            "SELECT run, step, attempt, seen_ms, metrics FROM metrics WHERE run = ? ORDER BY rowid", (run,)
        )
        while chunk := rows.fetchmany(_CHUNK_ROWS):
            yield run, chunk


def _numbers(metrics: dict[str, Any]) -> dict[str, float]:
    found = ((name, _number(value)) for name, value in metrics.items())
    return {name: value for name, value in found if value is not None}


def _number(value: Any) -> float | None:
    if not isinstance(value, (int, float)) and value not in _WORDS:
        return None
    try:
        return float(value)
    except OverflowError:  # a whole number that no double can hold
        return None
