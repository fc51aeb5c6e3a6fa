"""What the nodes of a run measured of themselves: devices, memory, load; the newest of each node."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from submitter.ledger.database import Database
from submitter.ledger.model import Sample

SAMPLES_KEPT = 2_000
"""Of one node in one run, the newest: five and a half hours at one every 10 s."""
_LEVEL = 1
"""Sixteen devices of one node say almost the same: a tenth of their JSON, in 30 us."""


class Samples:
    def __init__(self, database: Database) -> None:
        self._database = database

    def record_samples(
        self, run: str, attempt: int, samples: Iterable[Mapping[str, Any]], *, holder: str | None = None
    ) -> None:
        """As `gang.telemetry` reads them: `at` (unix seconds) and `node` at least.

        Again for the same node and time, or of a run that is not there: changes nothing.
        """
        rows = [(run, str(one["node"]), attempt, round(one["at"] * 1000), _packed(one)) for one in samples]
        if not rows:
            return
        with self._database.transaction(holder, durable=False) as connection:
            if connection.execute("SELECT 1 FROM runs WHERE run = ?", (run,)).fetchone() is None:
                return
            connection.executemany(
                "INSERT OR IGNORE INTO node_samples (run, node, attempt, at_ms, sample) VALUES (?, ?, ?, ?, ?)", rows
            )
            connection.executemany(
                "DELETE FROM node_samples WHERE run = :run AND node = :node AND at_ms <= (SELECT at_ms FROM"
                " node_samples WHERE run = :run AND node = :node ORDER BY at_ms DESC LIMIT 1 OFFSET :kept)",
                [{"run": run, "node": node, "kept": SAMPLES_KEPT} for node in {row[1] for row in rows}],
            )

    def samples(self, run: str, *, node: str | None = None, newest: int = 1) -> list[Sample]:
        """The last `newest` of each node, or of one, in the order of their times."""
        # Each node is found with one step in the index, however many samples it has.
        rows = self._database.read(
            "WITH RECURSIVE nodes (node) AS ("
            " SELECT coalesce(:node, min(node)) FROM node_samples WHERE run = :run UNION ALL"
            " SELECT (SELECT min(node) FROM node_samples WHERE run = :run AND node > nodes.node) FROM nodes"
            " WHERE nodes.node IS NOT NULL AND :node IS NULL)"
            " SELECT one.run, one.attempt, one.node, one.at_ms, one.sample FROM nodes JOIN node_samples AS one"
            " ON one.id IN (SELECT id FROM node_samples AS own WHERE own.run = :run AND own.node = nodes.node"
            " ORDER BY own.at_ms DESC LIMIT :newest)"
            " ORDER BY one.at_ms, one.node",
            {"run": run, "node": node, "newest": newest},
        )
        return [
            Sample(name, attempt, ip, at_ms, json.loads(zlib.decompress(sample)))
            for name, attempt, ip, at_ms, sample in rows
        ]


def _packed(sample: Mapping[str, Any]) -> bytes:
    return zlib.compress(json.dumps(dict(sample), separators=(",", ":")).encode(), _LEVEL)
