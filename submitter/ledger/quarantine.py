"""Nodes that are kept out of new attempts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from submitter.ledger.database import Database
from submitter.ledger.model import Quarantined


class Quarantine:
    def __init__(self, database: Database) -> None:
        self._database = database

    def quarantine(self, entries: Sequence[Quarantined]) -> None:
        """Again for the same attempt, node and finding: changes nothing, so that a release lasts."""
        with self._database.transaction() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO quarantine VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        *(one.address, one.node, one.submission_id, one.finding, json.dumps(one.evidence)),
                        *(one.since_ms, one.until_ms, one.released_ms),
                    )
                    for one in entries
                ],
            )

    def quarantined(self, now_ms: int, address: str | None = None) -> list[Quarantined]:
        """What holds at that moment, by cluster and node; of one cluster when `address` is given."""
        rows = self._database.read(
            "SELECT * FROM quarantine WHERE released_ms IS NULL AND since_ms <= ? AND until_ms > ?"
            " AND (? IS NULL OR address = ?) ORDER BY address, node, since_ms, finding",
            (now_ms, now_ms, address, address),
        )
        return [_quarantined(row) for row in rows]

    def release(self, node: str, now_ms: int, address: str | None = None) -> int:
        """Ends every entry of the node that holds; how many that were."""
        with self._database.transaction() as connection:
            done = connection.execute(
                "UPDATE quarantine SET released_ms = ? WHERE node = ? AND released_ms IS NULL AND since_ms <= ?"
                " AND until_ms > ? AND (? IS NULL OR address = ?)",
                (now_ms, node, now_ms, now_ms, address, address),
            )
        return done.rowcount


def _quarantined(row: Sequence[Any]) -> Quarantined:
    address, node, submission_id, finding, evidence, *times = row
    return Quarantined(address, node, submission_id, finding, json.loads(evidence), *times)
