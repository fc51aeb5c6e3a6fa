"""What a campaign counts as lost, doubled and wrong."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.chaos.campaign import FAULTS_OF_A_RUN, drawn, grouped
from tests.chaos.faults import FAULTS
from tests.chaos.tally import AttemptSeen, RunSeen, Tally, tally

HUNG = frozenset({"hung"})
GOOD = RunSeen(
    name="run",
    state="succeeded",
    wanted="succeeded",
    steps=6,
    attempts=(
        AttemptSeen(1, "hung", None, ended_s=100.0, posted_s=50.0, wait_s=0.0, expected=HUNG),
        AttemptSeen(2, "succeeded", 2, ended_s=200.0, posted_s=101.5),
    ),
    trained=((1, 1), (1, 2), (1, 3), (2, 3), (2, 4), (2, 5), (2, 6)),
    posted=(1, 2),
)


def counted(run: RunSeen) -> Tally:
    return tally(1, [run])


def test_a_run_that_went_on_well() -> None:
    found = counted(GOOD)
    assert (found.attempts, found.lost_steps, found.double_submissions, found.lost_runs) == (2, 1, 0, 0)
    assert found.resubmitted_s == (1.5,)
    assert not found.broken
    assert "median 1.50 s" in "\n".join(found.lines())


@pytest.mark.parametrize(
    "run",
    [
        replace(GOOD, posted=(1, 2, 3)),
        replace(GOOD, trained=(*GOOD.trained, (2, 6))),
        replace(GOOD, trained=((1, 1), (1, 2), (2, 3), (1, 3), (2, 4), (2, 5), (2, 6))),
    ],
    ids=["Ray has one more", "a step twice", "two attempts at once"],
)
def test_doubled(run: RunSeen) -> None:
    found = counted(run)
    assert found.double_submissions == 1
    assert found.broken


@pytest.mark.parametrize(
    "run",
    [
        replace(GOOD, state="active"),
        replace(GOOD, state="failed"),
        replace(GOOD, trained=GOOD.trained[:-1]),
        replace(GOOD, attempts=(GOOD.attempts[0], replace(GOOD.attempts[1], resumed_from=3))),
        replace(GOOD, attempts=(GOOD.attempts[0], replace(GOOD.attempts[1], resumed_from=1))),
    ],
    ids=["not over", "failed", "a step missing", "trained twice as it counts", "a step left out"],
)
def test_lost(run: RunSeen) -> None:
    found = counted(run)
    assert found.lost_runs == 1
    assert found.broken


def test_an_attempt_without_a_step_takes_nothing_away() -> None:
    between = AttemptSeen(2, "hung", None, expected=HUNG)
    last = replace(GOOD.attempts[1], number=3)
    trained = tuple((3 if number == 2 else number, step) for number, step in GOOD.trained)
    run = replace(GOOD, attempts=(GOOD.attempts[0], between, last), trained=trained, posted=(1, 2, 3))
    assert not counted(run).broken


def test_a_wrong_reason_is_named() -> None:
    run = replace(GOOD, attempts=(replace(GOOD.attempts[0], reason="unknown"), GOOD.attempts[1]))
    found = counted(run)
    assert found.wrong_reasons == ("run-a1: unknown, not hung",)
    assert found.broken


def test_a_slow_next_attempt_breaks_it_and_a_decided_wait_does_not_count() -> None:
    first, second = GOOD.attempts
    slow = replace(GOOD, attempts=(first, replace(second, posted_s=102.5)))
    assert tally(5, [slow] * 5).broken and not tally(4, [slow] * 4).broken
    assert not tally(5, [GOOD] * 5).broken
    waited = replace(GOOD, attempts=(replace(first, wait_s=15.0), replace(second, posted_s=116.0)))
    assert counted(waited).resubmitted_s == (1.0,)


@pytest.mark.parametrize("count", [0, 1, 10, 3 * len(FAULTS)])
def test_every_fault_that_is_drawn_is_in_one_run(count: int) -> None:
    faults = drawn(count, random.Random(count))
    groups = grouped(faults)
    assert sorted(fault.name for group in groups for fault in group) == sorted(fault.name for fault in faults)
    assert len({fault.name for fault in faults}) == min(count, len(FAULTS))
    for group in groups:
        assert len(group) <= FAULTS_OF_A_RUN
        assert sum(fault.blames_node for fault in group) <= 1
        assert len(group) == 1 or not any(fault.arguments for fault in group)


def test_a_seed_decides_the_order() -> None:
    assert drawn(30, random.Random(1)) == drawn(30, random.Random(1))
    assert drawn(30, random.Random(1)) != drawn(30, random.Random(2))
