"""The tables, version by version. Never change a step that was released: append the next one."""

from __future__ import annotations

import sqlite3

MIGRATIONS = (
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
)
"""Step n brings version n to n + 1."""

VERSION = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection) -> int:
    """Brings the file to `VERSION`, all steps or none; returns the version found. A newer file stays as it is."""
    found = _version(connection)
    if found >= VERSION:
        return found
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Two processes that start at once: the second waited above, and finds the work done (perhaps by a newer one).
        found = _version(connection)
        for step in range(found, VERSION):
            for statement in filter(str.strip, MIGRATIONS[step].split(";")):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {max(found, VERSION)}")
        connection.execute("COMMIT")
    except BaseException:  # Ctrl-C too: another process may be waiting for the file
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return found


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
