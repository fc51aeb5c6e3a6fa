"""The rows of a run as columns, for curves: each name is one array of doubles. Pure."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from submitter.ledger.packed import unpack

Row = tuple[int, int, int, int, int, bytes]
"""id, step, attempt, seen_ms, layout, numbers."""
_NAN = array("d", [math.nan])


@dataclass(frozen=True)
class Columns:
    """Item n of each array is of the same row; in the order in which the rows were written."""

    steps: array[int]
    attempts: array[int]
    seen_ms: array[int]
    values: Mapping[str, array[float]]
    """nan where a row lacks the name."""
    last: int
    """For `after`, to read on from here."""


class ColumnsOf:
    """Columns of these names, filled chunk by chunk."""

    def __init__(self, names: Sequence[str], after: int) -> None:
        self._steps, self._attempts, self._seen_ms = array("q"), array("q"), array("q")
        self._values = {name: array("d") for name in names}
        self._last = after

    def add(self, rows: Sequence[Row], layouts: Mapping[int, Sequence[str]]) -> None:
        self._steps.extend(row[1] for row in rows)
        self._attempts.extend(row[2] for row in rows)
        self._seen_ms.extend(row[3] for row in rows)
        for layout, alike in groupby(rows, itemgetter(4)):
            self._add_alike(list(alike), layouts[layout])
        self._last = rows[-1][0]

    def columns(self) -> Columns:
        return Columns(self._steps, self._attempts, self._seen_ms, self._values, self._last)

    def _add_alike(self, rows: Sequence[Row], names: Sequence[str]) -> None:
        """Rows of one layout are one table of doubles; a column is every `width`-th of them."""
        numbers, width = unpack(b"".join(row[5] for row in rows)), len(names)
        places = {name: place for place, name in enumerate(names)}
        for name, column in self._values.items():
            place = places.get(name)
            column.extend(_NAN * len(rows) if place is None else numbers[place::width])
