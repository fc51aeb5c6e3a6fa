"""What one host says about itself: read from /proc and /dev, with the standard library alone."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

VISIBLE_DEVICES = "ASCEND_RT_VISIBLE_DEVICES"
NOSET = f"RAY_EXPERIMENTAL_NOSET_{VISIBLE_DEVICES}"
"""Without it Ray narrows each worker to its own device, and verl, which chooses by local rank, opens the wrong one.

Ray 2.53 and later strip it from what workers inherit, unless the submission names entrypoint resources or a label
selector (ray/dashboard/modules/job/job_supervisor.py, ray#59163): the submission always does.
"""

KIB_PER_GIB = 1024 * 1024


def read(proc: Path = Path("/proc"), dev: Path = Path("/dev")) -> dict[str, Any]:
    """hostname, devices (count of /dev/davinci*), cpus (usable by this process), memory in GiB, load."""
    memory = _memory_kib(proc)
    return {
        "hostname": platform.node(),
        "devices": sum(path.name.removeprefix("davinci").isdigit() for path in dev.glob("davinci[0-9]*")),
        "cpus": len(os.sched_getaffinity(0)),
        "memory_gib": _gib(memory.get("MemTotal")),
        "memory_free_gib": _gib(memory.get("MemAvailable")),
        "load": _load(proc),
        "python": platform.python_version(),
        "machine": platform.machine(),
    }


def same_host_token() -> str:
    """Equal for two processes exactly when a pid means the same process to both."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot} {Path('/proc/self/ns/pid').readlink()}"


def _memory_kib(proc: Path) -> Mapping[str, int]:
    try:
        lines = (proc / "meminfo").read_text().splitlines()
    except OSError:
        return {}
    fields = [line.split() for line in lines]
    return {row[0].rstrip(":"): int(row[1]) for row in fields if len(row) > 1 and row[1].isdigit()}


def _gib(kib: int | None) -> float | None:
    return None if kib is None else round(kib / KIB_PER_GIB, 1)


def _load(proc: Path) -> float | None:
    try:
        return float((proc / "loadavg").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None
