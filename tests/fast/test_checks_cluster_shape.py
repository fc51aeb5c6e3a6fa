"""Nodes, NPUs and CPUs: the trainer's pools against the job, the job against a live cluster."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from submitter.checks.cluster_node import ClusterNode
from submitter.checks.examine import examine
from submitter.checks.finding import Finding
from submitter.cluster.client import RayClient
from submitter.cluster.shape import cluster_node, cluster_nodes
from submitter.job.model import Cluster, Job
from tests.support.builders import job, number, torchrun_job
from tests.support.checks import findings_of, not_checked
from tests.support.fake_ray import FakeRay, head_row

A3 = {"ray.io/accelerator-type": "Ascend910_9392", "pool": "a3"}
ASYNC = "verl.experimental.fully_async_policy.fully_async_main"
ONE_STEP = "verl.experimental.one_step_off_policy.main_ppo"
ROLLOUT = "actor_rollout_ref.rollout"


def asks(
    settings: dict[str, Any] | None = None,
    nodes: int = 4,
    npus: int = 16,
    module: str = "verl.trainer.main_ppo",
    stack: str = "cann-9.0.0",
    labels: dict[str, str] | None = None,
) -> Job:
    """A job whose trainer takes all of its NPUs, unless `settings` say otherwise. Numbers may be plain."""
    base = {"trainer.nnodes": nodes, "trainer.n_gpus_per_node": npus, **(settings or {})}
    values = {key: number(str(one)) if type(one) is int else one for key, one in base.items()}
    made = job(groups={"trainer": values}, stack=stack)
    trainer = dataclasses.replace(made.trainer, module=module)
    return dataclasses.replace(made, trainer=trainer, cluster=Cluster(nodes, npus, labels or {}))


def said(made: Job) -> list[tuple[str, str]]:
    return [(one.id, one.severity) for one in findings_of(made, "NR39")]


@pytest.mark.parametrize(
    ("settings", "shape", "module", "expected"),
    [
        ({}, (4, 16), None, []),
        ({"trainer.nnodes": 5}, (4, 16), None, [("NR391", "error")]),
        ({"trainer.nnodes": 8, "trainer.n_gpus_per_node": 8}, (4, 16), None, [("NR391", "error")]),  # nodes of its own
        ({"trainer.n_gpus_per_node": 8}, (4, 16), None, [("NR392", "warning")]),
        ({"trainer.nnodes": 3}, (4, 16), None, [("NR392", "warning")]),
        ({"trainer.nnodes": 2, "rollout.nnodes": 2, "rollout.n_gpus_per_node": 16}, (4, 16), ASYNC, []),
        ({"trainer.nnodes": 2, "rollout.nnodes": 3, "rollout.n_gpus_per_node": 16}, (4, 16), ASYNC, "NR391"),
        ({"trainer.nnodes": 1, "rollout.nnodes": 2, "rollout.n_gpus_per_node": 16}, (4, 16), ONE_STEP, "NR392"),
        # trainer and rollout share each node; engines of 2 fit beside the trainer's 6, one of 4 does not
        (
            {"trainer.n_gpus_per_node": 6, "rollout.nnodes": 2, "rollout.n_gpus_per_node": 2},
            (2, 8),
            ONE_STEP,
            [],
        ),
        (
            {
                "trainer.n_gpus_per_node": 6,
                "rollout.nnodes": 1,
                "rollout.n_gpus_per_node": 4,
                f"{ROLLOUT}.tensor_model_parallel_size": 4,
            },
            (2, 8),
            ONE_STEP,
            "NR391",
        ),
        (
            {
                "trainer.nnodes": 2,
                "reward.reward_model.enable": True,
                "reward.reward_model.enable_resource_pool": True,
                "reward.reward_model.nnodes": 2,
                "reward.reward_model.n_gpus_per_node": 16,
            },
            (4, 16),
            None,
            [],
        ),
        (
            {
                "reward.reward_model.enable_resource_pool": True,
                "reward.reward_model.nnodes": 1,
                "reward.reward_model.n_gpus_per_node": 8,
            },
            (4, 16),
            None,
            "NR391",
        ),
        ({"reward.reward_model.enable": True, "reward.reward_model.nnodes": 4}, (4, 16), None, []),  # colocated
        (
            {"distillation.enabled": True, "distillation.nnodes": 1, "distillation.n_gpus_per_node": 16},
            (4, 16),
            None,
            "NR391",
        ),
    ],
)
def test_pools(
    settings: dict[str, Any], shape: tuple[int, int], module: str | None, expected: str | list[tuple[str, str]]
) -> None:
    made = asks(settings, *shape, module=module or "verl.trainer.main_ppo")
    if isinstance(expected, str):
        expected = [(expected, "error" if expected == "NR391" else "warning")]
    assert said(made) == expected


def test_the_v1_trainers_own_rollout_nodes() -> None:
    settings = {"trainer.v1.trainer_mode": "separate_async", f"{ROLLOUT}.nnodes": 2, f"{ROLLOUT}.n_gpus_per_node": 16}
    assert said(asks(settings, stack="cann-9.0.0,verl=0.9.1")) == [("NR391", "error")]
    assert said(asks({**settings, "trainer.nnodes": 2}, stack="cann-9.0.0,verl=0.9.1")) == []
    assert said(asks({**settings, "trainer.v1.trainer_mode": "sync"}, stack="cann-9.0.0,verl=0.9.1")) == []


def test_the_arithmetic_is_spelled_out() -> None:
    settings = {"trainer.nnodes": 4, "rollout.nnodes": 2, "rollout.n_gpus_per_node": 16}
    (finding,) = findings_of(asks(settings, module=ASYNC), "NR391")
    assert "trainer 4 × 16 + rollout 2 × 16 = 96 NPUs" in finding.message() and "4 × 16 = 64" in finding.message()
    assert finding.place.line == 3  # rollout.nnodes


def test_verls_default_of_one_node_is_told() -> None:
    made = job(groups={"a": {"data.train_batch_size": number("8")}}, stack="cann-9.0.0")
    (finding,) = findings_of(made, "NR392")
    assert "trainer 1 × 8 = 8" in finding.message() and finding.values["idle"] == 56


@pytest.mark.parametrize("value", [0, -1, None, "four", True, [], {"a": "b"}, 10**12])
def test_odd_sizes_give_no_exception(value: object) -> None:
    for key in ("trainer.nnodes", "rollout.nnodes", "rollout.n_gpus_per_node", f"{ROLLOUT}.tensor_model_parallel_size"):
        found = said(asks({key: value}, module=ASYNC))
        assert value != 10**12 or key != "trainer.nnodes" or found == [("NR391", "error")]


@pytest.mark.parametrize(("npus", "expected"), [(1, []), (8, []), (16, []), (7, [("NR393", "hint")]), (32, "NR393")])
def test_usual_nodes(npus: int, expected: object) -> None:
    assert said(asks(nodes=1, npus=npus)) == ([("NR393", "hint")] if expected == "NR393" else expected)


def test_a_torchrun_job_has_no_pools() -> None:
    assert findings_of(torchrun_job(), "NR39") == []


def node(ip: str, npus: int = 16, cpus: float = 192, **fields: Any) -> ClusterNode:
    fields = {"labels": A3, "accelerator_type": "Ascend910_9392", **fields}
    return ClusterNode(ip, npus, cpus, **fields)


def live(made: Job, *nodes: ClusterNode) -> list[Finding]:
    report = examine(made, cluster=nodes)
    assert not [one for one in report.not_checked if one.id == "NR396"]
    return [one for one in report.findings if one.id in ("NR394", "NR395", "NR396", "NR397", "NR398")]


FOUR = [node(f"10.0.0.{index}") for index in range(1, 5)]


def test_a_cluster_that_fits() -> None:
    assert live(asks(), *FOUR) == []
    assert live(asks(labels={"pool": "in(a2,a3)"}), *FOUR, node("10.0.0.9", 0, 8)) == []


def test_without_a_cluster_it_says_so() -> None:
    (told,) = not_checked(asks(), "NR396")
    assert "--address" in told.message() and "--address" in told.message("zh")


def gpu_nodes(count: int) -> list[ClusterNode]:
    return [node(f"10.0.1.{index}", 0, 192, gpus=8, accelerator_type=None, labels={}) for index in range(count)]


@pytest.mark.parametrize(
    ("nodes", "rule", "words"),
    [
        pytest.param([node("10.0.0.1", 0), node("10.0.0.2", 0)], "NR396", "2 × 0 NPU", id="F052-no-npu"),
        pytest.param(gpu_nodes(4), "NR394", "GPU", id="F052"),
        pytest.param([*FOUR[:3], *gpu_nodes(1)], "NR394", "only the GPU key", id="F053"),
        pytest.param([node(f"10.0.0.{i}", 16, 16) for i in range(4)], "NR397", "= 48 CPU", id="F059"),
        pytest.param([node(f"10.0.0.{i}", 16, 47) for i in range(4)], "NR397", "16 NPUs × 3 CPU", id="F059-one-short"),
        pytest.param([node(f"10.0.0.{i}", 16, 48) for i in range(4)], "NR397", "10 more", id="F059-none-beside"),
        pytest.param([node(f"10.0.0.{i}", 8, 96) for i in range(8)], "NR396", "8 × 8 NPU, 96 CPU", id="F063"),
        pytest.param(FOUR[:3], "NR396", "3 live node(s)", id="too few"),
        pytest.param([*FOUR[:3], node("10.0.0.4", alive=False)], "NR396", "3 live node(s)", id="one dead"),
        pytest.param([], "NR396", "0 live node(s)", id="none"),
    ],
)
def test_a_cluster_that_does_not_fit(nodes: list[ClusterNode], rule: str, words: str) -> None:
    (finding,) = live(asks(), *nodes)
    assert (finding.id, finding.severity) == (rule, "error")
    assert words in finding.message() and finding.place.key and finding.place.key.startswith("cluster.")
    assert "\n" not in finding.message("zh")


def test_cpus_at_the_border() -> None:
    exact = [node(f"10.0.0.{index}", 16, 48) for index in range(3)]
    assert live(asks(), *exact, node("10.0.0.9", 16, 58)) == []
    (finding,) = live(asks(), *exact, node("10.0.0.9", 16, 57))
    assert finding.id == "NR397"


def test_gpu_nodes_beside_enough_npus_are_no_problem() -> None:
    assert live(asks(), *FOUR, *gpu_nodes(2)) == []


def test_labels() -> None:
    (finding,) = live(asks(labels={"pool": "a2"}), *FOUR)
    assert (finding.id, finding.place.key) == ("NR395", "cluster.labels") and "pool=a3" in finding.message()
    assert live(asks(labels={"pool": "!a2"}), *FOUR) == []
    (finding,) = live(asks(labels={"zone": "b"}), *FOUR[:3])
    assert finding.id == "NR396"  # too few whatever their labels


def test_accelerator_types() -> None:
    a2 = [node(f"10.0.2.{index}", labels={}, accelerator_type="Ascend910B") for index in range(2)]
    (finding,) = live(asks(), *FOUR[:2], *a2)
    assert (finding.id, finding.severity) == ("NR398", "error") and "Ascend910B × 2" in finding.message()
    (finding,) = live(asks(), *FOUR, *a2)
    assert (finding.id, finding.severity) == ("NR398", "hint")


def test_a_torchrun_job_wants_one_cpu_per_npu() -> None:
    nodes = [node(f"10.0.0.{index}", 16, 16) for index in range(4)]
    assert live(torchrun_job(), *nodes) == []


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            {
                "node_ip": "10.0.0.1",
                "state": "ALIVE",
                "resources_total": {"NPU": 16.0, "CPU": 192.0, "node:10.0.0.1": 1.0, "memory": 1e11},
                "labels": A3,
            },
            ClusterNode("10.0.0.1", 16, 192.0, A3, 0, "Ascend910_9392", True),
        ),
        (
            {
                "node_ip": "10.0.0.2",
                "state": "ALIVE",
                "resources_total": {"GPU": 8.0, "CPU": 4.0, "accelerator_type:A100": 1.0},
            },
            ClusterNode("10.0.0.2", 0, 4.0, {}, 8, "A100", True),
        ),
        ({"node_ip": None, "state": "DEAD", "resources_total": None}, ClusterNode("", 0, 0.0, {}, 0, None, False)),
        ({"resources_total": {"NPU": "many"}, "labels": []}, ClusterNode("", 0, 0.0, {}, 0, None, False)),
    ],
)
def test_rows_of_the_state_api(row: dict[str, Any], expected: ClusterNode) -> None:
    assert cluster_node(row) == expected


def test_nodes_of_a_ray_cluster() -> None:
    with FakeRay() as ray:
        ray.nodes = [
            head_row(ip="10.0.0.2", resources_total={"NPU": 16.0, "CPU": 64.0}, labels=A3),
            head_row("b" * 56, "10.0.0.1", is_head_node=False, resources_total={"CPU": 8.0}),
            head_row("c" * 56, "10.0.0.3", is_head_node=False, state="DEAD", resources_total={"NPU": 16.0}),
        ]
        found = cluster_nodes(RayClient(ray.address))
    assert [(one.ip, one.npus, one.cpus) for one in found] == [("10.0.0.1", 0, 8.0), ("10.0.0.2", 16, 64.0)]
