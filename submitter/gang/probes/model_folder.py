"""A model's folder: what is missing or cut off in it, and what has to be equal on all nodes."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

TOKENIZERS = (
    *("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model", "tiktoken.model"),
    *("sentencepiece.bpe.model", "tokenizer_config.json"),
)
CONFIGS = ("config.json", "generation_config.json", "merges.txt", "special_tokens_map.json", "added_tokens.json")
COMPARED = frozenset((*CONFIGS, *TOKENIZERS, "chat_template.jinja", "chat_template.json", "preprocessor_config.json"))
"""What ranks have to agree on. A README or a hub's own bookkeeping may differ."""
WEIGHTS = (("model.safetensors", ".safetensors"), ("pytorch_model.bin", ".bin"))
"""(file, suffix) in the order in which transformers looks for them; each may be an index of shards instead."""
INDEX_LIMIT_BYTES = 64 * 1024 * 1024
"""The index of the largest models has some MB."""
HEADER_LIMIT_BYTES = 100 * 1000 * 1000
"""safetensors refuses a longer header."""
POINTER = b"version https://git-lfs"
POINTER_LIMIT_BYTES = 1024
SAMPLE_BYTES = 4096
"""Read from the middle of each shard: fine-tuned weights have the names and sizes of those they came from."""
HEADERS_S = 4.0
"""For the headers and samples of all shards: what is left by then is not looked into."""
_ENDS = re.compile(rb'"data_offsets"\s*:\s*\[\s*\d+\s*,\s*(\d+)\s*\]')


def missing(folder: Path, weights: bool) -> list[str]:
    """Names, with a reason where the file is there but no use. Links are followed: a hub's cache consists of them."""
    found = [] if _size(folder / "config.json") else ["config.json"]
    if not weights:
        return found
    shards = weight_files(folder)
    if not shards:
        return [*found, "*.safetensors"]
    deadline = time.monotonic() + HEADERS_S
    return [*found, *(f"{name}{why}" for name in shards if (why := _lacking(folder / name, deadline)) is not None)]


def has_tokenizer(folder: Path) -> bool:
    return any(_size(folder / name) for name in TOKENIZERS)


def weight_files(folder: Path) -> list[str]:
    """Those that loading takes: of safetensors when there are any, whatever else an index names."""
    for single, suffix in WEIGHTS:
        if _size(folder / single):
            return [single]
        index = folder / f"{single}.index.json"
        if _size(index):
            return _shards(index)
        if loose := sorted(path.name for path in folder.glob(f"*{suffix}") if _size(path)):
            return loose
    return []


def fingerprint(folder: Path, names: Sequence[str], limit_s: float = HEADERS_S) -> str:
    """Equal for equal weights: names, sizes, and a sample of each. Empty where the file system is too slow to tell: a
    part of it would be equal to nothing."""
    digest = hashlib.sha256()
    deadline = time.monotonic() + limit_s
    for name in names:
        size = _size(folder / name) or 0
        digest.update(f"{name}\0{size}\0".encode())
        digest.update(_sample(folder / name, size))
        if time.monotonic() > deadline:
            return ""
    return digest.hexdigest()


def small_files(folder: Path) -> dict[str, str]:
    """File -> digest of its contents, of those that ranks have to agree on."""
    found = {}
    for name in sorted(COMPARED):
        try:
            found[name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()[:12]
        except OSError:
            continue
    return found


def total_bytes(folder: Path, names: Iterable[str]) -> int:
    return sum(_size(folder / name) or 0 for name in names)


def _size(file: Path) -> int | None:
    """None: it is not there, or is no file; a link that leads nowhere is not there."""
    try:
        return file.stat().st_size if file.is_file() else None
    except OSError:
        return None


def _shards(index: Path) -> list[str]:
    try:
        if index.stat().st_size > INDEX_LIMIT_BYTES:
            return []
        table: Mapping[str, str] = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        return sorted({str(name) for name in table.values()})
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return [index.name]  # it is small or not JSON: _lacking says so


def _lacking(file: Path, deadline: float) -> str | None:
    """None: in order; else what follows the name."""
    size = _size(file)
    if not size:
        return "" if size is None else " (0 B)"
    if file.name.endswith(".index.json"):
        return " (≠ JSON)"
    try:
        if size < POINTER_LIMIT_BYTES and file.read_bytes().startswith(POINTER):
            return " (`git lfs pull`)"
        if file.suffix == ".safetensors" and time.monotonic() < deadline:
            return _cut_off(file, size)
    except OSError as error:
        return f" ({error.strerror})"
    return None


def _cut_off(file: Path, size: int) -> str | None:
    """safetensors: 8 bytes of length, a JSON header that names where each tensor ends, then the tensors."""
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        if length > HEADER_LIMIT_BYTES:
            return " (≠ safetensors)"
        ends = [int(end) for end in _ENDS.findall(opened.read(length))]
    wanted = 8 + length + max(ends, default=0)
    return f" ({size}/{wanted} B)" if size < wanted else None


def _sample(file: Path, size: int) -> bytes:
    try:
        with file.open("rb") as opened:
            opened.seek(size // 2)
            return opened.read(SAMPLE_BYTES)
    except OSError:
        return b""
