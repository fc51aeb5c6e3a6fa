"""The host's memory, folders, limits and processes: generated /proc and cgroup trees, and what is judged from them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.gang import fitness
from submitter.gang.probes import cgroup, host
from submitter.gang.probes.host import GIB, MIB
from submitter.gang.probes.measure import NotMeasuredError
from submitter.gang.probes.verdict import Node
from submitter.gang.probes.wish import Wish
from submitter.texts import LANGUAGES, text
from tests.support.nodes import node
from tests.support.verdicts import brief, judged

MEMINFO = """\
MemTotal:       1583894436 kB
MemFree:         200000000 kB
MemAvailable:   1500000000 kB
HugePages_Total:     128
Hugepagesize:       2048 kB
"""
V1_NO_LIMIT = "9223372036854771712"


def tree(root: Path, files: Mapping[str, str]) -> Path:
    for name, contents in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(contents)
    return root


def one(ip: str, **measured: Any) -> Node:
    return node(ip, measured=measured)


def memory(
    total: float = 1000,
    available: float | None = 900,
    limit: float | None = None,
    used: float | None = None,
    hugepages: int = 0,
) -> dict[str, Any]:
    """In GiB."""
    amounts = {"total": total, "available": available, "limit": limit, "used": used}
    return {**{name: None if one is None else int(one * GIB) for name, one in amounts.items()}, "hugepages": hugepages}


def folder(free: float, total: float = 500, path: str = "/tmp", fs: int = 1, files: float = 0) -> dict[str, Any]:
    """In GiB."""
    return {"path": path, "total": int(total * GIB), "free": int(free * GIB), "fs": fs, "files": int(files * GIB)}


# Control groups


def test_the_smallest_limit_of_all_groups_above_counts_in_v2(tmp_path: Path) -> None:
    proc = tree(tmp_path / "proc", {"self/cgroup": "0::/system.slice/ray.service\n"})
    root = tree(
        tmp_path / "cgroup",
        {
            "cgroup.controllers": "cpu memory pids",
            "system.slice/memory.max": f"{100 * GIB}\n",
            "system.slice/memory.current": f"{90 * GIB}\n",
            "system.slice/memory.stat": f"anon 1\ninactive_file {60 * GIB}\n",
            "system.slice/cpu.max": "max 100000\n",
            "system.slice/pids.max": "max\n",
            "system.slice/ray.service/memory.max": "max\n",
            "system.slice/ray.service/cpu.max": "450000 100000\n",
            "system.slice/ray.service/pids.max": "4915\n",
        },
    )
    assert cgroup.memory(proc, root) == (100 * GIB, 30 * GIB)
    assert cgroup.cpus(proc, root) == 4.5
    assert cgroup.processes(proc, root) == 4915


def test_the_quota_of_a_group_above_counts_too(tmp_path: Path) -> None:
    proc = tree(tmp_path / "proc", {"self/cgroup": "0::/pod/box\n"})
    files = {"cgroup.controllers": "cpu", "pod/cpu.max": "200000 100000", "pod/box/cpu.max": "800000 100000"}
    assert cgroup.cpus(proc, tree(tmp_path / "cgroup", files)) == 2


def test_a_container_whose_path_is_the_hosts_reads_its_own_mount_in_v1(tmp_path: Path) -> None:
    docker = "\n".join(f"{number}:{name}:/docker/abc" for number, name in enumerate(("memory", "cpu,cpuacct", "pids")))
    proc = tree(tmp_path / "proc", {"self/cgroup": f"{docker}\n0::/system.slice/docker.service\n"})
    root = tree(
        tmp_path / "cgroup",
        {
            "memory/memory.limit_in_bytes": f"{64 * GIB}\n",
            "memory/memory.usage_in_bytes": f"{60 * GIB}\n",
            "memory/memory.stat": f"inactive_file 5\ntotal_inactive_file {10 * GIB}\n",
            "cpu/cpu.cfs_quota_us": "1600000\n",
            "cpu/cpu.cfs_period_us": "100000\n",
            "pids/pids.max": "max\n",
        },
    )
    assert cgroup.memory(proc, root) == (64 * GIB, 50 * GIB)
    assert cgroup.cpus(proc, root) == 16
    assert cgroup.processes(proc, root) is None


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"memory/memory.limit_in_bytes": V1_NO_LIMIT, "cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"},
        {"cgroup.controllers": "", "memory.max": "max", "cpu.max": "max 100000", "pids.max": "max"},
        {"cgroup.controllers": "", "memory.max": "?", "cpu.max": "", "pids.max": ""},
        {"cgroup.controllers": "", "cpu.max": "400000 0"},
    ],
)
def test_no_limit(tmp_path: Path, files: Mapping[str, str]) -> None:
    (tmp_path / "cgroup").mkdir()
    root = tree(tmp_path / "cgroup", files)
    proc = tmp_path / "proc"
    assert (cgroup.memory(proc, root), cgroup.cpus(proc, root), cgroup.processes(proc, root)) == (None, None, None)


def test_a_group_outside_of_the_namespace_is_the_mount(tmp_path: Path) -> None:
    proc = tree(tmp_path / "proc", {"self/cgroup": "0::/../../other\n"})
    root = tree(tmp_path / "a" / "cgroup", {"cgroup.controllers": "", "memory.max": "1000"})
    tree(tmp_path, {"other/memory.max": "1"})
    assert cgroup.memory(proc, root) == (1000, None)


@given(st.text(max_size=200))
def test_any_cgroup_file_does_no_harm(tmp_path_factory: pytest.TempPathFactory, contents: str) -> None:
    folder = tmp_path_factory.mktemp("any")
    encoded = contents.encode(errors="replace").decode().replace("\0", "")
    proc = tree(folder / "proc", {"self/cgroup": encoded})
    root = tree(folder / "cgroup", {"memory.max": encoded, "memory.stat": encoded, "cpu.max": encoded})
    cgroup.memory(proc, root)
    cgroup.cpus(proc, root)


# Memory


def test_memory_of_a_host_without_limits(tmp_path: Path) -> None:
    proc = tree(tmp_path, {"meminfo": MEMINFO})
    facts = host.memory(Wish(), proc, tmp_path / "none")
    assert facts == {
        "total": 1583894436 * 1024,
        "available": 1500000000 * 1024,
        "limit": None,
        "used": None,
        "hugepages": 128,
    }


def test_memory_is_not_measured_without_a_total(tmp_path: Path) -> None:
    with pytest.raises(NotMeasuredError, match="MemTotal"):
        host.memory(Wish(), tree(tmp_path, {"meminfo": "MemFree: 1 kB\nodd\n"}), tmp_path)


@pytest.mark.parametrize(
    ("facts", "wanted"),
    [
        (memory(available=900), []),
        (memory(available=200), []),
        (memory(available=190), [("NR531", "1", "warning")]),
        (memory(available=40), [("NR531", "1", "error")]),
        (memory(available=None), []),
        (memory(limit=100, used=96), [("NR531", "1", "error")]),
        (memory(limit=100, used=60), []),
        (memory(available=400, limit=500, used=10), []),
    ],
)
def test_memory_that_is_taken(facts: dict[str, Any], wanted: list[tuple[str, str, str]]) -> None:
    found = judged(host.JUDGES, [one("10.0.0.1", memory=facts)])
    assert brief(found) == wanted


def test_what_another_job_uses_is_a_hint() -> None:
    busy = dataclasses.replace(one("10.0.0.1", memory=memory(available=10)), busy=True)
    assert brief(judged(host.JUDGES, [busy])) == [("NR531", "1", "hint")]


def test_the_node_with_less_memory_is_named_and_not_the_others() -> None:
    sizes = {1: memory(), 2: memory(total=960), 3: memory(limit=400, used=1)}
    found = judged(host.JUDGES, [one(f"10.0.0.{number}", memory=facts) for number, facts in sizes.items()])
    assert [(verdict.id, verdict.node, verdict.value, verdict.limit) for verdict in found] == [
        ("NR539", "10.0.0.3", "400.0 GiB", "960.0 GiB")
    ]


def test_a_limit_that_all_share_is_no_finding() -> None:
    assert not judged(host.JUDGES, [one(f"10.0.0.{n}", memory=memory(limit=400, used=1)) for n in range(3)])


def test_huge_pages_that_differ() -> None:
    nodes = [one(f"10.0.0.{n}", memory=memory(hugepages=64 if n == 2 else 0)) for n in range(4)]
    assert [(verdict.id, verdict.node, verdict.value, verdict.limit) for verdict in judged(host.JUDGES, nodes)] == [
        ("NR537", "10.0.0.2", "64", "0")
    ]


# Folders


def folders(**changed: Any) -> dict[str, Any]:
    usual = {"shm": folder(100, path="/dev/shm", fs=2), "tmp": folder(300), "ray": folder(300, path="/tmp/ray/s")}
    return {**usual, **changed}


SHM = {"path": "/dev/shm", "fs": 2}


@pytest.mark.parametrize(
    ("facts", "wanted"),
    [
        (folders(), []),
        (folders(shm=folder(0.06, 0.0625, **SHM)), [("NR532", "1", "error")]),
        (folders(shm=folder(0.01, 64, files=60, **SHM)), [("NR532", "1", "error")]),
        (folders(shm=folder(0.01, 64, files=1, **SHM)), [("NR532", "1", "warning")]),
        (folders(shm=folder(1, 64, **SHM)), [("NR532", "1", "warning")]),
        (folders(shm=folder(2, 2, **SHM)), []),
        (folders(shm={"path": "/dev/shm", "why": "No such file or directory", "files": 0}), []),
        (folders(ray=folder(0.1, path="/tmp/ray/s"), tmp=folder(0.1)), [("NR533", "1", "error")]),
        (folders(ray=folder(20, 1000, path="/tmp/ray/s")), [("NR533", "1", "warning")]),
        (folders(ray=folder(20, 300, path="/tmp/ray/s")), []),
        (folders(tmp=folder(0.1, 1, fs=3)), [("NR533", "1", "warning")]),
        (folders(tmp=folder(0.01, 1, fs=3)), [("NR533", "1", "error")]),
        (folders(ray={"path": "/x", "why": "Permission denied"}), []),
    ],
)
def test_folders_that_are_full(facts: dict[str, Any], wanted: list[tuple[str, str, str]]) -> None:
    assert brief(judged(host.JUDGES, [one("10.0.0.1", folders=facts)])) == wanted


def test_folders_are_measured(tmp_path: Path) -> None:
    (tmp_path / "psm_left").write_bytes(b"x" * 10_000)
    facts = host.folders(Wish(), str(tmp_path), str(tmp_path / "none"))
    assert facts["shm"]["total"] > facts["shm"]["free"] > 0
    assert 10_000 <= facts["shm"]["files"] < MIB
    assert facts["tmp"] == {"path": str(tmp_path / "none"), "why": "No such file or directory"}


# Limits and CPUs


def test_root_has_no_limit_of_processes(tmp_path: Path) -> None:
    assert host.limits(Wish(), tmp_path, tmp_path, uid=0)["processes"] is None
    facts = host.limits(Wish(), tmp_path, tmp_path, uid=1000)
    assert facts["files"] is None or facts["files"] > 0
    assert facts["pids"] is None


@pytest.mark.parametrize(
    ("limits", "wanted"),
    [
        ({"files": None, "processes": None, "pids": None}, []),
        ({"files": 8192, "processes": 32768, "pids": 32768}, []),
        ({"files": 1024, "processes": None, "pids": None}, [("NR534", "1024")]),
        ({"files": None, "processes": 4096, "pids": 100_000}, [("NR535", "4096")]),
        ({"files": None, "processes": 40_000, "pids": 4915}, [("NR535", "4915")]),
    ],
)
def test_limits_that_are_small(limits: dict[str, Any], wanted: list[tuple[str, str]]) -> None:
    found = judged(host.JUDGES, [one("10.0.0.1", limits=limits)])
    assert [(verdict.id, verdict.value) for verdict in found] == wanted


@pytest.mark.parametrize(
    ("cpus", "wanted"),
    [
        ({"usable": 192, "quota": None}, []),
        ({"usable": 48, "quota": 48.0}, []),
        ({"usable": 192, "quota": 4.5}, ["4.5"]),
        ({"usable": 8, "quota": 100.0}, ["8"]),
    ],
)
def test_cpus_that_are_too_few(cpus: dict[str, Any], wanted: list[str]) -> None:
    found = judged(host.JUDGES, [one("10.0.0.1", cpus=cpus)], Wish(cpus_per_node=48))
    assert [verdict.value for verdict in found] == wanted
    assert not judged(host.JUDGES, [one("10.0.0.1", cpus=cpus)])  # no job, nothing wanted


# Clocks


@pytest.mark.parametrize(
    ("offsets", "wanted"),
    [
        ([0.0, 0.1, -0.1], []),
        ([30.0, 0.0, 0.1], [("10.0.0.0", "+29.9 s")]),
        ([0.0, 0.0, -30.0, 0.0], [("10.0.0.2", "-30.0 s")]),
        ([7.0, 7.1, 7.2], []),  # the driver's own clock is off
        ([0.0, 10.0], [("10.0.0.0", "-5.0 s"), ("10.0.0.1", "+5.0 s")]),
        ([60.0], []),
    ],
)
def test_a_clock_that_is_off(offsets: list[float], wanted: list[tuple[str, str]]) -> None:
    nodes = [one(f"10.0.0.{n}", clock={"offset_s": at, "uncertainty_s": 0.01}) for n, at in enumerate(offsets)]
    assert [(verdict.node, verdict.value) for verdict in judged(host.JUDGES, nodes)] == wanted


def test_an_offset_that_the_way_there_explains_is_none() -> None:
    late = one("10.0.0.1", clock={"offset_s": 4.0, "uncertainty_s": 3.0})
    right = [one(f"10.0.0.{n}", clock={"offset_s": 0.0, "uncertainty_s": 0.1}) for n in (2, 3)]
    assert not judged(host.JUDGES, [late, *right])


# What else runs there


def process(proc: Path, pid: int, comm: str, state: str = "S", cmdline: bytes = b"", environ: bytes = b"") -> None:
    folder = proc / str(pid)
    folder.mkdir(parents=True)
    (folder / "stat").write_text(f"{pid} ({comm}) {state} 1 1 1 0 -1")
    (folder / "cmdline").write_bytes(cmdline)
    (folder / "environ").write_bytes(environ)


def test_raylets_zombies_and_other_attempts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPURUN_ATTEMPT", "mine-a1")
    (tmp_path / "uptime").write_text("1 1")
    for pid, address in ((10, "10.0.0.1:6379"), (11, "10.0.0.9:6379"), (12, "10.0.0.1:6379")):
        process(tmp_path, pid, "raylet", cmdline=b"/ray/raylet\0--gcs-address=" + address.encode() + b"\0")
    process(tmp_path, 20, "ray::(odd) name", "Z")
    process(tmp_path, 21, "python", "Z")
    process(tmp_path, 30, "python", environ=b"A=1\0NPURUN_ATTEMPT=theirs-a2\0")
    process(tmp_path, 31, "python", environ=b"NPURUN_ATTEMPT=mine-a1\0")
    (tmp_path / "40").mkdir()  # gone meanwhile
    assert host.others(Wish(), tmp_path) == {
        "clusters": ["10.0.0.1:6379", "10.0.0.9:6379"],
        "zombies": 1,
        "attempts": {"theirs-a2": [30]},
    }


@pytest.mark.parametrize(
    ("facts", "wanted"),
    [
        ({"clusters": ["a"], "zombies": 20, "attempts": {}}, []),
        ({"clusters": [], "zombies": 0, "attempts": {}}, []),
        ({"clusters": ["a", "b"], "zombies": 0, "attempts": {}}, [("NR540", "1", "warning")]),
        ({"clusters": [], "zombies": 21, "attempts": {}}, [("NR540", "1", "warning")]),
        ({"clusters": ["a"], "zombies": 0, "attempts": {"x-a1": [1], "y-a1": [2]}}, [("NR541", "1", "hint")] * 2),
    ],
)
def test_what_else_runs_is_judged(facts: dict[str, Any], wanted: list[tuple[str, str, str]]) -> None:
    assert brief(judged(host.JUDGES, [one("10.0.0.1", others=facts)])) == wanted


def test_many_pids_are_shortened() -> None:
    facts = {"clusters": [], "zombies": 0, "attempts": {"x-a1": list(range(100, 120))}}
    (verdict,) = judged(host.JUDGES, [one("10.0.0.1", others=facts)])
    assert verdict.values["pids"] == "100, 101, 102, 103, 104, +15"


def test_what_was_not_measured_is_no_verdict() -> None:
    names = ("memory", "folders", "limits", "cpus", "others", "clock")
    blind = node(why=dict.fromkeys(names, "no such file"))
    assert not judged(host.JUDGES, [blind, one("10.0.0.2", cpus={"usable": 99, "quota": None})], Wish(cpus_per_node=48))


def test_a_silent_node_has_words() -> None:
    silent = dataclasses.replace(node("10.0.0.3"), silent="does not answer", measured={})
    (verdict,) = fitness.judge([silent], Wish())
    assert (verdict.id, verdict.unfit) == ("NR571", True)
    for language in LANGUAGES:
        assert "10.0.0.3" in text("NR571", language, node=verdict.node, value=verdict.value)
