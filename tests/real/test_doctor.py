"""`npurun doctor` on a real cluster: within its time, and a frozen node worker is named while the others are judged."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from submitter.cluster.client import RayClient
from submitter.rehearsal.local_cluster import LocalCluster
from submitter.supervise.doctor import examine
from tests.support.builders import job as build_job
from tests.support.cli import COMMAND, cold, environment
from tests.support.processes import command_line, wait_for, wait_gone

pytestmark = pytest.mark.real

COLD_S = 15.0
SILENT_BOUND_S = 60.0
"""The grace after half have answered, 20 s, and all that comes before and after."""
REWARD = """\
import pathlib, time
end = time.monotonic() + 50
while not pathlib.Path({go!r}).exists() and time.monotonic() < end:
    time.sleep(0.05)
"""
"""A module of the user that nobody has imported, so that no node has answered, before one is frozen."""

JOB = """\
name: tiny
cluster: {{nodes: 4, npus_per_node: 16}}
trainer: {{module: verl.trainer.main_ppo}}
arguments:
  reward: {{custom_reward_function.path: {reward}}}
"""


@pytest.mark.timeout(240)
def test_a_cold_doctor_sees_every_node_in_time_and_leaves_nothing(cluster5: LocalCluster, tmp_path: Path) -> None:
    seconds = []
    for _ in range(2):
        began = time.monotonic()
        result = cold("doctor", "--json", "--address", cluster5.address, home=tmp_path)
        seconds.append(time.monotonic() - began)
        assert result.code in (0, 3), result
        found = result.document
        assert [node["ip"] for node in found["nodes"]] == [node.ip for node in cluster5.nodes], result.err
        assert all(node["silent"] is None and node["npus"] == 16 for node in found["nodes"])
        peers = {ip for node in found["nodes"] for ip in node["measured"]["peers"]["facts"]["reach"]}
        assert peers == {node.ip for node in cluster5.nodes}
    print(f"doctor: {seconds[0]:.1f} s, again {seconds[1]:.1f} s")
    assert seconds[0] <= COLD_S
    assert not (tmp_path / "npurun" / "ledger.db").exists()
    for identity in (job.submission_id for job in RayClient(cluster5.address).jobs()):
        wait_gone(f"NPURUN_ATTEMPT={identity}", bound_s=30)


@pytest.mark.timeout(240)
def test_a_frozen_worker_is_named_within_the_bound_and_the_others_are_judged(
    cluster5: LocalCluster, tmp_path: Path
) -> None:
    reward, go = tmp_path / "reward.py", tmp_path / "go"
    reward.write_text(REWARD.format(go=str(go)))
    odd = cluster5.nodes[2]
    frozen: list[int] = []

    def freeze() -> None:
        pid = wait_for(lambda: _node_worker(odd.raylet_pid), bound_s=60, what="a node worker")
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        frozen.append(pid)
        go.touch()

    thread = threading.Thread(target=freeze, daemon=True)
    began = time.monotonic()
    thread.start()
    try:
        job = build_job(groups={"reward": {"custom_reward_function.path": str(reward)}})
        found = examine(job, RayClient(cluster5.address), tell=lambda _text, /, **_values: None)
    finally:
        thread.join(60)
        for pid in frozen:
            with contextlib.suppress(ProcessLookupError):  # Ray may have ended it
                os.kill(pid, signal.SIGKILL)
    took = time.monotonic() - began
    print(f"doctor with a frozen worker: {took:.1f} s")
    assert took < SILENT_BOUND_S
    silent = [node["ip"] for node in found.nodes if node["silent"] is not None]
    assert silent == [odd.ip]
    assert [(one.place.node, one.severity) for one in found.findings if one.id == "NR571"] == [(odd.ip, "error")]
    judged = {node["ip"] for node in found.nodes if node["measured"].get("modules", {}).get("facts")}
    assert judged == {node.ip for node in cluster5.nodes} - {odd.ip}
    assert not [one for one in found.findings if one.id == "NR557"]


@pytest.mark.timeout(120)
def test_ctrl_c_ends_the_ray_job_too(cluster5: LocalCluster, tmp_path: Path) -> None:
    (tmp_path / "reward.py").write_text(REWARD.format(go=str(tmp_path / "go")))
    (tmp_path / "job.yaml").write_text(JOB.format(reward=tmp_path / "reward.py"))
    words = [*COMMAND, "doctor", str(tmp_path / "job.yaml"), "--address", cluster5.address]
    process = subprocess.Popen(words, env=environment(tmp_path), stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try:
        assert process.stderr is not None
        told = iter(process.stderr.readline, b"")
        identity = next(line for line in told if b"looking at" in line).decode().rpartition("(")[2].strip(" )\n")
        client = RayClient(cluster5.address)
        wait_for(lambda: _node_worker(cluster5.nodes[2].raylet_pid), bound_s=60, what="a node worker")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert f"{identity} was stopped" in process.stderr.read().decode()
    finally:
        process.kill()
        process.wait()
        (tmp_path / "go").touch()  # an import that has begun ends by itself
    info = client.job(identity)
    assert info is not None and info.status == "STOPPED"
    wait_gone(f"NPURUN_ATTEMPT={identity}", bound_s=30)


def _node_worker(raylet: int) -> int | None:
    """Below that raylet."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            if parent == raylet and command_line(int(stat.parent.name)).startswith("ray::NodeWorker"):
                return int(stat.parent.name)
    return None
