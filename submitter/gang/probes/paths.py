"""What the job reads and writes: model, data, folders and the user's own modules, as this node sees them."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .measure import Facts, Probe
from .odd import odd_ones
from .verdict import Judge, Node, Verdict
from .wish import Wish

INDEX_LIMIT_BYTES = 64 * 1024 * 1024
"""The index of the largest models has some MB."""
FILES_LIMIT = 20_000
"""A model's folder has hundreds of files: more is a folder by mistake."""
SMALL_BYTES = 1024 * 1024
"""Files up to this size (config, tokenizer) are compared by content, larger ones by size alone."""
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "tokenizer_config.json", "tiktoken.model")
WEIGHTS = (".safetensors", ".bin")
IMPORT_S = 60.0
"""A module that imports torch takes 10 s on a cold file system."""
CHECKPOINTS_KEPT = 2
"""The new one is written before an old one is removed."""
PARQUET_MAGIC = b"PAR1"

_IMPORT = """
import importlib, importlib.util, sys
name = sys.argv[1]
if name.endswith(".py"):
    spec = importlib.util.spec_from_file_location("npurun_probe_module", name)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
else:
    importlib.import_module(name)
"""


def model(wish: Wish) -> Facts:
    """Files, bytes, what is missing, and a fingerprint that is equal for equal folders."""
    folder = Path(str(wish.model))
    if not folder.is_dir():
        return {"missing": [str(folder)], "bytes": None, "fingerprint": None}
    sizes = _sizes(folder)
    return {
        "missing": _missing(folder, sizes),
        "bytes": sum(size for name, size in sizes.items() if name.endswith(WEIGHTS)),
        "fingerprint": _fingerprint(folder, sizes),
    }


def data(wish: Wish) -> Facts:
    """Per data file: its size, or why it cannot be read; and its columns where a reader of its format is installed."""
    return {"files": {name: _data_file(Path(name)) for name in wish.data_files}}


def writable(wish: Wish) -> Facts:
    """Per folder: free bytes, or why nothing can be written there. The nearest folder that exists counts."""
    return {"folders": {name: _write(Path(name)) for name in wish.write_dirs}}


def modules(wish: Wish) -> Facts:
    """Per module of the user: None, or the last line of the error that importing it gives."""
    return {"modules": {name: _import_error(name) for name in wish.modules}}


