"""The processes of an attempt on one host, recognised by NPURUN_ATTEMPT in their environment, never by name."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .members import ATTEMPT_VARIABLE, RUN_VARIABLE

PROC = Path("/proc")


@dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    state: str
    """One letter, as in /proc: D waits for a device or file system, T is stopped, Z has ended."""
    started: str
    """Start time in clock ticks since boot: with the pid it names one process for ever."""
    command: str
    ray_job: str
    """Hex id of the Ray job that a Ray worker (or its child) was started for, else empty."""


def of_attempt(attempt: str, proc: Path = PROC) -> list[Process]:
    """All of them on this host that this user may see, by pid."""
    wanted = f"{ATTEMPT_VARIABLE}={attempt}".encode()
    return _all(lambda environ: wanted in environ, proc)


def of_earlier(run: str, number: int, proc: Path = PROC) -> list[Process]:
    """Processes on this host of the run's attempts before `number`; zombies hold nothing and do not count.

    Both variables have to say so: NPURUN_RUN alone may be a person's shell.
    """
    prefix = f"{ATTEMPT_VARIABLE}={run}-a".encode()

    def earlier(environ: Sequence[bytes]) -> bool:
        numbers = [entry[len(prefix) :] for entry in environ if entry.startswith(prefix)]
        of_run = f"{RUN_VARIABLE}={run}".encode() in environ
        return of_run and any(text.isdigit() and int(text) < number for text in numbers)

    return [process for process in _all(earlier, proc) if process.state != "Z"]


def lineage(pid: int, proc: Path = PROC) -> list[int]:
    """`pid`, its parent, and so on. Read it early: a stop takes the shell between Ray and the driver away."""
    line = []
    while pid > 0:
        line.append(pid)
        pid = _stat(proc / str(pid))[1]
    return line


def leftovers(processes: Iterable[Process], driver_line: Sequence[int], own_job: str) -> list[Process]:
    """Those that the trainer left behind.

    Not the driver, nor what started it (Ray's job supervisor, its shell, its watcher), nor the driver's own
    Ray workers. `driver_line` is the driver's lineage, empty on a host that is not the driver's.
    """
    by_pid = {process.pid: process for process in processes}
    return [
        process
        for process in by_pid.values()
        if process.pid not in driver_line and not _beside(process, driver_line, by_pid) and not _own(process, own_job)
    ]


def end(process: Process, proc: Path = PROC) -> None:
    """SIGKILL, unless the pid is another process by now."""
    if _stat(proc / str(process.pid))[2] == process.started:
        try:
            os.kill(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return


def started(pid: int, proc: Path = PROC) -> str:
    return _stat(proc / str(pid))[2]


def _all(wanted: Callable[[Sequence[bytes]], bool], proc: Path) -> list[Process]:
    found = (_read(folder, wanted) for folder in proc.iterdir() if folder.name.isdigit())
    return sorted((process for process in found if process), key=lambda process: process.pid)


def _own(process: Process, own_job: str) -> bool:
    worker = process.command.startswith("ray::") or "default_worker.py" in process.command
    return worker and process.ray_job == own_job


def _beside(process: Process, driver_line: Sequence[int], by_pid: Mapping[int, Process]) -> bool:
    """Started by what started the driver: going up, one of the driver's ancestors comes before the driver itself.

    Only those that belong to the attempt count: everything comes from process 1 in the end.
    """
    pid = process.parent
    while pid in by_pid:
        if pid in driver_line:
            return pid != driver_line[0]
        pid = by_pid[pid].parent
    return False


def _read(folder: Path, wanted: Callable[[Sequence[bytes]], bool]) -> Process | None:
    try:
        environ = (folder / "environ").read_bytes().split(b"\0")
        if not wanted(environ):
            return None
        command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:  # it ended, or belongs to another user
        return None
    state, parent, started = _stat(folder)
    job = next((entry[len(b"RAY_JOB_ID=") :].decode() for entry in environ if entry.startswith(b"RAY_JOB_ID=")), "")
    return Process(int(folder.name), parent, state, started, command, job) if started else None


def _stat(folder: Path) -> tuple[str, int, str]:
    """(state, parent's pid, start time); empty when the process is gone."""
    try:
        fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return ("", 0, "")
    return (fields[0], int(fields[1]), fields[19])
