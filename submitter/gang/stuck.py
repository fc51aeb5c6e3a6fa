"""What an attempt's processes on one host are doing: stacks where py-spy is there, else what /proc tells."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .masking import beginning
from .probes.child import child
from .processes import PROC, Process

DUMP_S = 8.0
"""py-spy reads a process in a tenth of a second; on a loaded host it waits for a core."""
DUMPS_AT_ONCE = 4
DUMPED = 24
"""Processes: 16 ranks and a few more. All ranks of a hung collective show the same, so that equal stacks are one."""
LINES_OF_STACK = 40
CPU_OVER_S = 1.0
COMMAND_SHOWN = 100
TICKS_PER_S = 100
"""Linux's USER_HZ on every machine that Ray has wheels for."""

_RAYS_FRAMES = ("client_mode_hook.<locals>", "wrap_auto_init.<locals>", "_inject_tracing_into_class.<locals>")
_BELOW = ("Thread._bootstrap", "Thread.run (threading.py", "<module> (", "_run_code (", "_run_module_as_main (")
"""Where every thread and every program begins."""
_RAYS_THREADS = ('"PythonGCThread"', '"AsyncIO Thread: default"', '"ray_')

Dump = Callable[[int], "list[str] | None"]
"""Stack of a pid; None: there is no tool for it, or no leave."""


def stuck(found: Sequence[Process], proc: Path = PROC, dump: Dump | None = None) -> list[str]:
    """Lines for people, those that are most telling first: stopped and waiting processes, then Ray's actors."""
    shown = sorted((one for one in found if one.state != "Z"), key=_telling)[:DUMPED]
    before = {one.pid: _ticks(one.pid, proc) for one in shown}
    began = time.monotonic()
    take = dump or _dumper()
    with ThreadPoolExecutor(DUMPS_AT_ONCE) as pool:
        stacks = dict(zip([one.pid for one in shown], pool.map(take, [one.pid for one in shown]), strict=True))
    time.sleep(max(0.0, CPU_OVER_S - (time.monotonic() - began)))
    seconds = time.monotonic() - began
    lines = [_line(one, proc, _busy(before[one.pid], _ticks(one.pid, proc), seconds)) for one in shown]
    return [*lines, *_same_together(stacks)]


def stopped(found: Iterable[Process], proc: Path = PROC) -> list[int]:
    """Pids that somebody has stopped (SIGSTOP, a debugger)."""
    return [one.pid for one in found if _state(one.pid, proc) in ("T", "t")]


def _telling(process: Process) -> tuple[bool, bool, int]:
    return (process.state not in "DTt", not process.command.startswith("ray::"), process.pid)


def _line(process: Process, proc: Path, busy: str) -> str:
    wchan = _read(proc / str(process.pid) / "wchan")
    waits = f", waits in {wchan}" if wchan not in ("", "0") else ""
    kernel = [line.split("]")[-1].strip() for line in _read(proc / str(process.pid) / "stack").splitlines()[:3]]
    inside = f" ({' < '.join(kernel)})" if kernel else ""
    command = beginning(process.command, COMMAND_SHOWN)
    return f"pid {process.pid} {_state(process.pid, proc)} {busy}{waits}{inside}: {command}"


def _busy(before: int | None, after: int | None, seconds: float) -> str:
    if before is None or after is None:
        return "gone"
    return f"{(after - before) / TICKS_PER_S / seconds:.0%} of a core"


def _same_together(stacks: Mapping[int, list[str] | None]) -> list[str]:
    """Each different stack once, with the pids that have it."""
    pids: dict[tuple[str, ...], list[int]] = {}
    for pid, lines in stacks.items():
        if lines:
            pids.setdefault(tuple(lines), []).append(pid)
    found = []
    for stack, those in pids.items():
        found.append(f"stack of pid {', '.join(map(str, those))}:")
        found += [f"  {line}" for line in stack]
    if not found:
        found.append("no stacks: py-spy is not there, or may not look into processes")
    return found


def _dumper() -> Dump:
    tool = _py_spy()
    return (lambda pid: _py_spy_dump(tool, pid)) if tool else (lambda _pid: None)


def _py_spy() -> str | None:
    beside = Path(sys.executable).with_name("py-spy")
    return str(beside) if beside.exists() else shutil.which("py-spy")


def _py_spy_dump(tool: str, pid: int) -> list[str] | None:
    """Without values of variables, which may be secrets; without pausing the process, which may be stopped."""
    command = child([tool, "dump", "--nonblocking", "--pid", str(pid)])
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=DUMP_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _shown(done.stdout.splitlines()) if done.returncode == 0 else None


def _shown(lines: Sequence[str]) -> list[str]:
    """Threads, the main one and those at work first; the head, which repeats the command line, is left out."""
    threads: list[list[str]] = []
    for line in lines:
        if line.startswith("Thread "):
            threads.append([line])
        elif threads and line.strip() and not line.strip().startswith((*_RAYS_FRAMES, *_BELOW)):
            threads[-1].append(line.rstrip())
    telling = [thread for thread in threads if len(thread) > 1 and not any(name in thread[0] for name in _RAYS_THREADS)]
    ordered = sorted(telling, key=lambda thread: ("MainThread" not in thread[0], "(active" not in thread[0]))
    return [_without_id(line) for thread in ordered for line in thread][:LINES_OF_STACK]


def _without_id(line: str) -> str:
    """`Thread 0x7F.. (idle): "MainThread"` → `Thread (idle): "MainThread"`: equal stacks have to look equal."""
    return f"Thread {line[line.index('(') :]}" if line.startswith("Thread ") and "(" in line else line


def _ticks(pid: int, proc: Path) -> int | None:
    fields = _read(proc / str(pid) / "stat").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12]) if len(fields) > 12 else None


def _state(pid: int, proc: Path) -> str:
    fields = _read(proc / str(pid) / "stat").rpartition(")")[2].split()
    return fields[0] if fields else "gone"


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:  # it ended, or there is no leave
        return ""
