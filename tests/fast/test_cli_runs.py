"""`npurun list | status | logs | stop` against a fake Ray: runs of this machine and of others, in both languages."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path

import pytest

from submitter.gang.record import END_PREFIX
from tests.support.cli import Result, english, npurun
from tests.support.fake_ray import FakeJob, FakeRay
from tests.support.runs import submit_alone

DEAD = {"RAY_API_SERVER_ADDRESS": "http://127.0.0.1:1"}
TINY = """\
name: tiny
cluster: {nodes: 1, npus_per_node: 2}
trainer: {module: my.trainer}
arguments:
  trainer: {trainer.total_training_steps: 100}
"""
STATUS_KEYS = {"run", "state", "step", "total_steps", "attempts", "next"}
ATTEMPT_KEYS = {
    "id",
    "state",
    "reason",
    "first_step",
    "last_step",
    "resumed_from",
    "nodes",
    "started",
    "ended",
}


@pytest.fixture
def mine(ray: FakeRay, tmp_path: Path) -> FakeJob:
    """The job of the run `mine`, submitted from here and in nobody's care; `$NPURUN_HOME` remembers where."""
    (tmp_path / "tiny.yaml").write_text(TINY)
    submit_alone(tmp_path / "tiny.yaml", ray.address, "mine", tmp_path)
    return ray.jobs["mine-a1"]


def foreign(ray: FakeRay, run: str = "theirs", attempt: int = 1, status: str = "RUNNING", log: bytes = b"") -> FakeJob:
    metadata = {"npurun_run": run, "npurun_attempt": str(attempt), "npurun_job": "their_job", "npurun_spec": "0"}
    return ray.add_job(f"{run}-a{attempt}", status, log, metadata=metadata)


def end_line(job: FakeJob, **fields: object) -> bytes:
    record = {"attempt": job.submission_id, "phase": "training", "reason": "trainer_failed", "code": 7, "exit": 1}
    known = {**record, "nodes": ["10.0.0.1", "10.0.0.2"], "node": "10.0.0.2", "evidence": [], "quarantine": []}
    return f"{END_PREFIX}{json.dumps({**known, **fields})}\n".encode()


def rows(result: Result) -> list[list[str]]:
    return [line.split() for line in result.out.splitlines()]


