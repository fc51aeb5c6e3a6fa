"""Which roles and workers a job's trainer starts, as verl decides it (trainer/ppo/utils.py, 0.7.1 to 0.9.1)."""

from __future__ import annotations

from runtime_env.verl_defaults import version_key
from submitter.checks.parallel import ACTOR
from submitter.checks.settings import Settings

_ENGINE_SINCE = (0, 8)
"""The one worker implementation over model engines; 0.7.1 has it behind use_legacy_worker_impl=disable."""


def needs_critic(settings: Settings) -> bool:
    """`critic.enable` where the job decides; else the estimator alone does."""
    enabled = settings.value("critic.enable")
    return settings.text("algorithm.adv_estimator") == "gae" if enabled is None else bool(enabled)


def needs_reference(settings: Settings) -> bool:
    return any(settings.truth(key) for key in ("algorithm.use_kl_in_reward", f"{ACTOR}.use_kl_loss"))


def reference_in_actor(settings: Settings) -> bool:
    """With LoRA the reference model is the actor without its adapter."""
    model = "actor_rollout_ref.model"
    ranks = [settings.integer(f"{model}.{key}") or 0 for key in ("lora.rank", "lora_rank")]
    return max(ranks) > 0 or settings.value(f"{model}.lora_adapter_path") is not None


def uses_engine(settings: Settings) -> bool:
    """Workers over model engines: they assert what the older workers round down."""
    newer = version_key(settings.release) >= _ENGINE_SINCE
    return newer or settings.text("trainer.use_legacy_worker_impl") == "disable"
