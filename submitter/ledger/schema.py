"""The tables, version by version. Never change a step that was released: append the next one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from submitter.ledger.version_4 import to_version_4

Migration = str | Callable[[sqlite3.Connection], None]
"""SQL statements; or what does it, within the transaction of the connection."""

MIGRATIONS: tuple[Migration, ...] = (
    """
    CREATE TABLE runs (
        run TEXT PRIMARY KEY,
        job TEXT NOT NULL,
        address TEXT NOT NULL,
        spec TEXT NOT NULL,
        total_steps INTEGER,
        created_ms INTEGER NOT NULL
    );
    CREATE TABLE attempts (
        submission_id TEXT PRIMARY KEY,
        run TEXT NOT NULL REFERENCES runs (run),
        attempt INTEGER NOT NULL,
        body TEXT NOT NULL,
        intended_ms INTEGER NOT NULL,
        posted_ms INTEGER,
        state TEXT,
        reason TEXT,
        end_record TEXT,
        last_step INTEGER,
        started_ms INTEGER,
        ended_ms INTEGER,
        UNIQUE (run, attempt)
    );
    """,
    """
    CREATE TABLE quarantine (
        address TEXT NOT NULL,
        node TEXT NOT NULL,
        submission_id TEXT NOT NULL,
        finding TEXT NOT NULL,
        evidence TEXT NOT NULL,
        since_ms INTEGER NOT NULL,
        until_ms INTEGER NOT NULL,
        released_ms INTEGER,
        PRIMARY KEY (address, node, submission_id, finding)
    );
    """,
    """
    ALTER TABLE runs ADD COLUMN policy TEXT NOT NULL DEFAULT '{}';
    ALTER TABLE runs ADD COLUMN wanted TEXT NOT NULL DEFAULT 'run' CHECK (wanted IN ('run', 'stop'));
    ALTER TABLE runs ADD COLUMN state TEXT NOT NULL DEFAULT 'active'
        CHECK (state IN ('active', 'succeeded', 'failed', 'stopped'));
    ALTER TABLE runs ADD COLUMN reason TEXT;
    ALTER TABLE runs ADD COLUMN ended_ms INTEGER;
    ALTER TABLE runs ADD COLUMN supervised INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE runs ADD COLUMN reopened INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE runs ADD COLUMN reopened_after INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX supervised_runs ON runs (created_ms) WHERE state = 'active' AND supervised = 1;
    ALTER TABLE attempts ADD COLUMN resumed_from INTEGER;
    ALTER TABLE attempts ADD COLUMN first_step INTEGER;
    ALTER TABLE attempts ADD COLUMN seen_state TEXT;
    ALTER TABLE attempts ADD COLUMN seen_ms INTEGER;
    ALTER TABLE attempts ADD COLUMN log_bytes INTEGER;
    ALTER TABLE attempts ADD COLUMN changes TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE attempts ADD COLUMN trained INTEGER;
    ALTER TABLE attempts ADD COLUMN diagnosis TEXT;
    ALTER TABLE attempts ADD COLUMN ended_by TEXT;
    UPDATE runs SET (state, reason, ended_ms) = (
        SELECT CASE state WHEN 'SUCCEEDED' THEN 'succeeded' WHEN 'STOPPED' THEN 'stopped' ELSE 'failed' END,
            reason, ended_ms
        FROM attempts WHERE attempts.run = runs.run ORDER BY attempt DESC LIMIT 1
    ) WHERE (SELECT state FROM attempts WHERE attempts.run = runs.run ORDER BY attempt DESC LIMIT 1) IS NOT NULL;
    CREATE TABLE observations (
        submission_id TEXT NOT NULL REFERENCES attempts ON DELETE CASCADE,
        number INTEGER NOT NULL,
        seen_ms INTEGER NOT NULL,
        state TEXT NOT NULL,
        last_step INTEGER,
        log_bytes INTEGER,
        PRIMARY KEY (submission_id, number)
    ) WITHOUT ROWID;
    CREATE TABLE metrics (
        run TEXT NOT NULL,
        step INTEGER NOT NULL,
        attempt INTEGER NOT NULL,
        seen_ms INTEGER NOT NULL,
        metrics TEXT NOT NULL,
        PRIMARY KEY (run, step, attempt),
        FOREIGN KEY (run, attempt) REFERENCES attempts (run, attempt) ON DELETE CASCADE
    );
    CREATE INDEX steps_of_attempts ON metrics (run, attempt, step);
    CREATE TABLE decisions (
        run TEXT NOT NULL,
        after_attempt INTEGER NOT NULL,
        reopened INTEGER NOT NULL,
        decision TEXT NOT NULL,
        due_ms INTEGER NOT NULL,
        decided_ms INTEGER NOT NULL,
        PRIMARY KEY (run, after_attempt, reopened),
        FOREIGN KEY (run, after_attempt) REFERENCES attempts (run, attempt) ON DELETE CASCADE
    );
    CREATE TABLE events (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        run TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
        attempt INTEGER,
        text_id TEXT NOT NULL,
        said TEXT NOT NULL,
        at_ms INTEGER NOT NULL
    );
    CREATE INDEX events_of_runs ON events (run, id);
    CREATE TABLE supervisor (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        host TEXT NOT NULL,
        pid INTEGER NOT NULL,
        started TEXT NOT NULL,
        token TEXT NOT NULL,
        heartbeat_ms INTEGER NOT NULL
    );
    """,
    to_version_4,
)
"""Step n brings version n to n + 1."""

VERSION = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection) -> int:
    """Brings the file to `VERSION`, all steps or none. A newer file stays as it is; returns the version it has now."""
    found = version(connection)
    if found >= VERSION:
        return found
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Two processes that start at once: the second waited above, and finds the work done (perhaps by a newer one).
        found = version(connection)
        for step in range(found, VERSION):
            apply(connection, MIGRATIONS[step])
        now = max(found, VERSION)
        connection.execute(f"PRAGMA user_version = {now}")
        connection.execute("COMMIT")
    except BaseException:  # Ctrl-C too: another process may be waiting for the file
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return now


def apply(connection: sqlite3.Connection, migration: Migration) -> None:
    if callable(migration):
        migration(connection)
        return
    for statement in filter(str.strip, migration.split(";")):
        connection.execute(statement)


def version(connection: sqlite3.Connection) -> int:
    """0: a new file."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
