"""Alerts of a run: opened, kept up to date while what they tell of lasts, and closed with the moment of its end."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from submitter.ledger.database import Database
from submitter.ledger.model import StoredAlert

ALERTS_KEPT = 1_000
"""Of one run, the newest, besides those that are open: one may come and go all night."""

_SELECT = "SELECT number, run, id, severity, node, attempt, first_step, last_step, said, since_ms, until_ms FROM alerts"


class Alerting(Protocol):
    """What `submitter.metrics` finds; its rule (`NR9xx`) and node (None: of the whole run) say which alert it is."""

    @property
    def id(self) -> str: ...
    @property
    def severity(self) -> str: ...
    @property
    def node(self) -> str | None: ...
    @property
    def first_step(self) -> int | None: ...
    @property
    def last_step(self) -> int | None: ...
    @property
    def values(self) -> Mapping[str, Any]: ...


class Alerts:
    def __init__(self, database: Database) -> None:
        self._database = database

    def record_alerts(
        self, run: str, attempt: int, alerts: Sequence[Alerting], now_ms: int, *, holder: str | None = None
    ) -> list[StoredAlert]:
        """`alerts` is all that holds now; returns those that were not open before.

        One that was open and is among them gets the new last step and numbers; one that is not is closed. Again with
        the same ones: changes nothing. Of a run that is not there: nothing.
        """
        found = {(one.id, one.node): one for one in alerts}
        with self._database.transaction(holder, durable=False) as connection:
            open_ones = {(one.id, one.node): one for one in self.alerts(run, open_only=True)}
            _close(connection, [one for key, one in open_ones.items() if key not in found], now_ms)
            for key, one in found.items():
                if key in open_ones:
                    _keep(connection, open_ones[key], one)
                else:
                    _open(connection, run, attempt, one, now_ms)
            new = [one for one in self.alerts(run, open_only=True) if (one.id, one.node) not in open_ones]
            if new:
                _prune(connection, run)
        return new

    def alerts(self, run: str, *, open_only: bool = False) -> list[StoredAlert]:
        """In the order of their opening."""
        which = " AND until_ms IS NULL" if open_only else ""
        rows = self._database.read(f"{_SELECT} WHERE run = ?{which} ORDER BY number", (run,))
        return [_alert(row) for row in rows]

    def open_alerts(self) -> dict[str, int]:
        """How many of each run are open; runs without any are left out."""
        return dict(self._database.read("SELECT run, count(*) FROM alerts WHERE until_ms IS NULL GROUP BY run"))


def _open(connection: sqlite3.Connection, run: str, attempt: int, one: Alerting, now_ms: int) -> None:
    values = (one.id, one.severity, one.node, attempt, one.first_step, one.last_step, _said(one.values), now_ms, run)
    connection.execute(
        "INSERT INTO alerts (run, id, severity, node, attempt, first_step, last_step, said, since_ms)"
        " SELECT run, ?, ?, ?, ?, ?, ?, ?, ? FROM runs WHERE run = ?",
        values,
    )


def _keep(connection: sqlite3.Connection, was: StoredAlert, now: Alerting) -> None:
    new = (now.severity, now.last_step, _said(now.values))
    if new != (was.severity, was.last_step, _said(was.values)):
        connection.execute(
            "UPDATE alerts SET severity = ?, last_step = ?, said = ? WHERE number = ?", (*new, was.number)
        )


def _close(connection: sqlite3.Connection, ended: Sequence[StoredAlert], now_ms: int) -> None:
    connection.executemany("UPDATE alerts SET until_ms = ? WHERE number = ?", [(now_ms, one.number) for one in ended])


def _prune(connection: sqlite3.Connection, run: str) -> None:
    connection.execute(
        "DELETE FROM alerts WHERE run = :run AND until_ms IS NOT NULL AND number <="
        " (SELECT number FROM alerts WHERE run = :run ORDER BY number DESC LIMIT 1 OFFSET :kept)",
        {"run": run, "kept": ALERTS_KEPT},
    )


def _said(values: Mapping[str, Any]) -> str:
    return json.dumps(dict(values), sort_keys=True, default=str)


def _alert(row: Sequence[Any]) -> StoredAlert:
    number, run, name, severity, node, attempt, first, last, said, since_ms, until_ms = row
    return StoredAlert(number, run, name, severity, node, attempt, first, last, json.loads(said), since_ms, until_ms)
