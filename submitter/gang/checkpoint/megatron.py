"""Checkpoints of Megatron: distributed ones (`*.distcp` with `.metadata`), and weights as Hugging Face has them.

Since verl 0.9 each of `model/ optimizer/ extra/` has its own, and `ckpt_contents.json` is written when all are whole;
before, one `dist_ckpt` held everything. Every node opens every file: the folder has to be shared.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from .headers import safetensors_problem
from .plan import CheckpointPlan
from .seen import Problem

MANIFEST = "ckpt_contents.json"
MANIFEST_BYTES = 1_000_000
METADATA_BYTES = 64 * 1024 * 1024
"""A larger index takes too long to read; its files are then only counted."""
FILES_READ = 200_000
NEW = ("model", "optimizer", "extra")
LABELS = ("common.pt", "metadata.json")
"""What megatron.core.dist_checkpointing opens beside `.metadata`; Megatron-FSDP writes neither."""


def megatron_problems(plan: CheckpointPlan, folder: Path, contents: Collection[str], first: bool) -> list[Problem]:
    """Of one role. `first`: this node also holds the files against their index."""
    if not folder.is_dir():
        return [Problem("incomplete", "")]
    new = any((folder / name).is_dir() for name in NEW)
    old = any(_filled(folder / name) for name in ("dist_ckpt", "huggingface"))
    if not new and not old:
        return [Problem("incomplete", "*")]
    if plan.new_layout is not None and plan.new_layout != new:
        return [Problem("layout", "model/, optimizer/, extra/" if new else "dist_ckpt/")]
    if not new:
        return list(_old(plan, folder, contents, first))
    return [*_manifest(plan, folder), *_new(plan, folder, contents, first)]


def names_below(folder: Path) -> str:
    """Fingerprint of all file names below, which every node has to see alike."""
    walk = (str((Path(base) / name).relative_to(folder)) for base, _, names in os.walk(folder) for name in names)
    names = sorted(islice(walk, FILES_READ))
    return f"{len(names)} files {hashlib.sha256(chr(0).join(names).encode(errors='replace')).hexdigest()[:16]}"


def _manifest(plan: CheckpointPlan, folder: Path) -> Iterator[Problem]:
    try:
        with (folder / MANIFEST).open("rb") as file:
            world = json.loads(file.read(MANIFEST_BYTES))["world_size"]
    except FileNotFoundError:
        yield Problem("incomplete", MANIFEST)
    except (ValueError, KeyError, TypeError, RecursionError):
        yield Problem("unreadable", MANIFEST)
    else:
        if world != plan.world_size:
            yield Problem("world_size", f"{world}: {plan.world_size} ranks wanted")


def _new(plan: CheckpointPlan, folder: Path, contents: Collection[str], first: bool) -> Iterator[Problem]:
    model = folder / "model" / "dist_ckpt"
    if (model / ".metadata").exists() and not any((model / name).exists() for name in LABELS):
        yield from _tree(folder, "model/dist_ckpt", first)  # Megatron-FSDP: everything is in this one
        return
    if "model" in contents or "hf_model" in contents:
        yield from _weights(plan, folder, ("model/dist_ckpt", "model/huggingface"), first)
    for name in ("optimizer", "extra"):
        if name in contents:
            yield from _tree(folder, f"{name}/dist_ckpt", first)


def _old(plan: CheckpointPlan, folder: Path, contents: Collection[str], first: bool) -> Iterator[Problem]:
    one = list(_tree(folder, "dist_ckpt", first))
    yield from one
    if "model" in contents and not one:
        yield from _weights(plan, folder, ("dist_ckpt", "huggingface"), first=False)


def _weights(plan: CheckpointPlan, folder: Path, names: tuple[str, str], first: bool) -> Iterator[Problem]:
    """`names`: where they are as shards, and as Hugging Face has them."""
    shards, plain = names
    dist = plan.dist_model
    if dist is None:
        dist = not any((folder / plain).glob("*.safetensors"))
    yield from _tree(folder, shards, first) if dist else _hugging_face(folder, plain, first)


def _tree(folder: Path, name: str, first: bool) -> Iterator[Problem]:
    """One distributed checkpoint: its labels, and the shards that its index names."""
    tree = folder / name
    if not _filled(tree):
        yield Problem("incomplete", name)
        return
    labels = [label for label in LABELS if not (tree / label).exists()]
    missing = [*([] if (tree / ".metadata").exists() else [".metadata"]), *(labels if len(labels) == 1 else [])]
    yield from (Problem("incomplete", f"{name}/{label}") for label in missing)
    if not missing and first:
        yield from _against_index(tree, name)


def _against_index(tree: Path, name: str) -> Iterator[Problem]:
    index = tree / ".metadata"
    if index.stat().st_size > METADATA_BYTES:
        if not any(tree.glob("*.distcp")):
            yield Problem("incomplete", f"{name}/*.distcp")
        return
    try:
        wanted = shard_sizes(index.read_bytes())
    except Exception as error:  # pickle: damaged bytes raise nearly anything
        yield Problem("unreadable", f"{name}/.metadata: {type(error).__name__}")
        return
    for shard, end in sorted(wanted.items()):
        path = tree / shard
        if not path.exists():
            yield Problem("incomplete", f"{name}/{shard}")
        elif (size := path.stat().st_size) < end:
            yield Problem("unreadable", f"{name}/{shard}: {size} B, {end} wanted")


def _hugging_face(folder: Path, name: str, first: bool) -> Iterator[Problem]:
    tree = folder / name
    files = _indexed(tree)
    if files is None:
        yield Problem("unreadable", f"{name}/model.safetensors.index.json")
        return
    for file in files:
        if not (tree / file).exists():
            yield Problem("incomplete", f"{name}/{file}")
        elif first and (why := safetensors_problem(tree / file)):
            yield Problem("unreadable", f"{name}/{file}: {why}")


def _indexed(tree: Path) -> list[str] | None:
    """Names of the weights' files; without an index there is one file. None: the index cannot be read."""
    index = tree / "model.safetensors.index.json"
    if not index.exists():
        return sorted(path.name for path in tree.glob("*.safetensors")) or ["model.safetensors"]
    try:
        names = set(json.loads(index.read_bytes())["weight_map"].values())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return sorted(str(name) for name in names)


