"""Finding processes by what they carry in their environment, and waiting for a condition with a bound."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

POLL_S = 0.02


def carrying(mark: str) -> list[int]:
    """Ids of the living processes that have `mark` (`NAME=value`) in their environment."""
    return [pid for pid in _pids() if mark.encode() in _environ(pid)]


def wait_for(condition: Callable[[], T], *, bound_s: float, what: str) -> T:
    """The first true value of `condition`; AssertionError that names `what` after `bound_s` seconds."""
    end = time.monotonic() + bound_s
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"not within {bound_s:g} s: {what}"
        time.sleep(POLL_S)


def wait_gone(mark: str, *, bound_s: float) -> None:
    wait_for(lambda: not carrying(mark), bound_s=bound_s, what=f"no process with {mark} is left")


def command_line(pid: int) -> str:
    """Words parted by spaces; empty when the process has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _environ(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # ended meanwhile
        return []


def ignores(pid: int, number: signal.Signals) -> bool:
    """By the kernel's word: what is sent then is dropped at once."""
    (mask,) = [line.split()[1] for line in Path(f"/proc/{pid}/status").read_text().splitlines() if "SigIgn" in line]
    return bool(int(mask, 16) >> (number - 1) & 1)
