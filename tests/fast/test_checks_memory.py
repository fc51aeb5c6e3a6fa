"""Memory on the device and the host, and what the training engines refuse. F…: reports of the case file."""

from __future__ import annotations

import pytest

from submitter.checks.finding import Finding
from submitter.job.model import Value
from tests.support.builders import job, number, raw
from tests.support.checks import findings_of

Arguments = dict[str, Value]

A = "actor_rollout_ref.actor"
R = "actor_rollout_ref.rollout"
MODEL = "actor_rollout_ref.model.path"
BUCKET = f"{R}.checkpoint_engine.update_weights_bucket_megabytes"
OVERRIDE = f"+{A}.megatron.override_transformer_config"
OPTIMIZER = f"+{A}.optim.override_optimizer_config"
SANE: Arguments = {
    "algorithm.adv_estimator": "grpo",
    MODEL: "/models/Qwen3-8B",
    f"{R}.name": "vllm",
    f"{R}.n": number("8"),
    f"{R}.tensor_model_parallel_size": number("4"),
    BUCKET: number("4096"),
    "trainer.nnodes": number("4"),
    "trainer.n_gpus_per_node": number("16"),
}
MEGATRON: Arguments = {"model_engine": "megatron"}
STACK = "cann-9.0.0"
OLD = "cann-8.5.0"


def found(rule: str, arguments: Arguments, stack: str | None = STACK) -> list[Finding]:
    base = {name: value for name, value in SANE.items() if name not in arguments}
    made = job(groups={"sane": base, "changed": {k: v for k, v in arguments.items() if v != "gone"}}, stack=stack)
    return findings_of(made, rule)


def model(name: str, tensor: int = 1, share: str = "0.9", **more: Value) -> Arguments:
    return {
        MODEL: f"/models/{name}",
        f"{R}.tensor_model_parallel_size": number(str(tensor)),
        f"{R}.gpu_memory_utilization": number(share),
        **{f"{R}.{key}": value for key, value in more.items()},
    }


