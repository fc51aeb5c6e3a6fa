"""`npurun submit`: what is posted, told and returned, followed and detached, against a fake Ray."""

from __future__ import annotations

import errno
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from submitter.cli.submit import log_line
from submitter.errors import UnreachableError
from submitter.gang.record import END_PREFIX, FITNESS_PREFIX, PROOF_PREFIX, VERDICT_PREFIX
from tests.support.cli import english, npurun
from tests.support.fake_ray import FakeJob, FakeRay, drop, says, takes_effect_then
from tests.support.processes import wait_for

TINY = """\
name: tiny
cluster: {nodes: 1, npus_per_node: 2}
trainer: {module: my.trainer}
arguments: {}
recovery: {max_attempts: 1}
"""


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    (tmp_path / "tiny.yaml").write_text(TINY)
    return str(tmp_path / "tiny.yaml")


@contextmanager
def meanwhile(ray: FakeRay, action: Callable[[FakeJob], None]) -> Iterator[None]:
    """`action` on the first job that arrives."""
    left = threading.Event()

    def watch() -> None:
        while not ray.jobs and not left.wait(0.01):
            pass
        if ray.jobs:
            action(next(iter(ray.jobs.values())))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        left.set()
        thread.join(10)


def ends(status: str, driver_code: int | None = None, /, **record: Any) -> Callable[[FakeJob], None]:
    """The job writes a log with the driver's last line, and ends."""

    def action(job: FakeJob) -> None:
        known = {"attempt": job.submission_id, "phase": "training", "nodes": [], "node": None, "code": None}
        job.write("one\n世界 \x1b[31mred\x1b[0m\n".encode())
        if record:
            job.write(f"{END_PREFIX}{json.dumps({**known, 'evidence': [], 'quarantine': [], **record})}\n".encode())
        job.end(status, code=driver_code)

    return action


OUTCOMES = [
    (ends("SUCCEEDED", 0, reason="succeeded", exit=0, code=0), 0),
    (ends("FAILED", 1, reason="trainer_failed", exit=1, code=17), 1),
    (ends("FAILED", 5, reason="not_placed", exit=5), 5),
    (ends("STOPPED"), 6),
    (ends("FAILED", 137), 1),
]


@pytest.mark.usefixtures("real_supervisor")
@pytest.mark.parametrize(("action", "code"), OUTCOMES)
def test_followed_to_its_end(
    action: Callable[[FakeJob], None], code: int, tiny: str, ray: FakeRay, tmp_path: Path
) -> None:
    with meanwhile(ray, action):
        result = npurun("submit", tiny, "--address", ray.address, home=tmp_path)
    assert result.code == code
    assert result.out.startswith("one\n世界 \x1b[31mred\x1b[0m\n")  # the log, unchanged
    (run,) = [body["metadata"]["npurun_run"] for body in ray.posts()]
    for told in (f"npurun logs {run} -f", f"npurun stop {run}", f"{ray.address}/#/jobs/{run}-a1"):
        assert told in result.err


@pytest.mark.usefixtures("real_supervisor")
@pytest.mark.parametrize(("action", "code"), OUTCOMES)
def test_followed_with_json(
    action: Callable[[FakeJob], None], code: int, tiny: str, ray: FakeRay, tmp_path: Path
) -> None:
    with meanwhile(ray, action):
        result = npurun("submit", tiny, "--json", "--run", "mine", "--address", ray.address, home=tmp_path)
    assert result.code == code and "one\n" in result.err
    document = result.document
    assert (document["run"], document["attempt"], document["submission_id"]) == ("mine", 1, "mine-a1")
    assert document["adopted"] is False and document["address"] == ray.address
    assert document["state"] == ray.jobs["mine-a1"].status
    assert set(document) >= {"reason", "end"}


