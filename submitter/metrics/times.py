"""How long the steps of each attempt took: what goodput adds up. Pure; fed row by row, keeps sums."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from submitter.metrics.recent import is_number


@dataclass
class AttemptTimes:
    steps_s: float = 0.0
    """In all its steps."""
    first_ms: int | None = None
    """When the first of its steps began, and when the last one came."""
    last_ms: int | None = None
    rows: int = 0


class StepTimes:
    """Item n of `seconds` belongs to row n."""

    def __init__(self) -> None:
        self.seconds: array[float] = array("d")
        self.attempts: dict[int, AttemptTimes] = {}

    def add(
        self, steps: Sequence[int], attempts: Sequence[int], seen_ms: Sequence[int], took_s: Sequence[float]
    ) -> None:
        """`took_s`: as the trainer measured; nan: it did not, and the time since its row before stands in.

        What belongs to step 0, a validation before training, is no step's time.
        """
        begin = 0
        for attempt, alike in groupby(attempts):
            end = begin + sum(1 for _ in alike)
            self._add(attempt, steps[begin:end], seen_ms[begin:end], took_s[begin:end])
            begin = end

    def of(self, rows: Iterable[int]) -> float:
        """Seconds in these rows."""
        return math.fsum(map(self.seconds.__getitem__, rows))

    def _add(self, attempt: int, steps: Sequence[int], seen_ms: Sequence[int], took_s: Sequence[float]) -> None:
        times = self.attempts.setdefault(attempt, AttemptTimes())
        total = sum(took_s) if 0 not in steps else math.nan
        seconds = took_s if is_number(total) else _filled(times.last_ms, steps, seen_ms, took_s)
        self.seconds.extend(seconds)
        times.steps_s += math.fsum(seconds)
        times.rows += len(steps)
        trained = [place for place, step in enumerate(steps) if step > 0]
        if not trained:
            return
        if times.first_ms is None:
            times.first_ms = seen_ms[trained[0]] - round(seconds[trained[0]] * 1000)
        times.last_ms = max(seen_ms[trained[-1]], times.last_ms or 0)


def _filled(last_ms: int | None, steps: Sequence[int], seen_ms: Sequence[int], took_s: Sequence[float]) -> list[float]:
    seconds = []
    for step, seen, took in zip(steps, seen_ms, took_s, strict=True):
        since_s = 0.0 if last_ms is None else max(0.0, (seen - last_ms) / 1000)
        seconds.append(0.0 if step <= 0 else took if is_number(took) else since_s)
        last_ms = seen
    return seconds
