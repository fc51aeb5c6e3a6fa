"""Quarantine in the ledger: it ends by itself, and a release lasts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from submitter.ledger import Ledger, Quarantined

HOSTILE = "a 'quoted\"; DROP TABLE quarantine; -- $x \\ \n 中"
HERE, THERE = "http://here:8265", "http://there:8265"
ENTRY = Quarantined(HERE, "10.0.0.3", "run-a1", "NR503", {"value": "Critical", "values": {"npu": 5}}, 1_000, 2_000)


def nodes(ledger: Ledger, now_ms: int = 1_500, address: str | None = None) -> list[str]:
    return [one.node for one in ledger.quarantined(now_ms, address)]


def test_an_entry_comes_back_whole(ledger: Ledger) -> None:
    hostile = Quarantined(HOSTILE, HOSTILE, HOSTILE, HOSTILE, {HOSTILE: [HOSTILE, None, 1.5]}, 1_000, 2_000)
    ledger.quarantine([ENTRY, hostile])
    again = Ledger(ledger.path.parent)
    assert again.quarantined(1_500) == sorted([ENTRY, hostile], key=lambda one: (one.address, one.node))
    assert ledger.release(HOSTILE, 1_500) == 1 and nodes(again) == ["10.0.0.3"]


@pytest.mark.parametrize(("now_ms", "holds"), [(999, False), (1_000, True), (1_999, True), (2_000, False)])
def test_it_holds_from_its_time_to_its_end(now_ms: int, holds: bool, ledger: Ledger) -> None:
    ledger.quarantine([ENTRY])
    assert bool(nodes(ledger, now_ms)) == holds
    assert ledger.release(ENTRY.node, now_ms) == holds  # what is not listed is not released


def test_clusters_are_apart(ledger: Ledger) -> None:
    ledger.quarantine([ENTRY, replace(ENTRY, address=THERE), replace(ENTRY, address=THERE, node="10.0.0.4")])
    assert nodes(ledger) == ["10.0.0.3", "10.0.0.3", "10.0.0.4"]
    assert nodes(ledger, address=THERE) == ["10.0.0.3", "10.0.0.4"]
    assert ledger.release("10.0.0.3", 1_500, THERE) == 1
    assert nodes(ledger) == ["10.0.0.3", "10.0.0.4"]
    assert ledger.release("10.0.0.3", 1_500) == 1 and nodes(ledger) == ["10.0.0.4"]


def test_each_finding_ends_on_its_own(ledger: Ledger) -> None:
    ledger.quarantine(
        [ENTRY, replace(ENTRY, finding="NR504", until_ms=1_200), replace(ENTRY, submission_id="other-a1")]
    )
    assert len(nodes(ledger, 1_100)) == 3 and len(nodes(ledger, 1_300)) == 2
    assert ledger.release("10.0.0.3", 1_300) == 2  # the one that has run out is not counted
    assert ledger.release("10.0.0.3", 1_300) == 0


def test_a_release_lasts_although_the_same_record_is_read_again(ledger: Ledger) -> None:
    ledger.quarantine([ENTRY])
    assert ledger.release("10.0.0.3", 1_500) == 1
    ledger.quarantine([ENTRY, replace(ENTRY, evidence={"other": "words"}, until_ms=9_000)])
    assert nodes(ledger) == []
    ledger.quarantine([replace(ENTRY, submission_id="run-a2")])  # found again by the next attempt
    assert nodes(ledger) == ["10.0.0.3"]


def test_releasing_what_is_not_there(ledger: Ledger) -> None:
    assert ledger.release("10.0.0.3", 1_500) == 0


def test_reading_the_same_record_again_does_not_prolong_it(ledger: Ledger) -> None:
    ledger.quarantine([ENTRY])
    ledger.quarantine([replace(ENTRY, until_ms=9_000)])
    assert nodes(ledger, 2_500) == []


@settings(max_examples=25)
@given(node=st.text(), finding=st.text(), value=st.text())
def test_any_text_comes_back(node: str, finding: str, value: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    ledger = Ledger(tmp_path_factory.mktemp("home"))
    entry = replace(ENTRY, node=node, finding=finding, evidence={"value": value})
    ledger.quarantine([entry])
    assert ledger.quarantined(1_500) == [entry]
    ledger.close()


def test_attempts_whose_end_nobody_has_read(ledger: Ledger) -> None:
    for run, address, now_ms in (("a", HERE, 1), ("b", THERE, 2), ("c", HERE, 3), ("d", HERE, 4)):
        values = {"attempt": 1, "submission_id": f"{run}-a1", "address": address, "spec": "s", "job": "j"}
        ledger.record_intent(run=run, total_steps=None, body=b"{}", now_ms=now_ms, **values)  # type: ignore[arg-type]
    ledger.record_end("c-a1", state="FAILED", reason=None, end=None, started_ms=None, ended_ms=None)
    assert ledger.unended(HERE, 10) == ["d-a1", "a-a1"]
    assert ledger.unended(HERE, 1) == ["d-a1"] and ledger.unended("elsewhere", 10) == []
