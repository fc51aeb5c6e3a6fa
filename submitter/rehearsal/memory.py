"""Free memory of this machine or container, in bytes."""

from __future__ import annotations

from pathlib import Path

MIB = 1024 * 1024

_CGROUPS = (
    # (limit, usage, statistics, name of the reclaimable cache in them): version 2, version 1
    ("memory.max", "memory.current", "memory.stat", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat", "total_inactive_file"),
)


def available(proc: Path = Path("/proc"), cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """What can be taken without swapping or being killed: the machine's, or less if the container is smaller."""
    found = [_meminfo(proc)]
    for limit_name, usage_name, stat_name, cache_name in _CGROUPS:
        limit, usage = _number(cgroup / limit_name), _number(cgroup / usage_name)
        if limit is not None and usage is not None:
            found.append(limit - usage + _statistic(cgroup / stat_name, cache_name))
    return max(0, min(found))


def _meminfo(proc: Path) -> int:
    for line in (proc / "meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no MemAvailable in {proc / 'meminfo'}")


def _number(path: Path) -> int | None:
    """None: no such file, or `max` (no limit)."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def _statistic(path: Path, name: str) -> int:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.split()[:1] == [name]), 0)
