"""What the supervisor reads of a training: each step once, however it was logged, and the samples of the nodes."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from submitter.cluster.client import JobInfo
from submitter.gang.plan import Plan
from submitter.gang.step_lines import Step
from submitter.gang.telemetry.sample import sample_line
from submitter.ledger import Attempt, LedgerError
from submitter.supervise import file_logger, log_end
from submitter.supervise.aside import Aside
from submitter.supervise.catch_up import are_missing
from submitter.supervise.file_logger import FileSteps, file_of
from submitter.supervise.follow_run import words_of
from submitter.texts import text
from tests.support.care_bench import BEGAN_MS, Bench, away, resumed_line, step_line
from tests.support.processes import wait_for
from tests.support.trained import sample

FILLER = ["a line that says nothing of any step"] * 50


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path / "home")
    yield bench
    bench.ledger.close()


@pytest.fixture
def short_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_end, "FIRST_LINES", 20)
    monkeypatch.setattr(log_end, "MOST_LINES", 120)


def steps(bench: Bench, attempt: int = 1) -> list[int]:
    return [one.step for one in bench.ledger.steps("run", attempt)]


def begin(bench: Bench, *lines: str) -> None:
    bench.submit()
    bench.until(lambda: bench.ledger.attempts("run")[0].seen_state == "RUNNING")
    bench.job().write(*lines)


@pytest.mark.usefixtures("short_reads")
def test_steps_that_came_faster_than_they_are_read_are_all_there(bench: Bench) -> None:
    begin(bench, step_line(1))
    bench.until(lambda: steps(bench) == [1])
    for step in range(2, 41):
        bench.job().write(*FILLER, step_line(step))
    bench.until(lambda: steps(bench) == list(range(1, 41)))
    assert bench.told.ids.count("supervise.caught_up") == 1
    times = [one.seen_ms for one in bench.ledger.steps("run")]
    assert times[1:38] == sorted(times[1:38]) and times[30] - times[20] == 10 * 2_000, "by what verl measured"


@pytest.mark.parametrize("asked", [None, 500])
def test_how_many_steps_there_will_be_is_what_the_job_asks_else_what_the_trainer_says(
    bench: Bench, asked: int | None
) -> None:
    bench.submit(total_steps=asked)
    bench.until(lambda: bench.ledger.attempts("run")[0].seen_state == "RUNNING")
    speaker = "\x1b[36m(TaskRunnerV1 pid=15714, ip=127.0.0.2)\x1b[0m"
    said = f"{speaker} INFO:2026-11-30 11:48:25,877:Total training steps: 12"
    bench.job().write("an answer: Total training steps: 99", said, step_line(1))
    bench.until(lambda: steps(bench) == [1])
    assert bench.ledger.runs()["run"].total_steps == (asked or 12)


@pytest.mark.usefixtures("short_reads")
def test_a_supervisor_that_comes_late_reads_what_it_missed(bench: Bench) -> None:
    begin(bench, *FILLER, step_line(0), step_line(1))
    bench.until(lambda: bench.ledger.attempts("run")[0].last_step == 1)
    bench.job().write(*(line for step in range(2, 20) for line in (*FILLER, step_line(step))))
    bench.start()
    bench.until(lambda: steps(bench) == list(range(20)))


@pytest.mark.usefixtures("short_reads")
def test_of_an_attempt_that_ended_unseen_the_steps_are_read_at_its_end(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("submitter.supervise.endings.MOST_LINES", 120)
    bench.submit()
    bench.job().write(*(line for step in range(1, 20) for line in (*FILLER, step_line(step))))
    bench.job().end("succeeded", code=0)
    bench.until(bench.over)
    assert steps(bench) == list(range(1, 20))
    assert bench.run().state == "succeeded"


@pytest.mark.usefixtures("short_reads")
def test_a_log_that_cannot_be_read_again_is_told_and_ends_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(bench, step_line(1))
    bench.until(lambda: steps(bench) == [1])
    bench.job().write(*FILLER, *FILLER, step_line(2), *FILLER, *FILLER, *FILLER, step_line(3))

    read = bench.cluster.log_of

    def refuse_whole(info: JobInfo, lines: int) -> Iterator[bytes]:
        if lines < 0:
            raise away()
        return read(info, lines)

    monkeypatch.setattr(bench.cluster, "log_of", refuse_whole)
    bench.until(lambda: "supervise.not_caught_up" in bench.told.ids)
    bench.job().end("succeeded", code=0)
    bench.until(bench.over)
    assert steps(bench)[0] == 1 and steps(bench)[-1] == 3


@pytest.mark.usefixtures("short_reads")
def test_a_resumed_attempt_misses_nothing_before_its_checkpoint(bench: Bench) -> None:
    begin(bench, step_line(1), step_line(2))
    bench.job().end("node_lost", node="10.0.0.2")
    bench.until(lambda: len(bench.cluster.posted) == 2)
    bench.job(2).write(resumed_line("run-a2", 2), *FILLER, step_line(3), step_line(4))
    bench.until(lambda: steps(bench, 2) == [3, 4])
    assert "supervise.caught_up" not in bench.told.ids


@pytest.mark.parametrize(
    ("known", "resumed", "seen", "missing"),
    [
        (None, None, [1], False),
        (None, None, [2], True),
        (None, 6, [7], False),
        (None, 6, [9], True),
        (9, 6, [10], False),
        (9, 6, [9, 10], False),
        (9, 6, [12], True),
        (9, 6, [], False),
        (None, None, [0], False),
    ],
)
def test_which_steps_are_missing(known: int | None, resumed: int | None, seen: list[int], missing: bool) -> None:
    attempt = Attempt("r-a1", "r", 1, "{}", 0, resumed_from=resumed)
    assert are_missing(attempt, known, [Step(number, {}) for number in seen]) is missing


def test_numbers_that_are_none_are_kept_as_they_are(bench: Bench) -> None:
    begin(bench, "step:1 - actor/loss:nan - actor/grad_norm:inf - actor/lr:1e-06")
    bench.until(lambda: steps(bench) == [1])
    metrics = bench.ledger.steps("run")[0].metrics
    assert str(metrics["actor/loss"]) == "nan" and metrics["actor/grad_norm"] == float("inf")


def test_samples_come_once_each(bench: Bench) -> None:
    begin(bench, step_line(1))
    job = bench.job()
    for second in range(0, 100, 10):
        for number, node in enumerate(("10.0.0.2", "10.0.0.3")):
            job.telemetry += (sample_line(sample(node, number, (1000 + second) * 1000, 16)) + "\n").encode()
    job.telemetry += b'{"at": 1, "node": 7}\n\xff\xfe\n{"half'
    bench.until(lambda: len(bench.ledger.samples("run", newest=100)) == 20)
    kept = bench.ledger.samples("run", node="10.0.0.3", newest=100)
    assert [one.at_ms for one in kept] == [(1000 + second) * 1000 for second in range(0, 100, 10)]
    assert len(kept[0].sample["devices"]) == 16 and kept[0].attempt == 1


def test_without_a_telemetry_file_it_is_asked_for_seldom(bench: Bench) -> None:
    begin(bench, step_line(1))
    asked: list[float] = []
    bench.cluster.on_call = lambda method: asked.append(bench.clock.now) if method == "beside_log" else None
    began = bench.clock.now
    bench.until(lambda: bench.clock.now - began > 300)
    assert 3 <= len(asked) <= 6
    assert bench.ledger.samples("run") == []


def test_more_samples_than_were_asked_for_are_fetched_with_the_next_look(bench: Bench) -> None:
    begin(bench, step_line(1))
    lines = [(sample_line(sample("10.0.0.2", 0, 1_000_000 + 10 * n, None)) + "\n").encode() for n in range(2_000)]
    bench.job().telemetry = b"".join(lines[:10])
    bench.until(lambda: len(bench.ledger.samples("run", newest=5000)) == 10)
    for _ in range(3):
        bench.job().telemetry = b"".join(lines)
    bench.until(lambda: len(bench.ledger.samples("run", newest=5000)) >= 32)


def test_the_file_loggers_file_where_it_can_be_read(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "steps.jsonl"
    monkeypatch.setattr("submitter.supervise.observe.file_of", lambda attempt, ledger: file)
    begin(bench)
    rows = [json.dumps({"step": step, "data": {"actor/loss": step / 10}}) for step in range(1, 6)]
    file.write_text("\n".join(rows[:3]) + "\n" + rows[3][:9])
    bench.job().write("something else")
    bench.until(lambda: steps(bench) == [1, 2, 3])
    with file.open("a") as more:
        more.write(rows[3][9:] + "\n" + rows[4] + "\n")
    bench.until(lambda: steps(bench) == [1, 2, 3, 4, 5])
    assert bench.ledger.attempts("run")[0].last_step == 5
    assert bench.ledger.steps("run")[2].metrics == {"actor/loss": 0.3}


def test_a_file_that_is_none_or_begins_anew(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert FileSteps(tmp_path / "fifo", 0).read() == FileSteps(tmp_path, 0).read() == FileSteps(None, 0).read() == []
    found = FileSteps(tmp_path / "x", 0)
    assert found.read() == []
    (tmp_path / "x").write_text('{"step": 1, "data": {}}\n{"step": 2, "data": {}}\n')
    assert [step.number for step in found.read()] == [1, 2]
    assert found.read() == []
    (tmp_path / "x").write_text('{"step": 7, "data": {}}\n')
    assert [step.number for step in found.read()] == [7]


def test_what_an_earlier_run_left_in_the_file_is_not_this_ones(tmp_path: Path) -> None:
    """Until its trainer starts, which empties the file, that of an earlier run lies there."""
    file, begins_s = tmp_path / "x", 1_000_000
    file.write_text('{"step": 400, "data": {}}\n{"step": 401, "data": {}}\n')
    os.utime(file, (begins_s - 60, begins_s - 60))
    found = FileSteps(file, begins_s * 1000)
    assert found.read() == []
    file.write_text('{"step": 1, "data": {}}\n')
    assert [step.number for step in found.read()] == [1]


def test_a_package_that_cannot_be_read_leaves_the_run_in_care(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(body: object, ledger: object) -> Plan:
        raise LedgerError("ledger.readonly", reason="denied")

    monkeypatch.setattr(file_logger, "plan_of", unreadable)
    body = json.dumps({"runtime_env": {"env_vars": {"VERL_FILE_LOGGER_ROOT": "/data"}}})
    assert file_of(Attempt("r-a1", "r", 1, body, 0), None) is None  # type: ignore[arg-type]


def test_a_file_that_another_run_left_is_not_this_ones(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text('{"step": 1, "data": {}}\n')
    os.utime(file, (1_000, 1_000))
    found = FileSteps(file, 2_000_000)
    assert found.read() == []
    os.utime(file, (3_000, 3_000))
    assert [step.number for step in found.read()] == [1]


def test_a_file_server_that_does_not_answer_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release, asked = threading.Event(), []

    def hang(self: FileSteps) -> list[int]:
        asked.append(1)
        assert release.wait(30)
        return []

    monkeypatch.setattr(file_logger, "READ_S", 0.05)
    monkeypatch.setattr(FileSteps, "_read", hang)
    found = FileSteps(tmp_path / "x", 0)
    assert found.read() == [] == found.read()
    release.set()
    assert asked == [1]


@pytest.mark.parametrize(
    ("flags", "path"),
    [
        ({"VERL_FILE_LOGGER_PATH": "/data/m.a2.jsonl"}, Path("/data/m.a2.jsonl")),
        ({"VERL_FILE_LOGGER_PATH": "m.jsonl"}, None),
        ({"VERL_FILE_LOGGER_ROOT": "/data"}, Path("/data/p/e 1.jsonl")),
        ({"VERL_FILE_LOGGER_ROOT": "~/logs"}, None),
        ({}, None),
    ],
)
def test_where_the_file_loggers_file_is(
    flags: dict[str, str], path: Path | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("python3", "-m", "verl.trainer.main_ppo", "trainer.project_name=p", "trainer.experiment_name=e 1")
    plan = Plan(launcher="ray", command=command, nodes=1, npus_per_node=1, labels={}, flags={}, secrets={})
    monkeypatch.setattr(file_logger, "plan_of", lambda body, ledger: plan)
    attempt = Attempt("r-a1", "r", 1, json.dumps({"runtime_env": {"env_vars": flags}}), 0)
    assert file_of(attempt, None) == path  # type: ignore[arg-type]


def test_work_beside_the_loop_is_done_once_and_one_after_the_other() -> None:
    aside, release, done = Aside(), threading.Event(), []

    def work(name: str) -> None:
        assert release.wait(30)
        done.append(name)

    assert aside.put("a", lambda: work("a")) and aside.put("b", lambda: work("b"))
    assert not aside.put("a", lambda: work("again"))
    assert aside.busy
    release.set()
    wait_for(lambda: not aside.busy, bound_s=20, what="the work is done")
    assert done == ["a", "b"]


def test_a_bug_in_one_piece_beside_the_loop_does_not_end_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    aside, done = Aside(), threading.Event()
    aside.put("a", lambda: [][0])
    aside.put("b", done.set)
    assert done.wait(20)
    wait_for(lambda: not aside.busy, bound_s=20, what="the work is done")
    assert "IndexError" in capsys.readouterr().err


def spike_line(step: int, grad_norm: float) -> str:
    return f"step:{step} - actor/grad_norm:{grad_norm} - critic/rewards/mean:0.{step % 7 + 1} - timing_s/step:2.0"


def test_an_alert_is_told_once_while_it_holds_and_again_when_it_comes_back(bench: Bench) -> None:
    begin(bench, *(spike_line(step, 0.5) for step in range(1, 4)))
    bench.job().write("step:4 - actor/grad_norm:nan - actor/loss:nan")
    bench.until(lambda: bench.ledger.alerts("run"))
    (alert,) = bench.ledger.alerts("run", open_only=True)
    assert (alert.id, alert.severity, alert.attempt, alert.until_ms) == ("NR901", "error", 1, None)
    assert bench.told.ids.count("NR901") == 1
    assert [message.event for message in bench.messages] == ["alert"]
    message = bench.messages[0]
    assert (message.reason, message.run) == ("NR901", "run") and "nan" in message.text

    bench.start()  # another supervisor: it knows what was told
    bench.job().write("step:5 - actor/grad_norm:nan - actor/loss:nan")
    bench.until(lambda: bench.ledger.attempts("run")[0].last_step == 5)
    bench.until(lambda: bench.ledger.alerts("run")[0].last_step == 5)
    assert bench.told.ids.count("NR901") == 1 and len(bench.ledger.alerts("run")) == 1

    bench.job().end("succeeded", code=0)
    bench.until(bench.over)
    assert bench.ledger.alerts("run", open_only=True) == []


def test_a_supervisor_that_comes_late_judges_by_the_steps_that_count(bench: Bench) -> None:
    """The newest steps of the attempt before are void: what is usual stands before its checkpoint."""
    begin(bench, step_line(1))
    bench.until(lambda: steps(bench) == [1])
    rows = [(step, BEGAN_MS, {"actor/grad_norm": 0.3}) for step in range(2, 1_200)]
    bench.ledger.record_steps("run", 1, rows)
    bench.job().die("FAILED", code=1)
    bench.until(lambda: "run-a2" in bench.cluster.jobs)
    bench.until(lambda: bench.ledger.attempts("run")[1].seen_state == "RUNNING")
    bench.job(2).write(resumed_line("run-a2", 600))
    bench.until(lambda: bench.ledger.attempts("run")[1].resumed_from == 600)
    bench.ledger.record_steps("run", 2, [(step, BEGAN_MS, {"actor/grad_norm": 3.0}) for step in range(601, 611)])
    bench.start()
    bench.job(2).write(step_line(611))
    bench.until(lambda: steps(bench, 2)[-1:] == [611])
    assert [one.id for one in bench.ledger.alerts("run", open_only=True)] == ["NR904"]


def test_an_alert_that_could_not_be_told_is_not_open(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(bench, step_line(1))
    bench.until(lambda: steps(bench) == [1])
    deaths: list[str] = []

    def die(*_: object) -> None:
        deaths.append("told")
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr("submitter.supervise.alerting.alerted", die)
        bench.job().write("step:2 - actor/loss:nan")
        bench.until(lambda: bool(deaths))
        assert bench.ledger.alerts("run") == []
    bench.until(lambda: "NR901" in bench.told.ids)
    assert [one.id for one in bench.ledger.alerts("run", open_only=True)] == ["NR901"]


def test_an_alert_of_the_event_is_told_as_such(bench: Bench) -> None:
    begin(bench, "step:1 - actor/loss:nan")
    bench.until(lambda: bench.ledger.alerts("run"))
    event = next(one for one in bench.ledger.events("run") if one.text_id == "NR901")
    text_id, values = words_of(event)
    said = text(text_id, "en", **values)
    assert said.startswith("run run: NR901: actor/loss is nan at step 1")


def test_what_nodes_measure_is_judged_without_a_new_step(bench: Bench) -> None:
    begin(bench, step_line(1))
    bench.until(lambda: steps(bench) == [1])
    ill = {**sample("10.0.0.2", 0, 0, 2), "devices": [{**sample("10.0.0.2", 0, 0, 1)["devices"][0], "health": "Alarm"}]}
    for minute in range(12):
        for second in range(0, 60, 10):
            at = (BEGAN_MS // 1000) + minute * 60 + second
            bench.job().telemetry += (sample_line({**ill, "at": at}) + "\n").encode()
    bench.until(lambda: bench.ledger.alerts("run"), within_s=900)
    (alert,) = bench.ledger.alerts("run")
    assert alert.node == "10.0.0.2" and bench.told.ids.count(alert.id) == 1
