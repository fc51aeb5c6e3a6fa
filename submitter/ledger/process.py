"""One process for ever: host, boot, pid namespace, pid and start time. A pid alone is used again."""

from __future__ import annotations

import os
import secrets
import socket
from pathlib import Path

from submitter.ledger.model import Holder

PROC = Path("/proc")
_BOOT_ID = PROC / "sys" / "kernel" / "random" / "boot_id"
_ENDED = ("Z", "X")
_UNKNOWN = "-"


def this_process(now_ms: int) -> Holder:
    """This process as a supervisor, with a token of its own."""
    pid = os.getpid()
    return Holder(socket.gethostname(), pid, started(pid) or _UNKNOWN, secrets.token_hex(16), now_ms)


def is_gone(holder: Holder) -> bool | None:
    """Whether its process has ended; None when that cannot be told from here: another host or container."""
    if holder.host != socket.gethostname() or holder.started == _UNKNOWN or not _BOOT_ID.exists():
        return None
    boot, namespace, _ = holder.started.split("/") if holder.started.count("/") == 2 else ("", "", "")
    if boot == _boot() and namespace != _namespace():
        return None
    return started(holder.pid) != holder.started


def started(pid: int) -> str | None:
    """`<boot>/<pid namespace>/<clock ticks since boot>`; None when there is no such process any more."""
    try:
        # The name stands in brackets and may hold any of them.
        words = (PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    if words[0].decode() in _ENDED:
        return None
    return f"{_boot()}/{_namespace()}/{words[19].decode()}"


def _boot() -> str:
    return _BOOT_ID.read_text(encoding="ascii").strip()


def _namespace() -> str:
    return (PROC / "self" / "ns" / "pid").readlink().name.removeprefix("pid:")
