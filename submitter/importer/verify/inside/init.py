"""Process 1 of the sandbox: starts the script, waits for its end within bounds, ends all others, reads the records."""

from __future__ import annotations

import os
import resource
import select
import signal
import stat
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import seccomp
from .kernel import RefusedError, drop_capabilities, hide_from_trace
from .places import RECORDS

LINGER_S = 0.5
"""For what the script left in the background (`nohup python3 … &`) to be recorded."""
MAX_PROCESSES = 256
MAX_CALLS = 10_000
MAX_RECORD_BYTES = 64_000_000
STDERR_BYTES = 4_000

_POLL_MS = 5
_PIPE_READS = 32
"""Of 64 kB: the largest pipe that Linux makes unasked has 1 MB."""
_MEMORY_EVERY_S = 0.05
_REAP_S = 3.0
_LIFELINE = 0
"""stdin: it ends with the process that asked for all this, whatever ends that."""
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Course:
    """How the script went."""

    ended: str = "exited"
    """exited, timeout, memory, or alone: nobody waits for the answer any more."""
    status: int | None = None
    stderr: bytes = b""


def prepare(plan: Mapping[str, Any]) -> None:
    """Gives up all that the script may not have. It stays so."""
    _check(plan)
    _limits(plan)
    drop_capabilities()
    hide_from_trace()
    seccomp.install(seccomp.program(os.uname().machine), os.uname().machine)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # of process 1: ignored, unless it comes from outside


def run(plan: Mapping[str, Any]) -> tuple[Course, list[bytes], bool]:
    """The course, the records in the order of their calls, and whether all could be recorded."""
    reading, writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    main = _start(plan, writing)
    os.close(writing)
    course = _Watch(main, reading, plan).until_end()
    _end_all()
    return course, *_records()


def _check(plan: Mapping[str, Any]) -> None:
    if os.getpid() != 1:  # otherwise ending all processes would mean the machine's
        raise RefusedError("unshare", "no process namespace")
    for needed in (plan["bash"], plan["cat"]):
        if not os.access(needed, os.X_OK):
            raise RefusedError("bind", needed)


def _limits(plan: Mapping[str, Any]) -> None:
    limits = {
        # Not 0: to a handler of core dumps, which would run outside, only 1 means none (core(5)).
        resource.RLIMIT_CORE: 1,
        resource.RLIMIT_CPU: int(plan["timeout_s"]) + 1,
        resource.RLIMIT_FSIZE: 64_000_000,
        resource.RLIMIT_AS: 4_000_000_000,
        resource.RLIMIT_NPROC: plan["processes"] + MAX_PROCESSES,
        resource.RLIMIT_MEMLOCK: 65_536,
        resource.RLIMIT_MSGQUEUE: 0,
    }
    for name, limit in limits.items():
        hard = resource.getrlimit(name)[1]
        value = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(name, (value, value))


def _start(plan: Mapping[str, Any], stderr: int) -> int:
    main = os.fork()
    if main:
        return main
    try:
        os.setsid()  # `kill 0` of the script reaches its own processes alone
        nothing = os.open("/dev/null", os.O_RDWR)
        for number, target in ((nothing, 0), (nothing, 1), (stderr, 2)):
            os.dup2(number, target)
        os.set_blocking(2, True)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        for number in range(1, signal.NSIG):
            with suppress(OSError, ValueError):  # SIGKILL, SIGSTOP, those of the C library
                signal.signal(number, signal.SIG_DFL)
        os.chdir(plan["cwd"])
        environ = {os.fsencode(name): os.fsencode(value) for name, value in plan["environ"].items()}
        os.execve(plan["bash"], [plan["bash"], plan["script"], *plan["arguments"]], environ)
    except BaseException as error:  # a forked child must never go on as its parent
        os.write(2, f"{error}\n".encode(errors="replace"))
    os._exit(127)


class _Watch:
    def __init__(self, main: int, stderr: int, plan: Mapping[str, Any]) -> None:
        self._main = main
        self._stderr = stderr
        self._deadline = time.monotonic() + plan["timeout_s"]
        self._memory_bytes = plan["memory_bytes"]
        self._next_memory = 0.0
        self._course = Course()

    def until_end(self) -> Course:
        poll = select.poll()
        poll.register(_LIFELINE, select.POLLHUP)
        poll.register(self._stderr, select.POLLIN)
        while True:
            ready = dict(poll.poll(_POLL_MS))
            if self._stderr in ready and not self._read():
                poll.unregister(self._stderr)
            reason = "alone" if _LIFELINE in ready else self._broken_limit()
            if reason:
                self._course.ended = reason
                return self._course
            if not self._reaped() or (self._course.status is not None and time.monotonic() > self._deadline):
                self._drain()
                return self._course

    def _read(self) -> bool:
        """False: all of its writers have closed it."""
        try:
            data = os.read(self._stderr, 1 << 16)
        except BlockingIOError:
            return True
        self._course.stderr = (self._course.stderr + data)[-STDERR_BYTES:]
        return bool(data)

    def _drain(self) -> None:
        """What came between the last look and the end; a pipe holds no more."""
        poll = select.poll()
        poll.register(self._stderr, select.POLLIN)
        for _ in range(_PIPE_READS):
            if not poll.poll(0) or not self._read():
                return

    def _broken_limit(self) -> str | None:
        now = time.monotonic()
        if self._course.status is None and now > self._deadline:
            return "timeout"
        if now < self._next_memory:
            return None
        self._next_memory = now + _MEMORY_EVERY_S
        return "memory" if _resident_bytes() > self._memory_bytes else None

    def _reaped(self) -> bool:
        """False: no process is left but this one."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self._main:
                self._course.status = os.waitstatus_to_exitcode(status)
                self._deadline = min(self._deadline, time.monotonic() + LINGER_S)


def _resident_bytes() -> int:
    return sum(_bytes_of(one / "statm") for one in Path("/proc").iterdir() if one.name.isdigit())


def _bytes_of(facts: Path) -> int:
    try:
        return int(facts.read_text().split()[1]) * _PAGE_BYTES
    except (OSError, IndexError):  # it has ended meanwhile
        return 0


def _end_all() -> None:
    with suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    end = time.monotonic() + _REAP_S
    with suppress(ChildProcessError):
        while time.monotonic() < end:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.001)


def _records() -> tuple[list[bytes], bool]:
    order = (_content("order", MAX_RECORD_BYTES) or b"").split(b"\n")[:-1]
    records: list[bytes] = []
    room = MAX_RECORD_BYTES
    for name in order[:MAX_CALLS]:
        data = _content(os.fsdecode(name), room)
        if data is not None:
            records.append(data)
            room -= len(data)
    left = os.statvfs(RECORDS)
    return records, len(records) == len(order) and left.f_bavail > 0 and left.f_favail > 0


def _content(name: str, room: int) -> bytes | None:
    """Whoever wrote it: nothing but a regular file of this folder is read, and none that is too large."""
    if "/" in name or "\0" in name:
        return None
    try:
        descriptor = os.open(f"{RECORDS}/{name}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > room:
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)
