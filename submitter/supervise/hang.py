"""The outer net: an attempt whose driver itself is frozen says nothing more, and nobody in the cluster ends it."""

from __future__ import annotations

import json
import math
import statistics
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

from submitter.gang.hang import STEPS_COUNTED, TIMES_MEDIAN
from submitter.gang.plan import HangPlan
from submitter.gang.step_lines import Step
from submitter.ledger import Attempt, Ledger, LedgerError
from submitter.supervise.kept import plan_of

HANG_TOLD = "supervise.hung"
"""The event that is written before the supervisor stops a hung attempt."""
MARGIN_S = 120.0
"""On top of what the driver's own watch allows: it comes first, with evidence from every node."""
_STEP_TIMES = ("timing_s/step", "perf/time_per_step")
"""Seconds; verl logs both."""


class Bound:
    """For how long an attempt may neither log nor make a step."""

    def __init__(self, plan: HangPlan | None) -> None:
        self._plan = plan
        self._times: deque[float] = deque(maxlen=STEPS_COUNTED)
        self._trained = False
        self._seen_s: float | None = None

    def note(self, steps: Sequence[Step], now_s: float) -> None:
        for step in steps:
            self._trained = self._trained or step.number > 0
            if (took := took_s(step)) is not None:
                self._times.append(took)
            elif self._seen_s is not None and now_s > self._seen_s:
                self._times.append(now_s - self._seen_s)
            self._seen_s = now_s

    def silent_s(self) -> float:
        """Infinite for a trainer whose steps cannot be seen."""
        plan = self._plan
        if plan is None:
            return float("inf")
        if not self._trained:
            minutes = plan.first_step_min + plan.validation_min * plan.val_before_train
            return minutes * 60 + MARGIN_S
        usual_s = TIMES_MEDIAN * statistics.median(self._times) if self._times else 0.0
        more_min = plan.validation_min if plan.test_freq > 0 or plan.save_freq > 0 else 0.0
        return max(plan.step_min * 60, usual_s) + more_min * 60 + MARGIN_S


def bound_of(ledger: Ledger, attempt: Attempt) -> Bound:
    """By the plan in the package that the attempt was posted with; without the package there is no bound."""
    return Bound(_hang_plan(ledger, attempt))


def _hang_plan(ledger: Ledger, attempt: Attempt) -> HangPlan | None:
    with suppress(LedgerError):  # a home that cannot be read: without the plan there is no bound
        plan = plan_of(json.loads(attempt.body), ledger)
        return plan.hang if plan else None
    return None


def took_s(step: Step) -> float | None:
    """As the trainer measured it; None: it did not."""
    found = (step.metrics.get(name, math.nan) for name in _STEP_TIMES)
    return next((value for value in found if math.isfinite(value)), None)