def test_list_shows_runs_of_here_and_of_others(mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
    foreign(ray)
    result = npurun("list", "--address", ray.address, home=tmp_path)
    assert [row[:2] for row in rows(result)] == [["run", "state"], ["mine", "running"], ["theirs", "running"]]
    assert rows(result)[1][-1] == "tiny" and rows(result)[2][-1] == "their_job"
    listed = npurun("list", "--json", "--address", ray.address, home=tmp_path).document
    assert [(row["run"], row["submitted_here"], row["address"]) for row in listed] == [
        ("mine", True, ray.address),
        ("theirs", False, ray.address),
    ]


def test_list_names_the_clusters_when_there_are_several(mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
    with FakeRay() as other:
        foreign(other)
        result = npurun("list", home=tmp_path, env={"RAY_API_SERVER_ADDRESS": other.address})
    assert {row[-1] for row in rows(result)} == {"address", ray.address, other.address}


def test_list_of_nothing(ray: FakeRay, tmp_path: Path) -> None:
    empty = npurun("list", "--address", ray.address, home=tmp_path)
    assert (empty.code, empty.out) == (0, "") and "npurun submit JOB" in empty.err
    assert npurun("list", "--json", "--address", ray.address, home=tmp_path).document == []


def test_list_of_nothing_known_because_nobody_answered(tmp_path: Path) -> None:
    result = npurun("list", home=tmp_path, env=DEAD)
    assert (result.code, result.out, result.err.count("\n")) == (4, "", 1)
    assert DEAD["RAY_API_SERVER_ADDRESS"] in result.err and "npurun submit" not in result.err
    as_json = npurun("list", "--json", home=tmp_path, env=DEAD)
    assert as_json.code == 4 and "nothing listens there" in as_json.document["error"]["message"]


def test_list_says_which_cluster_is_away(mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
    with FakeRay() as gone:
        address = gone.address
    result = npurun("list", home=tmp_path, env={"RAY_API_SERVER_ADDRESS": address})
    assert result.code == 0 and address in result.err and rows(result)[1][:2] == ["mine", "running"]
    chinese = npurun("list", "--lang", "zh", home=tmp_path, env={"RAY_API_SERVER_ADDRESS": address})
    assert not english(chinese.out + chinese.err)
    # Nobody asked for the built-in default: that it is not there is no news.
    assert npurun("list", home=tmp_path).err == ""


def test_status_has_the_shape_that_others_build_on(mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
    mine.write(b"step:12 - a:1\n")
    document = npurun("status", "mine", "--json", home=tmp_path, env=DEAD).document
    assert set(document) >= STATUS_KEYS and set(document["attempts"][0]) >= ATTEMPT_KEYS
    assert (document["state"], document["step"], document["total_steps"]) == ("running", 12, 100)
    assert document["attempts"][0]["ended"] is None and document["next"] is None


def test_status_for_people(mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
    live = npurun("status", "mine", home=tmp_path)
    assert live.out.splitlines()[:4] == ["run    mine", "state  running", "step   -", "nodes  -"]
    assert "npurun logs mine -f" in live.err and "npurun stop mine" in live.err
    mine.write(b"step:12 - a:1\n" + end_line(mine))
    mine.end("FAILED", code=1)
    ended = npurun("status", "mine", home=tmp_path)
    assert "step   12 / 100" in ended.out and "nodes  10.0.0.1 10.0.0.2" in ended.out
    assert rows(ended)[-1][:4] == ["a1", "failed", "trainer_failed", "12"]
    assert ended.err == "log: npurun logs mine\ngo on: npurun resume mine\n"
    chinese = npurun("status", "mine", home=tmp_path, env={"LANG": "zh_CN.UTF-8"})
    assert "状态" in chinese.out and not english(chinese.out + chinese.err)


def test_status_of_an_ended_run_needs_no_cluster(mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
    mine.end("STOPPED")
    npurun("status", "mine", home=tmp_path)
    ray.__exit__()
    assert npurun("status", "mine", "--json", home=tmp_path).document["state"] == "stopped"


@pytest.mark.parametrize("command", ["status", "logs", "stop"])
def test_the_ledger_knows_the_cluster_and_address_wins_over_it(
    command: str, mine: FakeJob, ray: FakeRay, tmp_path: Path
) -> None:
    assert npurun(command, "mine", home=tmp_path, env=DEAD).code == 0
    elsewhere = npurun(command, "mine", "--address", DEAD["RAY_API_SERVER_ADDRESS"], home=tmp_path)
    assert elsewhere.code == (0 if command == "status" and mine.status == "STOPPED" else 4)


@pytest.mark.parametrize("command", ["status", "logs", "stop"])
def test_runs_of_another_machine(command: str, ray: FakeRay, tmp_path: Path) -> None:
    foreign(ray, log=b"one\n")
    foreign(ray, attempt=2, log=b"two\n")
    result = npurun(command, "theirs", "--address", ray.address, home=tmp_path)
    assert result.code == 0
    shown = {"status": "a2", "logs": "two", "stop": ""}[command]
    assert shown in result.out and ray.jobs["theirs-a2"].stops == (command == "stop")


@pytest.mark.parametrize("command", ["status", "logs", "stop"])
def test_an_unknown_run_is_told_with_the_nearest_name(
    command: str, mine: FakeJob, ray: FakeRay, tmp_path: Path
) -> None:
    foreign(ray)
    for name, nearest in (("thiers", "theirs"), ("minee", "mine")):
        result = npurun(command, name, "--address", ray.address, home=tmp_path)
        assert (result.code, result.out) == (2, "") and nearest in result.err


@pytest.mark.parametrize("command", ["status", "logs", "stop"])
def test_a_cluster_that_is_away(command: str, mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
    ray.__exit__()
    result = npurun(command, "mine", home=tmp_path)
    assert (result.code, result.out) == (4, "") and ray.address in result.err


def test_logs_are_printed_as_they_are(ray: FakeRay, tmp_path: Path) -> None:
    foreign(ray, log="世界 \x1b[31mred\x1b[0m\r\nlast, unfinished".encode() + b"\xff")
    result = npurun("logs", "theirs", "--address", ray.address, home=tmp_path)
    assert result.code == 0 and result.err == ""
    assert result.out.startswith("世界 \x1b[31mred\x1b[0m") and result.out.endswith("unfinished\ufffd\n")


def test_logs_before_there_are_any(ray: FakeRay, tmp_path: Path) -> None:
    foreign(ray, status="PENDING")
    result = npurun("logs", "theirs", "--address", ray.address, home=tmp_path)
    assert (result.code, result.out) == (0, "") and "npurun status theirs" in result.err


@pytest.mark.parametrize(
    ("status", "fields", "code"), [("SUCCEEDED", {"exit": 0, "reason": "succeeded"}, 0), ("FAILED", {}, 1)]
)
def test_logs_f_ends_with_the_outcome(
    status: str, fields: dict[str, object], code: int, ray: FakeRay, tmp_path: Path
) -> None:
    job = foreign(ray, log=b"one\n")
    job.write(end_line(job, **fields))
    job.end(status, code=code)
    result = npurun("logs", "theirs", "-f", "--address", ray.address, "--lang", "zh", home=tmp_path)
    assert result.code == code and result.out.startswith("one\n") and not english(result.err)


def test_ctrl_c_while_following(ray: FakeRay, tmp_path: Path) -> None:
    job = foreign(ray, log=b"one\n")

    def interrupt() -> None:
        while not ray.streams and not ray.closing.wait(0.01):
            pass
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt, daemon=True)
    thread.start()
    result = npurun("logs", "theirs", "-f", "--address", ray.address, home=tmp_path)
    thread.join(10)
    assert result.code == 130 and "the run goes on" in result.err and job.status == "RUNNING"


def test_stop_waits_and_tells(mine: FakeJob, ray: FakeRay, tmp_path: Path) -> None:
    stopped = npurun("stop", "mine", "--json", home=tmp_path)
    assert stopped.code == 0 and mine.status == "STOPPED"
    assert stopped.document == {"run": "mine", "submission_id": "mine-a1", "state": "stopped"}
    again = npurun("stop", "mine", "--lang", "zh", home=tmp_path)
    assert (again.code, again.out) == (0, "") and again.err and not english(again.err)


def test_a_broken_ledger_is_one_line(ray: FakeRay, tmp_path: Path) -> None:
    folder = tmp_path / "npurun"
    folder.mkdir(mode=0o700)
    (folder / "ledger.db").write_bytes(b"junk" * 1000)
    for command in (["list"], ["status", "x"], ["logs", "x"], ["stop", "x"]):
        result = npurun(*command, "--address", ray.address, "--lang", "zh", home=tmp_path)
        assert (result.code, result.out) == (2, "") and str(folder) in result.err
        assert len(result.err.splitlines()) == 1
