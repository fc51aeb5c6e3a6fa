"""What the job's checkpoints look like, as far as it can be told before one is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class CheckpointPlan:
    folder: str
    """`trainer.default_local_dir` on the nodes. Relative: the driver makes it absolute, below the user's home there."""
    engine: Literal["fsdp", "megatron"]
    world_size: int
    """Ranks of the actor; a checkpoint of FSDP can be loaded by as many ranks as have saved it, and no others."""
    contents: tuple[str, ...] = ("model", "optimizer", "extra")
    """What is loaded."""
    critic: bool = False
    resume: bool = True
    """recovery.resume: False, a retry starts from step 0."""
    from_start: bool = False
    """A retry may train again from step 0 when there is no checkpoint to go on from."""
    critic_contents: tuple[str, ...] = ()
    """Of the critic; empty: as the actor's."""
    dist_model: bool = False
    """Megatron: the model's weights are `*.distcp` shards, not a Hugging Face folder."""
    new_layout: bool | None = None
    """Megatron: `model/ optimizer/ extra/` (verl 0.9 and later) is what can be loaded; None: either, not known."""

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> CheckpointPlan:
        named = {**raw, "contents": tuple(raw["contents"]), "critic_contents": tuple(raw.get("critic_contents", ()))}
        return cls(**named)
