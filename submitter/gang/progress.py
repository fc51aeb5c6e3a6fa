"""The trainer's progress as the driver sees it: steps in its log, against the time that they may take."""

from __future__ import annotations

import time
from collections.abc import Callable

from .hang import Pace
from .heartbeat import SteadyClock
from .plan import HangPlan
from .say import say, warn
from .step_lines import Step
from .steps import LogTail, seen_in

LOOK_EVERY_S = 1.0


class Progress:
    """Says nothing of a hang where steps cannot be seen, and says so once."""

    def __init__(self, plan: HangPlan | None, tail: Callable[[], LogTail] = LogTail) -> None:
        self._clock = SteadyClock()
        self._looked = self._now()
        self._tail: LogTail | None = None
        self._pace: Pace | None = None
        self._newest: Step | None = None
        self.total: int | None = None
        """Of the steps that there will be, once the trainer has said it."""
        if plan is None:
            say("hang: not measured: this trainer's steps are not in its log")
            return
        try:
            self._tail = tail()
        except OSError as error:
            warn(f"hang: not measured: the driver's own log cannot be read: {error}")
            return
        self._pace = Pace(plan, self._looked)

    def hung(self) -> str | None:
        """Once a second: a line that says how long no step has come, if that is too long."""
        now = self._now()
        if self._tail is None or self._pace is None or now - self._looked < LOOK_EVERY_S:
            return None
        self._looked = now
        try:
            seen = seen_in(self._tail.read())
        except OSError as error:
            warn(f"hang: not measured any more: {error}")
            self._tail = None
            return None
        self._newest = seen.newest or self._newest
        self.total = seen.total if self.total is None else self.total
        self._pace.see(seen, now)
        return self._pace.hung(now)

    def news(self) -> Step | None:
        """The newest step, once."""
        found, self._newest = self._newest, None
        return found

    def _now(self) -> float:
        """A clock that stands still while the driver itself is stopped."""
        return self._clock.at(time.monotonic())
