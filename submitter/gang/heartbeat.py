"""Which node is frozen, lost or well: a pure judgement of two pulses per node, with the time handed in.

A ping goes from process to process and passes a stopped raylet by; a task pinned to the node needs its raylet. So
a task unanswered means the raylet, both unanswered means the node, and a ping alone means the node worker.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

TASK_LIMIT_S = 10.0
"""A task pinned to a node that stays unanswered for so long: the node is frozen."""

PING_LIMIT_S = 10.0
FIRST_LIMIT_S = 120.0
"""Of the first answer: the worker process has to be started first, on a host that is starting a trainer."""

PING_QUIET_S = 5.0
"""A ping that has waited for so long when the task is overdue: the whole node is silent, not only its raylet."""

DEAD_AFTER_S = 5.0
"""The node worker is dead and no task has been answered for so long: the node has gone."""

EVERY_S = 1.0
"""From an answer to the next question. Above Ray's 0.5 s of keeping an idle worker's lease, or the raylet would not be
asked; and small, since a freeze is noticed at most so much after the limit."""

TASK_FAILURES = 3
"""A task can fail for the node's own reasons (its process was killed for memory); so often in a row, the node has."""

REPLACE_PAUSE_S = 30.0
"""Between two replacements of one node's worker, so that one that cannot live is not started without end."""

MAX_STEP_S = 1.0


class Verdict(Enum):
    WELL = "well"
    NODE_FROZEN = "the node: neither tasks nor pings are answered"
    RAYLET_FROZEN = "its raylet: pings are answered, tasks are not"
    NODE_LOST = "lost: its processes are gone"
    WORKER_SILENT = "node worker silent"
    WORKER_DEAD = "node worker dead"


@dataclass
class Pulse:
    """Questions to one process, one outstanding at most."""

    limit_s: float
    sent_at: float | None = None
    """Of the outstanding question."""
    ended_at: float | None = None
    """Of the newest answer or failure."""
    answered: int = 0
    answered_sent_at: float | None = None
    """When the newest question with an answer was sent: the process was alive then or later."""
    failures: int = 0
    """In a row."""
    failing_since: float | None = None

    def send(self, now: float) -> None:
        self.sent_at = now

    def answer(self, now: float) -> None:
        self.answered_sent_at, self.sent_at, self.ended_at = self.sent_at, None, now
        self.answered += 1
        self.failures, self.failing_since = 0, None

    def fail(self, now: float) -> None:
        self.sent_at, self.ended_at = None, now
        self.failures += 1
        self.failing_since = now if self.failing_since is None else self.failing_since

    def due(self, now: float) -> bool:
        return self.sent_at is None and (self.ended_at is None or now - self.ended_at >= EVERY_S)

    def waits(self, now: float) -> float:
        """Seconds that the outstanding question has waited; 0 when there is none."""
        return 0.0 if self.sent_at is None else now - self.sent_at

    def overdue(self, now: float) -> bool:
        return self.waits(now) >= (self.limit_s if self.answered else FIRST_LIMIT_S)


@dataclass
class NodePulse:
    task: Pulse = field(default_factory=lambda: Pulse(TASK_LIMIT_S))
    ping: Pulse = field(default_factory=lambda: Pulse(PING_LIMIT_S))
    replaced_at: float | None = None

    def judge(self, now: float) -> Verdict:
        worker_dead = self.ping.failures > 0
        if worker_dead and self.task.waits(now) >= DEAD_AFTER_S:
            return Verdict.NODE_LOST
        if self.task.failures >= TASK_FAILURES:
            return Verdict.NODE_LOST
        if self.task.overdue(now):
            return Verdict.NODE_FROZEN if self.ping.waits(now) >= PING_QUIET_S else Verdict.RAYLET_FROZEN
        if self._replaced_lately(now):
            return Verdict.WELL
        if worker_dead and self._answered_since(self.ping.failing_since):
            return Verdict.WORKER_DEAD
        if self.ping.overdue(now) and self._answered_since(now - PING_QUIET_S):
            return Verdict.WORKER_SILENT
        return Verdict.WELL

    def worker_answers(self, now: float) -> bool:
        return not self.ping.failures and self.ping.waits(now) < PING_QUIET_S

    def replaced(self, now: float) -> None:
        """A new node worker has been started: its first answer may take long again."""
        self.ping = Pulse(PING_LIMIT_S)
        self.replaced_at = now

    def well_since(self, moment: float) -> bool:
        """Both a ping and a task that were sent after `moment` have been answered."""
        newest = (self.task.answered_sent_at, self.ping.answered_sent_at)
        return all(sent is not None and sent > moment for sent in newest)

    def _replaced_lately(self, now: float) -> bool:
        return self.replaced_at is not None and now - self.replaced_at < REPLACE_PAUSE_S

    def _answered_since(self, moment: float | None) -> bool:
        """A task that was *sent* after `moment` has been answered: the raylet lived then."""
        sent = self.task.answered_sent_at
        return moment is not None and sent is not None and sent > moment


class SteadyClock:
    """Time as the driver could see it: a pause of the driver itself counts for at most 1 s.

    Otherwise a driver that was stopped, or a host that slept, would find every node silent when it wakes.
    """

    def __init__(self) -> None:
        self._last: float | None = None
        self._time = 0.0

    def at(self, monotonic: float) -> float:
        if self._last is not None:
            self._time += min(max(monotonic - self._last, 0.0), MAX_STEP_S)
        self._last = monotonic
        return self._time
