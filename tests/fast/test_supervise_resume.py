"""Taking up a run again: what the ledger has afterwards, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from submitter.errors import UsageError
from submitter.ledger import Ledger
from submitter.ledger.model import RunState
from submitter.supervise.resume import resume

PACKAGE = "_ray_pkg_1.zip"


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ledger = Ledger(tmp_path)
    ledger.keep_package(PACKAGE, b"zip")
    body = {"submission_id": "r-a1", "runtime_env": {"py_modules": [f"gcs://{PACKAGE}", "https://elsewhere/x.zip"]}}
    ledger.record_intent(
        run="r",
        attempt=1,
        submission_id="r-a1",
        address="http://x:1",
        spec="s",
        job="j",
        total_steps=10,
        body=json.dumps(body).encode(),
        now_ms=1,
        supervised=True,
    )
    return ledger


def ended(ledger: Ledger, state: RunState) -> None:
    ledger.record_end("r-a1", state=state.upper(), reason=state, end=None, started_ms=1, ended_ms=2)
    ledger.end_run("r", state, state, 3)


@pytest.mark.parametrize("state", ["failed", "stopped"])
def test_a_run_that_ended_is_active_again_and_a_decision_follows_its_last_attempt(
    ledger: Ledger, state: RunState
) -> None:
    ended(ledger, state)
    ledger.want("r", "stop")
    run, after = resume("r", ledger, clock=lambda: 9.0)
    assert (run.state, run.wanted, run.supervised, after.attempt) == ("active", "run", True, 1)
    decided = ledger.decision("r", 1)
    assert decided is not None
    assert (decided.decision["action"], decided.decision["why"], decided.due_ms) == ("retry", "resumed", 9000)
    assert resume("r", ledger, clock=lambda: 10.0)[0].reopened == 1, "again: as it is"


def test_changes_that_were_made_stay(ledger: Ledger) -> None:
    intent: dict[str, Any] = {"address": "http://x:1", "spec": "s", "job": "j", "total_steps": 10, "now_ms": 2}
    ended(ledger, "failed")
    resume("r", ledger)
    body = json.dumps({"submission_id": "r-a2", "runtime_env": {"py_modules": [f"gcs://{PACKAGE}"]}}).encode()
    changes = ["a.b=1", "+c=2"]
    ledger.record_intent(
        run="r", attempt=2, submission_id="r-a2", body=body, changes=changes, supervised=True, **intent
    )
    ledger.record_end("r-a2", state="FAILED", reason="hung", end=None, started_ms=1, ended_ms=2)
    ledger.end_run("r", "failed", "hung", 3)
    resume("r", ledger)
    decided = ledger.decision("r", 2)
    assert decided is not None and decided.decision["changes"] == changes


def test_an_active_run_stays_as_it_is(ledger: Ledger) -> None:
    run, _ = resume("r", ledger)
    assert (run.state, run.reopened, ledger.decision("r", 1)) == ("active", 0, None)


def test_a_run_that_has_trained_all_its_steps_is_refused(ledger: Ledger) -> None:
    ended(ledger, "succeeded")
    with pytest.raises(UsageError, match="all its steps"):
        resume("r", ledger)


def test_one_that_is_being_stopped_is_not_resumed_meanwhile(ledger: Ledger) -> None:
    ledger.want("r", "stop")
    with pytest.raises(UsageError, match="npurun stop r"):
        resume("r", ledger)


def test_without_its_packages_it_stays_ended(ledger: Ledger, tmp_path: Path) -> None:
    ended(ledger, "failed")
    (tmp_path / "packages" / PACKAGE).unlink()
    with pytest.raises(UsageError, match=PACKAGE):
        resume("r", ledger)
    run = ledger.run("r")
    assert run is not None and run.state == "failed"


@pytest.mark.parametrize("name", ["unknown", "it's; $(x)\n"])
def test_an_unknown_run_is_one_line(ledger: Ledger, name: str) -> None:
    with pytest.raises(UsageError) as refused:
        resume(name, ledger)
    assert "\n" not in str(refused.value)
