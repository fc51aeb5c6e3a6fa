"""What nodes tell of a failure or a hang: the telling ends of their logs, masked, and not what is known already."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.gang import node_evidence, processes, remains
from submitter.gang.evidence import BYTES_OF_NODE, LINES_OF_NODE, known_lines, new_tails, plain
from submitter.gang.known import GONE_KEPT, Known
from submitter.gang.masking import Masker
from submitter.gang.node_worker import DriverProcess, NodeWorker
from submitter.gang.oom import kernel_lines, kills_in, oom_kills
from submitter.gang.probes import devices
from submitter.gang.probes.measure import NotMeasuredError
from submitter.gang.processes import Process, of_attempt
from submitter.gang.stuck import stopped, stuck
from submitter.gang.tails import LINES_OF_FILE, Tail, tails
from tests.support.processes import wait_for

JOB = "03000000"
WORKER = "a" * 56
TRACE = """\
:job_id:03000000
:actor_name:WorkerDict
loading
Traceback (most recent call last):
  File "worker.py", line 7, in update
    raise RuntimeError("HCCL error EI0006")
RuntimeError: HCCL error EI0006, token=abcdef0123456789abcdef
"""


def found(folder: Path, *, jobs: tuple[str, ...] = (JOB,), pids: tuple[int, ...] = (), since: float = 0) -> list[Tail]:
    return tails(folder / "logs", [folder / "ascend"], jobs, pids, since, Masker({}))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / f"worker-{WORKER}-{JOB}-71.err").write_text(TRACE)
    (logs / f"worker-{WORKER}-{JOB}-71.out").write_text("step:1 - a:1\nall is well\n")
    (logs / f"worker-{WORKER}-04000000-72.err").write_text(TRACE)
    (logs / f"python-core-worker-{WORKER}_71.log").write_text(
        "[2026-11-30 12:00:00,1 I 71 71] core_worker.cc: fine\n[2026-11-30 12:00:01,1 E 71 71] gone: worker died\n"
    )
    (logs / "raylet.out").write_text("[2026-11-30 12:00:00,1 I 1 1] fine\n[t] Killing worker 71: memory usage above\n")
    plogs = tmp_path / "ascend" / "debug" / "plog"
    plogs.mkdir(parents=True)
    (plogs / "plog-71_20261130.log").write_text("[INFO] fine\n[ERROR] HCCL(71,python): socket times out\n")
    (plogs / "plog-99_20261130.log").write_text("[ERROR] another job's\n")
    return tmp_path


def test_each_file_of_the_attempt_tells_from_its_first_telling_line_on(tree: Path) -> None:
    told = {tail.file: tail.lines for tail in found(tree)}
    assert list(told[f"worker-{WORKER}-{JOB}-71.err"]) == [
        "Traceback (most recent call last):",
        '  File "worker.py", line 7, in update',
        '    raise RuntimeError("HCCL error EI0006")',
        "RuntimeError: HCCL error EI0006, token=***",
    ]
    assert told["raylet.out"] == ("[t] Killing worker 71: memory usage above",)
    (plog,) = [file for file in told if "plog" in file]
    assert plog.endswith("plog-71_20261130.log")
    assert not [file for file in told if file.endswith(".out") and file.startswith("worker")]
    assert not any("04000000" in file or "99_" in file for file in told)
    assert any("core-worker" in tail.file for tail in found(tree, pids=(71,)))


def test_what_was_not_written_since_is_no_part_of_it(tree: Path) -> None:
    old = tree / "logs" / "raylet.out"
    os.utime(old, (1000, 1000))
    assert "raylet.out" not in {tail.file for tail in found(tree, since=2000)}
    assert found(tree, since=time.time() + 60) == []


def test_a_large_log_is_read_at_its_end_and_no_more_than_is_worth_it(tree: Path) -> None:
    log = tree / "logs" / f"worker-{WORKER}-{JOB}-73.err"
    with log.open("w") as file:
        for number in range(200_000):
            file.write(f"ValueError: number {number}\n")
    told = {tail.file: tail.lines for tail in found(tree)}[log.name]
    assert len(told) == LINES_OF_FILE
    assert told[-1] == "ValueError: number 199999"


def test_no_logs_at_all(tmp_path: Path) -> None:
    assert found(tmp_path) == []
    assert tails(None, [], (), (), 0, Masker({})) == []


def test_what_the_drivers_log_has_is_not_repeated(tmp_path: Path) -> None:
    log = tmp_path / "driver.log"
    log.write_text(
        "\x1b[36m(WorkerDict pid=71, ip=10.0.0.2)\x1b[0m Traceback (most recent call last):\n"
        '\x1b[36m(WorkerDict pid=71, ip=10.0.0.2)\x1b[0m   File "worker.py", line 7, in update\n'
        "(WorkerDict pid=71) ValueError: known [repeated 3x across cluster]\n"
    )
    known = known_lines(log)
    lines = ["Traceback (most recent call last):", '  File "worker.py", line 7, in update', "ValueError: known"]
    assert new_tails([{"file": "a", "lines": lines}], known) == []
    assert new_tails([{"file": "a", "lines": [*lines, "}"]}], known) == []
    told = new_tails([{"file": "a", "lines": [*lines, "ValueError: not known"]}], known)
    assert told == [("a", "ValueError: not known")]
    assert known_lines(tmp_path / "absent") == set()


@given(st.lists(st.text(min_size=20, max_size=300), max_size=400))
def test_what_is_told_of_a_node_is_bounded(lines: list[str]) -> None:
    told = new_tails([{"file": "a", "lines": lines}, {"file": "b", "lines": lines}], set())
    assert len(told) <= LINES_OF_NODE
    assert sum(len(line) for _, line in told) <= BYTES_OF_NODE


def test_plain_takes_only_rays_marks_away() -> None:
    assert plain("\x1b[36m(A pid=1, ip=10.0.0.1)\x1b[0m   text (b) [repeated 2x across cluster]") == "text (b)"
    assert plain("(no speaker)") == "(no speaker)"


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    environ = {**os.environ, "NPURUN_ATTEMPT": "evidence-a1"}
    code = "import time\ndef waits_here():\n    time.sleep(60)\nwaits_here()"
    process = subprocess.Popen([sys.executable, "-c", code], env=environ)
    wait_for(lambda: bool(of_attempt("evidence-a1")), bound_s=10, what="the process")
    yield process
    process.kill()
    process.wait(10)


def test_a_stopped_process_is_seen_with_its_stack(sleeper: subprocess.Popen[bytes]) -> None:
    seen = of_attempt("evidence-a1")
    assert stopped(seen) == []
    sleeper.send_signal(signal.SIGSTOP)
    wait_for(lambda: stopped(seen) == [sleeper.pid], bound_s=10, what="the stop")
    lines = stuck(seen)
    assert lines[0].startswith(f"pid {sleeper.pid} T 0% of a core")
    if (Path(sys.executable).with_name("py-spy")).exists():
        assert any("waits_here" in line for line in lines), lines
    else:
        assert lines[-1].startswith("no stacks: py-spy is not there")


def test_equal_stacks_are_told_once(tmp_path: Path) -> None:
    ranks = [Process(pid, 1, "S", "1", f"ray::WorkerDict {pid}", "") for pid in (5, 6, 7)]
    lines = stuck(ranks, tmp_path, lambda pid: ["Thread (idle): barrier"] if pid < 7 else ["Thread (active): forward"])
    assert "stack of pid 5, 6:" in lines
    assert "stack of pid 7:" in lines
    assert lines.count("  Thread (idle): barrier") == 1


def test_what_is_shown_of_a_command_holds_no_half_of_a_secret(tmp_path: Path) -> None:
    key = "hf_abcdefghijklmnopqrstuvwxyz0123456789"
    worker = NodeWorker("evidence-a1")
    for length in (40, 60, 100, 120):
        rank = Process(5, 0, "D", "0", f"{'x' * (length - 10)} {key} --password hunter2-hunter2", "")
        told = [*stuck([rank], tmp_path, lambda _pid: None), *worker_lines(worker, rank)]
        (tmp_path / "7").mkdir(exist_ok=True)
        (tmp_path / "7" / "cmdline").write_text(rank.command)
        told.append(str(devices._process(7, tmp_path, here=True)["command"]))
        assert len(told) >= 5
        assert not any("hf_a" in line or "hunter2" in line for line in told)


def worker_lines(worker: NodeWorker, process: Process) -> list[str]:
    """What a node worker says of a frozen node, of leftovers, and of what earlier attempts left."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "of_attempt", lambda _attempt: [process])
        patch.setattr(processes, "end", lambda _process: None)
        leftovers = worker.end_leftovers(DriverProcess("", ()), "", 0.0)
        return [worker.evidence(), *leftovers, remains._line(process, "D")]


