"""What a job trains, how and on what, in the words by which people look for a recipe.

Read as the checks read a job: where it says nothing, verl's own defaults count. None: not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runtime_env.stacks import stack_of
from submitter.checks.algorithm import ESTIMATOR, PLACEHOLDER
from submitter.checks.parallel import ACTOR, ROLLOUT
from submitter.checks.settings import Settings
from submitter.job.model import Job

_ESTIMATORS = {"gae": "ppo", "optimal_token_baseline": "otb", "reinforce_plus_plus": "reinforce++"}
_LOSSES = {"geo_mean": "gmpo", "dppo_tv": "dppo", "dppo_kl": "dppo"}
"""The algorithms' common names, where verl's differ (verl/trainer/ppo/core_algos.py)."""
_PLAIN_LOSS = "vanilla"
_GROUPED = "grpo"
"""The estimator of every algorithm that is known by its loss alone."""
_MANAGERS = ("reward.reward_manager.name", "reward_model.reward_manager")
"""As it is named since 0.8, and before."""
_SFT = "sft"


@dataclass(frozen=True)
class Recipe:
    model: str | None
    algorithm: str | None
    engine: str | None
    """Of training: fsdp, fsdp2, megatron, mindspeed, veomni …"""
    rollout: str | None
    nodes: int
    npus_per_node: int
    max_prompt_length: int | None
    max_response_length: int | None
    """In tokens."""


def recipe(job: Job) -> Recipe:
    """UsageError when the job's stack does not exist."""
    stack = stack_of(job)
    settings = Settings(job, stack.verl_release if stack else None)
    return Recipe(
        model=_model(settings),
        algorithm=_algorithm(settings) if settings.ppo else _supervised(job),
        engine=_engine(settings),
        rollout=settings.text(f"{ROLLOUT}.name"),
        nodes=job.cluster.nodes,
        npus_per_node=job.cluster.npus_per_node,
        max_prompt_length=settings.positive("data.max_prompt_length"),
        max_response_length=settings.positive("data.max_response_length"),
    )


def _model(settings: Settings) -> str | None:
    """The name alone: of a path its last folder, of a Hugging Face id what follows the owner."""
    path = settings.text("actor_rollout_ref.model.path" if settings.ppo else "model.path")
    return path.rstrip("/").rpartition("/")[2] if path and path != PLACEHOLDER else None


def _engine(settings: Settings) -> str | None:
    """The trainer for supervised fine-tuning chooses it by a Hydra group, `engine`."""
    return settings.text(f"{ACTOR}.strategy" if settings.ppo else "engine")


def _algorithm(settings: Settings) -> str | None:
    """By the loss where that is one's own, else by the estimator; DAPO is GRPO with its reward manager."""
    if settings.truth("distillation.enabled"):
        return "distillation"
    estimator, loss = settings.text(ESTIMATOR), settings.text(f"{ACTOR}.policy_loss.loss_mode")
    names = [_named(loss, _LOSSES, _PLAIN_LOSS), _named(estimator, _ESTIMATORS, _GROUPED)]
    if any(names):
        return " + ".join(dict.fromkeys(name for name in names if name))
    dapo = any(settings.text(manager) == "dapo" for manager in _MANAGERS)
    return "dapo" if dapo else estimator


def _named(name: str | None, common: Mapping[str, str], plain: str) -> str | None:
    return None if name in (None, plain) else common.get(str(name), name)


def _supervised(job: Job) -> str | None:
    return _SFT if _SFT in job.trainer.module.rpartition(".")[2] else None
