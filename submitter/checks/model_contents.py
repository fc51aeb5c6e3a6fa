"""What lies in the folder of the model that a job trains, where it can be read here. No weight is read, only sizes."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal

from submitter.checks.model_files import Unreadable, model_folder, read_json
from submitter.checks.settings import Settings

MODEL = "actor_rollout_ref.model.path"
FILES_LISTED = 10_000
"""A model of 200 shards has about 220 files."""
POINTER_BYTES = 1024
"""A git-lfs pointer has about 130; no shard of weights is that small."""

INDEXES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
_WEIGHT_ENDS = (".safetensors", ".bin", ".pt", ".pth")

State = Literal["read", "elsewhere", "lost", "no_folder", "unreadable"]
"""`elsewhere`: not on this machine, or a name on the Hugging Face hub; `lost`: only the folder around it is here."""


@dataclass(frozen=True)
class ModelContents:
    path: str
    """As the job names it."""
    state: State
    why: str = ""
    config: Mapping[str, object] | None = None
    """config.json; None: `config_why` says why not."""
    config_why: Unreadable | None = None
    tokenizer: Mapping[str, object] = field(default_factory=dict)
    """tokenizer_config.json; empty when there is none."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Bytes of each file by its name; -1 for what is no regular file or a link to nothing."""
    index: str | None = None
    """The index of the weights that is there."""
    index_why: Unreadable | None = None
    shards: tuple[str, ...] = ()
    """That the index names."""
    pointers: tuple[str, ...] = ()
    """Weights and tokenizer files that are git-lfs pointers."""

    @property
    def weights(self) -> list[str]:
        return [name for name in self.sizes if name.endswith(_WEIGHT_ENDS)]


def read_model(settings: Settings, environ: Mapping[str, str]) -> ModelContents | None:
    """None: the job names no model."""
    name = settings.text(MODEL)
    if not name or not settings.is_set(MODEL):
        return None
    folder = model_folder(name, environ) if "://" not in name else None
    if folder is None:
        return ModelContents(name, _absence(name))
    try:
        sizes = dict(islice(((entry.name, _size(entry)) for entry in os.scandir(folder)), FILES_LISTED))
    except OSError as error:
        return ModelContents(name, "unreadable", error.strerror or str(error))
    return _contents(name, folder, sizes)


def _absence(name: str) -> State:
    try:
        path = Path(name).expanduser()
        if not path.is_absolute():
            return "elsewhere"
        if path.exists():
            return "no_folder"
        return "lost" if path.parent.is_dir() and path.parent != Path(path.anchor) else "elsewhere"
    except (OSError, ValueError, RuntimeError):  # no leave to look, a NUL in the name, nobody's home
        return "elsewhere"


def _contents(name: str, folder: Path, sizes: dict[str, int]) -> ModelContents:
    config, config_why = _object(folder / "config.json")
    tokenizer, _ = _object(folder / "tokenizer_config.json")
    index = next((one for one in INDEXES if one in sizes), None)
    named, index_why = _object(folder / index) if index else (None, None)
    table = (named or {}).get("weight_map")
    shards = sorted({one for one in table.values() if isinstance(one, str)}) if isinstance(table, dict) else []
    return ModelContents(
        path=name,
        state="read",
        config=config,
        config_why=config_why,
        tokenizer=tokenizer or {},
        sizes=sizes,
        index=index,
        index_why=index_why,
        shards=tuple(shards),
        pointers=tuple(
            sorted(one for one, size in sizes.items() if 0 < size <= POINTER_BYTES and _pointer(folder / one))
        ),
    )


def _object(path: Path) -> tuple[dict[str, object] | None, Unreadable | None]:
    try:
        return read_json(path), None
    except Unreadable as error:
        return None, error


def _size(entry: os.DirEntry[str]) -> int:
    try:
        status = entry.stat()
    except OSError:
        return -1
    return status.st_size if stat.S_ISREG(status.st_mode) else -1


def _pointer(path: Path) -> bool:
    if not path.name.endswith((*_WEIGHT_ENDS, ".json", ".model")):
        return False
    try:
        with path.open("rb") as file:
            return file.read(32).startswith(b"version https://git-lfs")
    except OSError:
        return False
