"""The processes of an attempt on one host, recognised by NPURUN_ATTEMPT in their environment, never by name."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .members import ATTEMPT_VARIABLE, RUN_VARIABLE

PROC = Path("/proc")

_RAY_PROGRAMS = ("raylet", "gcs_server", "ray::DashboardAgent", "ray::RuntimeEnvAgent")
_RAY_SCRIPTS = re.compile(r"/ray/(dashboard/|_private/(log_monitor|monitor)\.py|_private/runtime_env/agent/)")


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
    """Processes on this host of the run's attempts before `number`; what has ended holds nothing and does not count.

    Nor do Ray's own processes, whose `ray start` an attempt may have run, and what has its variables from them only:
    the cluster may be in use by others.
    """
    own = set(lineage(os.getpid(), proc))  # never the raylet that this worker lives by, whoever started it
    found = _all(lambda entries: is_earlier(_variables(entries), run, number), proc)
    rays = {process.pid for process in found if is_rays(process)}
    return [
        process
        for process in found
        if process.pid not in own and not _has_ended(proc / str(process.pid)) and not _inherits(process.pid, rays, proc)
    ]


def is_rays(process: Process) -> bool:
    """Whether it belongs to the cluster and not to a job: raylet, GCS, dashboard, agents, log monitor, `ray start`."""
    words = [word for word in process.command.split() if not word.startswith("-")]
    names = [Path(word).name for word in words[:3]]
    if words and (names[0] in _RAY_PROGRAMS or names[0].startswith("ray-dashboard-")):
        return True
    if ["ray", "start"] in (names[:2], names[1:]):
        return True
    return len(words) > 1 and _RAY_SCRIPTS.search(words[1]) is not None


def is_earlier(environ: Mapping[str, str], run: str, number: int) -> bool:
    """Whether an environment is that of an attempt of `run` before `number`.

    Both variables have to say so: NPURUN_RUN alone may be a person's shell.
    """
    of_run, _, attempt = environ.get(ATTEMPT_VARIABLE, "").rpartition("-a")
    if not of_run == run == environ.get(RUN_VARIABLE):
        return False
    return re.fullmatch("[1-9][0-9]{0,8}", attempt) is not None and int(attempt) < number


def state_of(process: Process, proc: Path = PROC) -> str | None:
    """Its state by now; None when it has ended: gone, another process, or a zombie without threads."""
    folder = proc / str(process.pid)
    state, _, started = _stat(folder)
    return None if started != process.started or _has_ended(folder) else state


def lineage(pid: int, proc: Path = PROC) -> list[int]:
    """`pid`, its parent, and so on. Read it early: a stop takes the shell between Ray and the driver away."""
    line = []
    while pid > 0:
        line.append(pid)
        pid = _stat(proc / str(pid))[1]
    return line


def raylet_of(pid: int, proc: Path = PROC) -> int | None:
    """The raylet that a process comes from; None: from none, or from one that has gone."""
    return next((one for one in lineage(pid, proc) if _program(proc / str(one)) == "raylet"), None)


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


def _inherits(pid: int, rays: Collection[int], proc: Path) -> bool:
    """Whether it is one of `rays`, or has the same attempt as the nearest of them above it."""
    above = next((one for one in lineage(pid, proc) if one in rays), None)
    return above is not None and _attempt(above, proc) == _attempt(pid, proc)


def _attempt(pid: int, proc: Path) -> str | None:
    try:
        entries = (proc / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return None
    return _variables(entries).get(ATTEMPT_VARIABLE)


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


def _program(folder: Path) -> str:
    try:
        return Path(os.fsdecode((folder / "cmdline").read_bytes().partition(b"\0")[0])).name
    except OSError:
        return ""


def _variables(entries: Iterable[bytes]) -> dict[str, str]:
    pairs = (os.fsdecode(entry).partition("=") for entry in entries)
    return {name: value for name, _, value in pairs}


def _has_ended(folder: Path) -> bool:
    """A killed process whose thread waits for a device looks like a zombie, but for the count of its threads."""
    fields = _fields(folder)
    return not fields or (fields[0] in "ZX" and int(fields[17]) <= 1)


def _stat(folder: Path) -> tuple[str, int, str]:
    """(state, parent's pid, start time); empty when the process is gone."""
    fields = _fields(folder)
    return (fields[0], int(fields[1]), fields[19]) if fields else ("", 0, "")


def _fields(folder: Path) -> list[str]:
    """/proc/<pid>/stat from the state on (proc(5) counts it as 3); empty when the process is gone."""
    try:
        return (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
