"""Nodes and node workers that freeze or die in training, and attempts that end before it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from submitter.rehearsal.local_cluster import LocalCluster, LocalNode, NodeSpec
from tests.support import jobs
from tests.support.cluster import A3_LABELS
from tests.support.processes import wait_for

pytestmark = pytest.mark.proof

SMALL_NODE = NodeSpec(npus=2, cpus=16, labels=A3_LABELS)
FROZEN_BOUND_S = 20.0
"""From the freeze to the job's end."""

DEAF = """
    import signal, sys, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("step:1", flush=True)
    time.sleep(120)
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """Three nodes, of which a gang takes two: frozen ones are thawed again, and one may be lost for good."""
    with LocalCluster.start([SMALL_NODE] * 3, base_dir=tmp_path_factory.mktemp("small")) as cluster:
        yield cluster


def started(cluster: LocalCluster, folder: Path) -> tuple[jobs.Submitted, LocalNode]:
    """A training on two nodes, and the node of them that does not carry the driver."""
    plan = jobs.plan(jobs.trainer(folder, DEAF), nodes=2, npus_per_node=2)
    submitted = jobs.submit(cluster, plan, working_dir=folder)
    reserved = submitted.wait_line("NPU reserved: ").rpartition(" ")[2]
    submitted.wait_line("step:1")
    return submitted, next(node for node in cluster.nodes if node.ip == reserved)


def freeze(pid: int) -> float:
    os.kill(pid, signal.SIGSTOP)
    return time.monotonic()


def ended_after(submitted: jobs.Submitted, began: float) -> tuple[jobs.Result, float]:
    result = submitted.wait_end(bound_s=60)
    seconds = time.monotonic() - began
    print(f"ended after {seconds:.1f} s")
    return result, seconds


@pytest.mark.timeout(240)
def test_a_frozen_raylet_is_named_and_a_deaf_trainer_is_gone_within_twenty_seconds(
    small: LocalCluster, tmp_path: Path
) -> None:
    submitted, victim = started(small, tmp_path / "wd")
    try:
        result, seconds = ended_after(submitted, freeze(victim.raylet_pid))
        assert result.end is not None, result
        assert (result.end["reason"], result.end["node"]) == ("node_frozen", victim.ip), result
        assert result.end["code"] == -9
        assert result.end["quarantine"] == [victim.ip]
        assert "raylet" in result.end["evidence"][0]
        assert len(result.end["evidence"]) == 1 + 2
        assert seconds <= FROZEN_BOUND_S, result
        wait_for(lambda: not _processes(submitted), bound_s=30, what="its processes gone, on the frozen node too")
    finally:
        os.kill(victim.raylet_pid, signal.SIGCONT)


@pytest.mark.timeout(240)
def test_a_node_whose_every_process_is_frozen_is_named_as_a_node(small: LocalCluster, tmp_path: Path) -> None:
    submitted, victim = started(small, tmp_path / "wd")
    frozen = [pid for pid in victim.pids() if pid != victim.keeper_pid]
    try:
        began = time.monotonic()
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        result, seconds = ended_after(submitted, began)
        assert result.end is not None, result
        assert (result.end["reason"], result.end["node"]) == ("node_frozen", victim.ip), result
        assert "neither tasks nor pings" in result.end["evidence"][0]
        assert f"{victim.ip}: does not answer" in result.end["evidence"]
        assert seconds <= FROZEN_BOUND_S, result
    finally:
        for pid in frozen:
            _continue(pid)
    jobs.wait_nothing_left(submitted, bound_s=60)


@pytest.mark.timeout(240)
def test_a_node_that_dies_is_named_and_ends_the_attempt_promptly(small: LocalCluster, tmp_path: Path) -> None:
    submitted, victim = started(small, tmp_path / "wd")
    began = time.monotonic()
    os.kill(victim.raylet_pid, signal.SIGKILL)
    result, seconds = ended_after(submitted, began)
    assert result.end is not None, result
    assert (result.end["reason"], result.end["node"]) == ("node_lost", victim.ip), result
    assert seconds <= FROZEN_BOUND_S, result
    jobs.wait_nothing_left(submitted)


PATIENT = """
    import pathlib, sys, time
    print("step:1", flush=True)
    end = time.monotonic() + 120
    while time.monotonic() < end and not pathlib.Path(sys.argv[1]).exists():
        time.sleep(0.1)
    print("step:2", flush=True)
