"""The host itself: memory, temporary folders, limits, CPUs, and what else runs on it."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from ..members import ATTEMPT_VARIABLE
from .measure import Facts, NotMeasuredError, Probe
from .odd import odd_ones
from .verdict import Judge, Node, Severity, Verdict
from .wish import Wish

GIB = 1024**3
MIB = 1024**2

MEMORY_USED_MAX = 0.95
"""Ray kills workers above this share of the host's memory (RAY_memory_usage_threshold)."""
MEMORY_USED_WARN = 0.80
SHM_LEAST = 65 * MIB
"""Docker gives 64 MiB: Ray's object store and the engines' shared memory do not fit."""
SHM_WARN = 2 * GIB
TMP_LEAST = 200 * MIB
"""Ray's logs and sockets alone."""
TMP_WARN = 5 * GIB
TMP_USED_WARN = 0.95
"""Ray spills no objects to a file system that is fuller (local_fs_capacity_threshold)."""
FILES_WARN = 8192
"""A rank opens some thousand sockets and files: HCCL, gloo, Ray and the checkpoint's shards."""
PROCESSES_WARN = 32768
"""Threads count too: Ray takes about 30 per worker, torch one per CPU."""
CLOCK_WARN_S = 2.0
"""Logs of several nodes are read side by side, and leases and tokens expire."""
CLUSTERS_USUAL = 1
_NO_LIMIT = 1 << 62
"""cgroup v1 writes a number of this size for "no limit"."""


def memory(_wish: Wish, proc: Path = Path("/proc"), cgroup: Path = Path("/sys/fs/cgroup")) -> Facts:
    """Bytes: the host's, the container's limit (None: none), huge pages."""
    table = _meminfo(proc)
    return {
        "total": table["MemTotal"],
        "available": table.get("MemAvailable"),
        "limit": _limit(cgroup, "memory.max", "memory/memory.limit_in_bytes"),
        "hugepages": table.get("HugePages_Total"),
    }


def folders(_wish: Wish, shm: str = "/dev/shm", tmp: str = "/tmp") -> Facts:
    """Size and free bytes of /dev/shm, /tmp and Ray's temporary folder, each with its path."""
    return {"shm": _usage(shm), "tmp": _usage(tmp), "ray": _usage(_ray_folder() or tmp)}


def limits(_wish: Wish, cgroup: Path = Path("/sys/fs/cgroup")) -> Facts:
    """`ulimit -n` and `-u` of Ray's workers, the container's pids limit; None: no limit."""
    files, processes = resource.getrlimit(resource.RLIMIT_NOFILE)[0], resource.getrlimit(resource.RLIMIT_NPROC)[0]
    return {
        "files": _unlimited(files),
        "processes": _unlimited(processes),
        "pids": _limit(cgroup, "pids.max", "pids/pids.max"),
    }


def cpus(_wish: Wish, cgroup: Path = Path("/sys/fs/cgroup")) -> Facts:
    """CPUs that this process may use, and the container's quota in CPUs (None: none)."""
    return {"usable": len(os.sched_getaffinity(0)), "quota": _quota(cgroup)}


def others(_wish: Wish, proc: Path = Path("/proc")) -> Facts:
    """Ray clusters with a raylet on this host, zombie processes of Ray, other attempts' processes: attempt -> pids."""
    clusters: set[str] = set()
    zombies = 0
    attempts: dict[str, list[int]] = {}
    own = os.environ.get(ATTEMPT_VARIABLE, "")
    for folder in proc.iterdir():
        if not folder.name.isdigit():
            continue
        name, state = _name_and_state(folder)
        clusters |= _cluster(folder) if name == "raylet" else set()
        zombies += state == "Z" and name.startswith("ray::")
        attempt = _attempt(folder)
        if attempt and attempt != own:
            attempts.setdefault(attempt, []).append(int(folder.name))
    return {"clusters": sorted(clusters), "zombies": zombies, "attempts": attempts}


