"""How long a trainer may be without a new step: a pure judgement of when its steps came, with the time handed in."""

from __future__ import annotations

import statistics
from collections import defaultdict, deque

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
        self._times: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=STEPS_COUNTED))
        """By what the step does beside training: a validation may take as long as all steps before it."""

    def see(self, seen: Seen, now: float) -> None:
        self._total = self._total if seen.total is None else seen.total
        for step in seen.steps:
            if self._step:  # the way to the first step says nothing of the next ones
                self._times[self._more()].append(now - self._since)
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
        more, least = self._more(), self._plan.step_min * 60
        usual, of = max((self._usual(kind), f" of steps with {kind}" if kind else "") for kind in {"", more})
        limit, why = (usual, f"{TIMES_MEDIAN} times the median step{of}") if usual > least else (least, "hang_min")
        if more and (self._at_end() or not self._times[more]):
            return limit + self._plan.validation_min * 60, f"{why}, and the time for {more}"
        return limit, why

    def _usual(self, kind: str) -> float:
        times = self._times[kind]
        return TIMES_MEDIAN * statistics.median(times) if times else 0.0

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
        due = {"a validation": self._plan.test_freq, "a checkpoint": self._plan.save_freq}
        around, last = self._around(), self._at_end()
        return " and ".join(
            name for name, every in due.items() if every and (last or any(step % every == 0 for step in around))
        )

    def _at_end(self) -> bool:
        return self._total in self._around()

    def _around(self) -> tuple[int, int]:
        """The last step and the one that is due."""
        return self._step or 0, (self._step or 0) + 1

    def _place(self) -> str:
        if self._step is None:
            return "since the trainer's start"
        return "since the validation before training" if self._step == 0 else f"after step {self._step}"
