"""The supervisor as a process of its own: one per ledger, started by commands, left alone by their terminals."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from submitter.cluster.client import RayClient
from submitter.ledger import Ledger
from submitter.supervise import serve
from submitter.supervise.serve import NotStartedError, ensure_running, keep_log_small
from submitter.supervise.submit import submit
from tests.support.builders import job
from tests.support.fake_ray import FakeRay, hang
from tests.support.processes import ignores, wait_for
from tests.support.supervisor import end_of, environment, holder_pid, spawned, supervisor

BOUND_S = 20.0


class Told(list[str]):
    def __call__(self, text_id: str, /, **_values: object) -> None:
        self.append(text_id)


def _submit(ray: FakeRay, ledger: Ledger, run: str = "run") -> None:
    submit(job(), RayClient(ray.address), ledger, run=run, tell=Told(), supervised=True)


def _over(ledger: Ledger, run: str = "run") -> Any:
    found = ledger.run(run)
    return found if found is not None and found.state != "active" else None


def test_two_commands_at_once_start_one(ray: FakeRay, book: Ledger, home: Path) -> None:
    _submit(ray, book)
    started: list[bool] = []
    ledgers = [Ledger(home) for _ in range(4)]
    threads = [
        threading.Thread(
            target=lambda one=one: started.append(ensure_running(home, one, tell=Told(), environ=environment(home)))
        )
        for one in ledgers
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(started) == 4
    assert ensure_running(home, book, tell=Told(), environ=environment(home)) is False
    holder = holder_pid(home)
    assert holder is not None
    wait_for(lambda: _serving(home) == {holder}, bound_s=BOUND_S, what="the others leave")
    for one in ledgers:
        one.close()


def _serving(home: Path) -> set[int]:
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line, variables = (entry / "cmdline").read_bytes(), (entry / "environ").read_bytes()
            except OSError:
                continue
            if b"submitter\0serve" in line and f"NPURUN_HOME={home}".encode() in variables.split(b"\0"):
                found.add(int(entry.name))
    return found


def test_it_stands_apart_from_the_command_that_started_it(ray: FakeRay, book: Ledger, home: Path) -> None:
    _submit(ray, book)
    ensure_running(home, book, tell=Told(), environ=environment(home))
    pid = holder_pid(home)
    assert pid is not None
    assert os.getsid(pid) == pid != os.getsid(0)
    assert Path(f"/proc/{pid}/cwd").readlink() == Path("/")
    assert Path(f"/proc/{pid}/fd/0").readlink() == Path("/dev/null")
    assert (home / "supervisor.log").stat().st_mode & 0o777 == 0o600
    wait_for(lambda: ignores(pid, signal.SIGHUP), bound_s=BOUND_S, what="a closed terminal is no matter to it")
    os.kill(pid, signal.SIGHUP)
    assert holder_pid(home) == pid


def test_sigterm_ends_the_care_at_once_and_no_run(ray: FakeRay, book: Ledger, home: Path) -> None:
    _submit(ray, book)
    with supervisor(home) as process:
        ray.fail_next("GET", "/api/jobs/run-a1", hang, hang)
        wait_for(lambda: len(ray.requests) > 3, bound_s=BOUND_S, what="a poll that hangs")
        began = time.monotonic()
        process.terminate()
        assert process.wait(BOUND_S) == 0
        assert time.monotonic() - began < 3
    assert (book.holder(), book.run("run").state, ray.jobs["run-a1"].stops) == (None, "active", 0)  # type: ignore[union-attr]


def test_a_second_one_is_refused_with_the_first_ones_pid(
    ray: FakeRay, book: Ledger, home: Path, tmp_path: Path
) -> None:
    with supervisor(home) as first, spawned(home, output=tmp_path / "out") as second:
        assert second.wait(BOUND_S) == 2
        assert str(first.pid) in (tmp_path / "out").read_text()


def test_a_killed_one_is_replaced_at_once(ray: FakeRay, book: Ledger, home: Path) -> None:
    _submit(ray, book)
    with supervisor(home) as first:
        first.kill()
        first.wait()
    with supervisor(home):
        ray.on_start = lambda fake: end_of(fake, "succeeded")
        end_of(ray.jobs["run-a1"], "hung")
        assert wait_for(lambda: _over(book), bound_s=BOUND_S, what="the run's end").state == "succeeded"


def test_it_leaves_when_its_home_is_removed(book: Ledger, home: Path) -> None:
    with supervisor(home) as process:
        home.rename(home.with_name("moved"))
        assert process.wait(BOUND_S) == 0


def test_a_file_server_that_does_not_answer_has_removed_nothing(
    book: Ledger, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = book.path.stat()
    identity = (found.st_dev, found.st_ino)
    assert serve._is_same(book.path, identity) and not serve._is_same(home, identity)
    assert not serve._is_same(home / "absent", identity)

    def fails(_path: Path) -> os.stat_result:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Path, "stat", fails)
    assert serve._is_same(book.path, identity)


def test_a_supervisor_that_cannot_start_is_told_with_its_log(book: Ledger, home: Path) -> None:
    environ = {**environment(home), "NPURUN_POLL_MAX_S": "soon"}
    with pytest.raises(NotStartedError) as caught:
        ensure_running(home, book, tell=Told(), environ=environ)
    assert "supervisor.log" in str(caught.value) and "退出码" in caught.value.render("zh")
    assert "NPURUN_POLL_MAX_S" in (home / "supervisor.log").read_text()


def test_names_of_files_reach_it_whole_and_the_token_itself_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home.parent)
    found = serve._environment(home, {"RAY_AUTH_TOKEN_PATH": "keys/token", "RAY_AUTH_TOKEN": "t", "PATH": "/bin"})
    assert found["RAY_AUTH_TOKEN_PATH"] == str(home.parent / "keys" / "token")
    assert (found["RAY_AUTH_TOKEN"], found["PATH"]) == ("t", "/bin")


def test_its_log_stays_small(home: Path, tmp_path: Path) -> None:
    home.mkdir()
    script = (
        "import os, sys; from pathlib import Path; from submitter.supervise.serve import keep_log_small\n"
        "for number in range(100):\n"
        "    keep_log_small(Path(sys.argv[1]), 1000); print('line', number, 'x' * 80, flush=True)\n"
    )
    with serve._open_log(home) as log:
        subprocess.run(
            [sys.executable, "-c", script, str(home)],
            stdout=log,
            stderr=log,
            check=True,
            env=environment(home),
        )
    new, old = home / "supervisor.log", home / "supervisor.log.1"
    assert new.stat().st_size <= 1100
    assert old.stat().st_size <= 1100
    assert new.read_text().splitlines()[-1].startswith("line 99")
    keep_log_small(home)  # an output that is not this log: nothing happens