def test_detached_prints_the_run_and_nothing_else(tiny: str, ray: FakeRay, tmp_path: Path) -> None:
    result = npurun("submit", tiny, "--detach", "--address", ray.address, home=tmp_path)
    assert result.code == 0 and f"{result.out.strip()}-a1" in ray.jobs and result.out.startswith("tiny-")
    as_json = npurun("submit", tiny, "--detach", "--json", "--run", "b", "--address", ray.address, home=tmp_path)
    assert as_json.document == {
        "run": "b",
        "attempt": 1,
        "submission_id": "b-a1",
        "adopted": False,
        "address": ray.address,
    }


@pytest.mark.usefixtures("real_supervisor")
def test_detached_starts_the_supervisor_and_does_not_wait_for_it(
    tiny: str, ray: FakeRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    homes: list[Path] = []
    monkeypatch.setattr("submitter.supervise.serve.start_detached", lambda home, _environ: homes.append(home))
    words = ["submit", tiny, "--detach", "--run", "mine", "--address", ray.address]
    assert npurun(*words, home=tmp_path).code == 0 and homes == [tmp_path / "npurun"]


@pytest.mark.usefixtures("real_supervisor")
def test_a_supervisor_that_cannot_be_started_is_told_and_the_run_keeps_its_name(
    tiny: str, ray: FakeRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_process(_home: Path, _environ: object) -> None:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr("submitter.supervise.serve.start_detached", no_process)
    result = npurun("submit", tiny, "--detach", "--run", "mine", "--address", ray.address, home=tmp_path)
    assert (result.code, result.out) == (0, "mine\n")
    assert os.strerror(errno.EAGAIN) in result.err and "npurun serve" in result.err


def test_a_live_run_is_adopted_not_submitted_twice(tiny: str, ray: FakeRay, tmp_path: Path) -> None:
    words = ["submit", tiny, "--detach", "--json", "--run", "mine", "--address", ray.address]
    npurun(*words, home=tmp_path)
    for home in (tmp_path, tmp_path / "other"):
        home.mkdir(exist_ok=True)
        again = npurun(*words, home=home)
        assert again.code == 0 and again.document["adopted"] is True
        assert "already on the cluster" in again.err
    assert len(ray.posts()) == 1


def test_an_answer_that_was_lost_is_no_second_run(tiny: str, ray: FakeRay, tmp_path: Path) -> None:
    ray.fail_next("POST", "/api/jobs/", takes_effect_then(drop))
    result = npurun("submit", tiny, "--detach", "--address", ray.address, home=tmp_path)
    assert result.code == 0 and len(ray.jobs) == 1
    assert result.out.strip() + "-a1" in ray.jobs


def test_another_job_under_the_same_name_is_refused(tiny: str, ray: FakeRay, tmp_path: Path) -> None:
    words = ["submit", tiny, "--detach", "--run", "mine", "--address", ray.address]
    npurun(*words, home=tmp_path)
    other = npurun(*words, "--", "x=1", home=tmp_path)
    assert (other.code, other.out) == (2, "") and "mine" in other.err
    assert set(npurun(*words, "--json", "--", "x=1", home=tmp_path).error) == {"message", "where"}


def state_of(run: str, home: Path) -> str:
    state: str = npurun("status", run, "--json", home=home).document["state"]
    return state


@pytest.mark.usefixtures("real_supervisor")
def test_the_name_of_an_ended_run_is_refused(tiny: str, ray: FakeRay, tmp_path: Path) -> None:
    words = ["submit", tiny, "--detach", "--run", "mine", "--address", ray.address]
    npurun(*words, home=tmp_path)
    ray.jobs["mine-a1"].end("SUCCEEDED", code=0)
    wait_for(lambda: state_of("mine", tmp_path) == "succeeded", bound_s=20, what="the supervisor sees the end")
    again = npurun(*words, "--lang", "zh", home=tmp_path)
    assert (again.code, again.out) == (2, "") and not english(again.err)


def test_warnings_are_told_and_do_not_refuse(tiny: str, ray: FakeRay, tmp_path: Path) -> None:
    Path(tiny).write_text(TINY.replace("nodes: 1", "nodes: 2") + "env: {HCCL_SOCKET_IFNAME: eth0}\n")
    result = npurun("submit", tiny, "--detach", "--json", "--address", ray.address, home=tmp_path)
    assert result.code == 0 and f"{tiny}:6: warning NR" in result.err
    assert result.document["run"]


def test_errors_of_checks_refuse_before_the_cluster_is_asked(tiny: str, ray: FakeRay, tmp_path: Path) -> None:
    Path(tiny).write_text(TINY + "env: {RANK: 0}\n")
    result = npurun("submit", tiny, "--detach", "--address", ray.address, home=tmp_path)
    assert (result.code, result.out) == (3, "") and f"{tiny}:6: error NR" in result.err
    assert not ray.requests


def test_where_the_cluster_is(tiny: str, ray: FakeRay, tmp_path: Path) -> None:
    dead = "http://127.0.0.1:1"
    for env, words in [
        ({"RAY_API_SERVER_ADDRESS": dead, "RAY_ADDRESS": dead}, ["--address", ray.address]),
        ({"RAY_API_SERVER_ADDRESS": ray.address, "RAY_ADDRESS": dead}, []),
        ({"RAY_ADDRESS": ray.address}, []),
        ({"RAY_API_SERVER_ADDRESS": "", "RAY_ADDRESS": ray.address}, []),
    ]:
        assert npurun("submit", tiny, "--detach", *words, home=tmp_path, env=env).code == 0
    bad = npurun("submit", tiny, "--detach", home=tmp_path, env={"RAY_API_SERVER_ADDRESS": "ftp://x"})
    assert bad.code == 2 and "RAY_API_SERVER_ADDRESS" in bad.err


@pytest.mark.parametrize("status", [401, 403, 404, 500, 502])
def test_what_is_no_answer_is_unreachable(status: int, tiny: str, ray: FakeRay, tmp_path: Path) -> None:
    ray.fail_next("GET", "/api/version", says(status, "no"))
    result = npurun("submit", tiny, "--json", "--address", ray.address, "--lang", "zh", home=tmp_path)
    assert result.code == 4 and not english(result.error["message"])


def test_ctrl_c_ends_the_following_not_the_run(tiny: str, ray: FakeRay, tmp_path: Path) -> None:
    def interrupt(job: FakeJob) -> None:
        job.write(b"one\n")
        while not ray.streams:  # it is being followed
            threading.Event().wait(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    with meanwhile(ray, interrupt):
        result = npurun("submit", tiny, "--run", "mine", "--address", ray.address, home=tmp_path)
    assert result.code == 130 and "npurun logs mine -f" in result.err.splitlines()[-1]
    assert "Traceback" not in result.err
    assert ray.jobs["mine-a1"].status == "RUNNING" and not ray.jobs["mine-a1"].stops


def test_a_run_whose_following_fails_keeps_its_name_in_the_document(
    tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object, **__: object) -> None:
        raise UnreachableError("follow.forgotten", submission="tiny-1-a1", address="http://gone")

    monkeypatch.setattr("submitter.supervise.follow_run.follow_run", lost)
    with FakeRay() as ray:
        told = npurun("submit", tiny, "--run", "tiny-1", "--json", "--address", ray.address, home=tmp_path)
    assert told.code == 4
    assert (told.error["run"], told.error["submission_id"]) == ("tiny-1", "tiny-1-a1")


@pytest.mark.parametrize("terminal", [True, False])
def test_lines_for_programs_are_left_out_on_a_terminal_only(
    terminal: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    for line in ("[npurun] placement: 4 nodes", f"{PROOF_PREFIX}{{}}", f"{END_PREFIX}{{}}", "step:1 - x:1"):
        log_line(line)
    shown = capsys.readouterr().out.splitlines()
    assert ("[npurun] placement: 4 nodes" in shown, "step:1 - x:1" in shown) == (True, True)
    assert len(shown) == (2 if terminal else 4)


def test_what_was_measured_on_each_node_is_on_no_page(capsys: pytest.CaptureFixture[str]) -> None:
    for line in (f"{FITNESS_PREFIX}{{}}", f"{VERDICT_PREFIX}{{}}", "step:1 - x:1"):
        log_line(line)
    assert capsys.readouterr().out.splitlines() == ["step:1 - x:1"]
