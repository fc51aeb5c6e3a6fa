"""Which processes an attempt left behind, on a made-up /proc and on real processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from submitter.gang import host_facts, processes
from submitter.gang.processes import Process, leftovers, of_attempt

JOB, TRAINERS_JOB = "02000000", "03000000"


def write(
    proc: Path, pid: int, environ: dict[str, str], *, parent: int = 1, comm: str = "x", command: str = "x"
) -> None:
    folder = proc / str(pid)
    folder.mkdir()
    (folder / "environ").write_bytes(b"\0".join(f"{name}={value}".encode() for name, value in environ.items()) + b"\0")
    (folder / "cmdline").write_bytes(command.replace(" ", "\0").encode())
    fields = ["S", str(parent), *["0"] * 17, str(pid * 10), "0"]
    (folder / "stat").write_text(f"{pid} ({comm}) {' '.join(fields)}\n")


def test_the_attempts_processes_are_found_by_their_environment_alone(tmp_path: Path) -> None:
    write(tmp_path, 10, {"NPURUN_ATTEMPT": "run-a1", "RAY_JOB_ID": JOB}, comm="a) S 7 (b", command="ray::Worker x")
    write(tmp_path, 11, {"NPURUN_ATTEMPT": "run-a10"})
    write(tmp_path, 12, {"OTHER": "NPURUN_ATTEMPT=run-a1"})
    write(tmp_path, 13, {}, command="python NPURUN_ATTEMPT=run-a1")
    (tmp_path / "14").mkdir()
    (tmp_path / "self").mkdir()
    assert of_attempt("run-a1", tmp_path) == [Process(10, 1, "S", "100", "ray::Worker x", JOB)]


LINE = (121, 120, 100, 50, 1)


def process(pid: int, parent: int, command: str = "python3 x", job: str = "") -> Process:
    return Process(pid, parent, "S", "1", command, job)


def test_left_is_what_the_trainer_started_and_not_what_started_the_driver() -> None:
    found = [
        process(100, 1, "ray::JobSupervisor.run", "01000000"),
        process(110, 100, "/bin/bash -c while kill -s 0 100"),
        process(111, 110, "sleep 1"),
        process(120, 100, "/bin/sh -c python3 -m npurun_gang"),
        process(121, 120, "python3 -m npurun_gang"),
        process(130, 121, "python3 -m verl.trainer.main_ppo"),
        process(131, 130, "daemon of the trainer"),
        process(140, 1, "ray::NodeWorker.ping", JOB),
        process(141, 1, "python3 default_worker.py", JOB),
        process(150, 1, "ray::WorkerDict", TRAINERS_JOB),
        process(151, 150, "engine core", TRAINERS_JOB),
        process(152, 1, "orphan of an own worker", JOB),
    ]
    left = [process.pid for process in leftovers(found, LINE, JOB)]
    assert left == [130, 131, 150, 151, 152]


def test_what_started_the_driver_is_kept_when_a_stop_has_taken_the_shell_between() -> None:
    found = [
        process(100, 50, "ray::JobSupervisor.stop", "01000000"),
        process(110, 100, "/bin/bash -c while kill -s 0 100"),
        process(121, 1, "python3 -m npurun_gang"),
        process(130, 121, "python3 -m verl.trainer.main_ppo"),
    ]
    assert [process.pid for process in leftovers(found, LINE, JOB)] == [130]


def test_the_lineage_of_a_process_goes_up_to_the_first() -> None:
    line = processes.lineage(os.getpid())
    assert line[:2] == [os.getpid(), os.getppid()]
    assert 0 not in line


def test_on_another_host_nothing_is_kept_but_own_workers() -> None:
    found = [process(121, 1), process(140, 1, "ray::NodeWorker.ping", JOB)]
    assert [process.pid for process in leftovers(found, (), JOB)] == [121]


def test_only_the_very_process_is_ended() -> None:
    with subprocess.Popen(["sleep", "60"], env={**os.environ, "NPURUN_ATTEMPT": "t-processes-a1"}) as child:
        (found,) = [each for each in of_attempt("t-processes-a1") if each.pid == child.pid]
        processes.end(Process(found.pid, 0, "", "12345", "", ""))
        assert child.poll() is None
        processes.end(found)
        assert child.wait(10) == -9
    processes.end(found)  # gone already: no error


def test_host_facts_of_this_machine() -> None:
    facts = host_facts.read()
    assert facts["cpus"] == len(os.sched_getaffinity(0))
    assert 0 < facts["memory_free_gib"] <= facts["memory_gib"]
    assert facts["python"] == sys.version.split()[0]
    assert host_facts.same_host_token() == host_facts.same_host_token()


def test_devices_are_the_numbered_davinci_files(tmp_path: Path) -> None:
    for name in ("davinci0", "davinci15", "davinci_manager", "davinci0_x", "hisi_hdc"):
        (tmp_path / name).touch()
    facts = host_facts.read(proc=tmp_path, dev=tmp_path)
    assert facts["devices"] == 2
    assert (facts["memory_gib"], facts["load"]) == (None, None)


@pytest.mark.parametrize("text", ["MemTotal: 2097152 kB\nMemAvailable: 1048576 kB\nHuge:\n", "MemTotal: 2097152 kB\n"])
def test_memory_is_in_gib_and_unknown_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "meminfo").write_text(text)
    facts = host_facts.read(proc=tmp_path, dev=tmp_path)
    assert facts["memory_gib"] == 2.0
    assert facts["memory_free_gib"] == (1.0 if "Available" in text else None)
