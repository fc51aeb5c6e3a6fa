"""The real trainer on two nodes and a spare: a killed supervisor, a killed rank, a killed raylet; the run finishes."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from submitter.cluster.client import RayClient
from submitter.rehearsal.local_cluster import LocalCluster, NodeSpec
from tests.support.processes import carrying, wait_for
from tests.support.supervised import Supervised, real_verl

pytestmark = pytest.mark.real

NODES, STEPS, SAVE_EVERY = 2, 10, 2
FIRST_STEP_BOUND_S = 300.0
"""Ranks on two cores: about a minute, alone."""
END_BOUND_S = 300.0


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[LocalCluster]:
    with LocalCluster.start([NodeSpec(npus=1, cpus=16)] * (NODES + 1), base_dir=tmp_path / "nodes") as cluster:
        yield cluster


@pytest.fixture
def run(cluster: LocalCluster, tmp_path: Path) -> Iterator[Supervised]:
    arguments = (f"trainer.total_training_steps={STEPS}", f"trainer.save_freq={SAVE_EVERY}")
    made = Supervised.start(cluster, tmp_path, real_verl(tmp_path, nodes=NODES, arguments=arguments), "real")
    try:
        yield made
    finally:
        made.end()


@pytest.mark.timeout(1200)
def test_a_supervisor_a_rank_and_a_raylet_are_killed_and_every_step_is_trained(
    run: Supervised, cluster: LocalCluster
) -> None:
    run.wait_step(1, SAVE_EVERY + 1, bound_s=FIRST_STEP_BOUND_S)
    supervisor = run.supervisor()
    supervisor.kill()
    supervisor.wait(timeout=10)
    os.kill(run.processes(1, "ray::WorkerDict")[0], signal.SIGKILL)
    run.care()  # as whoever follows the run, or the next `submit`, does

    run.wait("where attempt 2 goes on", lambda: len(run.attempts) == 2 and run.attempts[1].resumed_from, bound_s=300)
    run.wait_step(2, (run.attempts[1].resumed_from or 0) + SAVE_EVERY + 1, bound_s=FIRST_STEP_BOUND_S)
    (lost,) = [node for node in cluster.nodes[1:] if node.ip in run.nodes(2)][-1:]
    os.kill(lost.raylet_pid, signal.SIGKILL)

    ended = run.wait_end(bound_s=FIRST_STEP_BOUND_S + END_BOUND_S)
    assert (ended.state, ended.reason) == ("succeeded", "succeeded"), run.story()
    first, second, third = run.attempts
    for before, after in pairwise(run.attempts):
        newest = (before.last_step or 0) // SAVE_EVERY * SAVE_EVERY
        assert 0 < newest <= (after.resumed_from or 0) <= newest + SAVE_EVERY, run.story()
    assert run.trained_after_resume() == list(range(1, STEPS + 1))
    assert first.reason == "actor_died" and second.reason == "node_lost", run.story()
    assert lost.ip not in (third.end or {})["nodes"]
    posted = [job.submission_id for job in RayClient(cluster.address).jobs()]
    assert sorted(posted) == [one.submission_id for one in run.attempts]
    wait_for(lambda: not carrying("NPURUN_RUN=real"), bound_s=60, what="nothing of the run is left")