def _filled(folder: Path) -> bool:
    return folder.is_dir() and any(True for _ in folder.iterdir())


class _Plain:
    """Stands for every class that the index was pickled with: holds what it was made of, and does nothing."""

    def __init__(self, *parts: Any, **named: Any) -> None:
        self.parts = parts
        self.__dict__.update(named)

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, Mapping):
            self.__dict__.update(state)

    def __call__(self, *parts: Any, **named: Any) -> _Plain:
        return _Plain(*parts, **named)

    def __hash__(self) -> int:
        return id(self)

    def append(self, _item: Any) -> None:
        """Of a list class."""

    def extend(self, _items: Any) -> None:
        """Of a list class."""

    def __setitem__(self, _key: Any, _value: Any) -> None:
        """Of a dict class."""


class _Index(pickle.Unpickler):
    """torch.distributed.checkpoint's Metadata without torch: no class of the file's choice is ever loaded."""

    def find_class(self, _module: str, _name: str) -> Any:
        return _Plain

    def persistent_load(self, _pid: Any) -> Any:
        return None


def shard_sizes(pickled: bytes) -> dict[str, int]:
    """Of each `*.distcp` that a `.metadata` names: the bytes that it must have at least.

    Raises nearly anything when the bytes are no such index.
    """
    stored = _Index(io.BytesIO(pickled)).load().storage_data
    ends: dict[str, int] = {}
    for one in stored.values():
        if Path(one.relative_path).name != one.relative_path:
            raise ValueError(f"not beside the index: {one.relative_path}")
        ends[one.relative_path] = max(ends.get(one.relative_path, 0), int(one.offset) + int(one.length))
    return ends
