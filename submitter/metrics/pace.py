"""How fast a run is: what a step takes with everything between two steps, and how long the rest will take. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from submitter.metrics.recent import Row

PACE_STEPS = 200
"""So many of the newest steps tell the pace: validations and checkpoints are among them, what is long ago is not."""
ETA_STEPS = 5
"""With fewer than these there is no telling: the first one compiles and warms up."""
BLOCKS = 8
"""Spread comes from means over stretches of the known steps: an eighth of them, or what is left where that is less."""
LEAST_BLOCK = 10
"""Of few known steps it is up to half of them: a validation or a checkpoint is then in most of the stretches."""
LOW, HIGH = 0.1, 0.9


@dataclass(frozen=True)
class Eta:
    """Seconds until the last step ends; four of five runs like the steps so far end between `low_s` and `high_s`."""

    low_s: float
    mid_s: float
    high_s: float

    def after(self, passed_s: float) -> Eta:
        """What is left of it `passed_s` later."""
        left = [max(0.0, one - passed_s) for one in (self.low_s, self.mid_s, self.high_s)]
        return replace(self, low_s=left[0], mid_s=left[1], high_s=left[2])


def step_seconds(rows: Sequence[Row]) -> list[float]:
    """What each of the rows took, with validation, checkpoint and whatever the trainer does between two steps.

    The trainer measures step and validation itself. What lies between is the usual distance of two rows' arrival
    beyond that: only the usual one, since rows may arrive in lumps, when a log is read late.
    """
    gaps = [_gap_s(before, row) for before, row in pairwise(rows)]
    measured = [row.step_s for row in rows]
    if any(one is None for one in measured):
        return _arrivals(rows, [gap for gap in gaps if gap is not None])
    beyond = [gap - (row.step_s or 0.0) for gap, row in zip(gaps, rows[1:], strict=True) if gap is not None]
    between = max(0.0, median(beyond)) if beyond else 0.0
    return [(one or 0.0) + between for one in measured]


def usual_s(seconds: Sequence[float]) -> float | None:
    """What a step takes on average over a usual stretch of them; None when that is not known."""
    usual = median(_means(seconds, _block(len(seconds), len(seconds)))) if seconds else 0.0
    return usual if usual > 0 else None


def per_hour(usual: float | None) -> float | None:
    """Steps per hour at that pace."""
    return 3600 / usual if usual else None


def eta(seconds: Sequence[float], left: int | None) -> Eta | None:
    """`seconds` of the newest steps, `left` steps to go. None: how many is not known, or too few have been seen."""
    if left is None or len(seconds) < ETA_STEPS:
        return None
    means = sorted(_means(seconds, _block(len(seconds), left)))
    return Eta(left * quantile(means, LOW), left * quantile(means, 0.5), left * quantile(means, HIGH))


def quantile(ascending: Sequence[float], share: float) -> float:
    """Between the two that are nearest; of at least one number."""
    place = share * (len(ascending) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ascending) - 1)
    return ascending[low] + (ascending[high] - ascending[low]) * (place - low)


def _gap_s(before: Row, row: Row) -> float | None:
    """None: they are not two neighbours of one attempt."""
    if row.attempt != before.attempt or row.step != before.step + 1:
        return None
    return max(0.0, (row.seen_ms - before.seen_ms) / 1000)


def _arrivals(rows: Sequence[Row], gaps: Sequence[float]) -> list[float]:
    """Of a trainer that does not measure its steps: the mean distance, the same for all."""
    return [math.fsum(gaps) / len(gaps)] * len(rows) if gaps else []


def _block(known: int, left: int) -> int:
    return max(1, min(left, max(known // BLOCKS, min(known // 2, LEAST_BLOCK))))


def _means(seconds: Sequence[float], size: int) -> list[float]:
    """Of each stretch of `size` neighbours."""
    return [math.fsum(seconds[begin : begin + size]) / size for begin in range(len(seconds) - size + 1)]
