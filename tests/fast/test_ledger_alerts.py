"""Alerts and samples of nodes: opened once, kept up to date, closed; the newest samples of each node."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from submitter.ledger import Ledger, LockLostError, StoredAlert, this_process
from submitter.ledger.samples import SAMPLES_KEPT
from tests.support.ledgers import intend
from tests.support.trained import sample


@dataclass(frozen=True)
class Found:
    id: str = "NR901"
    node: str | None = None
    severity: str = "warning"
    first_step: int | None = 5
    last_step: int | None = 7
    values: dict[str, Any] = field(default_factory=lambda: {"value": 1.5})


@pytest.fixture
def run(ledger: Ledger) -> str:
    intend(ledger)
    return "run"


class TestAlerts:
    def test_opened_kept_and_closed(self, ledger: Ledger, run: str) -> None:
        (new,) = ledger.record_alerts(run, 1, [Found()], 100)
        assert new == StoredAlert(new.number, run, "NR901", "warning", None, 1, 5, 7, {"value": 1.5}, 100, None)
        assert ledger.record_alerts(run, 2, [Found(first_step=6, last_step=9, values={"value": 2.5})], 200) == []
        (kept,) = ledger.alerts(run, open_only=True)
        assert (kept.number, kept.attempt, kept.first_step, kept.since_ms) == (new.number, 1, 5, 100)
        assert (kept.last_step, kept.values) == (9, {"value": 2.5})
        assert ledger.record_alerts(run, 2, [], 300) == [] and ledger.alerts(run, open_only=True) == []
        (closed,) = ledger.alerts(run)
        assert (closed.number, closed.until_ms, closed.last_step) == (new.number, 300, 9)

    def test_again_it_is_another_one(self, ledger: Ledger, run: str) -> None:
        ledger.record_alerts(run, 1, [Found()], 100)
        ledger.record_alerts(run, 1, [], 200)
        (again,) = ledger.record_alerts(run, 1, [Found()], 300)
        first, second = ledger.alerts(run)
        assert (first.since_ms, first.until_ms, second.since_ms, second.until_ms) == (100, 200, 300, None)
        assert second == again

    def test_one_for_each_node_and_rule(self, ledger: Ledger, run: str) -> None:
        found = [Found(), Found(node="10.0.0.1"), Found(node="10.0.0.2"), Found("NR902", severity="error")]
        assert len(ledger.record_alerts(run, 1, [*found, Found()], 100)) == 4
        ledger.record_alerts(run, 1, found[1:3], 200)
        assert [(one.id, one.node) for one in ledger.alerts(run, open_only=True)] == [
            ("NR901", "10.0.0.1"),
            ("NR901", "10.0.0.2"),
        ]
        intend(ledger, "other")
        ledger.record_alerts("other", 1, found[:1], 1)
        assert ledger.open_alerts() == {run: 2, "other": 1}

    def test_nothing_new_writes_nothing(self, ledger: Ledger, run: str) -> None:
        ledger.record_alerts(run, 1, [Found()], 100)
        before = ledger.changes()
        assert ledger.record_alerts(run, 1, [Found()], 200) == []
        assert ledger.changes() == before

    def test_only_of_a_run_that_is_there(self, ledger: Ledger) -> None:
        assert ledger.record_alerts("none", 1, [Found()], 100) == [] == ledger.alerts("none")

    def test_the_open_ones_and_the_newest_stay(self, ledger: Ledger, run: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("submitter.ledger.alerts.ALERTS_KEPT", 10)
        lasting = Found("NR950", values={"x": float("inf"), "name": "\ud800'\n"})
        for now_ms in range(100):
            ledger.record_alerts(run, 1, [lasting, Found()] if now_ms % 2 else [lasting], now_ms)
        stored = ledger.alerts(run)
        assert stored[0].id == "NR950" and stored[0].until_ms is None and stored[0].values == lasting.values
        assert 10 <= len(stored) <= 12 and stored[-1].since_ms == 99

    def test_not_by_a_supervisor_that_was_taken_over(self, ledger: Ledger, run: str) -> None:
        me, other = this_process(0), this_process(0)
        ledger.take(me, 0)
        ledger.record_alerts(run, 1, [Found()], 100, holder=me.token)
        with pytest.raises(LockLostError):
            ledger.record_alerts(run, 1, [], 200, holder=other.token)
        with pytest.raises(LockLostError):
            ledger.record_samples(run, 1, [sample("10.0.0.1", 0, 0, 1)], holder=other.token)
        assert len(ledger.alerts(run, open_only=True)) == 1 and ledger.samples(run) == []


class TestSamples:
    def test_as_they_were_measured(self, ledger: Ledger, run: str) -> None:
        told = [sample("10.0.0.1", 0, 10_000, 16), sample("10.0.0.2", 1, 10_500, None)]
        ledger.record_samples(run, 1, told)
        found = ledger.samples(run)
        assert [one.sample for one in found] == told
        assert [(one.run, one.attempt, one.node, one.at_ms) for one in found] == [
            (run, 1, "10.0.0.1", 10_000),
            (run, 1, "10.0.0.2", 10_500),
        ]

    def test_again_changes_nothing(self, ledger: Ledger, run: str) -> None:
        first = sample("10.0.0.1", 0, 10_000, 2)
        ledger.record_samples(run, 1, [first])
        ledger.record_samples(run, 1, [{**first, "load": 99.0}, sample("10.0.0.1", 0, 20_000, 2)])
        assert [one.at_ms for one in ledger.samples(run, newest=10)] == [10_000, 20_000]
        assert ledger.samples(run, newest=10)[0].sample == first
        ledger.record_samples("none", 1, [first])
        assert ledger.samples("none") == []

    def test_the_newest_of_each_node_in_the_order_of_their_times(self, ledger: Ledger, run: str) -> None:
        intend(ledger, "other")
        told = [sample(f"10.0.0.{node}", node, 1_000 * at + node, 1) for at in range(9) for node in (3, 1, 2)]
        random.Random(1).shuffle(told)
        ledger.record_samples(run, 1, told)
        ledger.record_samples("other", 1, [sample("10.0.0.9", 9, 99_000, 1)])
        assert [(one.node, one.at_ms) for one in ledger.samples(run, newest=2)] == [
            *(("10.0.0.1", 7_001), ("10.0.0.2", 7_002), ("10.0.0.3", 7_003)),
            *(("10.0.0.1", 8_001), ("10.0.0.2", 8_002), ("10.0.0.3", 8_003)),
        ]
        assert [one.at_ms for one in ledger.samples(run, node="10.0.0.2", newest=3)] == [6_002, 7_002, 8_002]
        assert ledger.samples(run, node="10.0.0.9") == []

    def test_the_newest_are_kept(self, ledger: Ledger, run: str, monkeypatch: pytest.MonkeyPatch) -> None:
        assert 500 < SAMPLES_KEPT < 10_000
        monkeypatch.setattr("submitter.ledger.samples.SAMPLES_KEPT", 4)
        ledger.record_samples(run, 1, [sample("10.0.0.9", 0, 5_000, 1)])
        for at in range(10):
            ledger.record_samples(run, 1, [sample("10.0.0.1", 0, 1_000 * at, 1)])
        assert [one.at_ms for one in ledger.samples(run, node="10.0.0.1", newest=99)] == [6_000, 7_000, 8_000, 9_000]
        ledger.record_samples(run, 1, [sample("10.0.0.1", 0, 0, 1)])  # the file is read again from its begin
        assert len(ledger.samples(run, node="10.0.0.1", newest=99)) == 4
        assert len(ledger.samples(run, node="10.0.0.9", newest=99)) == 1

    def test_they_go_with_their_run(self, ledger: Ledger, run: str) -> None:
        ledger.record_samples(run, 1, [sample("10.0.0.1", 0, 10_000, 2)])
        ledger.record_alerts(run, 1, [Found()], 100)
        ledger.withdraw("run-a1", 1_001)
        assert ledger.samples(run) == [] and ledger.alerts(run) == [] and ledger.open_alerts() == {}
