"""The host itself: memory, temporary folders, limits, CPUs, and what else runs on it."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median, median_high
from typing import Any

from ..members import ATTEMPT_VARIABLE
from . import cgroup
from .measure import Facts, NotMeasuredError, Probe
from .odd import odd_ones
from .verdict import Judge, Node, Severity, Verdict, of_job
from .wish import Wish

GIB = 1024**3
MIB = 1024**2
BLOCK_BYTES = 512
"""st_blocks counts in these, whatever the file system's own are."""

MEMORY_USED_MAX = 0.95
"""Ray kills workers above this share of the host's memory (RAY_memory_usage_threshold)."""
MEMORY_USED_WARN = 0.80
SHM_LEAST = 65 * MIB
"""Docker gives 64 MiB: Ray's object store and the engines' shared memory do not fit."""
LEFT_BEHIND = 0.5
"""Files that fill this share of /dev/shm have been left there. Ray's own object store has no name in it."""
SHM_WARN = 2 * GIB
RAY_LEAST = 200 * MIB
"""Ray's logs and sockets alone."""
TMP_LEAST = 16 * MIB
"""torch, CANN and multiprocessing make files there as soon as they are imported."""
TMP_WARN = 5 * GIB
SPILL_FREE = 0.05
"""Ray spills no objects to a file system with less of it free (local_fs_capacity_threshold is 0.95)."""
FILES_WARN = 8192
"""A rank opens some thousand sockets and files: HCCL, gloo, Ray and the checkpoint's shards."""
PROCESSES_WARN = 32768
"""Threads count too: Ray takes about 30 per worker, torch one per CPU."""
CLOCK_WARN_S = 2.0
"""Logs of several nodes are read side by side, and leases and tokens expire."""
CLUSTERS_USUAL = 1
ZOMBIES_USUAL = 20
"""A worker that has just ended is one for a moment; in a container whose first process collects none they stay."""
SMALLER = 0.9
"""Hosts of one kind differ by a few per cent in what firmware and kernel leave."""


def memory(_wish: Wish, proc: Path = cgroup.PROC, groups: Path = cgroup.ROOT) -> Facts:
    """Bytes: the host's, the container's limit and what it uses of it (None: no limit), huge pages (a number)."""
    table = _meminfo(proc)
    limit, used = cgroup.memory(proc, groups) or (None, None)
    return {
        "total": table["MemTotal"],
        "available": table.get("MemAvailable"),
        "limit": limit,
        "used": used,
        "hugepages": table.get("HugePages_Total"),
    }


def folders(_wish: Wish, shm: str = "/dev/shm", tmp: str = "/tmp") -> Facts:
    """Size and free bytes of /dev/shm, /tmp and Ray's temporary folder, each with its path."""
    return {"shm": {**_usage(shm), "files": _files_in(shm)}, "tmp": _usage(tmp), "ray": _usage(_ray_folder() or tmp)}


def limits(_wish: Wish, proc: Path = cgroup.PROC, groups: Path = cgroup.ROOT, uid: int | None = None) -> Facts:
    """`ulimit -n` and `-u` of Ray's workers, the container's pids limit; None: no limit, as -u is none to root."""
    files, processes = resource.getrlimit(resource.RLIMIT_NOFILE)[0], resource.getrlimit(resource.RLIMIT_NPROC)[0]
    root = (os.getuid() if uid is None else uid) == 0
    return {
        "files": _unlimited(files),
        "processes": None if root else _unlimited(processes),
        "pids": cgroup.processes(proc, groups),
    }


def cpus(_wish: Wish, proc: Path = cgroup.PROC, groups: Path = cgroup.ROOT) -> Facts:
    """CPUs that this process may use, and the container's quota in CPUs (None: none)."""
    return {"usable": len(os.sched_getaffinity(0)), "quota": cgroup.cpus(proc, groups)}


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
        used, free, total = max(_memory_used(node.facts("memory")), default=(0.0, 0, 0))
        if used > MEMORY_USED_WARN:
            severity = _severity(node, "error" if used > MEMORY_USED_MAX else "warning")
            gib = {"free": _gib(free), "total": _gib(total)}
            found.append(Verdict("NR531", node.ip, severity, f"{used:.0%}", f"{MEMORY_USED_MAX:.0%}", gib))
    return found


