"""The node's memory, load and CPUs: psutil, which Ray brings along, and the container's own limit."""

from __future__ import annotations

import os
from typing import Any

from ..probes import cgroup

MB = 1 << 20
"""As npu-smi counts: 2**20 bytes."""


def read() -> dict[str, Any]:
    """`memory_used_mb`, `memory_total_mb`, `cpu_percent` (since the last call; of all CPUs together), `load`.

    In a container with a limit of its own, memory is that of the container: the kernel ends processes at that limit.
    """
    try:
        import psutil
    except ImportError:
        return {"memory_used_mb": None, "memory_total_mb": None, "cpu_percent": None, "load": _load()}
    memory = psutil.virtual_memory()
    used, total = memory.total - memory.available, memory.total
    limit = cgroup.memory()
    if limit is not None and limit[0] < total:
        total, used = limit[0], used if limit[1] is None else limit[1]
    return {
        "memory_used_mb": round(used / MB),
        "memory_total_mb": round(total / MB),
        "cpu_percent": psutil.cpu_percent() or None,  # 0.0: what psutil says to a thread that asks first
        "load": _load(),
    }


def _load() -> float | None:
    try:
        return round(os.getloadavg()[0], 2)
    except OSError:
        return None
