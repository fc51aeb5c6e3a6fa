"""A clock in which sleeping costs nothing."""

from __future__ import annotations

import time


class SkippingClock:
    """Real time, and what was slept on top of it."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self._skipped = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self._skipped

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._skipped += seconds


class HandClock:
    """Stands still but for what is slept or waited on it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
