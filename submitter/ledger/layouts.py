"""Which names a row of numbers has. A trainer logs the same few sets again and again: each is kept once for its run."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from submitter.ledger.packed import pack, pack_some

LAYOUTS_KEPT = 500
"""Of one run; verl has two to four (training, validation, both, a critic's warm-up)."""
LAYOUT_NAMES_KEPT = 100_000
"""In all layouts of a run together, a few MB. Past either bound each row of yet another shape has the wide layout."""
WIDE_NAMES = 1_000
"""So many names has the wide layout, those that came first: what is logged at every step is among them."""


@dataclass(frozen=True)
class _Layout:
    id: int
    names: Sequence[str]
    wide: bool

    def pack(self, metrics: Mapping[str, float]) -> bytes:
        return pack_some(self.names, metrics) if self.wide else pack(metrics.values())


class Layouts:
    """Those of one run, within one transaction that writes its rows."""

    def __init__(self, connection: sqlite3.Connection, run: str) -> None:
        self._connection = connection
        self._run = run
        self._known: dict[tuple[str, ...], _Layout] = {}

    def row(self, metrics: Mapping[str, float]) -> tuple[int, bytes]:
        """(layout, numbers) of what was logged."""
        shape = tuple(metrics)
        layout = self._known.get(shape)
        if layout is None:
            layout = self._known[shape] = self._same(shape) or self._wide() or self._new(shape)
        return layout.id, layout.pack(metrics)

    def _same(self, shape: Sequence[str]) -> _Layout | None:
        row = self._connection.execute(
            "SELECT id FROM layouts WHERE run = ? AND wide = 0 AND names = ?", (self._run, json.dumps(shape))
        ).fetchone()
        return _Layout(row[0], shape, wide=False) if row else None

    def _wide(self) -> _Layout | None:
        row = self._connection.execute(
            "SELECT id, names FROM layouts WHERE run = ? AND wide = 1", (self._run,)
        ).fetchone()
        return _Layout(row[0], json.loads(row[1]), wide=True) if row else None

    def _new(self, shape: Sequence[str]) -> _Layout:
        count, names = self._connection.execute(
            "SELECT count(*), coalesce(sum(size), 0) FROM layouts WHERE run = ?", (self._run,)
        ).fetchone()
        wide = count >= LAYOUTS_KEPT or names + len(shape) > LAYOUT_NAMES_KEPT
        kept = self._first_names(shape) if wide else shape
        added = self._connection.execute(
            "INSERT INTO layouts (run, wide, size, names) VALUES (?, ?, ?, ?)",
            (self._run, wide, len(kept), json.dumps(kept)),
        )
        return _Layout(int(added.lastrowid or 0), kept, wide)

    def _first_names(self, shape: Sequence[str]) -> Sequence[str]:
        rows = self._connection.execute("SELECT names FROM layouts WHERE run = ? ORDER BY id", (self._run,))
        return [*union([*(json.loads(names) for (names,) in rows), shape])][:WIDE_NAMES]


def union(layouts: Sequence[Sequence[str]]) -> dict[str, None]:
    """Every name once, in the order of their coming."""
    return {name: None for names in layouts for name in names}
