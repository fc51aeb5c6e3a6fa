"""The newest steps that count, of all attempts of a run: what pace, phases and alerts look at. Pure."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter, itemgetter

from submitter.metrics.joined import Begun
from submitter.metrics.names import OUTSIDE_S, STEP_S

RECENT_STEPS = 400
"""Enough to tell a trend from noise; a run of 96 s steps is then looked at over ten hours."""

LARGEST = 1e100
"""No metric measures more: what overflows on its way there is as good as infinite, and sums of the rest stay finite."""


def is_number(value: float) -> bool:
    return abs(value) < LARGEST


@dataclass(frozen=True)
class Row:
    """What was logged of a trained step that counts."""

    step: int
    attempt: int
    seen_ms: int
    """When the row arrived here."""
    metrics: Mapping[str, float]

    def has(self, name: str) -> bool:
        return name in self.metrics

    def get(self, name: str, default: float = math.nan) -> float:
        """A number; what is none counts as not there."""
        value = self.metrics.get(name, default)
        return value if is_number(value) else default

    @property
    def step_s(self) -> float | None:
        """Seconds that the trainer measured: the step, and what it does beside it. None: it measured none."""
        step_s = self.get(STEP_S)
        return None if math.isnan(step_s) else step_s + math.fsum(self.get(name, 0.0) for name in OUTSIDE_S)


class Recent:
    """Fed with rows as they come, of any attempt; a later attempt takes the place of what it trains again."""

    def __init__(self, size: int = RECENT_STEPS) -> None:
        self.rows: list[Row] = []
        """By step, ascending, each once, at most `size`."""
        self._size = size
        self._begun = Begun()

    def add(self, attempt: int, rows: Iterable[tuple[int, int, Mapping[str, float]]], resumed_from: int | None) -> None:
        """(step, seen_ms, metrics) each, as the ledger takes them. `resumed_from`: None: from the start or not known.

        What an attempt logs of steps that it has not trained (a validation) is left out.
        """
        for step, seen_ms, metrics in sorted(rows, key=itemgetter(0)):
            if step > (resumed_from or 0):
                self._take_over(attempt, self._begun.note(attempt, resumed_from, step))
                self._place(Row(step, attempt, seen_ms, metrics))
        del self.rows[: -self._size]

    def _take_over(self, attempt: int, after: int | None) -> None:
        if after is not None:
            self.rows = [row for row in self.rows if row.step <= after or row.attempt >= attempt]

    def _place(self, row: Row) -> None:
        place = bisect_left(self.rows, row.step, key=attrgetter("step"))
        is_there = place < len(self.rows) and self.rows[place].step == row.step
        if not is_there and not self._begun.is_void(row.attempt, row.step):
            self.rows.insert(place, row)
