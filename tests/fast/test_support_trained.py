"""The runs that pages and terminals are tested with are what they say."""

from __future__ import annotations

import math
from pathlib import Path
from typing import get_args

import pytest

from submitter.ledger import Ledger
from submitter.supervise.run_state import state_of
from tests.support.curves import SAVE_EVERY, VALIDATION
from tests.support.trained import State, fill, trained_run


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
