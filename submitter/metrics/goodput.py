"""How much of the time since the first submission became steps that count. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Trained:
    """One attempt as it went; times in Unix seconds."""

    attempt: int
    posted_s: float
    ended_s: float | None
    """None: it goes on."""
    first_s: float | None
    """When its first step began, and when its last one ended; None: it has trained none."""
    last_s: float | None
    useful_s: float
    """In steps that count."""
    void_s: float
    """In steps that a later attempt has trained again."""
    off_s: float = 0.0
    """Before it: for so long its user had the run stopped, or did nothing after its end."""


@dataclass(frozen=True)
class Spent:
    """Seconds of one attempt. All parts of all attempts, and `Goodput.idle_s`, add up to the run's wall time."""

    attempt: int
    waiting_s: float
    """Before its submission: since the end of the attempt before it."""
    start_s: float
    """From its submission to the begin of its first step: fence, placement, probes, loading. All of it, of one that
    has trained nothing."""
    useful_s: float
    """In steps that count."""
    again_s: float
    """In steps that a later attempt has trained again."""
    between_s: float
    """Between its steps: validation, and what the trainer does not measure."""
    after_s: float
    """Since its last step: in one that has not ended, or never will."""

    @property
    def wall_s(self) -> float:
        return math.fsum((self.waiting_s, self.start_s, self.useful_s, self.again_s, self.between_s, self.after_s))

    @property
    def lost_s(self) -> float:
        """What an undisturbed run would not have spent, but for its one start."""
        return math.fsum((self.waiting_s, self.start_s, self.again_s, self.after_s))


@dataclass(frozen=True)
class Goodput:
    useful_s: float
    wall_s: float
    """From the first submission to the end, or now; without the time in which nobody wanted the run to go on."""
    share: float
    """Of the wall time; 0 before the first step."""
    attempts: tuple[Spent, ...]
    idle_s: float
    """Since the end of the last attempt, while the next one is waited for."""


def goodput(attempts: Sequence[Trained], now_s: float, *, is_over: bool) -> Goodput | None:
    """`attempts` in their order. None before the first submission."""
    if not attempts:
        return None
    spent, clock_s = [], attempts[0].posted_s
    for number, one in enumerate(attempts):
        begin_s = max(clock_s, one.posted_s)
        end_s = max(begin_s, _end_s(attempts, number, now_s))
        waiting_s = max(0.0, begin_s - clock_s - one.off_s)
        spent.append(_spent(one, waiting_s, begin_s, end_s))
        clock_s = end_s
    idle_s = 0.0 if is_over or attempts[-1].ended_s is None else max(0.0, now_s - clock_s)
    wall_s = math.fsum([*(one.wall_s for one in spent), idle_s])
    useful_s = math.fsum(one.useful_s for one in spent)
    return Goodput(useful_s, wall_s, useful_s / wall_s if wall_s > 0 else 0.0, tuple(spent), idle_s)


def _end_s(attempts: Sequence[Trained], number: int, now_s: float) -> float:
    """An end that nobody has seen lies before the next submission."""
    following = attempts[number + 1].posted_s if number + 1 < len(attempts) else now_s
    ended_s = attempts[number].ended_s
    return following if ended_s is None else min(ended_s, following)


def _spent(one: Trained, waiting_s: float, begin_s: float, end_s: float) -> Spent:
    """The steps are the trainer's own word; the rest shares what they leave, so that nothing is counted twice."""
    wall_s = end_s - begin_s
    if one.first_s is None or one.last_s is None:
        return Spent(one.attempt, waiting_s, wall_s, 0.0, 0.0, 0.0, 0.0)
    steps_s = one.useful_s + one.void_s
    fits = min(1.0, wall_s / steps_s) if steps_s > 0 else 1.0  # clocks differ, and rows may arrive late
    left_s = max(0.0, wall_s - steps_s)
    start_s = min(max(0.0, one.first_s - begin_s), left_s)
    after_s = min(max(0.0, end_s - one.last_s), left_s - start_s)
    between_s = left_s - start_s - after_s
    return Spent(one.attempt, waiting_s, start_s, one.useful_s * fits, one.void_s * fits, between_s, after_s)
