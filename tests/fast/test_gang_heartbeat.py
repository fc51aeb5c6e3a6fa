"""The judgement over pulses, on a simulated node and a clock that is handed in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from submitter.gang.heartbeat import (
    FIRST_LIMIT_S,
    NodePulse,
    Pulse,
    SteadyClock,
    Verdict,
)

BEAT_S = 0.25
NEVER = 1e9


@dataclass
class Node:
    """Answers a question sent at t after `delay(t)` seconds; whatever is under way when it freezes is lost."""

    delay: Callable[[float], float] = lambda _: 0.05
    raylet_frozen_at: float = NEVER
    worker_frozen_at: float = NEVER
    worker_dead_at: float = NEVER
    pulse: NodePulse = field(default_factory=NodePulse)
    replacements: int = 0

    def run(self, until: float, start: float = 0.0) -> tuple[float, Verdict] | None:
        """When and how the node is condemned; None if it is not before `until`."""
        now = start
        while now < until:
            self._answer(self.pulse.task, now, self.raylet_frozen_at, NEVER)
            self._answer(self.pulse.ping, now, self.worker_frozen_at, self.worker_dead_at)
            for pulse in (self.pulse.task, self.pulse.ping):
                if pulse.due(now):
                    pulse.send(now)
            verdict = self.pulse.judge(now)
            if verdict in (Verdict.WORKER_SILENT, Verdict.WORKER_DEAD):
                self.replacements += 1
                self.worker_frozen_at = self.worker_dead_at = NEVER
                self.pulse.replaced(now)
            elif verdict is not Verdict.WELL:
                return now, verdict
            now += BEAT_S
        return None

    def _answer(self, pulse: Pulse, now: float, frozen_at: float, dead_at: float) -> None:
        if pulse.sent_at is None:
            return
        arrives = pulse.sent_at + self.delay(pulse.sent_at)
        if now >= dead_at and arrives > dead_at:
            pulse.fail(now)
        elif now >= arrives and arrives <= frozen_at:
            pulse.answer(now)


@given(delays=st.lists(st.floats(0.0, 9.0), min_size=1, max_size=30), first=st.floats(0.0, 100.0))
@settings(max_examples=60)
def test_a_node_that_answers_within_the_limits_is_left_alone(delays: list[float], first: float) -> None:
    node = Node(delay=lambda sent: first if sent < 1 else delays[int(sent) % len(delays)])
    assert node.run(until=300) is None
    assert node.replacements == 0


@given(frozen_at=st.floats(1.0, 100.0), both=st.booleans())
def test_a_frozen_raylet_or_node_is_named_within_eleven_and_a_half_seconds(frozen_at: float, both: bool) -> None:
    node = Node(raylet_frozen_at=frozen_at, worker_frozen_at=frozen_at if both else NEVER)
    condemned = node.run(until=frozen_at + 30)
    assert condemned is not None
    at, verdict = condemned
    assert frozen_at + 9 <= at <= frozen_at + 11.5
    assert verdict is (Verdict.NODE_FROZEN if both else Verdict.RAYLET_FROZEN)
    assert node.replacements == 0


@given(at=st.floats(1.0, 100.0), dead=st.booleans())
def test_only_the_node_worker_silent_or_dead_is_replaced_once_and_the_node_goes_on(at: float, dead: bool) -> None:
    node = Node(worker_dead_at=at) if dead else Node(worker_frozen_at=at)
    assert node.run(until=at + 200) is None
    assert node.replacements == 1


@given(at=st.floats(1.0, 100.0))
def test_a_node_that_dies_is_lost_in_eight_seconds(at: float) -> None:
    node = Node(worker_dead_at=at, raylet_frozen_at=at)
    condemned = node.run(until=at + 30)
    assert condemned is not None
    assert condemned[1] is Verdict.NODE_LOST
    assert condemned[0] <= at + 8


def test_tasks_that_fail_time_and_again_mean_that_the_node_is_lost() -> None:
    pulse = NodePulse()
    for second in (0, 2):
        pulse.task.send(second)
        pulse.task.fail(second + 1)
        assert pulse.judge(second + 1) is Verdict.WELL
    pulse.task.send(4)
    pulse.task.fail(5)
    assert pulse.judge(5) is Verdict.NODE_LOST


def test_the_first_answer_may_take_long_but_not_for_ever() -> None:
    node = Node(raylet_frozen_at=-1)
    condemned = node.run(until=200)
    assert condemned is not None
    assert FIRST_LIMIT_S <= condemned[0] <= FIRST_LIMIT_S + 1


def test_a_replacement_that_does_not_live_is_not_replaced_without_end() -> None:
    pulse = NodePulse()
    replaced = 0
    for tick in range(0, 100 * 4):
        now = tick * BEAT_S
        for question, done in ((pulse.task, pulse.task.answer), (pulse.ping, pulse.ping.fail)):
            if question.due(now):
                question.send(now)
            elif question.sent_at is not None:
                done(now)
        if pulse.judge(now) is Verdict.WORKER_DEAD:
            replaced += 1
            pulse.replaced(now)
    assert 2 <= replaced <= 4


def test_well_since_needs_questions_sent_after_the_moment() -> None:
    pulse = NodePulse()
    pulse.task.send(1)
    pulse.ping.send(3)
    pulse.task.answer(4)
    pulse.ping.answer(4)
    assert not pulse.well_since(2)
    pulse.task.send(5)
    pulse.task.answer(6)
    assert pulse.well_since(2)


def test_a_pause_of_the_driver_itself_counts_for_one_second() -> None:
    clock = SteadyClock()
    assert clock.at(1000.0) == 0
    assert clock.at(1000.25) == 0.25
    assert clock.at(1600.0) == 1.25
    assert clock.at(1600.5) == 1.75
