"""What the job's checkpoints look like, as far as it can be told before one is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class CheckpointPlan:
    folder: str
    """`trainer.default_local_dir`. Relative or with `~`: the driver makes it absolute, below the user's home there."""
    engine: Literal["fsdp", "megatron"]
    """fsdp: one file a rank, named by the world size (FSDP, FSDP2, VeOmni)."""
    world_size: int
    """Ranks of the actor; a checkpoint is loaded by as many ranks as have saved it."""
    contents: tuple[str, ...] = ("model", "optimizer", "extra")
    """What is loaded."""
    critic: bool = False
    resume: bool = True
    """False: recovery.resume is off, or the job disables it; a retry starts from step 0."""
    from_start: bool = False
    """A retry may train again from step 0 when there is no checkpoint to go on from."""
    saves: bool = True
    mode: str = "auto"
    """The job's own `trainer.resume_mode`."""
    critic_contents: tuple[str, ...] = ("model", "optimizer", "extra")
    roles: bool = True
    """`global_step_N/actor`, `…/critic`; False (fine-tuning): all of it lies in `global_step_N` itself."""
    dist_model: bool | None = None
    """Megatron: the weights are `*.distcp` shards (True) or a Hugging Face folder (False); None: either."""
    new_layout: bool | None = None
    """Megatron: `model/ optimizer/ extra/` (verl 0.9 and later) is what the trainer loads; None: not known."""

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> CheckpointPlan:
        lists = ("contents", "critic_contents")
        return cls(**{**raw, **{name: tuple(raw[name]) for name in lists if name in raw}})

    def parts(self) -> list[tuple[str, tuple[str, ...]]]:
        """(folder below `global_step_N`, what is loaded from it)."""
        if not self.roles:
            return [("", self.contents)]
        return [("actor", self.contents), *([("critic", self.critic_contents)] if self.critic else [])]
