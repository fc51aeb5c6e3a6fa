"""What a local cluster decides before it starts anything, and that a keeper leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

import pytest

from submitter.errors import NotPlacedError, UsageError
from submitter.rehearsal import claim as claims
from submitter.rehearsal import keeper, memory
from submitter.rehearsal.local_cluster import NodeSpec, node_environment, node_options, ray_version, require_memory

WAIT_S = 20.0
# A child with a session of its own, which ignores SIGTERM and starts a grandchild: what a trainer may do.
STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
open(sys.argv[1], "w").write(f"{os.getpid()} {child.pid}\\n")
if sys.argv[2] == "leave": sys.exit(7)
time.sleep(600)
"""


def start_keeper(tmp_path: Path, mode: str) -> tuple[subprocess.Popen[bytes], Path]:
    folder = tmp_path / "outer" / "temp"
    folder.mkdir(parents=True)
    (folder / "file").write_text("x")
    pids = tmp_path / "pids"
    command = [sys.executable, "-I", "-S", keeper.__file__, "--remove", str(folder), "--term-wait", "0.3", "--"]
    command += [sys.executable, "-c", STUBBORN, str(pids), mode]
    return subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True), pids


def wait_pids(path: Path) -> list[int]:
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        if path.exists() and (text := path.read_text()).endswith("\n"):
            return [int(word) for word in text.split()]
        time.sleep(0.02)
    raise AssertionError(f"{path} was not written in {WAIT_S} s")


def alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def wait_gone(pids: list[int]) -> None:
    deadline = time.monotonic() + WAIT_S
    while left := [pid for pid in pids if alive(pid)]:
        assert time.monotonic() < deadline, f"still alive: {left}"
        time.sleep(0.02)


def test_keeper_ends_the_tree_when_its_owner_lets_go(tmp_path: Path) -> None:
    process, path = start_keeper(tmp_path, "stay")
    pids = wait_pids(path)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(WAIT_S) == 0
    wait_gone(pids)
    assert not (tmp_path / "outer").exists()


def test_keeper_ends_what_a_finished_command_left_and_passes_its_code_on(tmp_path: Path) -> None:
    process, path = start_keeper(tmp_path, "leave")
    pids = wait_pids(path)
    assert process.wait(WAIT_S) == 7
    wait_gone(pids)


def test_a_killed_keeper_takes_its_command_along(tmp_path: Path) -> None:
    process, path = start_keeper(tmp_path, "stay")
    command, grandchild = wait_pids(path)
    process.kill()
    process.wait(WAIT_S)
    wait_gone([command])
    os.kill(grandchild, signal.SIGKILL)  # out of reach of the second net, as documented: end it here


def test_two_claims_share_neither_network_nor_port() -> None:
    first, second = claims.claim(), claims.claim()
    try:
        assert first.address(0).rpartition(".")[0] != second.address(0).rpartition(".")[0]
        ports = {first.port() for _ in range(50)} | {second.port() for _ in range(50)}
        assert len(ports) == 100
        assert all(port < 32768 for port in ports)
    finally:
        first.release()
        second.release()


def test_addresses_are_loopback_and_never_the_one_that_ray_rewrites() -> None:
    held = claims.claim()
    held.release()
    addresses = [held.address(node) for node in range(64)]
    assert len(set(addresses)) == 64
    assert all(address.startswith("127.") and address != "127.0.0.1" for address in addresses)


def test_nodes_that_do_not_fit_are_refused_with_value_and_limit() -> None:
    with pytest.raises(NotPlacedError) as caught:
        require_memory(10 * 1024 * memory.MIB, what=4, free=lambda: 2 * 1024 * memory.MIB)
    assert "4 local Ray nodes need 10.0 GiB" in str(caught.value)
    assert "2.0 GiB are free" in str(caught.value)


def write_memory(root: Path, *, limit: str, usage: int, cache: int) -> None:
    (root / "meminfo").write_text("MemTotal: 9000 kB\nMemFree: 100 kB\nMemAvailable: 8000 kB\n")
    (root / "memory.max").write_text(limit)
    (root / "memory.current").write_text(str(usage))
    (root / "memory.stat").write_text(f"anon 5\ninactive_file {cache}\n")


@pytest.mark.parametrize(
    ("limit", "expected"),
    [("max\n", 8000 * 1024), ("1000000\n", 1000000 - 700000 + 50000), ("600000\n", 0)],
)
def test_free_memory_is_the_container_s_when_it_is_smaller(tmp_path: Path, limit: str, expected: int) -> None:
    write_memory(tmp_path, limit=limit, usage=700000, cache=50000)
    assert memory.available(tmp_path, tmp_path) == expected


def test_options_of_a_node() -> None:
    ports = count(20000)
    spec = NodeSpec(npus=16, cpus=64, labels={"pool": "a3", "ray.io/accelerator-type": "X"})
    options = node_options(spec, ip="127.1.2.3", temp=Path("/t"), port=lambda: next(ports), version=(2, 60))
    assert '--resources={"NPU": 16}' in options
    assert "--labels=pool=a3,ray.io/accelerator-type=X" in options
    given = [option.rpartition("=")[2] for option in options if "-port=" in option and "worker" not in option]
    assert len(given) == len(set(given)) == 6


def test_a_host_without_npu_resource_and_a_ray_without_labels() -> None:
    spec = NodeSpec(npus=16, cpus=64, labels={"pool": "a3"}, npu_resource=False)
    options = node_options(spec, ip="127.1.2.3", temp=Path("/t"), port=lambda: 1, version=(2, 41))
    assert not [option for option in options if option.startswith(("--resources", "--labels"))]


def test_nodes_inherit_no_flag_of_this_shell_and_find_their_own_python_first() -> None:
    shell = {"PATH": "/usr/bin", "HOME": "/home/x", "VLLM_USE_V1": "1", "RAY_ADDRESS": "1.2.3.4:5", "PYTHONPATH": "/x"}
    made = node_environment(shell, "/venv with space/bin/python", {"EXTRA": "1"})
    assert made["PATH"] == "/venv with space/bin:/usr/bin"
    assert made["HOME"] == "/home/x" and made["EXTRA"] == "1"
    assert not {"VLLM_USE_V1", "RAY_ADDRESS", "PYTHONPATH"} & made.keys()


def test_a_python_without_ray_is_refused(tmp_path: Path) -> None:
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    with pytest.raises(UsageError, match="has no Ray"):
        ray_version(str(fake))
    with pytest.raises(UsageError, match="cannot run"):
        ray_version(str(tmp_path / "absent"))
