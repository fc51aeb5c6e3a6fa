"""The checkpoint that a job's first attempt would resume, where its folder can be read here: names, never weights."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from submitter.checks.settings import Settings

LOCAL_DIR = "trainer.default_local_dir"
RESUME_PATH = "trainer.resume_from_path"
RESUME_MODE = "trainer.resume_mode"
TRACKER = "latest_checkpointed_iteration.txt"

_TRACKER_BYTES = 64
_FILES_LISTED = 100_000
"""Three files a rank; no world is that large."""
_FOLDERS_LISTED = 64
_LABELS = (".metadata", "common.pt", "metadata.json")
"""What megatron.core.dist_checkpointing opens on every node beside the *.distcp files."""
_SHARD = re.compile(r"(model|optim|extra_state)_world_size_(\d{1,7})_rank_(\d{1,7})\.pt")
_STEP = re.compile(r"global_step_(\d{1,12})/?$")


@dataclass(frozen=True)
class Shards:
    """One kind of file of an FSDP checkpoint, as `actor/model_world_size_8_rank_0.pt`."""

    world: int
    """Of the run that saved it: in each name."""
    ranks: frozenset[int]
    empty: tuple[str, ...] = ()
    """Files of 0 bytes."""

    @property
    def missing(self) -> list[int]:
        return [rank for rank in range(self.world) if rank not in self.ranks]


@dataclass(frozen=True)
class Checkpoint:
    folder: str
    """`…/global_step_N`."""
    key: str
    """The setting that leads to it."""
    present: bool
    """False: the tracker names it, or the job does, and it is not there although the folder around it is."""
    step: int | None = None
    actor: dict[str, Shards] | None = None
    """`model`, `optim`, `extra_state`; None: there is no folder `actor`."""
    others: tuple[str, ...] = ()
    """Further names in `actor`: `dist_ckpt`, `huggingface` …"""
    filled: tuple[str, ...] = ()
    """Those of them that are folders with something in them."""
    unlabelled: tuple[str, ...] = ()
    """Files that a distributed checkpoint of Megatron lacks, as `dist_ckpt/common.pt`: only one node writes them."""
    critic: bool = False
    """There is a folder `critic`."""
    data_state: bool = False
    """data.pt: which prompts were used."""


def read_checkpoint(settings: Settings) -> Checkpoint | None:
    """None: nothing would be resumed, or it cannot be told here."""
    mode = settings.text(RESUME_MODE)
    try:
        if mode == "resume_path":
            named = settings.text(RESUME_PATH)
            return _look(Path(named).expanduser(), RESUME_PATH) if named else None
        return _latest(settings) if mode == "auto" else None
    except (OSError, ValueError, RuntimeError):  # no leave to read, a NUL in the name, nobody's home
        return None


def _latest(settings: Settings) -> Checkpoint | None:
    """As verl/utils/checkpoint/checkpoint_manager.py, find_latest_ckpt_path."""
    named = settings.text(LOCAL_DIR)
    folder = Path(named).expanduser() if named else None
    if folder is None or not folder.is_absolute():
        return None
    tracker = folder / TRACKER
    if not tracker.exists() or not stat.S_ISREG(tracker.stat().st_mode):
        return None
    with tracker.open("rb") as file:
        step = file.read(_TRACKER_BYTES).strip()
    return _look(folder / f"global_step_{int(step)}", LOCAL_DIR) if step.isdigit() else None


def _look(folder: Path, key: str) -> Checkpoint | None:
    step = _STEP.search(str(folder))
    number = int(step[1]) if step else None
    if not folder.is_absolute():
        return None
    if not folder.is_dir():
        return Checkpoint(str(folder), key, False, number) if folder.parent.is_dir() else None
    actor = folder / "actor"
    shards, others = _shards(actor) if actor.is_dir() else (None, ())
    filled = tuple(name for name in others[:_FOLDERS_LISTED] if _filled(actor / name))
    lacks = tuple(_unlabelled(actor, filled))
    critic, data_state = (folder / "critic").is_dir(), (folder / "data.pt").exists()
    return Checkpoint(str(folder), key, True, number, shards, others, filled, lacks, critic, data_state)


def _filled(path: Path) -> bool:
    return path.is_dir() and any(True for _ in path.iterdir())


def _unlabelled(actor: Path, names: Iterable[str]) -> Iterator[str]:
    """`dist_ckpt` until verl 0.8, `optimizer/dist_ckpt` and its like since 0.9: each folder that holds weights."""
    folders = [actor / name for name in names]
    inner = [entry for folder in folders for entry in islice(folder.iterdir(), _FOLDERS_LISTED) if entry.is_dir()]
    for folder in [*folders, *sorted(inner)]:
        if any(True for _ in folder.glob("*.distcp")):
            missing = [name for name in _LABELS if not (folder / name).exists()]
            wanted = (".metadata",) if len(missing) > 1 else _LABELS  # Megatron-FSDP writes .metadata alone
            yield from (str((folder / name).relative_to(actor)) for name in wanted if name in missing)


def _shards(actor: Path) -> tuple[dict[str, Shards], tuple[str, ...]]:
    found: dict[str, list[tuple[int, int, str]]] = {}
    others = []
    empty: dict[str, list[str]] = {}
    with os.scandir(actor) as entries:
        for entry in islice(entries, _FILES_LISTED):
            match = _SHARD.fullmatch(entry.name)
            if match is None:
                others.append(entry.name)
                continue
            found.setdefault(match[1], []).append((int(match[2]), int(match[3]), entry.name))
            if entry.stat().st_size == 0:
                empty.setdefault(match[1], []).append(entry.name)
    return {kind: _kind(rows, empty.get(kind, [])) for kind, rows in found.items()}, tuple(sorted(others))


def _kind(rows: list[tuple[int, int, str]], empty: list[str]) -> Shards:
    """Files of two worlds in one folder: the larger group counts, since verl looks for its own world's."""
    worlds = [world for world, _, _ in rows]
    world = max(sorted(set(worlds)), key=worlds.count)
    return Shards(world, frozenset(rank for one, rank, _ in rows if one == world), tuple(sorted(empty)))
