"""The real trainer on the gang: two ranks on each of two nodes, while a third node is banned."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from submitter.arguments import assemble
from submitter.job.load import load_job
from submitter.job.model import Job
from submitter.rehearsal import assets, verl_cpu
from submitter.rehearsal.local_cluster import LocalCluster, NodeSpec
from submitter.rehearsal.overlay import apply_overlay, load_overlay
from tests.support import jobs

pytestmark = pytest.mark.real

RANKS = 2
END_LIMIT_S = 420
"""Four ranks on 2 cores: about 60 s to the first step, alone."""

# As many as nodes: verl deals them out in turn over all nodes that it sees, so one would meet the banned node.
SPREAD = (
    "actor_rollout_ref.rollout.agent.num_workers=3",
    "reward.num_workers=3",
    "transfer_queue.backend.SimpleStorage.num_data_storage_units=3",
)
SHORT = ("trainer.total_training_steps=2", "trainer.save_freq=-1")
WITHOUT_NPU = ("TaskRunner", "AgentLoopWorker", "RewardLoopWorker", "SimpleStorageUnit", "TransferQueueController")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[LocalCluster]:
    with LocalCluster.start([NodeSpec(npus=RANKS, cpus=16)] * 3, base_dir=tmp_path / "nodes") as cluster:
        yield cluster


@pytest.mark.timeout(600)
def test_the_trainer_runs_on_the_held_groups_and_all_its_actors_stay_on_the_gang(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    job = rehearsed(tmp_path)
    banned = cluster.nodes[1]
    plan = jobs.plan(
        [*assemble.command(job), *SPREAD, *SHORT],
        nodes=2,
        npus_per_node=RANKS,
        labels={},
        flags=without_plugins(job),
        quarantine=(banned.ip,),
    )
    submitted = jobs.submit(cluster, plan, env=plugins(tmp_path))
    ended = submitted.wait_end(bound_s=END_LIMIT_S)
    assert ended.end is not None and ended.end["reason"] == "succeeded", str(ended)
    assert steps(ended.lines) == [1, 2]
    actors = trainer_actors(submitted)
    assert banned.node_id not in {actor["node_id"] for actor in actors}
    for name in WITHOUT_NPU:
        assert any(actor["class_name"].startswith(name) for actor in actors), f"no {name} was started"
    assert_ranks_in_held_groups(submitted, actors)
    jobs.wait_nothing_left(submitted)


def rehearsed(workdir: Path) -> Job:
    """The first job, as a CPU can run it, with two ranks on each of two nodes."""
    assets.make(workdir / "assets")
    job = load_job("qwen3_5_122b_a10b_32k", environ={"HOME": str(workdir)})
    overlay = replace(load_overlay(), ranks_per_node=RANKS)
    changed, _ = apply_overlay(job, workdir, nodes=2, overlay=overlay)
    return changed


def without_plugins(job: Job) -> dict[str, str]:
    return {name: value for name, value in assemble.flags(job).items() if name != "VERL_USE_EXTERNAL_MODULES"}


def plugins(workdir: Path) -> dict[str, str]:
    """The CPU platform comes from a folder of this machine; the gang's plugin travels with the submission."""
    folder = workdir / "cpu_platform"
    folder.mkdir()
    (folder / "npurun_verl_cpu").symlink_to(Path(verl_cpu.__file__).parent)
    return {
        "PYTHONPATH": str(folder),
        "VERL_USE_EXTERNAL_MODULES": "npurun_verl_cpu,npurun_gang.verl_plugin",
    }


def steps(lines: list[str]) -> list[int]:
    found = (re.search(r"(?<!global_)step:(\d+) - ", line) for line in lines)
    return [int(match[1]) for match in found if match and int(match[1]) > 0]


def trainer_actors(submitted: jobs.Submitted) -> list[dict[str, Any]]:
    """Every actor of this cluster, ended ones too, but for the driver's own and Ray's (the cluster has one attempt)."""
    own = {f"npurun-{submitted.attempt}", "SUPERVISOR_ACTOR_RAY_NAMESPACE"}
    return [row for row in jobs.state(submitted, "actors") if row["ray_namespace"] not in own]


def assert_ranks_in_held_groups(submitted: jobs.Submitted, actors: list[dict[str, Any]]) -> None:
    """Two NPU workers per node, each in one of the driver's groups, and no other group was ever made."""
    groups = jobs.state(submitted, "placement_groups")
    assert all(group["name"].startswith(f"npurun-{submitted.attempt}-") for group in groups)
    ranks = [actor for actor in actors if actor["placement_group_id"]]
    assert {rank["placement_group_id"] for rank in ranks} <= {group["placement_group_id"] for group in groups}
    assert set(Counter(rank["node_id"] for rank in ranks).values()) == {RANKS}
    assert len(ranks) == 2 * RANKS
