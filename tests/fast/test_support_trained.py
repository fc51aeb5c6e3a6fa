"""The runs that pages and terminals are tested with are what they say."""

from __future__ import annotations

import math
from pathlib import Path
from typing import get_args

import pytest

from submitter.gang.telemetry.sample import parse_sample, sample_line
from submitter.ledger import Ledger
from submitter.metrics.alerts import RULES, Watched, judge
from submitter.supervise.run_state import state_of
from submitter.texts import text
from tests.support.curves import SAVE_EVERY, VALIDATION
from tests.support.trained import State, fill, sample, trained_run


@pytest.mark.parametrize("state", get_args(State))
def test_in_each_state(ledger: Ledger, state: State) -> None:
    made = trained_run(ledger, "one", steps=70, attempts=2, state=state)
    run, attempts = ledger.run("one"), ledger.attempts("one")
    assert run is not None and state_of(run, attempts[-1]) == state == made.state
    assert attempts[0].reason == "device_lost" and attempts[0].diagnosis is not None
    assert (attempts[-1].ended_ms is None) == (state == "running")
    assert attempts[-1].last_step == 70 and (made.total_steps == 70) == (state == "succeeded")


def test_each_attempt_goes_on_from_a_checkpoint_and_trains_some_steps_again(ledger: Ledger) -> None:
    made = trained_run(ledger, "one", steps=200, attempts=4, metrics=40)
    for before, after in zip(made.parts[:-1], made.parts[1:], strict=True):
        assert after.resumed_from is not None and after.resumed_from % SAVE_EVERY == 0
        assert after.first == after.resumed_from + 1 <= before.last < after.last
        assert before.ended_ms is not None and before.seen_ms[-1] < before.ended_ms < after.began_ms < after.seen_ms[0]
    found = ledger.columns("one", [*made.names, VALIDATION])
    assert sorted(found.seen_ms) == list(found.seen_ms) and found.seen_ms[-1] == made.now_ms
    assert list(found.steps)[1:] == [step for part in made.parts for step in range(part.first, part.last + 1)]
    assert len(made.names) == 40
    rows = [row for row in range(len(found.steps)) if found.steps[row]]
    assert not any(math.isnan(found.values[name][row]) for name in made.names for row in rows)
    assert not math.isnan(found.values[VALIDATION][0])


def test_the_same_again(tmp_path: Path) -> None:
    ledgers = [Ledger(tmp_path / name) for name in ("a", "b")]
    made = [trained_run(ledger, "one", steps=50, metrics=60) for ledger in ledgers]
    assert made[0] == made[1]
    columns = [ledger.columns("one", made[0].names) for ledger in ledgers]
    assert repr(columns[0]) == repr(columns[1])  # nan is not equal to itself
    for ledger in ledgers:
        ledger.close()


@pytest.mark.parametrize("steps", [1, 2, 19, 20, 21, 40])
@pytest.mark.parametrize("attempts", [1, 2, 5])
def test_short_ones(ledger: Ledger, steps: int, attempts: int) -> None:
    made = trained_run(ledger, "one", steps=max(steps, attempts), attempts=attempts, metrics=3, devices=None)
    assert len(ledger.attempts("one")) == attempts and made.parts[-1].last == max(steps, attempts)
    assert {one.sample["devices"] for one in ledger.samples("one")} == {None}


def test_a_home_with_a_few_of_them(tmp_path: Path) -> None:
    made = fill(tmp_path / "home", 1_800_000_000_000)
    ledger = Ledger(tmp_path / "home")
    assert {one.state for one in made} == {"running", "waiting", "failed", "succeeded", "stopped"}
    assert list(ledger.open_alerts()) and len(ledger.quarantined(1_800_000_000_000)) > 0
    assert {one.run for one in made} == set(ledger.runs())
    ledger.close()


def test_its_alerts_are_such_as_the_rules_give_and_can_be_told(ledger: Ledger) -> None:
    trained_run(ledger, "one", alerts=2)
    passed, holds = ledger.alerts("one")
    assert (passed.until_ms is None, holds.until_ms is None) == (False, True)
    for one in (passed, holds):
        assert one.id in {rule.id for rule in RULES}
        assert text(one.id, "en", **one.values) and text(f"{one.id}.fix", "zh", **one.values)


def test_what_it_logged_and_measured_is_healthy(ledger: Ledger) -> None:
    made = trained_run(ledger, "one", steps=900, samples=200)
    watched = Watched()
    for part in made.parts:
        steps = ((one.step, one.seen_ms, one.metrics) for one in ledger.steps("one", part.attempt))
        watched.add_steps(part.attempt, steps, part.resumed_from)
    watched.add_samples(3, [one.sample for one in ledger.samples("one", newest=200)])
    assert judge(watched.window()) == []


def test_its_samples_are_such_as_node_workers_hand_over() -> None:
    for devices in (16, None):
        made = sample("10.0.0.1", 0, 1_790_000_000_000, devices)
        assert parse_sample(sample_line(made)) == made