def incomplete(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: a shard that the index names and the folder lacks fails after the other nodes have loaded theirs."""
    return [
        Verdict("NR551", node.ip, "error", _some(missing), None, {"count": len(missing)})
        for node in nodes
        if (missing := node.facts("model").get("missing"))
    ]


def other_model(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: names and sizes of all files, and the contents of small ones; ranks would start from other weights."""
    seen = {node.ip: node.facts("model").get("fingerprint") for node in nodes if not node.facts("model").get("missing")}
    return [Verdict("NR552", ip, "error", value[:12], usual[:12]) for ip, value, usual in odd_ones(seen)]


def bad_data(nodes: Sequence[Node], wish: Wish) -> list[Verdict]:
    """Source: verl's RLHFDataset opens every file on the node where its driver runs: it may be any of the gang."""
    found = []
    for node in nodes:
        for name, one in node.facts("data").get("files", {}).items():
            absent = [column for column in wish.columns if one["columns"] is not None and column not in one["columns"]]
            why = one["why"] or (f"no column {', '.join(absent)}" if absent else None)
            if why:
                found.append(Verdict("NR553", node.ip, "error", name, None, {"why": why}))
    return found


def not_writable(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: a file written, read back and removed in the folder, or in the nearest one that exists."""
    return [
        Verdict("NR554", node.ip, "error", name, None, {"why": one["why"]})
        for node in nodes
        for name, one in node.facts("writable").get("folders", {}).items()
        if one["why"]
    ]


def not_shared(nodes: Sequence[Node], wish: Wish) -> list[Verdict]:
    """Source: each node left a token in the folder and looked for the others'; a resume reads all ranks' files."""
    everyone = {node.ip for node in nodes if node.facts("peers")}
    if len(everyone) < 2:
        return []
    return [
        Verdict("NR555", node.ip, "error", folder, None, {"others": ", ".join(sorted(lacking))})
        for node in nodes
        for folder, seen in node.facts("peers").get("tokens", {}).items()
        if (lacking := everyone - set(seen)) and node.ip in seen
    ]


def little_space(nodes: Sequence[Node], wish: Wish) -> list[Verdict]:
    """Source: size of the model's files × what the job saves of it, for the checkpoints that exist at one time."""
    found = []
    for node in nodes:
        size = node.facts("model").get("bytes")
        if not wish.checkpoint_ratio or not size:
            continue
        wanted = size * wish.checkpoint_ratio * CHECKPOINTS_KEPT
        for name, one in node.facts("writable").get("folders", {}).items():
            if name in wish.shared_dirs and one["free"] is not None and one["free"] < wanted:
                found.append(Verdict("NR556", node.ip, "warning", _gib(one["free"]), _gib(wanted), {"folder": name}))
    return found


def not_importable(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: imported in a process of its own on each node, with the environment of Ray's workers."""
    return [
        Verdict("NR557", node.ip, "error", name, None, {"why": why})
        for node in nodes
        for name, why in node.facts("modules").get("modules", {}).items()
        if why
    ]


PROBES = (
    Probe("model", model, 10.0, lambda wish: wish.model),
    Probe("data", data, 10.0, lambda wish: wish.data_files),
    Probe("writable", writable, 10.0, lambda wish: wish.write_dirs),
    Probe("modules", modules, IMPORT_S + 2, lambda wish: wish.modules),
)
JUDGES = (
    Judge("NR551", "model", incomplete),
    Judge("NR552", "model", other_model),
    Judge("NR553", "data", bad_data),
    Judge("NR554", "writable", not_writable),
    Judge("NR555", "peers", not_shared),
    Judge("NR556", "writable", little_space),
    Judge("NR557", "modules", not_importable),
)


def _sizes(folder: Path) -> dict[str, int]:
    """File -> bytes, one level: links are followed, as a model in a Hugging Face cache consists of them."""
    sizes: dict[str, int] = {}
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if len(sizes) >= FILES_LIMIT:
            break
        try:
            if entry.is_file():
                sizes[entry.name] = entry.stat().st_size
        except OSError:  # a link that leads nowhere: it is not there
            continue
    return sizes


def _missing(folder: Path, sizes: dict[str, int]) -> list[str]:
    missing = [] if sizes.get("config.json") else ["config.json"]
    if not any(sizes.get(name) for name in TOKENIZERS):
        missing.append("tokenizer")
    indexes = [name for name in sizes if name.endswith(".index.json")]
    shards = {shard for name in indexes for shard in _shards(folder / name)}
    missing += [name for name in sorted(shards) if not sizes.get(name)]
    if not shards and not any(size and name.endswith(WEIGHTS) for name, size in sizes.items()):
        missing.append("weights (*.safetensors)")
    return missing


def _shards(index: Path) -> set[str]:
    try:
        if index.stat().st_size > INDEX_LIMIT_BYTES:
            return set()
        names = json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return {f"{index.name} (not readable)"}
    return {str(name) for name in names}


def _fingerprint(folder: Path, sizes: dict[str, int]) -> str:
    digest = hashlib.sha256()
    for name, size in sorted(sizes.items()):
        digest.update(f"{name}\0{size}\0".encode())
        if size <= SMALL_BYTES and not name.endswith(WEIGHTS):
            digest.update((folder / name).read_bytes())
    return digest.hexdigest()


def _data_file(path: Path) -> dict[str, Any]:
    fact: dict[str, Any] = {"bytes": None, "columns": None, "why": None}
    try:
        if not path.is_file():
            return {**fact, "why": "it is not there" if not path.exists() else "it is no file"}
        fact["bytes"] = path.stat().st_size
        with path.open("rb") as file:
            if path.suffix == ".parquet" and file.read(len(PARQUET_MAGIC)) != PARQUET_MAGIC:
                return {**fact, "why": "it is no parquet file"}
    except OSError as error:
        return {**fact, "why": error.strerror}
    return {**fact, **_columns(path)}


def _columns(path: Path) -> dict[str, Any]:
    if path.suffix != ".parquet":
        return {}
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        return {}
    try:
        return {"columns": list(parquet.read_schema(path).names)}
    except Exception as error:  # pyarrow raises what the broken part of the file makes it
        return {"why": str(error).splitlines()[0][:200]}


def _write(folder: Path) -> dict[str, Any]:
    existing = next(one for one in (folder, *folder.parents) if one.exists())
    token = existing / f".npurun-write-{uuid.uuid4().hex}"
    why = None
    try:
        token.write_text(token.name)
        if token.read_text() != token.name:
            why = "what was written is not what is read"
        token.unlink()
        free: int | None = shutil.disk_usage(existing).free
    except OSError as error:
        why, free = f"{error.strerror} ({existing})", None
    return {"free": free, "why": why}


def _import_error(name: str) -> str | None:
    command = [sys.executable, "-c", _IMPORT, name]
    try:
        done = subprocess.run(command, capture_output=True, timeout=IMPORT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"the import took longer than {IMPORT_S:.0f} s"
    if done.returncode == 0:
        return None
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else f"exit code {done.returncode}"


def _some(names: Sequence[str], shown: int = 3) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more


def _gib(size: float) -> str:
    return f"{size / 1024**3:.0f} GiB"