def test_the_dead_are_remembered(sleeper: subprocess.Popen[bytes]) -> None:
    known = Known("evidence-a1")
    known.note()
    sleeper.kill()
    sleeper.wait(10)
    known.note()
    assert sleeper.pid in known.pids()


def test_kills_for_memory_are_counted_and_quoted(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").touch()
    (tmp_path / "memory.events").write_text("low 0\noom 3\noom_kill 2\n")
    assert oom_kills(tmp_path / "noproc", tmp_path) == 2
    assert oom_kills(tmp_path / "noproc", tmp_path / "absent") is None
    records = [
        "6,1,5000000,-;eth0: link is up",
        "3,2,6000000,-;Out of memory: Killed process 71 (python3) total-vm:9kB\n SUBSYSTEM=x",
        "3,3,7000000,-;Memory cgroup out of memory: Killed process 72 (ray::WorkerDict)",
        "broken",
    ]
    assert kills_in(records, 6.5) == ["kernel: Memory cgroup out of memory: Killed process 72 (ray::WorkerDict)"]
    assert kills_in(records, 0)[0] == "kernel: Out of memory: Killed process 71 (python3) total-vm:9kB"
    assert isinstance(kernel_lines(0), list), "whether this host lets read it or not"


def test_cann_logs_where_the_job_says() -> None:
    folders = node_evidence.plog_folders
    assert folders({"ASCEND_PROCESS_LOG_PATH": "/p", "ASCEND_WORK_PATH": "/w"}) == [Path("/p")]
    assert folders({"ASCEND_WORK_PATH": "/w"}) == [Path("/w/log")]
    assert folders({}) == [Path.home() / "ascend" / "log"]


def test_devices_are_told_where_there_are_some(monkeypatch: pytest.MonkeyPatch) -> None:
    one = {"card": 3, "chip": 0, "health": "Warning", "hbm_used_mb": 60000, "hbm_total_mb": 65536}
    monkeypatch.setattr("submitter.gang.node_evidence.host_facts.read", lambda: {"devices": 1})
    monkeypatch.setattr("submitter.gang.node_evidence.devices.npus", lambda _wish: {"devices": [one]})
    assert node_evidence.hang([])["lines"][-1] == "NPU 3.0 Warning: 60000 of 65536 MB"

    def fails(_wish: object) -> None:
        raise NotMeasuredError("no npu-smi")

    monkeypatch.setattr("submitter.gang.node_evidence.devices.npus", fails)
    assert node_evidence.hang([])["lines"][-1] == "NPUs: NotMeasuredError: no npu-smi"


def test_a_node_without_devices_tells_of_its_processes(sleeper: subprocess.Popen[bytes]) -> None:
    told = node_evidence.hang(of_attempt("evidence-a1"))
    assert told["stopped"] == 0
    assert any(f"pid {sleeper.pid} " in line for line in told["lines"])
    failed = node_evidence.failure(Known("evidence-a1"), [], "")
    assert failed["why"] == ""


def test_of_thousands_of_short_lived_ones_the_last_are_remembered_and_all_that_live() -> None:
    rank = Process(1, 0, "S", "5", "ray::WorkerDict", "01000000")
    here: list[Process] = []
    known = Known("evidence-a1", lambda _attempt: here)
    for start in range(2, 3 * GONE_KEPT, GONE_KEPT // 2):
        here = [rank, *(Process(pid, 0, "S", "6", "sandbox", "") for pid in range(start, start + GONE_KEPT // 2))]
        known.note()
    assert len(known.pids()) <= GONE_KEPT + len(here)
    assert known.jobs() == {"01000000"} and here[-1].pid in known.pids()