def small_shm(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: Ray's object store and vLLM's worker channels lie in /dev/shm; Docker's default is 64 MiB.

    One that is full of Ray's own objects is no fault: an error only where it is too small, or full of files.
    """
    found = []
    for node in nodes:
        one = node.facts("folders").get("shm", {})
        if "free" not in one:
            continue
        lost = one["total"] < SHM_LEAST or (one["free"] < SHM_LEAST and one["files"] > LEFT_BEHIND * one["total"])
        if lost or one["free"] < SHM_WARN:
            found.append(_space("NR532", node, "error" if lost else "warning", one, SHM_WARN))
    return found


def full_tmp(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: Ray keeps logs, sockets and spilled objects in its temporary folder; torch and CANN use /tmp."""
    found = []
    for node in nodes:
        folders = node.facts("folders")
        verdicts = [_full(node, folders.get("ray", {}), RAY_LEAST, SPILL_FREE)]
        if folders and folders["ray"].get("fs") != folders["tmp"].get("fs"):
            verdicts.append(_full(node, folders["tmp"], TMP_LEAST, 0.0))
        found += [verdict for verdict in verdicts if verdict]
    return found


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
    seen = {node.ip: facts["hugepages"] for node, facts in _with(nodes, "memory")}
    return [Verdict("NR537", ip, "hint", str(value), str(usual)) for ip, value, usual in odd_ones(seen)]


def few_cpus(nodes: Sequence[Node], wish: Wish) -> list[Verdict]:
    """Source: verl's bundles take 3 CPUs per NPU; Ray counts what it was told, not what the host has."""
    wanted = wish.cpus_per_node
    return [
        Verdict("NR538", node.ip, "warning", f"{usable:g}", str(wanted))
        for node, facts in _with(nodes, "cpus")
        if wanted and (usable := min(facts["usable"], facts["quota"] or facts["usable"])) < wanted
    ]


def less_memory(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: the host's memory or the container's limit, whichever is smaller: parameters that are moved to the host
    take the same on every node, so the smallest one ends the job."""
    known = {node.ip: min(facts["total"], facts["limit"] or facts["total"]) for node, facts in _with(nodes, "memory")}
    usual = median_high(known.values()) if known else 0
    return [
        Verdict("NR539", ip, "warning", f"{_gib(size)} GiB", f"{_gib(usual)} GiB")
        for ip, size in known.items()
        if size < SMALLER * usual
    ]


def ray_leftovers(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: a raylet of a second cluster on a host offers the same devices twice."""
    return [
        Verdict("NR540", node.ip, "warning", str(len(facts["clusters"])), str(CLUSTERS_USUAL), _leftovers_of_ray(facts))
        for node, facts in _with(nodes, "others")
        if len(facts["clusters"]) > CLUSTERS_USUAL or facts["zombies"] > ZOMBIES_USUAL
    ]


def other_attempts(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: NPURUN_ATTEMPT in the environment of the host's processes. A hint: a driver and its node workers run
    beside others without harm, and who holds a device is told by the device probes."""
    return [
        Verdict("NR541", node.ip, "hint", attempt, None, {"pids": _some(pids)})
        for node, facts in _with(nodes, "others")
        for attempt, pids in sorted(facts["attempts"].items())
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
    Judge("NR538", "cpus", of_job(few_cpus)),
    Judge("NR539", "memory", less_memory),
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


def _usage(path: str) -> Facts:
    """`fs`: equal for two folders of one file system."""
    try:
        found, device = shutil.disk_usage(path), Path(path).stat().st_dev
    except OSError as error:
        return {"path": path, "why": error.strerror}
    return {"path": path, "total": found.total, "free": found.free, "fs": device}


def _files_in(folder: str) -> int:
    """Bytes that the files there take, one level."""
    taken = 0
    with suppress(OSError):
        for entry in os.scandir(folder):
            with suppress(OSError):  # gone meanwhile
                taken += entry.stat(follow_symlinks=False).st_blocks * BLOCK_BYTES
    return taken


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


def _with(nodes: Sequence[Node], probe: str) -> list[tuple[Node, Mapping[str, Any]]]:
    return [(node, facts) for node in nodes if (facts := node.facts(probe))]


def _memory_used(facts: Mapping[str, Any]) -> list[tuple[float, float, float]]:
    """(share, free, total) of the host and of the container, where both are known."""
    known = []
    if facts.get("available") is not None:
        known.append((facts["available"], facts["total"]))
    if facts.get("limit") and facts["used"] is not None:
        known.append((facts["limit"] - facts["used"], facts["limit"]))
    return [(1 - free / total, free, total) for free, total in known]


def _severity(node: Node, severity: Severity) -> Severity:
    """What another job uses through Ray is in order, and still good to know."""
    return "hint" if node.busy else severity


def _full(node: Node, one: Mapping[str, Any], least: int, share: float) -> Verdict | None:
    if "free" not in one:
        return None
    wanted = int(max(TMP_WARN, share * one["total"]))
    if one["free"] >= wanted:
        return None
    lost = one["free"] < least
    return _space("NR533", node, "error" if lost else "warning", one, least if lost else wanted)


def _leftovers_of_ray(facts: Mapping[str, Any]) -> dict[str, object]:
    return {"zombies": facts["zombies"], "addresses": ", ".join(facts["clusters"]) or "-"}


def _space(rule: str, node: Node, severity: Severity, one: Mapping[str, Any], limit: int) -> Verdict:
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
    more = f", +{len(pids) - shown}" if len(pids) > shown else ""
    return ", ".join(map(str, sorted(pids)[:shown])) + more
