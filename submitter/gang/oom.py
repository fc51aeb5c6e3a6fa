"""Whether the kernel killed something on this host for its memory since a moment: what else would a SIGKILL tell?"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from .probes.cgroup import PROC, ROOT, memory_groups

KMSG = Path("/dev/kmsg")
KMSG_RECORDS = 20_000
"""The kernel keeps some thousand."""
RECORD_BYTES = 8192
"""The kernel's own limit of one."""
SHOWN = 10

_KILL = re.compile(r"[Oo]ut of memory|oom-kill|Killed process|oom_reaper")


def oom_kills(proc: Path = PROC, root: Path = ROOT) -> int | None:
    """Of this process's control group and all above that it sees; None: not told."""
    counts = [count for group in memory_groups(proc, root) if (count := _count(group)) is not None]
    return max(counts, default=None)


def kernel_lines(since_s: float) -> list[str]:
    """What the kernel's log says of kills for memory after `since_s` (seconds since boot); empty without leave."""
    return kills_in(_records(KMSG), since_s)


def kills_in(records: Iterable[str], since_s: float) -> list[str]:
    """Of records as /dev/kmsg gives them: `6,339,5140900,-;text`, the time in microseconds."""
    found = []
    for record in records:
        head, _, text = record.partition(";")
        fields = head.split(",")
        if len(fields) > 2 and fields[2].isdigit() and int(fields[2]) / 1e6 >= since_s and _KILL.search(text):
            found.append(f"kernel: {text.splitlines()[0]}")
    return found[-SHOWN:]


def _count(group: Path) -> int | None:
    for name in ("memory.events", "memory.oom_control"):
        try:
            lines = (group / name).read_text().splitlines()
        except OSError:
            continue
        counts = [
            fields[1] for line in lines if (fields := line.split()) and fields[0] == "oom_kill" and len(fields) > 1
        ]
        if counts and counts[0].isdigit():
            return int(counts[0])
    return None


def _records(kmsg: Path) -> Iterator[str]:
    """One a read, without waiting for the next one."""
    try:
        handle = os.open(kmsg, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return
    try:
        for _ in range(KMSG_RECORDS):
            try:
                record = os.read(handle, RECORD_BYTES)
            except BrokenPipeError:  # written over meanwhile: the next read has the oldest that is left
                continue
            if not record:
                return
            yield record.decode(errors="replace")
    except OSError:  # EAGAIN: all have been read
        return
    finally:
        os.close(handle)
