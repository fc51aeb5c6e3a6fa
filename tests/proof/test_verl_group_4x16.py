"""verl's own pools and worker groups on the gang: 64 light ranks, shared pools, and a pool that does not fit."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from submitter.rehearsal.local_cluster import LocalCluster
from tests.support import jobs

pytestmark = pytest.mark.proof

POOLS = Path(__file__).parents[1] / "data" / "working_dirs" / "verl_pools"
FIRST_STACK = "0.8.0"
"""verl of the first job's stack; the other one is installed here."""
DOWNLOAD_LIMIT_S = 180
END_LIMIT_S = 300
"""64 Python processes start one after the other on 2 cores: about 70 s alone."""
REFUSED_WITHIN_S = 5


@pytest.fixture(scope="session")
def verl_of_first_stack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published wheel, unpacked: put before site-packages it is the verl that all processes import."""
    folder = tmp_path_factory.mktemp("verl_wheel")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", f"verl=={FIRST_STACK}", "-d", str(folder)]
    subprocess.run(pip, check=True, timeout=DOWNLOAD_LIMIT_S)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


@pytest.fixture(params=["installed", FIRST_STACK])
def verl_path(request: pytest.FixtureRequest) -> dict[str, str]:
    """Environment that makes the attempt use this verl."""
    if request.param == "installed":
        return {}
    return {"PYTHONPATH": str(request.getfixturevalue("verl_of_first_stack"))}


@pytest.mark.timeout(420)
def test_64_ranks_each_in_its_own_bundle_of_the_node_that_verl_means(
    cluster5: LocalCluster, verl_path: dict[str, str]
) -> None:
    result = build_pools(cluster5, verl_path, nodes=4, specs=[{"global_pool": [16, 16, 16, 16]}])
    ((ranks,),) = result["pools"].values()
    assert_ranks_in_order(ranks, result["nodes"], per_node=16, first=0)
    assert not any(rank["heavy"] for rank in ranks)
    assert_on_gang(result, cluster5)


@pytest.mark.timeout(300)
def test_pools_share_the_gang_and_one_that_does_not_fit_is_refused_at_once(
    cluster5: LocalCluster, verl_path: dict[str, str]
) -> None:
    specs = [{"global_pool": [8, 8]}, {"reward_pool_split": [4, 4]}, {"late_pool": [8]}]
    result = build_pools(cluster5, verl_path, nodes=2, specs=specs)
    (trainer,) = result["pools"]["global_pool"]
    assert_ranks_in_order(trainer, result["nodes"], per_node=8, first=0)
    # a reward model's replicas get halves of their pool, one node each
    for half, node in zip(result["pools"]["reward_pool_split"], result["nodes"], strict=True):
        assert_ranks_in_order(half, [node], per_node=4, first=8)
    free = ", ".join(f"{ip}: 4" for ip in result["nodes"])
    message = result["refused"]["message"]
    assert f"pool late_pool wants [8], the gang holds 2 nodes x 16 with 8 free ({free})" in message
    assert result["refused"]["seconds"] < REFUSED_WITHIN_S
    assert_on_gang(result, cluster5)


def build_pools(
    cluster: LocalCluster, env: dict[str, str], *, nodes: int, specs: Sequence[dict[str, list[int]]]
) -> dict[str, Any]:
    """What `verl_pools.py` printed, run by the real driver; `nodes` are the gang's IPs. The second node is banned."""
    banned = (cluster.nodes[1].ip,)
    plan = jobs.plan(["python3", "verl_pools.py", json.dumps(specs)], nodes=nodes, quarantine=banned)
    env = {**env, "VERL_USE_EXTERNAL_MODULES": "npurun_gang.verl_plugin"}
    submitted = jobs.submit(cluster, plan, env=env, working_dir=POOLS)
    ended = submitted.wait_end(bound_s=END_LIMIT_S)
    assert ended.end is not None and ended.end["reason"] == "succeeded", str(ended)
    (line,) = [line for line in ended.lines if line.startswith("RESULT ")]
    result: dict[str, Any] = json.loads(line.removeprefix("RESULT "))
    assert result["verl_file"].startswith(env.get("PYTHONPATH", sys.prefix))
    jobs.wait_nothing_left(submitted)
    return {**result, "nodes": ended.end["nodes"]}


def assert_ranks_in_order(ranks: Sequence[dict[str, Any]], nodes: Sequence[str], *, per_node: int, first: int) -> None:
    """Rank r on node r // per_node, in bundle `first` + r % per_node, with a device of its own."""
    assert [rank["rank"] for rank in ranks] == list(range(per_node * len(nodes)))
    assert nodes == sorted(nodes)
    for number, rank in enumerate(ranks):
        assert rank["ip"] == nodes[number // per_node]
        assert rank["bundle"] == first + number % per_node
        assert rank["world_size"] == len(ranks)
        assert rank["master"] == nodes[0]
    for node in nodes:
        here = [rank for rank in ranks if rank["ip"] == node]
        assert len({rank["group"] for rank in here}) == 1
        assert len({rank["npu"][0] for rank in here}) == per_node
        assert {len(rank["npu"]) for rank in here} == {1}
    assert len({rank["group"] for rank in ranks}) == len(nodes)


def assert_on_gang(result: dict[str, Any], cluster: LocalCluster) -> None:
    gang = {node.node_id for node in cluster.nodes if node.ip in result["nodes"]}
    assert [rank["ip"] for rank in result["cpu_ranks"]] == result["nodes"][:2]
    assert len(result["no_npu"]) == len(cluster.nodes) + 1
    assert set(result["no_npu"]) <= gang
