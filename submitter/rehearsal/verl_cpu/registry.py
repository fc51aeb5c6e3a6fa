"""Names the rollout back end `hf_cpu` to verl; torch and transformers are loaded only by whoever uses it."""

from __future__ import annotations

from typing import Any

from verl.workers.rollout import base
from verl.workers.rollout.replica import RolloutReplicaRegistry

NAME = "hf_cpu"


def _replica() -> Any:
    from .rollout import HfCpuReplica

    return HfCpuReplica


RolloutReplicaRegistry.register(NAME, _replica)
# The trainer's side of a rollout has no public registry in verl 0.9.1, only this table.
base._ROLLOUT_REGISTRY[(NAME, "async")] = f"{__package__}.rollout.HfCpuAdapter"
