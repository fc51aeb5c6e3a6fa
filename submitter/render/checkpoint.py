"""Job → what its checkpoints look like, and how long its steps may take. Pure."""

from __future__ import annotations

import re

from runtime_env.stacks import stack_of
from runtime_env.verl_defaults import version_key
from submitter.checks.checkpoint_files import LOCAL_DIR, RESUME_MODE
from submitter.checks.parallel import ACTOR, CRITIC, world_size
from submitter.checks.roles import needs_critic
from submitter.checks.settings import Settings
from submitter.gang.checkpoint.plan import CheckpointPlan
from submitter.gang.plan import HangPlan
from submitter.job.model import Job

_SHARDED = ("fsdp", "fsdp2", "veomni")
"""Strategies that save one file a rank (FSDPCheckpointManager)."""
_NEW_LAYOUT_SINCE = (0, 9, 0)
_CONTENTS = ("model", "optimizer", "extra")
_FINE_TUNING = re.compile(r"verl\.trainer\.\w*sft\w*")
"""Trainers whose global_step_N has no folder per role (verl/utils/checkpoint/checkpoint_handler.py)."""


def settings_of(job: Job) -> Settings:
    stack = stack_of(job)
    return Settings(job, stack.verl_release if stack else None)


def checkpoint_plan(job: Job) -> CheckpointPlan | None:
    """None: the trainer is not verl, or its checkpoints are not known; it starts as its arguments say."""
    settings = settings_of(job)
    fine_tuning = _FINE_TUNING.fullmatch(job.trainer.module) is not None
    return _fine_tuning(job, settings) if fine_tuning else _ppo(job, settings) if settings.ppo else None


def hang_plan(job: Job) -> HangPlan | None:
    """None: the trainer's steps cannot be told from its log, since it is not verl or does not log to the console."""
    settings = settings_of(job)
    if not settings.ppo or "console" not in settings.items("trainer.logger"):
        return None
    plan = HangPlan()
    return HangPlan(
        step_min=plan.step_min if job.recovery.hang_min is None else job.recovery.hang_min,
        first_step_min=plan.first_step_min if job.recovery.first_step_min is None else job.recovery.first_step_min,
        test_freq=settings.positive("trainer.test_freq") or 0,
        save_freq=settings.positive("trainer.save_freq") or 0,
        val_before_train=settings.truth("trainer.val_before_train") is not False,
    )


def _ppo(job: Job, settings: Settings) -> CheckpointPlan | None:
    folder, world = settings.text(LOCAL_DIR), world_size(settings)
    strategy = settings.text(f"{ACTOR}.strategy")
    megatron = strategy == "megatron"
    if not folder or "://" in folder or world is None or not (megatron or strategy in _SHARDED):
        return None
    new = version_key(settings.release) >= _NEW_LAYOUT_SINCE
    return CheckpointPlan(
        folder=folder,
        engine="megatron" if megatron else "fsdp",
        world_size=world,
        contents=_contents(settings, ACTOR),
        critic=needs_critic(settings),
        resume=_resumes(job, settings.text(RESUME_MODE)),
        from_start=job.recovery.from_start,
        saves=settings.positive("trainer.save_freq") is not None,
        mode=settings.text(RESUME_MODE) or "auto",
        critic_contents=_contents(settings, CRITIC),
        dist_model=_dist_model(settings, new) if megatron else None,
        new_layout=new if megatron and job.stack is not None else None,
    )


def _fine_tuning(job: Job, settings: Settings) -> CheckpointPlan | None:
    """Its configuration is not read here: only what the job itself sets counts."""
    folder, strategy = settings.text(LOCAL_DIR), settings.text("model_engine") or "fsdp"
    if not folder or job.trainer.torchrun is None or strategy not in _SHARDED:
        return None
    mode = settings.text(RESUME_MODE) or "auto"
    return CheckpointPlan(
        folder=folder,
        engine="fsdp",
        world_size=job.cluster.nodes * job.trainer.torchrun.nproc_per_node,
        resume=_resumes(job, mode),
        from_start=job.recovery.from_start,
        mode=mode,
        roles=False,
    )


def _resumes(job: Job, mode: str | None) -> bool:
    return job.recovery.resume and mode != "disable"


def _contents(settings: Settings, role: str) -> tuple[str, ...]:
    named = [item for item in settings.items(f"{role}.checkpoint.load_contents") if isinstance(item, str)]
    return tuple(named) or _CONTENTS


def _dist_model(settings: Settings, new: bool) -> bool | None:
    """Weights are Megatron's shards where the job asks for them, and before verl 0.9 also where there is no bridge.

    LoRA saves shards of the adapter alone: None, either.
    """
    lora = [settings.integer(f"actor_rollout_ref.model.{key}") or 0 for key in ("lora.rank", "lora_rank")]
    dist = settings.truth(f"{ACTOR}.megatron.use_dist_checkpointing")
    bridge = settings.truth(f"{ACTOR}.megatron.use_mbridge")
    if max(lora) > 0 or dist is None or (bridge is None and not new):
        return None
    return dist or (not new and not bridge)
