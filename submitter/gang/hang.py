"""How long a trainer may be without a new step: a pure judgement of when its steps came, with the time handed in."""

from __future__ import annotations

import statistics
from collections import deque

from .plan import HangPlan
from .steps import Seen

STEPS_COUNTED = 20
TIMES_MEDIAN = 5
"""A step that takes five times as long as its neighbours has never been seen to come back."""


class Pace:
    """Times in seconds by any clock that only runs forward."""

    def __init__(self, plan: HangPlan, now: float) -> None:
        """`now`: when the trainer starts."""
        self._plan = plan
        self._since = now
        self._step: int | None = None
        self._total: int | None = None
        self._times: deque[float] = deque(maxlen=STEPS_COUNTED)

    def see(self, seen: Seen, now: float) -> None:
        self._total = self._total if seen.total is None else seen.total
        for step in seen.steps:
            if self._step:  # the way to the first step says nothing of the next ones
                self._times.append(now - self._since)
            self._step, self._since = step, now

    def hung(self, now: float) -> str | None:
        """A line that says so, with the limit and where it comes from."""
        waited, (limit, why) = now - self._since, self.limit()
        if waited <= limit:
            return None
        return f"no new step for {waited:.0f} s {self._place()}; the limit is {limit:.0f} s: {why}"

    def limit(self) -> tuple[float, str]:
        """Seconds, and what they are made of."""
        if not self._step:
            return self._first()
        usual = TIMES_MEDIAN * statistics.median(self._times) if self._times else 0.0
        least = self._plan.step_min * 60
        limit, why = (usual, f"{TIMES_MEDIAN} times the median step") if usual > least else (least, "hang_min")
        if more := self._more():
            return limit + self._plan.validation_min * 60, f"{why}, and the time for {more}"
        return limit, why

    def _first(self) -> tuple[float, str]:
        first = self._plan.first_step_min * 60
        if self._plan.val_before_train and self._step is None:
            return (
                first + self._plan.validation_min * 60,
                "first_step_min, and the time for a validation before training",
            )
        return first, "first_step_min"

    def _more(self) -> str:
        """What the step that is due does beside training, or the last one may still be doing."""
        around = {self._step or 0, (self._step or 0) + 1}
        last = self._total in around
        due = {"a validation": self._plan.test_freq, "a checkpoint": self._plan.save_freq}
        return " and ".join(
            name for name, every in due.items() if every and (last or any(step % every == 0 for step in around))
        )

    def _place(self) -> str:
        if self._step is None:
            return "since the trainer's start"
        return "since the validation before training" if self._step == 0 else f"after step {self._step}"
