"""Following: the log as it is, the outcome from status and end record, and never from an unreachable cluster."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from submitter.cluster.client import JobInfo, RayClient
from submitter.cluster.errors import RayError
from submitter.errors import UnreachableError
from submitter.exit_codes import ExitCode
from submitter.gang.record import EXIT_OF_REASON, End
from submitter.supervise import follow as room
from submitter.supervise.follow import Outcome, follow
from submitter.supervise.outcome import outcome_of
from submitter.texts import text
from tests.support.care_bench import Told
from tests.support.clock import SkippingClock
from tests.support.fake_ray import FakeJob, FakeRay, drop, says

RUN, ID = "run", "run-a1"


class Following:
    """Follows a job whose life the script drives: {line seen: what happens then}."""

    def __init__(self, ray: FakeRay, script: dict[str, Callable[[], None]] | None = None) -> None:
        self.lines: list[str] = []
        self.told = Told()
        self.clock = SkippingClock()
        self.client = RayClient(ray.address, timeout_s=5)
        self._script = script or {}

    def out(self, line: str) -> None:
        self.lines.append(line)
        self._script.get(line, _nothing)()

    def run(self, **changes: Any) -> Outcome:
        settings = {"tell": self.told, "clock": self.clock, "sleep": self.clock.sleep}
        return follow(self.client, ID, out=self.out, **{**settings, **changes})


def _nothing() -> None:
    pass


def _end(reason: str, **fields: Any) -> End:
    return End(attempt=ID, phase="training", reason=reason, **fields)


def _finish(job: FakeJob, end: End, status: str) -> Callable[[], None]:
    def run() -> None:
        job.write(end.line().encode() + b"\n")
        job.end(status, code=end.exit, error_type="JOB_ENTRYPOINT_COMMAND_ERROR")

    return run


def test_a_run_from_pending_to_its_end(ray: FakeRay) -> None:
    job = ray.add_job(ID, "PENDING")
    following = Following(ray, {"two": _finish(job, _end("succeeded", code=0), "SUCCEEDED")})

    def sleep(seconds: float) -> None:  # nothing else moves a PENDING job
        following.clock.sleep(seconds)
        if job.status == "PENDING":
            job.write(b"one\ntwo\n")
            job.status = "RUNNING"

    outcome = following.run(sleep=sleep)
    assert (outcome.exit_code, outcome.state, outcome.reason) == (ExitCode.DONE, "SUCCEEDED", "succeeded")
    assert following.lines == ["one", "two", _end("succeeded", code=0).line()]
    assert outcome.end is not None and outcome.end["code"] == 0
    assert following.told.ids == ["follow.succeeded"]
    assert ray.streams == 1


@pytest.mark.parametrize("reason", sorted(EXIT_OF_REASON))
def test_every_reason_has_its_exit_code(ray: FakeRay, reason: str) -> None:
    end = _end(reason, code=7, node="10.0.0.2")
    job = ray.add_job(ID, log=b"go\n")
    status = "SUCCEEDED" if reason == "succeeded" else "FAILED"
    following = Following(ray, {"go": _finish(job, end, status)})
    outcome = following.run()
    assert int(outcome.exit_code) == EXIT_OF_REASON[reason]
    assert outcome.reason == reason
    what_to_do = [f"gang.reason.{reason}"] if reason not in ("succeeded", "stopped") else []
    assert following.told.ids[1:] == what_to_do


def test_the_trainers_own_code_is_told_and_never_the_exit_code(ray: FakeRay) -> None:
    job = ray.add_job(ID, log=b"go\n")
    following = Following(ray, {"go": _finish(job, _end("trainer_failed", code=137), "FAILED")})
    outcome = following.run()
    assert outcome.exit_code == 1 and outcome.end is not None and outcome.end["code"] == 137
    assert following.told.ids == ["follow.failed", "gang.reason.trainer_failed"]
    assert [values["code"] for _, values in following.told] == [137, 137]


@pytest.mark.parametrize(("code", "signal"), [(-11, "SIGSEGV"), (-9, "SIGKILL")])
def test_a_signal_that_killed_the_trainer_is_named(ray: FakeRay, code: int, signal: str) -> None:
    job = ray.add_job(ID, log=b"go\n")
    following = Following(ray, {"go": _finish(job, _end("trainer_failed", code=code), "FAILED")})
    following.run()
    text_id, values = following.told[0]
    assert f"killed by {signal} ({code})" in text(text_id, **values)
    assert signal in text(text_id, "zh", **values)


@pytest.mark.parametrize("code", [-1000, 11, "x", [-11]])
def test_a_code_that_is_no_signal_is_told_as_it_is(ray: FakeRay, code: Any) -> None:
    job = ray.add_job(ID, log=b"go\n")
    following = Following(ray, {"go": _finish(job, _end("trainer_failed", code=code), "FAILED")})
    following.run()
    assert following.told[0][0] == "follow.failed" and following.told[0][1]["code"] == code


def test_a_stop_from_elsewhere_is_stopped_whatever_the_record(ray: FakeRay) -> None:
    job = ray.add_job(ID, log=b"go\n")
    following = Following(ray, {"go": lambda: job.end("STOPPED")})
    assert following.run().exit_code is ExitCode.STOPPED
    assert following.told.ids == ["follow.stopped"]


@pytest.mark.parametrize("tail", ["", " (truncated to 20,000 chars)"])
def test_a_driver_that_was_killed_has_rays_word_in_one_line(ray: FakeRay, tail: str) -> None:
    job = ray.add_job(ID, log=b"go\n")
    message = f"Job entrypoint command failed with exit code 137, last available logs{tail}:\nline\nline"
    fields = {"code": 137, "error_type": "JOB_ENTRYPOINT_COMMAND_ERROR", "message": message}
    following = Following(ray, {"go": lambda: job.end("FAILED", **fields)})
    outcome = following.run()
    assert (outcome.exit_code, outcome.reason, outcome.end) == (1, "job_entrypoint_command_error", None)
    assert following.told.ids == ["follow.failed_by_ray"]
    assert following.told[-1][1]["message"] == "Job entrypoint command failed with exit code 137"


def test_a_job_that_never_started(ray: FakeRay) -> None:
    job = ray.add_job(ID, "PENDING", driver_node_id=None)
    job.end("FAILED", error_type="JOB_SUPERVISOR_ACTOR_START_TIMEOUT", message="failed to start within 900 s")
    following = Following(ray)
    outcome = following.run()
    assert outcome.exit_code == 1 and outcome.reason == "job_supervisor_actor_start_timeout"
    assert ray.streams == 0


@pytest.mark.parametrize(
    ("status", "end", "exit_code", "reason"),
    [
        ("SUCCEEDED", None, 0, "succeeded"),
        ("SUCCEEDED", _end("not_placed"), 5, "not_placed"),
        ("FAILED", _end("not_placed"), 5, "not_placed"),
        ("FAILED", _end("stopped"), 6, "stopped"),
        ("FAILED", _end("succeeded"), 1, "job_supervisor_actor_died"),
        ("FAILED", None, 1, "job_supervisor_actor_died"),
        ("STOPPED", _end("succeeded"), 6, "stopped"),
    ],
)
def test_status_and_record_together(status: str, end: End | None, exit_code: int, reason: str) -> None:
    record = json.loads(end.line().removeprefix("[npurun] end ")) if end else None
    info = JobInfo(ID, status, error_type="JOB_SUPERVISOR_ACTOR_DIED", message="died")
    outcome = outcome_of(info, record)
    assert (outcome.exit_code, outcome.reason) == (exit_code, reason)


def test_the_record_is_also_found_in_rays_message() -> None:
    message = f"failed with exit code 5, last available logs:\nx\n{_end('not_placed').line()}\n"
    assert outcome_of(JobInfo(ID, "FAILED", message=message), None).exit_code is ExitCode.NOT_PLACED


def test_a_record_of_another_attempt_is_a_line_like_any_other(ray: FakeRay) -> None:
    job = ray.add_job(ID, log=b"go\n")
    foreign = End(attempt="run-a2", phase="training", reason="not_placed")
    following = Following(ray, {"go": _finish(job, foreign, "FAILED")})
    outcome = following.run()
    assert (outcome.exit_code, outcome.end) == (1, None)
    assert foreign.line() in following.lines


def test_a_cluster_that_is_away_is_told_waited_for_and_never_a_failure(ray: FakeRay) -> None:
    job = ray.add_job(ID, log=b"go\n")
    finish = _finish(job, _end("succeeded"), "SUCCEEDED")

    def away() -> None:
        ray.fail_next("GET", r"/api/jobs/run-a1$", *[drop] * 40)
        finish()

    following = Following(ray, {"go": away})
    outcome = following.run()
    assert outcome.exit_code is ExitCode.DONE
    told = [entry for entry in following.told.ids if entry.startswith("follow")]
    assert told[0] == "follow.away" and told[-2:] == ["follow.back", "follow.succeeded"]
    # Told every half minute, not every poll.
    away_for = float(str(dict(following.told)["follow.back"]["seconds"]))
    assert 3 <= told.count("follow.away") <= away_for / room.SAY_EVERY_S + 2


def test_a_cluster_that_stays_away_ends_the_following_with_its_own_code(ray: FakeRay) -> None:
    ray.add_job(ID, log=b"go\n")
    following = Following(ray)
    following.client = RayClient("http://127.0.0.1:9", timeout_s=1)
    with pytest.raises(UnreachableError) as caught:
        following.run(sleep=lambda seconds: following.clock.sleep(max(seconds, 1800)))
    assert caught.value.text_id == "follow.gave_up"


def test_a_token_that_is_refused_ends_the_following(ray: FakeRay) -> None:
    ray.token = "t"
    with pytest.raises(RayError) as caught:
        Following(ray).run()
    assert caught.value.status == 401


def test_a_cluster_that_lost_its_jobs(ray: FakeRay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "POLL_FIRST_S", 0.05)
    ray.add_job(ID, log=b"go\n")
    following = Following(ray, {"go": ray.jobs.clear})
    with pytest.raises(UnreachableError) as caught:
        following.run()
    assert caught.value.text_id == "follow.forgotten"


def test_pending_is_told_and_named_an_orphan_after_rays_own_limit(ray: FakeRay) -> None:
    job = ray.add_job(ID, "PENDING", message="Job has not started yet.")
    following = Following(ray)

    def sleep(seconds: float) -> None:
        following.clock.sleep(seconds)
        if "follow.orphan" in following.told.ids:
            job.end("FAILED", message="over")

    outcome = following.run(sleep=sleep)
    assert outcome.exit_code == 1
    waits = [float(str(values["seconds"])) for text_id, values in following.told if text_id == "follow.pending"]
    assert waits[0] >= room.SAY_EVERY_S and waits[-1] <= room.START_TIMEOUT_S
    assert len(waits) >= 25


def test_a_submission_that_never_starts_does_not_hold_the_follower_for_ever(ray: FakeRay) -> None:
    ray.add_job(ID, "PENDING")
    following = Following(ray)
    with pytest.raises(UnreachableError) as caught:
        following.run(sleep=lambda seconds: following.clock.sleep(max(seconds, 1800)))
    assert caught.value.text_id == "follow.orphan"


def test_polling_becomes_sparse_while_nothing_changes(ray: FakeRay) -> None:
    job = ray.add_job(ID, "PENDING")
    following = Following(ray)

    def sleep(seconds: float) -> None:
        following.clock.sleep(seconds)
        if sum(following.clock.slept) > 600:
            job.end("STOPPED")

    following.run(sleep=sleep)
    polls = len([path for _, path, _, _ in ray.requests if path == f"/api/jobs/{ID}"])
    assert polls < 600 / room.POLL_MAX_S + 40


def test_ctrl_c_ends_the_following_and_says_how_to_go_on(ray: FakeRay) -> None:
    job = ray.add_job(ID, log=b"go\n")

    def interrupt() -> None:
        raise KeyboardInterrupt

    following = Following(ray, {"go": interrupt})
    outcome = following.run()
    assert (outcome.exit_code, outcome.state) == (ExitCode.INTERRUPTED, "RUNNING")
    assert following.told == [("follow.interrupted", {"run": RUN})]
    assert job.stops == 0
    # Following again starts from the beginning and misses nothing.
    again = Following(ray, {"go": _finish(job, _end("succeeded"), "SUCCEEDED")})
    assert again.run().exit_code is ExitCode.DONE
    assert again.lines[0] == "go"


def test_lines_are_passed_on_unchanged(ray: FakeRay) -> None:
    odd = ["\x1b[36m(TaskRunner pid=1)\x1b[0m  步 'quoted' \\ $x", "", "  indented\t", "[npurun] end {broken"]
    job = ray.add_job(ID, log="\n".join([*odd, "go", ""]).encode())
    following = Following(ray, {"go": lambda: job.end("SUCCEEDED")})
    following.run()
    assert following.lines == [*odd, "go"]


def test_a_log_that_cannot_be_read_does_not_change_the_outcome(ray: FakeRay) -> None:
    job = ray.add_job(ID)
    job.end("SUCCEEDED", code=0)
    ray.fail_next("GET", "/api/jobs/run-a1/logs/tail", *[says(500, "no")] * 99)
    ray.fail_next("GET", "/api/v0/logs/file", *[says(500, "no")] * 99)
    following = Following(ray)
    assert following.run().exit_code is ExitCode.DONE
    assert "cluster.log_away" in following.told.ids
