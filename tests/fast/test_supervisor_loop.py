"""The supervisor's loop: what is on the cluster and in the ledger after an end, a loss, an outage, a user's wish."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from submitter.cluster.errors import failure
from submitter.gang.plan import HangPlan
from submitter.ledger import LedgerError, this_process
from submitter.recovery.policy import Policy
from submitter.supervise import endings, hang
from tests.support.care_bench import ADDRESS, BEGAN_MS, Bench, FakeCluster, away, in_doubt, resumed_line, step_line


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path / "home")
    yield bench
    bench.ledger.close()


def test_a_run_that_succeeds(bench: Bench) -> None:
    bench.submit()
    bench.until(lambda: bench.ledger.attempts("run")[0].seen_state == "RUNNING")
    bench.job().write(step_line(1), step_line(2))
    bench.until(lambda: bench.ledger.attempts("run")[0].last_step == 2, within_s=20)
    bench.job().end("succeeded", code=0)
    bench.until(bench.over)
    assert (bench.run().state, bench.run().reason) == ("succeeded", "succeeded")
    assert bench.cluster.posted == ["run-a1"]
    assert [message.event for message in bench.messages] == ["finished"]
    assert bench.supervisor.idle


def test_a_lost_node_is_left_out_by_the_next_attempt_which_goes_on(bench: Bench) -> None:
    bench.submit()
    bench.job().write(step_line(1), step_line(2))
    bench.until(lambda: bench.ledger.attempts("run")[0].last_step == 2)
    bench.job().end("node_lost", node="10.0.0.2")
    bench.until(lambda: len(bench.cluster.posted) == 2)
    env = bench.job(2).body["runtime_env"]["env_vars"]
    assert (env["NPURUN_QUARANTINE"], env["NPURUN_TRAINED"], env["NPURUN_ATTEMPT"]) == ("10.0.0.2", "2", "run-a2")
    bench.job(2).write(resumed_line("run-a2", 2), step_line(3))
    bench.until(lambda: bench.ledger.attempts("run")[1].last_step == 3)
    bench.job(2).end("succeeded", code=0)
    bench.until(bench.over)
    first, second = bench.ledger.attempts("run")
    assert (first.reason, first.last_step, second.reason, second.resumed_from) == ("node_lost", 2, "succeeded", 2)
    assert [one.node for one in bench.ledger.quarantined(bench.now_ms())] == ["10.0.0.2"]
    assert [message.event for message in bench.messages] == ["recovered", "finished"]
    assert bench.cluster.most_live == {"run": 1}


def test_what_cannot_succeed_is_not_tried_again(bench: Bench) -> None:
    bench.submit()
    bench.job().write("ValueError: bad argument")
    bench.job().end("flags_missing")
    bench.until(bench.over)
    assert (bench.run().state, bench.run().reason) == ("failed", "flags_missing")
    assert bench.cluster.posted == ["run-a1"]
    assert bench.messages[-1].event == "failed"
    assert "decide.after_change" in bench.told.ids


def test_the_backoff_is_waited_for(bench: Bench) -> None:
    bench.submit()
    bench.job().end("not_placed")
    bench.until(lambda: bench.ledger.decision("run", 1) is not None)
    decided_s = bench.clock.now
    bench.until(lambda: len(bench.cluster.posted) == 2)
    assert 12 <= bench.clock.now - decided_s <= 19  # 15 s, give or take the jitter


def test_an_outage_ends_nothing(bench: Bench) -> None:
    bench.submit()
    bench.until(lambda: bench.ledger.attempts("run")[0].seen_state == "RUNNING")
    bench.cluster.away = away()
    bench.until(lambda: bench.clock.now > 3600, within_s=4000)
    assert bench.run().state == "active"
    assert bench.told.ids.count("supervise.away") in (4, 5)  # at once, after 5, 10, 20 and 40 minutes
    assert bench.ledger.attempts("run")[0].seen_state == "UNREACHABLE"
    bench.cluster.away = None
    bench.job().end("succeeded", code=0)
    bench.until(bench.over)
    assert bench.run().state == "succeeded"
    assert "supervise.back" in bench.told.ids


def test_a_head_that_forgot_the_job_is_a_lost_cluster(bench: Bench) -> None:
    bench.submit()
    bench.until(lambda: bench.ledger.attempts("run")[0].seen_state == "RUNNING")
    bench.cluster.away = away()
    bench.until(lambda: "supervise.away" in bench.told.ids)
    bench.cluster.away = None
    bench.cluster.restart()
    bench.until(lambda: len(bench.cluster.posted) == 2)
    assert bench.reasons() == ["cluster_lost", None]
    assert bench.job(2).body["entrypoint_label_selector"] == {"ray.io/node-id": "head-2"}
    assert bench.cluster.packages  # uploaded again, from the home
    bench.job(2).end("succeeded", code=0)
    bench.until(bench.over)


def test_one_answer_without_the_job_is_not_enough(bench: Bench) -> None:
    bench.submit()
    bench.until(lambda: bench.ledger.attempts("run")[0].seen_state == "RUNNING")
    kept = bench.cluster.jobs.pop("run-a1")
    gone_s = bench.clock.now
    asked: list[float] = []
    bench.cluster.on_call = lambda method: asked.append(bench.clock.now)
    bench.until(lambda: len(asked) == 2, within_s=5)
    assert gone_s < asked[0]
    bench.cluster.jobs["run-a1"] = kept
    kept.end("succeeded", code=0)
    bench.until(bench.over)
    assert bench.reasons() == ["succeeded"]


def test_a_home_without_the_package_ends_the_run_with_an_explanation(bench: Bench) -> None:
    bench.submit()
    (bench.home / "packages" / "_ray_pkg_gang.zip").unlink()
    bench.cluster.packages.clear()
    bench.job().end("node_lost", node="10.0.0.2")
    bench.until(bench.over)
    assert bench.run().state == "failed"
    assert bench.cluster.posted == ["run-a1"]
    refused = [values for text_id, values in bench.told if text_id == "supervise.refused"]
    assert "_ray_pkg_gang.zip" in str(refused[0]["error"])


def test_a_wish_to_stop_ends_a_running_attempt(bench: Bench) -> None:
    bench.submit()
    bench.until(lambda: bench.ledger.attempts("run")[0].seen_state == "RUNNING")
    bench.ledger.want("run", "stop")
    asked_s = bench.clock.now
    bench.until(bench.over)
    assert bench.clock.now - asked_s < 3
    assert (bench.run().state, bench.reasons()) == ("stopped", ["stopped"])
    assert bench.ledger.attempts("run")[0].ended_by == "user"
    assert bench.messages[-1].event == "stopped"


def test_a_wish_to_stop_is_heard_between_two_attempts_even_while_the_cluster_is_away(bench: Bench) -> None:
    bench.submit()
    bench.job().end("not_placed")
    bench.until(lambda: bench.ledger.decision("run", 1) is not None)
    bench.cluster.away = away()
    bench.until(lambda: "supervise.away" in bench.told.ids)
    bench.ledger.want("run", "stop")
    asked_s = bench.clock.now
    bench.until(bench.over)
    assert bench.clock.now - asked_s < 3
    assert (bench.run().state, bench.cluster.posted) == ("stopped", ["run-a1"])


def test_a_wish_that_comes_with_the_post_stops_what_was_posted(bench: Bench) -> None:
    bench.submit()
    bench.cluster.on_post = lambda job: None if job.info.submission_id == "run-a1" else _want_stop(bench)
    bench.cluster.answers["post_job"] = [in_doubt()]
    bench.job().end("node_lost", node="10.0.0.2")
    bench.until(bench.over)
    assert (bench.run().state, bench.cluster.posted) == ("stopped", ["run-a1", "run-a2"])
    assert bench.cluster.stops == ["run-a2"]
    assert not bench.job(2).live


def _want_stop(bench: Bench) -> None:
    bench.ledger.want("run", "stop")


def test_a_pending_attempt_is_asked_to_stop_until_it_can(bench: Bench) -> None:
    bench.cluster.start_as = "PENDING"
    bench.submit()
    bench.ledger.want("run", "stop")
    bench.until(lambda: len(bench.cluster.stops) >= 3)
    bench.job().run()
    bench.until(bench.over)
    assert bench.run().state == "stopped"


def test_somebody_stops_it_with_rays_own_command(bench: Bench) -> None:
    bench.submit()
    bench.until(lambda: bench.ledger.attempts("run")[0].seen_state == "RUNNING")
    bench.job().die("STOPPED")
    bench.until(bench.over)
    assert (bench.run().state, bench.cluster.posted) == ("stopped", ["run-a1"])


def test_an_orphan_that_ray_will_never_start_is_given_up(bench: Bench) -> None:
    bench.cluster.start_as = "PENDING"
    bench.submit()
    bench.until(lambda: bench.clock.now > 1500, within_s=1600)
    assert bench.cluster.posted == ["run-a1"]  # Ray has its actor: somebody has raised the limit
    bench.cluster.starters = False
    bench.cluster.start_as = "RUNNING"
    bench.until(lambda: len(bench.cluster.posted) == 2)
    assert bench.reasons()[0] == "job_supervisor_actor_start_timeout"


def test_a_post_in_doubt_is_looked_up_never_posted_under_a_second_name(bench: Bench) -> None:
    bench.submit()
    bench.cluster.answers["post_job"] = [in_doubt()]
    bench.job().end("node_lost", node="10.0.0.2")
    bench.until(lambda: len(bench.ledger.attempts("run")) == 2 and bench.ledger.attempts("run")[1].posted_ms)
    assert bench.cluster.posted == ["run-a1", "run-a2"]


def test_a_first_attempt_whose_submitter_died_is_taken_over_after_a_minute(bench: Bench) -> None:
    bench.submit(posted=False)
    bench.until(lambda: bench.clock.now > 55)
    assert bench.cluster.posted == []
    bench.until(lambda: bench.cluster.posted == ["run-a1"], within_s=10)
    bench.until(lambda: bench.ledger.attempts("run")[0].posted_ms)


def test_a_first_attempt_that_its_submitter_posts_is_watched_at_once(bench: Bench) -> None:
    bench.submit(posted=False)
    bench.until(lambda: bench.clock.now > 3)
    bench.submit()
    posted_s = bench.clock.now
    bench.until(lambda: bench.ledger.attempts("run")[0].seen_state == "RUNNING")
    assert bench.clock.now - posted_s < 3


def test_a_silent_attempt_is_stopped_and_the_run_goes_on(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hang, "_hang_plan", lambda *_: HangPlan(step_min=10, first_step_min=20))
    bench.submit()
    bench.job().write(step_line(1))
    bench.until(lambda: bench.ledger.attempts("run")[0].last_step == 1)
    silent_s = bench.clock.now
    bench.until(lambda: bench.cluster.stops, within_s=1000)
    assert 720 <= bench.clock.now - silent_s < 740  # 10 min and two more
    bench.until(lambda: len(bench.cluster.posted) == 2)
    first = bench.ledger.attempts("run")[0]
    assert (first.reason, first.ended_by, bench.run().state) == ("hung", "supervisor", "active")


def test_a_log_that_grows_is_a_sign_of_life(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hang, "_hang_plan", lambda *_: HangPlan(step_min=10, first_step_min=20))
    bench.submit()
    bench.inbox.tick = lambda _seconds: bench.job().write("same line")
    bench.until(lambda: bench.clock.now > 7200, within_s=8000)
    assert bench.cluster.stops == []


def test_an_unreadable_log_is_not_a_silent_one(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hang, "_hang_plan", lambda *_: HangPlan(step_min=10, first_step_min=20))
    bench.submit()
    bench.cluster.answers["log_of"] = [in_doubt() for _ in range(10_000)]
    bench.until(lambda: bench.clock.now > 7200, within_s=8000)
    assert bench.cluster.stops == []


def test_a_supervisor_that_was_paused_takes_its_own_silence_for_nobodys(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had the cluster's answer already when it was stopped for ten hours."""
    monkeypatch.setattr(hang, "_hang_plan", lambda *_: HangPlan(step_min=10, first_step_min=20))
    bench.submit()
    bench.until(lambda: bench.clock.now > 60)
    read: list[str] = []
    bench.cluster.on_call = lambda method: read.append(method) if method == "log_of" else None
    take = bench.inbox.get

    def paused(**bounds: Any) -> Any:
        if len(read) == 1:
            read.append("paused")
            bench.clock.sleep(36_000)
            bench.job().write("what it logged meanwhile")
        return take(**bounds)

    monkeypatch.setattr(bench.inbox, "get", paused)
    bench.until(lambda: len(read) > 4, within_s=37_000)
    assert bench.clock.now > 36_000
    assert bench.cluster.stops == []


