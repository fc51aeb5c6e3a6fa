"""Runs one command and answers for everything that it starts: `python keeper.py --remove DIR -- COMMAND…`.

The keeper ends the whole tree below it when its standard input closes, that is when its owner lets go of it or dies
in any way (kill -9 included), and when the command itself ends. As "child subreaper" it inherits what daemonises, so
nothing can leave the tree. SIGTERM first, SIGKILL after `TERM_WAIT_S`; then `DIR` is removed.

Standard library only; started with `-I -S`, so that five of them cost little.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

TERM_WAIT_S = 2.0
"""What heeds SIGTERM leaves within 0.1 s; raylets that lost their GCS and what is frozen never do (measured)."""
KILL_WAIT_S = 5.0
POLL_S = 0.05
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def descendants(root: int) -> list[int]:
    """Pids of every living process below `root`, parents before children; zombies do not count."""
    children: dict[int, list[int]] = {}
    for pid, parent, state in _processes():
        if state not in "ZX":
            children.setdefault(parent, []).append(pid)
    found = list(children.get(root, ()))
    for pid in found:
        found.extend(children.get(pid, ()))
    return found


def end_tree(
    root: int, *, term_wait_s: float = TERM_WAIT_S, after_look: Callable[[], object] = lambda: None
) -> list[int]:
    """End everything below `root`; returns the pids that are still there after both bounds (none, but for a kernel's
    uninterruptible sleep)."""
    left = _signal_until_gone(root, signal.SIGTERM, term_wait_s, after_look)
    return _signal_until_gone(root, signal.SIGKILL, KILL_WAIT_S, after_look) if left else []


def main(arguments: Sequence[str]) -> int:
    options = _options(arguments)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # Both only have to wake the wait below: Python's default for SIGCHLD would not.
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    stop: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: stop.append(number))
    signal.signal(signal.SIGCHLD, lambda *_: None)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    child = subprocess.Popen(options.command, stdin=subprocess.DEVNULL, preexec_fn=_die_with_keeper)
    code = _wait(child.pid, read, stop)
    end_tree(os.getpid(), term_wait_s=options.term_wait, after_look=lambda: reap(child.pid))
    _remove(options.remove)
    return code


def reap(child: int) -> int | None:
    """Collect every ended process; the exit code of `child` (128 + signal) if it was among them."""
    code = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code
        if pid == 0:
            return code
        if pid == child:
            exit_code = os.waitstatus_to_exitcode(status)
            code = exit_code if exit_code >= 0 else 128 - exit_code


def _wait(child: int, wakeup: int, stop: list[int]) -> int:
    """Until the owner lets go (0) or the child ends (its code). Unbounded by design: this is what a keeper is for."""
    while not stop:
        ready, _, _ = select.select([0, wakeup], [], [])
        if 0 in ready and not os.read(0, 512):
            return 0
        if wakeup in ready:
            os.read(wakeup, 512)
        if (code := reap(child)) is not None:
            return code
    return 0


def _signal_until_gone(root: int, number: int, wait_s: float, after_look: Callable[[], object]) -> list[int]:
    deadline = time.monotonic() + wait_s
    told: set[int] = set()
    while True:
        left = descendants(root)
        after_look()
        if not left or time.monotonic() > deadline:
            return left
        for pid in left:
            # A child started since the last look gets it too; SIGTERM only once: twice is "at once" to some programs.
            if pid not in told or number == signal.SIGKILL:
                told.add(pid)
                _signal(pid, number)
        time.sleep(POLL_S)


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _processes() -> list[tuple[int, int, str]]:
    """(pid, parent, state letter) of every process; the name in /proc/PID/stat may hold spaces and parentheses."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            state, parent = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
        except (OSError, ValueError):
            continue  # ended while we looked
        found.append((int(entry.name), int(parent), state))
    return found


def _die_with_keeper() -> None:
    """Second net, for a keeper that is itself killed -9."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def _remove(folder: Path | None) -> None:
    if folder is None:
        return
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.parent.rmdir()
    except OSError:
        return  # another node's folder is still in it: the last keeper removes it


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="keeper")
    parser.add_argument("--remove", type=Path)
    parser.add_argument("--term-wait", type=float, default=TERM_WAIT_S)
    parser.add_argument("command", nargs="+")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
