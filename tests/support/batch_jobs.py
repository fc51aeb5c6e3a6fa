"""Jobs for the batch arithmetic: a sane one, and what changes of it."""

from __future__ import annotations

from collections.abc import Mapping

from submitter.checks.batch import RULES
from submitter.checks.finding import Finding
from submitter.job.model import Job, Trainer
from tests.support.builders import job, raw
from tests.support.checks import findings_by

ACTOR, REF, ROLLOUT = (f"actor_rollout_ref.{name}" for name in ("actor", "ref", "rollout"))
MEGATRON = f"{ACTOR}.megatron"
TRAIN, MINI, N = "data.train_batch_size", f"{ACTOR}.ppo_mini_batch_size", f"{ROLLOUT}.n"
MICRO, LOG_PROB = f"{ACTOR}.ppo_micro_batch_size_per_gpu", f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu"
DYNAMIC, WORKERS = f"{ACTOR}.use_dynamic_bsz", f"{ROLLOUT}.agent.num_workers"
OLD, MID, NEW = "cann-8.5.0", "cann-9.0.0", "cann-9.1.0"
"""verl 0.7.1, 0.8.0 and main of August 2026 (the trainer over the transfer queue)."""
MAIN = "verl.trainer.main_ppo"
ONE_STEP = "verl.experimental.one_step_off_policy.main_ppo"
ASYNC = "verl.experimental.fully_async_policy.fully_async_main"

# 64 × 8 = 512 samples over 64 NPUs: 8 each, 4 of them per mini-batch.
SANE = {
    "algorithm.adv_estimator": "grpo",
    "trainer.nnodes": "4",
    "trainer.n_gpus_per_node": "16",
    TRAIN: "64",
    MINI: "32",
    MICRO: "2",
    N: "8",
    f"{ROLLOUT}.name": "vllm",
    LOG_PROB: "4",
}
TOKENS = {DYNAMIC: "True"}
LAYOUT = {
    "model_engine": "megatron",
    f"{ACTOR}.strategy": "megatron",
    f"{MEGATRON}.tensor_model_parallel_size": "2",
    f"{MEGATRON}.pipeline_model_parallel_size": "4",
    f"{MEGATRON}.context_parallel_size": "4",
}
"""World 64 / (2 × 4 × 4) = DP 2."""
VIRTUAL = {**LAYOUT, f"{MEGATRON}.virtual_pipeline_model_parallel_size": "2"}
REFERENCE = {f"{ACTOR}.use_kl_loss": "True", f"{REF}.log_prob_micro_batch_size_per_gpu": "4"}
FULLY = {
    TRAIN: "0",
    "data.gen_batch_size": "1",
    "actor_rollout_ref.hybrid_engine": "False",
    f"{ROLLOUT}.calculate_log_probs": "True",
    "async_training.require_batches": "2",
    "async_training.trigger_parameter_sync_step": "4",
    "rollout.total_rollout_steps": "51200",
}
REWARD = {"reward.reward_model.enable": "True", "reward.reward_model.enable_resource_pool": "False"}
SEPARATE = {"trainer.v1.trainer_mode": "separate_async"}


def made(changes: Mapping[str, str], stack: str = MID, module: str = MAIN) -> Job:
    values = {**SANE, **changes}
    return job(
        groups={"all": {key: raw(text) for key, text in values.items()}}, stack=stack, trainer=Trainer(module, "ray")
    )


def said(changes: Mapping[str, str], stack: str = MID, module: str = MAIN) -> list[Finding]:
    return findings_by(RULES, made(changes, stack, module))


def line(changes: Mapping[str, str], key: str) -> int | None:
    keys = list({**SANE, **changes})
    return keys.index(key) + 1 if key in keys else None