def little_memory(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: Ray's memory monitor ends workers above 95 % of the host's or the container's memory."""
    found = []
    for node in nodes:
        facts = node.facts("memory")
        if not facts or facts["available"] is None:
            continue
        total = min(facts["total"], facts["limit"] or facts["total"])
        used = 1 - min(facts["available"], total) / total
        if used > MEMORY_USED_WARN:
            severity: Severity = "error" if used > MEMORY_USED_MAX else "warning"
            gib = {"free": _gib(facts["available"]), "total": _gib(total)}
            found.append(Verdict("NR531", node.ip, severity, f"{used:.0%}", f"{MEMORY_USED_MAX:.0%}", gib))
    return found


def small_shm(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: Ray's object store and vLLM's worker channels lie in /dev/shm; Docker's default is 64 MiB."""
    return _little(nodes, "NR532", "shm", SHM_LEAST, SHM_WARN)


def full_tmp(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: Ray keeps logs, sockets and spilled objects in its temporary folder; torch and CANN use /tmp."""
    both = [verdict for kind in ("tmp", "ray") for verdict in _little(nodes, "NR533", kind, TMP_LEAST, TMP_WARN)]
    return list({(verdict.node, verdict.values["path"]): verdict for verdict in both}.values())


def few_files(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: `ulimit -n` of the shell that ran `ray start` holds for every worker."""
    return [
        Verdict("NR534", node.ip, "warning", str(files), str(FILES_WARN))
        for node in nodes
        if (files := node.facts("limits").get("files")) is not None and files < FILES_WARN
    ]


def few_processes(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: "can't start new thread" and Ray workers that do not register, where ulimit -u or pids.max is small."""
    return [
        Verdict("NR535", node.ip, "warning", str(least), str(PROCESSES_WARN), {"which": which})
        for node in nodes
        for which, least in [_least_processes(node)]
        if least is not None and least < PROCESSES_WARN
    ]


def clock_off(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: offsets to the driver's clock; the middle of all nodes counts as right."""
    known = {node.ip: node.facts("clock") for node in nodes if node.facts("clock")}
    if not known:
        return []
    right = median(facts["offset_s"] for facts in known.values())
    return [
        Verdict("NR536", ip, "warning", f"{facts['offset_s'] - right:+.1f} s", f"{CLOCK_WARN_S:g} s")
        for ip, facts in known.items()
        if abs(facts["offset_s"] - right) - facts["uncertainty_s"] > CLOCK_WARN_S
    ]


def other_hugepages(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: huge pages are set per host; one that differs from the others was set up differently."""
    seen = {node.ip: node.facts("memory").get("hugepages") for node in nodes}
    return [Verdict("NR537", ip, "hint", str(value), str(usual)) for ip, value, usual in odd_ones(seen)]


def few_cpus(nodes: Sequence[Node], wish: Wish) -> list[Verdict]:
    """Source: verl's bundles take 3 CPUs per NPU; Ray counts what it was told, not what the host has."""
    wanted = wish.cpus_per_node
    found = []
    for node in nodes:
        facts = node.facts("cpus")
        usable = min(facts["usable"], facts["quota"] or facts["usable"]) if facts else None
        if wanted and usable is not None and usable < wanted:
            found.append(Verdict("NR538", node.ip, "warning", f"{usable:g}", str(wanted)))
    return found


def container_memory(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: cgroup limit below the host's memory: offloaded parameters and the object store share the smaller one."""
    return [
        Verdict("NR539", node.ip, "hint", f"{_gib(limit)} GiB", f"{_gib(facts['total'])} GiB")
        for node in nodes
        if (facts := node.facts("memory")) and (limit := facts["limit"]) is not None and limit < facts["total"]
    ]


def ray_leftovers(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: a raylet of a second cluster on a host offers the same devices twice."""
    found = []
    for node in nodes:
        facts = node.facts("others")
        if not facts:
            continue
        if len(facts["clusters"]) > CLUSTERS_USUAL or facts["zombies"]:
            values = {"zombies": facts["zombies"]}
            found.append(
                Verdict("NR540", node.ip, "warning", ", ".join(facts["clusters"]), str(CLUSTERS_USUAL), values)
            )
    return found


def other_attempts(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: NPURUN_ATTEMPT in the environment of the host's processes; a node is meant for one attempt at a time."""
    return [
        Verdict("NR541", node.ip, "hint" if node.busy else "warning", attempt, None, {"pids": _some(pids)})
        for node in nodes
        for attempt, pids in node.facts("others").get("attempts", {}).items()
    ]


PROBES = (
    Probe("memory", memory),
    Probe("folders", folders),
    Probe("limits", limits),
    Probe("cpus", cpus),
    Probe("others", others),
)
JUDGES = (
    Judge("NR531", "memory", little_memory),
    Judge("NR532", "folders", small_shm),
    Judge("NR533", "folders", full_tmp),
    Judge("NR534", "limits", few_files),
    Judge("NR535", "limits", few_processes),
    Judge("NR536", "clock", clock_off),
    Judge("NR537", "memory", other_hugepages),
    Judge("NR538", "cpus", few_cpus),
    Judge("NR539", "memory", container_memory),
    Judge("NR540", "others", ray_leftovers),
    Judge("NR541", "others", other_attempts),
)


def _meminfo(proc: Path) -> dict[str, int]:
    """Bytes; counts (HugePages_Total) as they are."""
    table: dict[str, int] = {}
    for line in (proc / "meminfo").read_text().splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if words and words[0].isdigit():
            table[name] = int(words[0]) * (1024 if words[1:] == ["kB"] else 1)
    if "MemTotal" not in table:
        raise NotMeasuredError("/proc/meminfo tells no MemTotal")
    return table


def _limit(cgroup: Path, *names: str) -> int | None:
    """The first that exists (cgroup v2, then v1); None: no limit, or not told."""
    for name in names:
        try:
            text = (cgroup / name).read_text().strip()
        except OSError:
            continue
        return int(text) if text.isdigit() and int(text) < _NO_LIMIT else None
    return None


def _quota(cgroup: Path) -> float | None:
    try:
        quota, period = (cgroup / "cpu.max").read_text().split()
    except (OSError, ValueError):
        return None
    return int(quota) / int(period) if quota.isdigit() else None


def _usage(path: str) -> Facts:
    try:
        found = shutil.disk_usage(path)
    except OSError as error:
        return {"path": path, "why": error.strerror}
    return {"path": path, "total": found.total, "free": found.free}


def _ray_folder() -> str | None:
    """Ray's session folder; None when this Ray does not tell it."""
    try:
        from ray._private.worker import _global_node

        return str(_global_node.get_session_dir_path())
    except (ImportError, AttributeError):
        return None


def _unlimited(limit: int) -> int | None:
    return None if limit == resource.RLIM_INFINITY else limit


def _name_and_state(folder: Path) -> tuple[str, str]:
    """Ray renames its workers: `ray::NodeWorker.measure`."""
    try:
        head, _, rest = (folder / "stat").read_text(errors="replace").rpartition(")")
    except OSError:
        return "", ""
    return head.partition("(")[2], rest.split()[0]


def _cluster(folder: Path) -> set[str]:
    """The address of the raylet's GCS, by its command line."""
    try:
        words = (folder / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return set()
    return {word.partition(b"=")[2].decode(errors="replace") for word in words if word.startswith(b"--gcs-address=")}


def _attempt(folder: Path) -> str | None:
    prefix = f"{ATTEMPT_VARIABLE}=".encode()
    try:
        entries = (folder / "environ").read_bytes().split(b"\0")
    except OSError:  # ended, or another user's
        return None
    return next((entry[len(prefix) :].decode(errors="replace") for entry in entries if entry.startswith(prefix)), None)


def _little(nodes: Sequence[Node], rule: str, kind: str, least: int, warn: int) -> list[Verdict]:
    found = []
    for node in nodes:
        one = node.facts("folders").get(kind)
        if not one or "free" not in one:
            continue
        used = 1 - one["free"] / one["total"] if one["total"] else 1.0
        if one["free"] < least:
            found.append(_space(rule, node, "error", one, least))
        elif one["free"] < warn or used > TMP_USED_WARN:
            found.append(_space(rule, node, "warning", one, warn))
    return found


def _space(rule: str, node: Node, severity: Severity, one: Facts, limit: int) -> Verdict:
    values = {"path": one["path"], "total": _size(one["total"])}
    return Verdict(rule, node.ip, severity, _size(one["free"]), _size(limit), values)


def _least_processes(node: Node) -> tuple[str, int | None]:
    facts = node.facts("limits")
    known = {name: facts.get(key) for name, key in (("ulimit -u", "processes"), ("pids.max", "pids"))}
    set_ones = {name: value for name, value in known.items() if value is not None}
    which = min(set_ones, key=lambda name: set_ones[name], default="-")
    return which, set_ones.get(which)


def _gib(size: float) -> str:
    return f"{size / GIB:.1f}"


def _size(size: float) -> str:
    return f"{size / GIB:.1f} GiB" if size >= GIB else f"{size / MIB:.0f} MiB"


def _some(pids: Sequence[int], shown: int = 5) -> str:
    more = f" and {len(pids) - shown} more" if len(pids) > shown else ""
    return ", ".join(map(str, sorted(pids)[:shown])) + more
