"""Sane jobs made wrong in the ways that users report: each kind with other numbers, models and layouts.

The corpus proves that the checks are quiet where they must be; this proves that they are not merely quiet.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from submitter.checks.examine import examine
from submitter.checks.finding import Finding
from submitter.errors import Place
from submitter.job.load import load_job
from submitter.job.model import Flag, Job
from tests.support.job_files import HOME
from tests.support.trees import trees

__all__ = ["trees"]

_FOLDER = Path(__file__).parents[1] / "data" / "corpus"
_A, _R, _REF = "actor_rollout_ref.actor", "actor_rollout_ref.rollout", "actor_rollout_ref.ref"
_M = f"{_A}.megatron"

BATCH, TOKENS, LAYOUT = ("NR20", "NR21"), ("NR22", "NR23"), ("NR24", "NR25", "NR26")
ENGINE, ALGORITHM, DATA = ("NR30", "NR31"), ("NR32", "NR33"), ("NR34", "NR35")
RECOVERY, LAUNCHER, CLUSTER = ("NR36", "NR37"), ("NR38",), ("NR39",)
FLAGS, ENVIRONMENT, COMPOSITION = ("NR45", "NR46"), ("NR47", "NR48"), ("NR10", "NR11")


def _case(kind: str, name: str, words: str, family: tuple[str, ...], severity: str = "error") -> object:
    return pytest.param(name, words.split(), family, severity, id=f"{kind}-{name}-{words.rsplit('.', 1)[-1]}"[:90])


_ARGUMENTS = [
    # F008, F011: the batch over the processes that share it
    _case("F008", "qwen3_8b_gspo", f"data.train_batch_size=9 {_A}.ppo_mini_batch_size=9 {_R}.n=3", BATCH),
    _case("F008", "qwen3_14b_reinforce_pp", "data.train_batch_size=65 trainer.nnodes=3", BATCH),
    _case("F008", "qwen3_5_122b_a10b_geometry", f"data.train_batch_size=63 {_A}.ppo_mini_batch_size=63", BATCH),
    _case("F011", "qwen3_1_7b_rloo", f"trainer.n_gpus_per_node=7 {_R}.tensor_model_parallel_size=1", BATCH),
    _case("F011", "qwen2_5_7b_grpo_a2", "trainer.n_gpus_per_node=6", BATCH + LAYOUT),
    _case("F008", "qwen3_235b_a22b_megatron", f"data.train_batch_size=126 {_R}.n=1", BATCH),
    _case("mini over train", "qwen3_8b_gspo", f"{_A}.ppo_mini_batch_size=512", BATCH, "any"),
    _case("mini over train", "qwen3_5_27b_fsdp2", f"{_A}.ppo_mini_batch_size=128", BATCH),
    # F012: the batch over agent workers nobody thought of
    _case("F012", "qwen3_1_7b_rloo", f"{_R}.agent.num_workers=7", BATCH),
    _case("F012", "qwen2_5_3b_vl_geometry", f"{_R}.agent.num_workers=24", BATCH),
    _case("F012", "qwen2_5_32b_grpo", f"{_R}.agent.num_workers=48", BATCH),
    # F018, F019: micro-batches
    _case("F018", "qwen2_5_32b_grpo", f"{_A}.ppo_micro_batch_size_per_gpu=null", BATCH),
    _case("F018", "qwen3_5_2b_fsdp2", f"{_R}.log_prob_micro_batch_size_per_gpu=null", BATCH),
    _case("F018", "qwen3_0_6b_fsdp_ppo", "critic.ppo_micro_batch_size_per_gpu=null", BATCH),
    _case("F018", "qwen3_30b_a3b_veomni", f"{_A}.ppo_micro_batch_size_per_gpu=null", BATCH),
    _case("F018", "qwen2_5_7b_grpo_a2", f"{_A}.ppo_micro_batch_size=32", BATCH),
    _case("F019", "qwen3_0_6b_fsdp_ppo", f"{_A}.ppo_micro_batch_size_per_gpu=3", BATCH),
    _case("F019", "qwen2_5_32b_grpo", f"{_A}.ppo_micro_batch_size_per_gpu=7", BATCH),
    _case("F019", "qwen3_vl_30b_a3b_fsdp2", f"{_A}.ppo_micro_batch_size_per_gpu=16", BATCH),
    # F023: what the engine may hold at once
    _case(
        "F023", "qwen3_32b_sp4", f"{_R}.enable_chunked_prefill=False {_R}.max_num_batched_tokens=2048", TOKENS, "any"
    ),
    _case("F023", "qwen3_235b_a22b_megatron", f"{_R}.max_model_len=8192", TOKENS, "any"),
    _case("F023", "qwen3_8b_long_32k", f"{_R}.max_model_len=32768", TOKENS, "any"),
    _case("F023", "qwen3_14b_reinforce_pp", f"{_R}.max_num_batched_tokens=256 {_R}.max_num_seqs=1024", TOKENS, "any"),
    _case("context", "qwen3_8b_gspo", f"data.max_response_length=65536 {_R}.max_model_len=null", TOKENS, "any"),
    # F026: one sequence is longer than the cap of its ranks
    _case("F026", "qwen3_8b_gspo", f"{_A}.ppo_max_token_len_per_gpu=8192", TOKENS),
    _case("F026", "qwen3_next_80b_fsdp2_sp8", f"{_A}.ppo_max_token_len_per_gpu=2048", TOKENS),
    _case("F026", "qwen3_8b_long_32k", f"{_R}.log_prob_max_token_len_per_gpu=8192", TOKENS, "any"),
    _case("F026", "qwen3_235b_a22b_megatron", f"{_REF}.log_prob_max_token_len_per_gpu=12287", TOKENS, "any"),
    _case("F026", "qwen3_8b_ppo_critic_sp2", "critic.ppo_max_token_len_per_gpu=1999", TOKENS, "any"),
    # F030: heads, layers, experts
    _case("F030", "qwen2_5_7b_grpo_a2", f"{_R}.tensor_model_parallel_size=8", LAYOUT),
    _case("F030", "qwen2_5_32b_megatron_085", f"{_R}.tensor_model_parallel_size=16", LAYOUT),
    _case("F030", "qwen3_14b_reinforce_pp", f"{_R}.tensor_model_parallel_size=16", LAYOUT),
    _case("F030", "qwen2_5_vl_7b_fsdp2", f"{_A}.ulysses_sequence_parallel_size=8", LAYOUT),
    _case("F030", "qwen2_5_32b_megatron_085", f"{_M}.tensor_model_parallel_size=16", LAYOUT),
    _case("layers", "qwen3_5_35b_a3b_megatron", f"{_M}.pipeline_model_parallel_size=16", LAYOUT),
    _case("layers", "qwen3_30b_a3b_megatron", f"{_M}.pipeline_model_parallel_size=5", LAYOUT),
    _case("experts", "qwen3_235b_a22b_megatron", f"{_M}.expert_model_parallel_size=3", LAYOUT),
    _case("experts", "qwen3_5_397b_a17b_megatron", f"{_M}.expert_model_parallel_size=48", LAYOUT),
    # F033: the groups do not fill the world
    _case("F033", "qwen3_5_122b_a10b_geometry", f"{_M}.expert_tensor_parallel_size=2", LAYOUT),
    _case("F033", "qwen3_30b_a3b_megatron_2x16", f"{_M}.expert_model_parallel_size=64", LAYOUT),
    _case("F033", "deepseek_v3_671b_megatron", f"{_M}.expert_model_parallel_size=32", LAYOUT),
    _case("world", "qwen3_32b_megatron_256k", f"{_M}.context_parallel_size=3", LAYOUT),
    _case("world", "qwen3_0_6b_megatron", f"{_M}.tensor_model_parallel_size=8", LAYOUT),
    _case("world", "qwen3_8b_long_32k", f"{_A}.ulysses_sequence_parallel_size=3", LAYOUT),
    _case("rollout world", "qwen3_14b_reinforce_pp", f"{_R}.tensor_model_parallel_size=32", LAYOUT),
    # F036: data-parallel rollouts
    _case("F036", "qwen3_8b_gspo", f"{_R}.data_parallel_size=2", LAYOUT, "any"),
    _case("F036", "qwen3_235b_a22b_megatron", f"{_R}.expert_parallel_size=32", LAYOUT),
    _case("F036", "qwen3_30b_a3b_veomni", f"{_R}.expert_parallel_size=4", LAYOUT),
    # F041: the bucket of the weight transfer
    _case("F041", "qwen2_5_7b_grpo_a2", f"{_R}.checkpoint_engine.update_weights_bucket_megabytes=1024", ENGINE),
    _case("F041", "qwen2_5_32b_megatron_085", f"{_R}.checkpoint_engine.update_weights_bucket_megabytes=512", ENGINE),
    _case("memory", "qwen3_235b_a22b_megatron", f"{_R}.data_parallel_size=1 {_R}.expert_parallel_size=8", ENGINE),
    _case("memory", "qwen2_5_72b_fsdp2", f"{_R}.gpu_memory_utilization=1.5", ENGINE),
    # F205: data that verl's dataset does not take
    _case("F205", "qwen3_8b_gspo", "data.train_files=/data/verl/datasets/math/train.csv", DATA),
    _case("F205", "qwen3_1_7b_rloo", "data.val_files=[/data/a.parquet,/data/b.arrow]", DATA),
    # algorithm
    _case("GRPO n=1", "qwen2_5_7b_grpo_a2", f"{_R}.n=1", ALGORITHM, "any"),
    _case("RLOO n=1", "qwen3_1_7b_rloo", f"{_R}.n=1", ALGORITHM, "any"),
    _case("KL twice", "qwen2_5_32b_grpo", "algorithm.use_kl_in_reward=True", ALGORITHM, "any"),
    _case("estimator", "qwen3_8b_gspo", "algorithm.adv_estimator=grop", ALGORITHM + COMPOSITION),
    _case("loss", "qwen3_8b_gspo", f"{_A}.policy_loss.loss_mode=gsop", ALGORITHM + COMPOSITION),
    _case("critic", "qwen3_0_6b_fsdp_ppo", "critic.enable=False", ALGORITHM),
    _case("critic", "qwen3_14b_reinforce_pp", "algorithm.adv_estimator=gae", ALGORITHM),
    _case("reward model", "mistral_12b_reward_model", "reward.reward_model.model_path=null", ALGORITHM, "any"),
    # recovery
    _case("never saved", "qwen3_8b_gspo", "trainer.save_freq=-1", RECOVERY, "any"),
    _case("relative", "qwen3_235b_a22b_256k", "trainer.default_local_dir=ckpt/run1", RECOVERY, "any"),
    _case("node's own", "qwen3_32b_sp4", "trainer.default_local_dir=/tmp/ckpt", RECOVERY, "any"),
    _case(
        "no optimiser",
        "qwen2_5_72b_fsdp2",
        f"{_A}.checkpoint.save_contents=[model] trainer.save_freq=5",
        RECOVERY,
        "any",
    ),
    _case("resume", "qwen3_4b_lora", "trainer.resume_mode=resume_path", RECOVERY, "any"),
    # cluster shape
    _case("nodes", "qwen3_32b_dapo_8k", "trainer.nnodes=5", CLUSTER),
    _case("npus", "qwen3_14b_reinforce_pp", "trainer.n_gpus_per_node=16", CLUSTER),
    _case("idle", "qwen3_235b_a22b_megatron", "trainer.nnodes=4", CLUSTER, "any"),
    _case("pools", "qwen3_235b_a22b_async", "rollout.nnodes=9", CLUSTER),
    _case("pools", "qwen3_8b_reward_pool", "reward.reward_model.nnodes=2", CLUSTER),
    # counts and parts that do not go together
    _case("no node", "qwen3_14b_reinforce_pp", "trainer.nnodes=0", (*LAYOUT, "NR27")),
    _case("no TP", "qwen3_235b_a22b_megatron", f"{_M}.tensor_model_parallel_size=0", (*LAYOUT, "NR27")),
    _case("strategy", "qwen3_14b_reinforce_pp", f"{_A}.strategy=megatron", ("NR27",)),
    _case("strategy", "qwen3_5_397b_a17b_megatron", f"{_A}.strategy=fsdp2", ("NR27",)),
    _case("hybrid", "qwen2_5_72b_fsdp2", "actor_rollout_ref.hybrid_engine=False", ("NR27",)),
    _case("reward TP", "qwen3_8b_reward_pool", "reward.reward_model.rollout.tensor_model_parallel_size=3", ("NR27",)),
    # the engine
    _case("removed rollout", "qwen3_14b_reinforce_pp", f"{_R}.name=hf", ENGINE),
    _case("removed mode", "qwen2_5_72b_fsdp2", f"{_R}.mode=sync", ENGINE),
    _case("LoRA rank", "qwen3_4b_lora", "actor_rollout_ref.model.lora_rank=1024", ENGINE),
    _case("padding", "qwen3_8b_long_32k", "actor_rollout_ref.model.use_remove_padding=False", LAYOUT),
    _case("pipeline", "qwen3_235b_a22b_megatron", f"{_M}.virtual_pipeline_model_parallel_size=5", LAYOUT),
    _case("FSDP size", "qwen3_8b_gspo", f"{_A}.fsdp_config.fsdp_size=3", LAYOUT),
    _case("rollout PP", "qwen3_14b_reinforce_pp", f"{_R}.pipeline_model_parallel_size=2", LAYOUT),
    # fully asynchronous
    _case("stale", "qwen3_235b_a22b_async", "async_training.staleness_threshold=-0.5", BATCH),
    _case("log-probs", "qwen3_vl_30b_a3b_async", f"{_R}.calculate_log_probs=False", BATCH + ALGORITHM),
    _case("hybrid", "qwen3_8b_one_step_off", "actor_rollout_ref.hybrid_engine=True", BATCH),
    _case("async batch", "qwen3_30b_a3b_async_dapo", "data.train_batch_size=64", BATCH),
    _case("async gen", "qwen3_vl_8b_async", "data.gen_batch_size=4", BATCH),
]

_FLAGS = [
    ("qwen3_8b_gspo", {"PYTORCH_NPU_ALLOC_CONF": "expandable_segments:True"}, ENGINE, "error"),
    ("qwen3_8b_gspo", {"TASK_QUEUE_ENABLE": "2"}, ENGINE, "error"),
    ("qwen3_30b_a3b_megatron", {"ASCEND_LAUNCH_BLOCKING": "1"}, ENGINE, "any"),
    ("qwen3_235b_a22b_megatron", {"HCCL_CONNECT_TIMEOUT": "10"}, ENVIRONMENT, "any"),
    ("qwen3_235b_a22b_megatron", {"HCCL_CONNECT_TIMEOUT": "7201"}, ENVIRONMENT, "any"),
    ("qwen3_32b_sp4", {"HCCL_IF_BASE_PORT": "65530"}, ENVIRONMENT, "any"),
    ("qwen3_32b_sp4", {"HCCL_HOST_SOCKET_PORT_RANGE": "60000-60010"}, ENVIRONMENT, "any"),
    ("qwen3_32b_dapo_8k", {"VLLM_ASCEND_ENABLE_FLASHCOM1": "1"}, FLAGS, "any"),
    ("qwen3_32b_dapo_8k", {"VLLM_ASCEND_ENABLE_NZ": "true"}, FLAGS, "error"),
    ("qwen3_32b_dapo_8k", {"VLLM_ASCEND_ENABLE_PREFETCH_MLP": "1"}, FLAGS, "any"),
    ("qwen2_5_72b_fsdp2", {"VLLM_USE_V1": "1"}, FLAGS, "any"),
]

_COMPOSED = [
    ("qwen3_8b_long_32k", ["data.train_batchsize=64"]),
    ("qwen3_5_35b_a3b_megatron", [f"{_M}.tensor_parallel_size=2"]),
    ("qwen3_235b_a22b_megatron", [f"+{_A}.ppo_mini_batch_size=64"]),
    ("qwen2_5_7b_grpo_a2", [f"{_A}.fsdp_config.param_offlaod=True"]),
    ("qwen3_30b_a3b_megatron", [f"{_M}.override_transformer_config.moe_router_dtype=fp32"]),
    ("qwen3_1_7b_rloo", ["model_engine=megatrn"]),
    ("qwen2_5_7b_grpo_a2", ["model_engine=megatron"]),
    ("qwen3_8b_gspo", ["trainer.nnodes=one"]),
    ("qwen3_32b_sp4", [f"{_A}.strategy=deepspeed"]),
    ("qwen3_4b_lora", ["reward_manager=dapo"]),
]


@pytest.mark.parametrize(("name", "words", "family", "severity"), _ARGUMENTS)
def test_arguments(name: str, words: list[str], family: tuple[str, ...], severity: str) -> None:
    _expect(_job(name, tuple(words)), family, severity)


@pytest.mark.parametrize(
    ("name", "flags", "family", "severity"),
    _FLAGS,
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_flags(name: str, flags: Mapping[str, str], family: tuple[str, ...], severity: str) -> None:
    job = _job(name)
    kept = [flag for flag in job.flags if flag.name not in flags]
    added = [Flag(key, value, Place(file=job.file, line=1, key=f"env.{key}")) for key, value in flags.items()]
    _expect(dataclasses.replace(job, flags=(*kept, *added)), family, severity)


@pytest.mark.parametrize(("name", "words"), _COMPOSED, ids=lambda value: value[0] if isinstance(value, list) else "")
def test_composition(name: str, words: list[str], trees: Path) -> None:
    _expect(_job(name, tuple(words)), COMPOSITION, "error", trees)


def test_torchrun_around_a_trainer_that_starts_ray() -> None:
    from submitter.job.model import Torchrun, Trainer

    job = dataclasses.replace(_job("qwen3_8b_gspo"), trainer=Trainer("verl.trainer.main_ppo", "torchrun", Torchrun(16)))
    _expect(job, LAUNCHER, "error")


def _expect(job: Job, family: tuple[str, ...], severity: str, trees: Path | None = None) -> None:
    found = examine(job, trees=trees).findings
    right = [one for one in found if one.id.startswith(family) and one.severity in _AT_LEAST[severity]]
    assert right, "\n".join(map(_spoken, found)) or "nothing is said"


_AT_LEAST = {"error": ("error",), "any": ("error", "warning")}


def _spoken(finding: Finding) -> str:
    return f"{finding.severity} {finding.id} {finding.message()}"


@cache
def _job(name: str, words: tuple[str, ...] = ()) -> Job:
    return load_job(str(_FOLDER / f"{name}.yaml"), environ=HOME, extra=words)