RULES = [
    pytest.param("NR310", {f"{R}.gpu_memory_utilization": number("0.95")}, STACK, "warning", "0.95", id="F156"),
    pytest.param("NR310", {f"{R}.gpu_memory_utilization": number("0.92")}, STACK, "warning", "0.85", id="F158"),
    pytest.param("NR310", {f"{R}.gpu_memory_utilization": number("1.2")}, STACK, "error", "1.2", id="share-above-1"),
    pytest.param("NR310", {f"{R}.gpu_memory_utilization": number("0")}, STACK, "error", "above 0", id="share-0"),
    pytest.param("NR310", {f"{R}.gpu_memory_utilization": number("60")}, STACK, "error", "60", id="share-percent"),
    pytest.param("NR311", {f"{R}.free_cache_engine": False}, STACK, "warning", "free_cache_engine=True", id="F159"),
    pytest.param(
        "NR311",
        {f"+{R}.enable_sleep_mode": False},
        STACK,
        "warning",
        "enable_sleep_mode=True",
        id="F159-sleep-mode-off",
    ),
    pytest.param("NR312", model("Qwen3-32B", 1), STACK, "error", "32.0 G / TP 1 × 2 B = 59.6 GiB", id="F157-low"),
    pytest.param("NR312", model("Qwen2.5-32B", 1, "0.6"), STACK, "error", "64 GiB × 0.6 = 38.4 GiB", id="F157"),
    pytest.param("NR312", model("Qwen2.5-7B", 1, "0.2"), STACK, "error", "64 GiB × 0.2 = 12.8 GiB", id="F156-too-low"),
    pytest.param("NR312", model("Qwen2.5-7B", 1, "0.25"), STACK, "warning", "16.0 GiB", id="F156-low"),
    pytest.param("NR312", model("Qwen3-235B-A22B", 8, "0.75"), STACK, "error", "227.1 G / TP 8", id="experts"),
    pytest.param("NR312", model("DeepSeek-V3", 16, "0.8"), STACK, "warning", "687.7 G / TP 16", id="experts-in-fp8"),
    pytest.param("NR313", {BUCKET: number("2048")}, OLD, "error", "151936 × 4096 × 4 B = 2374 MiB", id="F041"),
    pytest.param("NR313", {BUCKET: "gone"}, OLD, "warning", "update_weights_bucket_megabytes=4096", id="F041-default"),
    pytest.param(
        "NR313",
        {BUCKET: "gone", f"{A}.fsdp_config.model_dtype": "fp32"},
        OLD,
        "error",
        "verl 0.7.1 ends",
        id="F041-fp32-said",
    ),
    pytest.param("NR313", {BUCKET: number("2048")}, None, "warning", "2374 MiB", id="F041-newer"),
    pytest.param("NR313", {BUCKET: number("2048")}, "cann-9.1.0", "hint", "2374 MiB", id="F041-handed-over"),
    pytest.param("NR313", {BUCKET: number("2048")}, STACK, "hint", "2374 MiB", id="F041-cast"),
    pytest.param(
        "NR313", {BUCKET: number("512"), **MEGATRON}, STACK, "warning", "× 2 B = 1187 MiB", id="F041-megatron"
    ),
    pytest.param(
        "NR313",
        {BUCKET: number("1024"), f"{R}.checkpoint_engine.backend": "hccl"},
        STACK,
        "error",
        "1187 MiB",
        id="F041-hccl",
    ),
    pytest.param(
        "NR314",
        {
            **MEGATRON,
            MODEL: "/models/Qwen3-235B-A22B",
            f"{A}.megatron.optimizer_offload": True,
            f"{A}.megatron.param_offload": True,
        },
        STACK,
        "hint",
        "234.4 G × (12 + 2) B / 4 = 764.1 GiB",
        id="F188",
    ),
    pytest.param(
        "NR314",
        {f"{A}.fsdp_config.optimizer_offload": True, MODEL: "Qwen/Qwen2.5-72B", "trainer.nnodes": number("1")},
        STACK,
        "hint",
        "71.5 G × (12) B / 1",
        id="F188-fsdp",
    ),
    pytest.param("NR315", {f"{A}.fsdp_config.offload_policy": True}, STACK, "warning", "fsdp2", id="offload-policy"),
    pytest.param(
        "NR316",
        {**MEGATRON, f"{OPTIMIZER}.overlap_cpu_optimizer_d2h_h2d": True},
        STACK,
        "warning",
        "optimizer_cpu_offload=True",
        id="overlap-alone",
    ),
    pytest.param(
        "NR316",
        {
            **MEGATRON,
            f"{OPTIMIZER}.use_precision_aware_optimizer": True,
            f"{A}.megatron.use_distributed_optimizer": False,
        },
        STACK,
        "error",
        "use_distributed_optimizer=True",
        id="precision-aware-not-distributed",
    ),
    pytest.param(
        "NR316",
        {**MEGATRON, f"{OPTIMIZER}.use_precision_aware_optimizer": True},
        STACK,
        "warning",
        "optimizer_cpu_offload=True",
        id="precision-aware-on-npu",
    ),
    pytest.param(
        "NR317", {**MEGATRON, f"{OVERRIDE}.recompute_granularity": "full"}, STACK, "error", "uniform", id="full-alone"
    ),
    pytest.param(
        "NR317",
        {**MEGATRON, f"{OVERRIDE}.recompute_granularity": "full", f"{OVERRIDE}.recompute_method": "uniform"},
        OLD + ",verl=0.8.0",
        "error",
        "recompute_num_layers=1",
        id="full-without-layers",
    ),
    pytest.param(
        "NR317",
        {**MEGATRON, f"{OVERRIDE}.recompute_granularity": "selective", f"{OVERRIDE}.recompute_num_layers": number("1")},
        STACK,
        "error",
        "null",
        id="selective-with-layers",
    ),
    pytest.param(
        "NR317", {**MEGATRON, f"{OVERRIDE}.recompute_granularity": "all"}, STACK, "error", "selective", id="granularity"
    ),
    pytest.param(
        "NR317",
        {**MEGATRON, f"{OVERRIDE}.recompute_method": "uniform"},
        STACK,
        "warning",
        "recompute_granularity=full",
        id="method-alone",
    ),
    pytest.param(
        "NR317",
        {**MEGATRON, f"{OVERRIDE}.recompute_granularity": "full", f"{OVERRIDE}.recompute_method": "even"},
        STACK,
        "error",
        "uniform, block",
        id="method",
    ),
    pytest.param(
        "NR318",
        {**MEGATRON, f"{OVERRIDE}.moe_token_dispatcher_type": "allgather"},
        STACK,
        "error",
        "alltoall",
        id="dispatcher",
    ),
    pytest.param("NR319", {**MEGATRON, f"{A}.megatron.use_mbridge": False}, STACK, "error", "use_mbridge", id="bridge"),
    pytest.param(
        "NR319",
        {**MEGATRON, f"{A}.megatron.use_dist_checkpointing": True},
        STACK,
        "error",
        "dist_checkpointing_path",
        id="no-checkpoint-path",
    ),
]


@pytest.mark.parametrize(("rule", "arguments", "stack", "severity", "words"), RULES)
def test_found(rule: str, arguments: Arguments, stack: str | None, severity: str, words: str) -> None:
    (finding,) = found(rule, arguments, stack)
    assert finding.severity == severity
    assert finding.place.line is not None
    assert words in f"{finding.message()} {finding.fix()}"
    assert finding.message("zh") and finding.fix("zh")


