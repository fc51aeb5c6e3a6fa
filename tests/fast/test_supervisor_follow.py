"""Following a run: its attempts' logs in order, the decisions between them, and the exit code of its end."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from submitter.cluster.client import RayClient
from submitter.errors import UsageError
from submitter.exit_codes import ExitCode
from submitter.gang.record import EXIT_OF_REASON, End
from submitter.ledger import Ledger
from submitter.render.request import request_bytes
from submitter.supervise import follow_run as room
from submitter.supervise.follow import Outcome
from submitter.supervise.follow_run import follow_run
from tests.support.care_bench import BEGAN_MS, PACKAGE, SPEC, Told, body_of
from tests.support.fake_ray import FakeRay


class Following:
    """The supervisor's part is played by a script: what it does after the n-th attempt's log was told."""

    def __init__(self, ray: FakeRay, ledger: Ledger) -> None:
        self.ray = ray
        self.ledger = ledger
        self.lines: list[str] = []
        self.told = Told()
        self.cared = 0
        self.script: dict[str, Callable[[], None]] = {}
        ledger.keep_package(PACKAGE.name, PACKAGE.data)

    def begin(self, attempt: int, *lines: str) -> None:
        body = body_of("run", attempt)
        self.ledger.record_intent(
            run="run",
            attempt=attempt,
            submission_id=body["submission_id"],
            address=self.ray.address,
            spec=SPEC,
            job="tiny",
            total_steps=3,
            body=request_bytes(body),
            now_ms=BEGAN_MS,
            supervised=True,
        )
        log = "".join(f"{line}\n" for line in lines).encode()
        self.ray.add_job(body["submission_id"], log=log, metadata=body["metadata"])
        self.ledger.record_posted(body["submission_id"], BEGAN_MS)

    def end(self, attempt: int, reason: str) -> None:
        identity = f"run-a{attempt}"
        fake = self.ray.jobs[identity]
        fake.write(End(identity, "training", reason).line().encode() + b"\n")
        code = EXIT_OF_REASON[reason]
        fake.end("FAILED" if code else "SUCCEEDED", code=code, error_type="JOB_ENTRYPOINT_COMMAND_ERROR")
        self.ledger.record_end(
            identity, state=fake.status, reason=reason, end={}, started_ms=1, ended_ms=2, diagnosis={}
        )

    def decide(self, attempt: int, why: str) -> None:
        values = {"attempt": attempt, "next": attempt + 1, "reason": "hung", "run": "run", "max_attempts": attempt}
        self.ledger.event("run", attempt, f"decide.{why}", values, BEGAN_MS)

    def out(self, line: str) -> None:
        self.lines.append(line)
        self.script.get(line, lambda: None)()

    def care(self) -> bool:
        self.cared += 1
        return self.cared == 1

    def run(self, **changes: Any) -> Outcome:
        client = RayClient(self.ray.address, timeout_s=5)
        return follow_run("run", self.ledger, client, out=self.out, tell=self.told, care=self.care, **changes)

    def shown(self) -> list[str]:
        return [line for line in self.lines if not line.startswith("[npurun]")]


@pytest.fixture
def following(ray: FakeRay, ledger: Ledger) -> Following:
    return Following(ray, ledger)


def test_the_logs_of_all_attempts_with_the_decisions_between(following: Following) -> None:
    def fail() -> None:
        following.end(1, "hung")
        following.decide(1, "now")
        following.begin(2, "second")

    def succeed() -> None:
        following.end(2, "succeeded")
        following.ledger.end_run("run", "succeeded", "succeeded", BEGAN_MS)
        following.ledger.event("run", 2, "supervise.run_succeeded", {"run": "run", "attempts": 2, "step": 3}, BEGAN_MS)

    following.begin(1, "first")
    following.script = {"first": fail, "second": succeed}
    outcome = following.run()
    assert (outcome.exit_code, outcome.state, outcome.reason) == (ExitCode.DONE, "SUCCEEDED", "succeeded")
    assert following.shown() == ["first", "second"]
    told = [text_id for text_id in following.told.ids if text_id.startswith(("follow.", "decide.", "supervise."))]
    assert told == ["follow.failed", "decide.now", "follow.succeeded", "supervise.run_succeeded"]


@pytest.mark.parametrize(
    ("state", "reason", "code"),
    [
        ("failed", "flags_missing", ExitCode.RUN_FAILED),
        ("failed", "not_placed", ExitCode.NOT_PLACED),
        ("stopped", "stopped", ExitCode.STOPPED),
    ],
)
def test_the_exit_code_is_the_runs(following: Following, state: Any, reason: str, code: ExitCode) -> None:
    def over() -> None:
        following.end(1, "flags_missing")
        following.ledger.end_run("run", state, reason, BEGAN_MS)

    following.begin(1, "first")
    following.script = {"first": over}
    assert following.run().exit_code is code


def test_a_cluster_that_lost_the_job_is_the_supervisors_to_judge(following: Following) -> None:
    def lose() -> None:
        del following.ray.jobs["run-a1"]
        threading.Timer(0.5, next_one).start()

    def next_one() -> None:
        following.ledger.record_end(
            "run-a1", state="LOST", reason="cluster_lost", end=None, started_ms=1, ended_ms=2, diagnosis={}
        )
        following.begin(2, "second")

    def succeed() -> None:
        following.end(2, "succeeded")
        following.ledger.end_run("run", "succeeded", "succeeded", BEGAN_MS)

    following.begin(1, "first")
    following.script = {"first": lose, "second": succeed}
    assert following.run().exit_code is ExitCode.DONE
    assert "follow.forgotten" in following.told.ids


def test_a_run_that_is_over_says_so_at_once(following: Following) -> None:
    following.begin(1, "first")
    following.end(1, "succeeded")
    following.ledger.end_run("run", "succeeded", "succeeded", BEGAN_MS)
    assert following.run().exit_code is ExitCode.DONE
    assert following.shown() == ["first"]


def test_a_run_that_its_submitter_takes_back_is_no_run(following: Following) -> None:
    following.begin(1)
    following.ledger._database.connection.execute("UPDATE attempts SET posted_ms = NULL")
    with pytest.raises(UsageError, match="no run run"):
        following.run(sleep=lambda _seconds: following.ledger.withdraw("run-a1", BEGAN_MS))


def test_it_may_begin_with_an_earlier_attempt(following: Following) -> None:
    for number in (1, 2):
        following.begin(number, f"log {number}")
        following.end(number, "hung")
    following.ledger.end_run("run", "failed", "hung", BEGAN_MS)
    assert following.run(attempt=1).exit_code is ExitCode.RUN_FAILED
    assert following.shown() == ["log 1", "log 2"]


def test_ctrl_c_between_two_attempts_ends_the_following_alone(following: Following) -> None:
    def interrupt(_seconds: float) -> None:
        raise KeyboardInterrupt

    following.begin(1, "first")
    following.script = {"first": lambda: following.end(1, "hung")}
    outcome = following.run(sleep=interrupt)
    assert outcome.exit_code is ExitCode.INTERRUPTED
    assert following.told.ids[-1] == "follow.interrupted"
    assert following.ledger.run("run").state == "active"  # type: ignore[union-attr]


def test_a_supervisor_that_died_is_started_again_and_told(
    following: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "CARE_EVERY_S", 0.2)

    def restarted() -> None:
        following.end(1, "succeeded")
        following.ledger.end_run("run", "succeeded", "succeeded", BEGAN_MS)

    following.begin(1, "first")

    def told(text_id: str, /, **values: object) -> None:
        following.told(text_id, **values)
        if text_id == "supervise.restarted":
            restarted()

    client = RayClient(following.ray.address, timeout_s=5)
    outcome = follow_run("run", following.ledger, client, out=following.out, tell=told, care=following.care)
    assert outcome.exit_code is ExitCode.DONE
    assert following.told.ids.count("supervise.restarted") == 1


def test_a_missing_token_of_the_supervisor_is_told_while_the_log_runs(following: Following) -> None:
    following.begin(1, "first")
    values = {"run": "run", "address": following.ray.address, "seconds": 0, "error": "401"}

    def lacking() -> None:
        following.ledger.event("run", None, "supervise.no_token", values, BEGAN_MS)

    following.script = {"first": lacking}

    def told(text_id: str, /, **given: object) -> None:
        following.told(text_id, **given)
        if text_id == "supervise.no_token":
            following.end(1, "succeeded")
            following.ledger.end_run("run", "succeeded", "succeeded", BEGAN_MS)

    client = RayClient(following.ray.address, timeout_s=5)
    follow_run("run", following.ledger, client, out=following.out, tell=told, care=following.care)
    assert following.told.ids.count("supervise.no_token") == 1


def test_events_are_plain_json(ledger: Ledger, tmp_path: Path) -> None:
    from submitter.supervise.world import plain

    assert json.loads(json.dumps(plain({"path": tmp_path, "error": ValueError("x"), "n": 1}))) == {
        "path": str(tmp_path),
        "error": "x",
        "n": 1,
    }
