"""What `ray start` had in its environment: generated /proc trees, and what is judged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.gang.probes import start
from submitter.gang.probes.measure import NotMeasuredError
from submitter.gang.probes.verdict import Node, Verdict
from submitter.gang.probes.wish import Wish
from tests.support.nodes import node
from tests.support.verdicts import brief, judged

CANN = "/usr/local/Ascend/cann"


def process(proc: Path, pid: int, parent: int, comm: str, environ: Mapping[str, str] | None = None) -> None:
    (proc / str(pid)).mkdir(parents=True)
    (proc / str(pid) / "stat").write_text(f"{pid} ({comm}) S {parent} 1 1 0 -1")
    if environ is not None:
        entries = b"".join(f"{name}={value}".encode() + b"\0" for name, value in environ.items())
        (proc / str(pid) / "environ").write_bytes(entries)


def facts(proc: Path, environ: Mapping[str, str], own: Mapping[str, str] | None = None) -> Any:
    process(proc, 100, 1, "raylet", environ)
    process(proc, 110, 100, "bash (odd) name")
    process(proc, 111, 110, "ray::NodeWorker")
    return start.ray_start(Wish(), proc, 111, own or {})


def one(number: int, seen: Mapping[str, Any], devices: int = 16) -> Node:
    files = {"numbers": list(range(devices)), "managers": {}, "unreadable": []}
    return node(f"10.0.0.{number}", measured={"ray_start": seen, "device_files": files})


def found(nodes: list[Node], wish: Wish | None = None) -> list[Verdict]:
    return judged(start.JUDGES, nodes, wish)


def started(worker: list[str] | None = None, libraries: bool = False, ray: Any = None, **alike: str | None) -> Any:
    known = {name: alike.get(name) for name in start.ALIKE}
    return {"alike": known, "ray": ray or {}, "worker": worker or [], "libraries": libraries}


def test_the_raylet_above_the_worker_is_read_and_nothing_secret_leaves(tmp_path: Path) -> None:
    environ = {
        "LD_LIBRARY_PATH": f"{CANN}/lib64",
        "ASCEND_HOME_PATH": CANN,
        "RAY_memory_usage_threshold": "0.9",
        "WANDB_API_KEY": "secret",
        "RAY_REDIS_PASSWORD": "secret",
    }
    seen = facts(tmp_path, environ, {"ASCEND_OPP_PATH": "/x", "LD_LIBRARY_PATH": "/usr/local/Ascend/driver/lib64"})
    assert seen["alike"]["ASCEND_HOME_PATH"] == CANN
    assert (seen["ray"], seen["worker"]) == ({"RAY_memory_usage_threshold": "0.9"}, ["ASCEND_OPP_PATH"])
    assert seen["libraries"] is True
    assert "secret" not in str(seen)


def test_no_raylet_above_is_not_measured(tmp_path: Path) -> None:
    process(tmp_path, 50, 1, "python")
    with pytest.raises(NotMeasuredError, match="no raylet"):
        start.ray_start(Wish(), tmp_path, 50, {})
    with pytest.raises(NotMeasuredError, match="no raylet"):
        start.ray_start(Wish(), tmp_path, 51, {})


def test_another_users_raylet_is_not_measured(tmp_path: Path) -> None:
    process(tmp_path, 100, 1, "raylet")
    process(tmp_path, 101, 100, "ray::NodeWorker")
    with pytest.raises(NotMeasuredError, match="cannot be read"):
        start.ray_start(Wish(), tmp_path, 101, {})


@given(st.lists(st.binary(max_size=20)))
def test_any_environment_is_read(tmp_path_factory: pytest.TempPathFactory, entries: list[bytes]) -> None:
    proc = tmp_path_factory.mktemp("proc")
    process(proc, 100, 1, "raylet")
    (proc / "100" / "environ").write_bytes(b"\0".join(entries))
    assert set(start.ray_start(Wish(), proc, 100, {})["alike"]) == set(start.ALIKE)


@pytest.mark.parametrize(
    ("seen", "devices", "wanted"),
    [
        (started(), 16, [("NR561", "1", "error")]),
        (started(libraries=True), 16, [("NR561", "1", "warning")]),
        (started(worker=["ASCEND_OPP_PATH"]), 16, []),
        (started(), 0, []),
    ],
)
def test_ray_that_was_started_without_cann(seen: Any, devices: int, wanted: list[tuple[str, str, str]]) -> None:
    assert brief(found([one(1, seen, devices)])) == wanted


def test_another_library_path_is_told_by_what_differs() -> None:
    usual = started(worker=["x"], LD_LIBRARY_PATH="/a:/b:/c")
    nodes = [one(1, usual), one(2, started(worker=["x"], LD_LIBRARY_PATH="/a:/d:/c")), one(3, usual)]
    (verdict,) = found(nodes)
    assert (verdict.id, verdict.node, verdict.severity) == ("NR562", "10.0.0.2", "warning")
    assert (verdict.value, verdict.limit, verdict.values) == ("/d", "/b", {"name": "LD_LIBRARY_PATH"})


@pytest.mark.parametrize(
    ("value", "usual", "wanted"),
    [
        (None, "/a", ("-", "/a")),
        ("/a", "", ("/a", "-")),
        ("/b:/a", "/a:/b", ("/b:/a", "/a:/b")),
        ("/a:/x", "/a", ("/x", "-")),
    ],
)
def test_paths_that_are_apart(value: str | None, usual: str, wanted: tuple[str, str]) -> None:
    nodes = [one(n, started(worker=["x"], PYTHONPATH=usual)) for n in (1, 2)]
    found_ = found([*nodes, one(3, started(worker=["x"], PYTHONPATH=value))])
    assert [(verdict.value, verdict.limit) for verdict in found_] == [wanted]


def test_empty_and_unset_are_the_same() -> None:
    assert not found([one(1, started(worker=["x"], PYTHONPATH="")), one(2, started(worker=["x"]))])


@pytest.mark.parametrize(
    ("ray", "wanted"),
    [
        ({}, [("NR563", "-")]),
        ({"RAY_memory_usage_threshold": "0.95"}, [("NR563", "0.95")]),
        ({"RAY_memory_usage_threshold": "0.99"}, []),
    ],
)
def test_flags_that_come_too_late(ray: dict[str, str], wanted: list[tuple[str, str]]) -> None:
    wish = Wish(flags={"RAY_memory_usage_threshold": "0.99", "OTHER": "1"})
    verdicts = found([one(1, started(worker=["x"], ray=ray))], wish)
    assert [(verdict.id, verdict.value) for verdict in verdicts] == wanted


def test_what_was_not_measured_is_no_verdict() -> None:
    blind = node(why={"ray_start": "this worker has no raylet above it"})
    assert not found([blind, one(2, started(worker=["x"]))])
