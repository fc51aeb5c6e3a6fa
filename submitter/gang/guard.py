"""Runs a command and lets nothing of it outlive the process that holds the guard's standard input.

`python3 -m npurun_gang.guard [--remove FOLDER] COMMAND…`. A line on standard input, a number of seconds, asks the tree
to end: SIGTERM to the command, SIGKILL to whatever is left after that time. End of file (the holder is gone) and
SIGTERM ask the same with `HOLDER_GONE_GRACE_S`. Exits with the command's code (128 + n for a signal) once no descendant
is left; FOLDER is then removed.

Two processes, because Ray sends SIGKILL to the direct children of a dying worker: the outer one is that child, the
inner one holds the tree. Both adopt orphans (PR_SET_CHILD_SUBREAPER), so a process in a session of its own stays in
reach and whichever of the two survives ends the tree. The command gets SIGTERM should both be gone (PDEATHSIG).
Standard library only; Linux only.
"""

from __future__ import annotations

import ctypes
import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>, Linux 3.4

POLL_S = 0.1  # how late the guard may notice an end; costs about 0.1 % of a core
KILL_ROUND_S = 0.02  # between two rounds of SIGKILL: a process that forks meanwhile is caught in a later round
HOLDER_GONE_GRACE_S = 2.0  # nobody waits for output any more
LEFTOVER_GRACE_S = 2.0  # for what the command itself left behind
KILL_BOUND_S = 10.0  # a process in uninterruptible sleep (a hung device driver) cannot be killed

REMOVE = "--remove"

EXIT_NOT_FOUND = 127  # as a shell's
EXIT_KILLED = 128 + signal.SIGKILL

_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)  # ignored signals survive exec: give them back to the command


def main(argv: Sequence[str]) -> int:
    """Exit code of the command."""
    folder, command = (argv[1], argv[2:]) if argv[0] == REMOVE else (None, argv)
    code = guard(command)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)  # the other guard may have been quicker
    return code


def guard(command: Sequence[str]) -> int:
    """Exit code of `command`, in both guards."""
    # A thread that blocks signals may have started this process, and a mask survives exec: no SIGTERM would arrive.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    adopt_orphans()
    outer = os.getpid()
    inner = os.fork()
    if inner:
        return _outer(inner)
    os.setsid()
    end_with_parent(outer)
    adopt_orphans()
    return Supervision(command).run()


def adopt_orphans() -> None:
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def end_with_parent(parent: int) -> None:
    """SIGTERM for this process when `parent` dies, also if it has died before this call."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


class Supervision:
    """The command, its descendants, and when they have to end."""

    def __init__(self, command: Sequence[str]) -> None:
        self._asked: list[float] = []
        """Graces (seconds) that have been asked for and not yet heeded."""
        for number in _ENDING_SIGNALS:
            signal.signal(number, self._on_signal)
        self._stdin_open = True
        self._deadline: float | None = None
        """Monotonic time from which on everything left is killed. None: nobody wants an end."""
        self._code: int | None = None
        self._command = start(command)

    def run(self) -> int:
        while self._reap():
            self._listen()
            self._heed()
            if self._deadline is not None and time.monotonic() >= self._deadline:
                end_all(KILL_BOUND_S)
                break
        return EXIT_KILLED if self._code is None else self._code

    def _reap(self) -> bool:
        """Collect what has died; False once there is no descendant: a subreaper without children has none."""
        try:
            for pid, status in reaped():
                if pid == self._command:
                    self._command_ended(exit_code(status))
        except ChildProcessError:
            return False
        return True

    def _command_ended(self, code: int) -> None:
        self._code = code
        self._end_in(LEFTOVER_GRACE_S)
        send(signal.SIGTERM, descendants(os.getpid()))

    def _end_in(self, grace_s: float) -> None:
        deadline = time.monotonic() + grace_s
        self._deadline = deadline if self._deadline is None else min(self._deadline, deadline)

    def _listen(self) -> None:
        """Wait a little for a request on standard input."""
        if not self._stdin_open:
            time.sleep(POLL_S)
            return
        if not select.select([0], [], [], POLL_S)[0]:
            return
        text = os.read(0, 4096)
        self._stdin_open = bool(text)
        self._asked += [_seconds(line) for line in text.split()] if text else [HOLDER_GONE_GRACE_S]

    def _heed(self) -> None:
        if not self._asked:
            return
        if self._deadline is None:
            send(signal.SIGTERM, [self._command])
        self._end_in(min(self._asked))
        self._asked.clear()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._asked.append(HOLDER_GONE_GRACE_S)


def start(command: Sequence[str]) -> int:
    """Process id of `command`, which gets no input and ends with this process.

    Not subprocess.Popen: its own waiting and this guard's `waitpid(-1)` would take each other's children.
    """
    guard = os.getpid()
    child = os.fork()
    if child:
        return child
    try:
        _become(command, guard)
    except OSError as error:
        print(f"[npurun] cannot start {command[0]}: {error.strerror}", file=sys.stderr, flush=True)
    finally:
        os._exit(EXIT_NOT_FOUND)


def end_all(bound_s: float) -> list[int]:
    """SIGKILL to all descendants until none is left; the process ids that outlived `bound_s` seconds."""
    end = time.monotonic() + bound_s
    while time.monotonic() < end:
        left = descendants(os.getpid())
        send(signal.SIGKILL, left)
        try:
            for _ in reaped():
                pass
        except ChildProcessError:
            return []
        time.sleep(KILL_ROUND_S)
    print(f"[npurun] processes that SIGKILL does not end: {left}", file=sys.stderr, flush=True)
    return left


def reaped() -> Iterator[tuple[int, int]]:
    """(process id, wait status) of every child that is dead by now. ChildProcessError: there is no child at all."""
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        yield pid, status


def descendants(root: int) -> list[int]:
    """Living descendants of `root`, parents before their children: one that restarts its children dies first."""
    children: dict[int, list[int]] = {}
    for pid, parent in _processes():
        children.setdefault(parent, []).append(pid)
    found = list(children.get(root, ()))
    for pid in found:  # grows while it is walked
        found += children.get(pid, ())
    return found


def send(number: int, pids: Sequence[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue  # ended meanwhile; or changed its user, which only root could follow


def exit_code(status: int) -> int:
    """A wait status as a shell shows it: 128 + n for a signal."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _outer(inner: int) -> int:
    def forward(number: int, frame: FrameType | None) -> None:
        send(signal.SIGTERM, [inner])

    for number in _ENDING_SIGNALS:
        signal.signal(number, forward)
    _, status = os.waitpid(inner, 0)
    end_all(KILL_BOUND_S)  # only after a killed inner process is there anything
    return exit_code(status)


def _become(command: Sequence[str], guard: int) -> None:
    end_with_parent(guard)
    for number in (*_ENDING_SIGNALS, *_IGNORED_BY_PYTHON):
        signal.signal(number, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.execvp(command[0], list(command))


def _processes() -> Iterator[tuple[int, int]]:
    """(process id, parent's id) of every process that is not yet dead."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_bytes()
        except OSError:
            continue  # ended meanwhile
        state, parent = stat.rpartition(b")")[2].split()[:2]  # the name before it may hold anything
        if state not in (b"Z", b"X"):
            yield int(entry.name), int(parent)


def _seconds(text: bytes) -> float:
    try:
        return max(0.0, float(text))
    except ValueError:
        return HOLDER_GONE_GRACE_S


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