def test_a_wall_clock_that_is_set_back_makes_no_run_wait_longer(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.submit()
    bench.job().end("not_placed")
    bench.until(lambda: bench.ledger.decisions("run"))
    now_ms = bench.now_ms
    monkeypatch.setattr(bench, "now_ms", lambda: now_ms() - 10 * 3_600_000)
    bench.start()
    bench.until(lambda: len(bench.cluster.posted) == 2, within_s=30)


@pytest.mark.parametrize(("status", "text_id"), [(401, "supervise.no_token"), (403, "supervise.wrong_token")])
def test_a_token_that_is_missing_or_wrong_is_told_and_tried_again_slowly(
    bench: Bench, status: int, text_id: str
) -> None:
    bench.submit()
    refusal = failure("cluster.token_wanted", ADDRESS, status=status, code=status, source="")
    calls: list[float] = []
    bench.cluster.away = refusal

    def connect(_address: str) -> FakeCluster:
        calls.append(bench.clock.now)
        return bench.cluster

    bench.connect = connect
    bench.start()
    bench.until(lambda: bench.clock.now > 600, within_s=700)
    assert bench.run().state == "active"
    assert 8 <= len(calls) <= 14  # a new client a minute: the token may be another by now
    assert bench.told.ids.count(text_id) in (2, 3)
    bench.cluster.away = None
    bench.job().end("succeeded", code=0)
    bench.until(bench.over)


def test_the_loop_polls_fast_after_a_change_and_slowly_when_quiet(bench: Bench) -> None:
    bench.world.poll_max_s = 15.0
    bench.submit()
    asked: list[float] = []
    bench.cluster.on_call = lambda method: asked.append(bench.clock.now) if method == "job" else None
    bench.until(lambda: bench.clock.now > 400)
    gaps = [later - earlier for earlier, later in itertools.pairwise(asked)]
    assert all(0.9 <= gap <= 1.6 for gap in gaps[:8])
    assert all(14.9 <= gap <= 15.6 for gap in gaps[-8:])


def test_a_full_disk_is_told_once_and_nothing_is_lost(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.submit()
    bench.until(lambda: bench.ledger.attempts("run")[0].seen_state == "RUNNING")
    record_end = bench.ledger.record_end
    monkeypatch.setattr(bench.ledger, "record_end", _full)
    bench.job().end("node_lost", node="10.0.0.2")
    bench.until(lambda: bench.clock.now > 200)
    assert bench.cluster.posted == ["run-a1"]
    assert bench.told.ids.count("supervise.trouble") < 10
    monkeypatch.setattr(bench.ledger, "record_end", record_end)
    bench.until(lambda: len(bench.cluster.posted) == 2)


def _full(*_: object, **__: object) -> None:
    raise LedgerError("ledger.full", reason="database or disk is full")


def test_a_supervisor_that_lost_the_lock_writes_nothing_more(bench: Bench) -> None:
    bench.submit()
    bench.until(lambda: bench.ledger.attempts("run")[0].seen_state == "RUNNING")
    other = this_process(bench.now_ms())
    bench.ledger.leave(bench.holder)
    bench.ledger.take(other, bench.now_ms())
    bench.job().end("node_lost", node="10.0.0.2")
    assert bench.supervisor.run() == "lock_lost"
    assert (bench.cluster.posted, bench.reasons()) == (["run-a1"], [None])
    assert bench.ledger.holder() == other or bench.ledger.holder().token == other.token  # type: ignore[union-attr]


def test_it_leaves_when_idle_and_not_before(bench: Bench) -> None:
    bench.submit()
    bench.start(until_idle=True)
    bench.until(lambda: bench.ledger.attempts("run")[0].seen_state == "RUNNING")
    bench.job().end("succeeded", code=0)
    bench.until(bench.over)
    over_s = bench.clock.now
    assert bench.supervisor.run() == "idle"
    assert 4 < bench.clock.now - over_s < 8
    assert bench.ledger.holder() is None


def test_a_home_that_is_gone_ends_it(bench: Bench) -> None:
    there = [True]
    bench.start(home_there=lambda: there[0])
    bench.supervisor.turn()
    there[0] = False
    assert bench.supervisor.run() == "home_gone"


def test_a_bug_in_one_run_does_not_end_the_care_for_the_others(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.submit("bad")
    bench.submit("good")
    known = bench.ledger.attempts
    monkeypatch.setattr(bench.ledger, "attempts", lambda run: 1 / 0 if run == "bad" else known(run))
    bench.job(1, "good").end("succeeded", code=0)
    bench.until(lambda: bench.over("good"))
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert ("supervise.trouble", "bad") in [(text_id, values.get("run")) for text_id, values in bench.told]
    bench.until(lambda: bench.clock.now > 200, within_s=300)
    assert [event.text_id for event in bench.ledger.events("bad")] == ["supervise.trouble"]  # for who follows it


def test_a_log_that_the_diagnosis_stumbles_over_holds_no_run_up(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(endings, "diagnose", lambda *_args, **_facts: 1 / 0)
    bench.submit()
    bench.job().end("node_lost")
    bench.until(lambda: len(bench.cluster.posted) == 2)
    assert bench.reasons() == ["unknown", None]
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_what_another_command_wrote_of_the_end_is_still_diagnosed(bench: Bench) -> None:
    bench.submit()
    bench.job().end("node_lost", node="10.0.0.2")
    bench.ledger.record_end("run-a1", state="FAILED", reason="node_lost", end=None, started_ms=1, ended_ms=2)
    bench.until(lambda: len(bench.cluster.posted) == 2)
    first = bench.ledger.attempts("run")[0]
    assert first.diagnosis is not None
    assert (first.diagnosis["node"], first.ended_by) == ("10.0.0.2", "itself")


def test_an_end_that_another_command_read_before_the_head_forgot_it_counts(bench: Bench) -> None:
    bench.submit()
    bench.ledger.record_end("run-a1", state="SUCCEEDED", reason="succeeded", end=None, started_ms=1, ended_ms=2)
    bench.cluster.restart()
    bench.until(bench.over)
    assert (bench.run().state, bench.cluster.posted) == ("succeeded", ["run-a1"])


def test_a_head_whose_clock_is_hours_off_uses_up_no_hours(bench: Bench) -> None:
    bench.submit(policy=Policy(max_hours=1))
    job = bench.job()
    job.info = dataclasses.replace(job.info, start_ms=BEGAN_MS - 10 * 3_600_000)
    job.write(step_line(1))
    job.end("hung")
    bench.until(lambda: len(bench.cluster.posted) == 2)


def test_the_line_that_proves_the_reason_is_told(bench: Bench) -> None:
    bench.submit()
    bench.job().write(
        "Traceback (most recent call last):",
        '  File "/home/me/reward.py", line 7, in compute_score',
        "    return scores[answer]",
        "KeyError: '42'",
    )
    bench.job().end("trainer_failed")
    bench.until(bench.over)
    assert bench.run().state == "failed"
    assert [str(values["text"]) for text_id, values in bench.told if text_id == "supervise.proof"]
    assert bench.cluster.posted == ["run-a1"]
