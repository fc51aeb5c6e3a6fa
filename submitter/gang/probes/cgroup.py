"""Limits of the container or service that this process runs in: control groups v1 and v2, its own and all above."""

from __future__ import annotations

from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
PROC = Path("/proc")
_NO_LIMIT = 1 << 60
"""v1 writes the largest multiple of a page below 2^63 for "no limit"."""


def memory(proc: Path = PROC, root: Path = ROOT) -> tuple[int, int | None] | None:
    """(limit, used) in bytes of the group with the smallest limit; `used` without the page cache that can be dropped.

    None: no limit, or not told.
    """
    found = _smallest("memory", ("memory.max", "memory.limit_in_bytes"), proc, root)
    if found is None:
        return None
    limit, group = found
    used = _number(group / "memory.current") or _number(group / "memory.usage_in_bytes")
    return limit, None if used is None else max(0, used - _droppable(group))


def memory_groups(proc: Path = PROC, root: Path = ROOT) -> list[Path]:
    """Folders of the process's own group and of all above that can be seen."""
    return _groups("memory", proc, root)


def processes(proc: Path = PROC, root: Path = ROOT) -> int | None:
    """How many processes and threads there may be; None: no limit, or not told."""
    found = _smallest("pids", ("pids.max",), proc, root)
    return found[0] if found else None


def cpus(proc: Path = PROC, root: Path = ROOT) -> float | None:
    """The quota in CPUs; None: none, or not told."""
    quotas = [quota for group in _groups("cpu", proc, root) if (quota := _quota(group)) is not None]
    return min(quotas, default=None)


def _smallest(controller: str, names: tuple[str, ...], proc: Path, root: Path) -> tuple[int, Path] | None:
    limits = [
        (limit, group)
        for group in _groups(controller, proc, root)
        for name in names
        if (limit := _number(group / name)) is not None and limit < _NO_LIMIT
    ]
    return min(limits, key=lambda found: found[0], default=None)


def _groups(controller: str, proc: Path, root: Path) -> list[Path]:
    """Folders from the process's own group up to the mount. In a container the path that /proc tells may be the
    host's, which is not there: then the mount itself is the container's."""
    mounts = {"": root / "unified" if (root / "unified").is_dir() else root, controller: root / controller}
    try:
        lines = (proc / "self" / "cgroup").read_text().splitlines()
    except OSError:
        lines = []
    places = [fields for line in lines if len(fields := line.split(":", 2)) == 3]
    own = {name: path for _, names, path in places for name in names.split(",") if name in mounts}
    chosen = controller if controller in own or not (root / "cgroup.controllers").exists() else ""
    return _upward(mounts[chosen], own.get(chosen, "/"))


def _upward(mount: Path, path: str) -> list[Path]:
    parts = [part for part in path.split("/") if part]
    if ".." in parts:  # a group outside of the namespace
        parts = []
    every = [mount.joinpath(*parts[:count]) for count in range(len(parts), -1, -1)]
    return [folder for folder in every if folder.is_dir()]


def _droppable(group: Path) -> int:
    try:
        fields = [line.split() for line in (group / "memory.stat").read_text().splitlines()]
    except OSError:
        return 0
    table = {row[0]: int(row[1]) for row in fields if len(row) == 2 and row[1].isdigit()}
    return table.get("total_inactive_file", table.get("inactive_file", 0))


def _quota(group: Path) -> float | None:
    """v2: `max 100000` or `400000 100000`; v1: two files, -1 for none."""
    try:
        quota, period = (group / "cpu.max").read_text().split()
        return int(quota) / int(period) if quota.isdigit() and int(period) else None
    except (OSError, ValueError):
        old, every = _number(group / "cpu.cfs_quota_us"), _number(group / "cpu.cfs_period_us")
        return old / every if old and every else None


def _number(file: Path) -> int | None:
    try:
        text = file.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None
