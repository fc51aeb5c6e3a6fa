"""Statistics that a few wild values do not move: medians over stretches, noise by neighbours, a latch. Pure."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median

NORMAL = 1.048
"""The median distance of two neighbours times this is the deviation of normal noise: 1 / (0.6745 * sqrt 2)."""

NORMAL_MEAN = 0.886
"""The same of the mean distance: sqrt(pi) / 2."""


@dataclass(frozen=True)
class Usual:
    """What a metric is compared with: its own past."""

    short: int
    """The newest so many steps say what is now; their median, so that single peaks say nothing."""
    long: int = 200
    """The median of up to so many steps before them says what is usual."""
    least: int = 20
    """No word before there are so many of those."""


def rolling_median(values: Sequence[float], size: int) -> list[float]:
    """Item n: of the up to `size` values that end with the nth."""
    ordered: list[float] = []
    medians = []
    for place, value in enumerate(values):
        insort(ordered, value)
        if place >= size:
            del ordered[bisect_left(ordered, values[place - size])]
        half = len(ordered) // 2
        medians.append(ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2)
    return medians


def now_and_usual(values: Sequence[float], by: Usual) -> list[tuple[float, float]]:
    """(now, usual) at each place from the first one on for which the past is long enough; the last is the newest."""
    first = by.least + by.short - 1
    now, usual = rolling_median(values, by.short), rolling_median(values, by.long)
    return [(now[place], usual[place - by.short]) for place in range(first, len(values))]


def noise(values: Sequence[float]) -> float:
    """Standard deviation of what is added to the smooth curve; a trend does not count."""
    return NORMAL * median(abs(after - before) for before, after in pairwise(values)) if len(values) > 1 else 0.0


def wild_noise(values: Sequence[float]) -> float:
    """As `noise`, where single wild values or a few distinct ones belong to it: by the mean instead of the median."""
    if len(values) < 2:
        return 0.0
    return NORMAL_MEAN * fmean(abs(after - before) for before, after in pairwise(values))


def latched(begins: Sequence[bool], ends: Sequence[bool]) -> int | None:
    """The place at which it began what still holds at the last one; None: nothing holds.

    Between begin and end there is room, so that a value at the limit does not flap.
    """
    since: int | None = None
    for place, (on, off) in enumerate(zip(begins, ends, strict=True)):
        if since is None and on:
            since = place
        elif since is not None and off and not on:
            since = None
    return since
