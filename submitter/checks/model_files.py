"""Where a model's files lie on this machine, and reading them: bounded, and with a reason where it is not possible."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

JSON_LIMIT_BYTES = 16 << 20
"""A config.json has a few KB, tokenizer files a few MB; what is larger is not what it seems."""

_REVISION_LIMIT_BYTES = 256
_REVISION = re.compile(r"[0-9A-Fa-f]{7,64}")
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?", re.ASCII)
"""`org/name`, as the Hugging Face hub knows a model."""


class Unreadable(Exception):
    """`why` is the text id of the reason; `absent`: there is no such file here, so it may exist elsewhere."""

    def __init__(self, why: str, path: str, *, absent: bool = False, **values: object) -> None:
        super().__init__(why)
        self.why = why
        self.absent = absent
        self.values: dict[str, object] = {"path": path, **values}


def model_folder(name: str, environ: Mapping[str, str]) -> Path | None:
    """The folder that holds a model's files: `name` itself, or its snapshot in the Hugging Face cache; None: not here.

    `environ` may name another cache (HF_HOME, HF_HUB_CACHE).
    """
    path = _expanded(name)
    if _is_folder(path):
        return path
    if not _HUB_NAME.fullmatch(name):
        return None
    snapshots = (_snapshot(cache / f"models--{name.replace('/', '--')}") for cache in _hub_caches(environ))
    return next((found for found in snapshots if found is not None), None)


def read_json(path: Path) -> dict[str, object]:
    """The object that a JSON file holds; `Unreadable` for all that can be wrong with it."""
    data = _read(path, JSON_LIMIT_BYTES)
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise Unreadable("model.why.json", str(path)) from None
    if not isinstance(value, dict):
        raise Unreadable("model.why.json", str(path))
    return value


def _hub_caches(environ: Mapping[str, str]) -> Iterator[Path]:
    """As huggingface_hub/constants.py looks for it; the first that is set counts."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if environ.get(name):
            yield _expanded(environ[name])
            return
    home = environ.get("HF_HOME")
    yield (_expanded(home) if home else _expanded(environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface") / "hub"


def _expanded(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:  # nobody's home: ~name
        return Path(name)


def _snapshot(model: Path) -> Path | None:
    try:
        revision = _read(model / "refs" / "main", _REVISION_LIMIT_BYTES).decode("ascii").strip()
    except (Unreadable, UnicodeDecodeError):
        return None
    folder = model / "snapshots" / revision
    return folder if _REVISION.fullmatch(revision) and _is_folder(folder) else None


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return False


def _read(path: Path, limit: int) -> bytes:
    """At most `limit` bytes of a regular file; nothing else is opened, since a pipe could block."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise Unreadable("model.why.no_file", str(path))
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise Unreadable("model.why.absent", str(path), absent=True) from None
    except PermissionError:
        raise Unreadable("model.why.forbidden", str(path), absent=True) from None
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        raise Unreadable("model.why.os", str(path), reason=reason) from None
    if len(data) > limit:
        raise Unreadable("model.why.large", str(path), limit=f"{limit >> 20} MiB")
    return data