"""


@pytest.mark.timeout(240)
@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL])
def test_a_node_worker_that_freezes_or_dies_is_replaced_and_training_goes_on(
    cluster5: LocalCluster, tmp_path: Path, how: signal.Signals
) -> None:
    command = [*jobs.trainer(tmp_path / "wd", PATIENT), str(tmp_path / "go")]
    submitted = jobs.submit(cluster5, jobs.plan(command), working_dir=tmp_path / "wd")
    submitted.wait_line("step:1")
    wait_for(lambda: len(submitted.worker_pids()) == 4, bound_s=30, what="four node workers")
    victim = submitted.worker_pids()[2]
    os.kill(victim, how)
    warning = submitted.wait_line("is replaced and training goes on", bound_s=40)
    assert "warning: the node worker on 127." in warning
    wait_for(lambda: not psutil.pid_exists(victim), bound_s=30, what="the old node worker's end")
    wait_for(lambda: len(submitted.worker_pids()) == 4, bound_s=30, what="four node workers again")
    (tmp_path / "go").touch()
    result = submitted.wait_end(bound_s=60)
    assert result.end is not None, result
    assert result.end["reason"] == "succeeded", result
    assert sum("is replaced" in line for line in result.lines) == 1
    jobs.wait_nothing_left(submitted)


@pytest.mark.timeout(120)
def test_a_flag_that_got_lost_ends_the_attempt_before_training(cluster5: LocalCluster, tmp_path: Path) -> None:
    plan = jobs.plan(jobs.trainer(tmp_path, "print('trained')"))
    submitted = jobs.submit(
        cluster5, plan, working_dir=tmp_path, drop_flags=["VLLM_USE_V1"], env={"CPU_AFFINITY_CONF": "2; echo 'x'"}
    )
    result = submitted.wait_end()
    assert result.end is not None, result
    assert (result.end["reason"], result.end["exit"], result.end["phase"]) == ("flags_missing", 1, "proof")
    assert result.end["node"] == cluster5.nodes[0].ip
    assert f"{cluster5.nodes[3].ip}: VLLM_USE_V1 is absent, '1' wanted" in result.end["evidence"]
    assert result.proofs[0]["differs"] == {"VLLM_USE_V1": "1", "CPU_AFFINITY_CONF": "1"}
    assert "trained" not in result.lines
    jobs.wait_nothing_left(submitted)


@pytest.mark.timeout(120)
def test_a_secret_that_a_node_lacks_ends_the_attempt_and_no_value_is_told(
    cluster5: LocalCluster, tmp_path: Path
) -> None:
    (tmp_path / "key").write_text("very-secret-value\n")
    secrets = {
        "WANDB_API_KEY": {"file": str(tmp_path / "key")},
        "HF_TOKEN": {"file": str(tmp_path / "absent")},
    }
    submitted = jobs.submit(cluster5, jobs.plan(["true"], secrets=secrets))
    result = submitted.wait_end()
    assert result.end is not None, result
    assert (result.end["reason"], result.end["node"]) == ("secret_missing", cluster5.nodes[0].ip), result
    assert result.proofs[0]["secrets"] == {"HF_TOKEN": "missing", "WANDB_API_KEY": "resolved"}
    assert "very-secret-value" not in str(result)
    jobs.wait_nothing_left(submitted)


DAEMON = """
    import subprocess, sys
    subprocess.Popen(["sleep", "300"], start_new_session=True)
    print("x" * 100000)
    sys.stdout.write("no newline")
    sys.exit(3)
"""


@pytest.mark.timeout(120)
def test_a_failed_trainers_daemon_is_ended_and_its_code_and_output_pass_through(
    cluster5: LocalCluster, tmp_path: Path
) -> None:
    submitted = jobs.submit(cluster5, jobs.plan(jobs.trainer(tmp_path, DAEMON)), working_dir=tmp_path)
    result = submitted.wait_end()
    assert result.end is not None, result
    assert (result.end["reason"], result.end["code"], result.end["exit"]) == ("trainer_failed", 3, 1)
    assert "x" * 100000 in result.lines
    assert any("ended a process that the trainer left" in line and "sleep 300" in line for line in result.lines)
    jobs.wait_nothing_left(submitted)


@pytest.mark.timeout(120)
def test_a_stop_while_the_gang_waits_for_nodes_ends_at_once(cluster5: LocalCluster) -> None:
    submitted = jobs.submit(cluster5, jobs.plan(["true"], nodes=9, place_wait_s=600))
    submitted.wait_line("cannot fit now: 5 fit, 9 wanted")
    submitted.stop()
    result = submitted.wait_end(bound_s=20)
    assert result.info.status == "STOPPED"
    assert result.end is not None
    assert (result.end["reason"], result.end["phase"]) == ("stopped", "placement")
    jobs.wait_nothing_left(submitted)


def _processes(submitted: jobs.Submitted) -> list[str]:
    return [line for line in jobs.leftovers(submitted) if line.startswith("process")]


def _continue(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        return
