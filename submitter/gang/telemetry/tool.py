"""npu-smi as a process: what it printed, and the CPU time that it took."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass

COMMAND = ("npu-smi", "info")


class ToolMissingError(Exception):
    """It is not on the PATH."""


class ToolSilentError(Exception):
    """It did not answer in time, and was ended."""


@dataclass(frozen=True)
class Ran:
    code: int
    """Negative: the signal that ended it."""
    text: str
    """Output and errors, as they came."""
    cpu_s: float | None
    """Of it and of what it waited for; None: not told."""


def run(bound_s: float, command: Sequence[str] = COMMAND) -> Ran:
    """Returns when it has ended. One that hangs in a driver is not ended even by SIGKILL: call this in a thread."""
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except FileNotFoundError:
        raise ToolMissingError from None
    late = threading.Event()

    def end() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(bound_s, end)
    timer.daemon = True
    timer.start()
    try:
        assert process.stdout is not None
        text = process.stdout.read().decode(errors="replace")
        code, cpu_s = _wait(process)
    finally:
        timer.cancel()
        if process.stdout is not None:
            process.stdout.close()
    if late.is_set():
        raise ToolSilentError
    return Ran(code, text, cpu_s)


def _wait(process: subprocess.Popen[bytes]) -> tuple[int, float | None]:
    """`Popen.wait` does not tell what the process has used, and `RUSAGE_CHILDREN` counts all children."""
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except ChildProcessError:  # somebody in this process waits for all children
        return process.wait(), None
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime
