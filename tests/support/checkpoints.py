"""Checkpoint folders in verl's layouts, made of small files that torch itself has written."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

DATA = Path(__file__).parents[1] / "data" / "checkpoints"
SHARD = DATA / "shard.pt"
WEIGHTS = DATA / "weights.safetensors"
INDEX = DATA / "metadata"
"""Of torch.distributed.checkpoint; it names one shard, `__0_0.distcp`, of DISTCP_BYTES."""
DISTCP_BYTES = 4671
KINDS = ("model", "optim", "extra_state")


def fsdp(folder: Path, step: int, world: int, ranks: Iterable[int] | None = None, role: str = "actor") -> Path:
    """`global_step_<step>` with the shards of `ranks` (all), and data.pt."""
    made = folder / f"global_step_{step}"
    (made / role).mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        for rank in range(world) if ranks is None else ranks:
            shutil.copy(SHARD, made / role / f"{kind}_world_size_{world}_rank_{rank}.pt")
    shutil.copy(SHARD, made / "data.pt")
    return made


def dist_tree(folder: Path) -> Path:
    """A distributed checkpoint of megatron.core."""
    folder.mkdir(parents=True)
    shutil.copy(INDEX, folder / ".metadata")
    shutil.copy(SHARD, folder / "common.pt")
    (folder / "metadata.json").write_text("{}")
    (folder / "__0_0.distcp").write_bytes(bytes(DISTCP_BYTES))
    return folder


def hugging_face(folder: Path) -> Path:
    folder.mkdir(parents=True)
    names = [f"model-0000{number}-of-00002.safetensors" for number in (1, 2)]
    for name in names:
        shutil.copy(WEIGHTS, folder / name)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": names[0], "b": names[1]}}))
    return folder


def megatron_new(folder: Path, step: int, world: int) -> Path:
    """As verl 0.9 has it, the model as Hugging Face."""
    made = folder / f"global_step_{step}"
    actor = made / "actor"
    hugging_face(actor / "model" / "huggingface")
    dist_tree(actor / "optimizer" / "dist_ckpt")
    dist_tree(actor / "extra" / "dist_ckpt")
    (actor / "ckpt_contents.json").write_text(json.dumps({"world_size": world}))
    shutil.copy(SHARD, made / "data.pt")
    return made


def megatron_old(folder: Path, step: int) -> Path:
    """As verl 0.8 has it, the model as Hugging Face."""
    made = folder / f"global_step_{step}"
    hugging_face(made / "actor" / "huggingface")
    dist_tree(made / "actor" / "dist_ckpt")
    shutil.copy(SHARD, made / "data.pt")
    return made


def cut(path: Path, size: int | None = None) -> None:
    """What a killed process, or a full disk, leaves of a file: its beginning."""
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2 if size is None else size])