PASSES = [
    pytest.param("NR310", {f"{R}.gpu_memory_utilization": number("0.9")}, STACK, id="share-border"),
    pytest.param("NR310", {f"{R}.gpu_memory_utilization": raw("most")}, STACK, id="share-no-number"),
    pytest.param(
        "NR311",
        {f"{R}.free_cache_engine": False, "actor_rollout_ref.hybrid_engine": False},
        STACK,
        id="rollout-apart",
    ),
    pytest.param("NR311", {f"{R}.free_cache_engine": False, f"{R}.nnodes": number("2")}, STACK, id="rollout-nodes"),
    pytest.param("NR312", model("Qwen2.5-7B", 4, "0.3"), STACK, id="weights-fit"),
    pytest.param("NR312", model("Qwen3-235B-A22B", 16, "0.7"), STACK, id="experts-fit"),
    pytest.param(
        "NR312",
        model("Qwen3-235B-A22B", 4, "0.8", data_parallel_size=number("8"), expert_parallel_size=number("32")),
        STACK,
        id="experts-cut-by-ep",
    ),
    pytest.param("NR312", model("Qwen3-32B", 1, "0.6", quantization="ascend"), STACK, id="quantised"),
    pytest.param("NR312", model("unheard-of", 1), STACK, id="model-unknown"),
    pytest.param("NR312", model("Qwen3-32B", 1, "no"), STACK, id="share-unknown"),
    pytest.param("NR313", {BUCKET: number("2375")}, OLD, id="bucket-border"),
    pytest.param("NR313", {BUCKET: number("2048"), f"{A}.fsdp_config.model_dtype": "bf16"}, OLD, id="bucket-bf16"),
    pytest.param("NR313", {BUCKET: number("2048"), **MEGATRON}, STACK, id="bucket-megatron"),
    pytest.param("NR313", {BUCKET: raw("big")}, OLD, id="bucket-no-number"),
    pytest.param(
        "NR313", {BUCKET: number("1024"), f"{R}.checkpoint_engine.backend": "hccl"}, "cann-9.1.0", id="bucket-slices"
    ),
    pytest.param("NR314", {f"{A}.fsdp_config.optimizer_offload": True}, STACK, id="little-host-memory"),
    pytest.param("NR314", {"trainer.nnodes": raw("many")}, STACK, id="nodes-no-number"),
    pytest.param("NR315", {f"{A}.strategy": "fsdp2", f"{A}.fsdp_config.offload_policy": True}, STACK, id="fsdp2"),
    pytest.param(
        "NR316",
        {
            **MEGATRON,
            f"{OPTIMIZER}.overlap_cpu_optimizer_d2h_h2d": True,
            f"{OPTIMIZER}.use_precision_aware_optimizer": True,
            f"{OPTIMIZER}.optimizer_cpu_offload": True,
        },
        STACK,
        id="hybrid-optimizer",
    ),
    pytest.param(
        "NR317",
        {
            **MEGATRON,
            f"{OVERRIDE}.recompute_granularity": "full",
            f"{OVERRIDE}.recompute_method": "uniform",
            f"{OVERRIDE}.recompute_num_layers": number("1"),
        },
        STACK,
        id="recompute-all",
    ),
    pytest.param("NR317", {**MEGATRON, f"{OVERRIDE}.recompute_granularity": "selective"}, STACK, id="selective"),
    pytest.param("NR317", {**MEGATRON, f"{OVERRIDE}.recompute_granularity": True}, STACK, id="granularity-no-text"),
    pytest.param("NR318", {**MEGATRON, f"{OVERRIDE}.moe_token_dispatcher_type": "alltoall"}, STACK, id="alltoall"),
    pytest.param(
        "NR319", {"--config-name": "ppo_megatron_trainer", f"{A}.megatron.use_mbridge": False}, OLD, id="0.7.1"
    ),
]


@pytest.mark.parametrize(("rule", "arguments", "stack"), PASSES)
def test_passes(rule: str, arguments: Arguments, stack: str | None) -> None:
    assert found(rule, arguments, stack) == []


def test_a_reference_that_follows_the_actor_is_not_told_again() -> None:
    bridge: Arguments = {**MEGATRON, f"{A}.megatron.use_mbridge": False, f"{A}.use_kl_loss": True}
    assert [one.place.key for one in found("NR319", bridge)] == [f"{A}.megatron.use_mbridge"]
    own: Arguments = {**bridge, "actor_rollout_ref.ref.megatron.use_mbridge": False}
    assert len(found("NR319", own)) == 2
