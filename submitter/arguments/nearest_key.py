"""The existing key that a wrong one was most likely meant to be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from submitter.arguments.config_classes import child_of
from submitter.job.nearest import NONE, nearest

_HIDDEN = "_target_"


def nearest_key(config: Any, key: str) -> str:
    """Dotted, or `NONE`. Each part is looked for among its siblings; else the same last name somewhere else."""
    beside = _beside(config, key.split("."))
    same = _same_name(config, key)
    if same and (beside is None or beside.rpartition(".")[2] != key.rpartition(".")[2]):
        return same
    return beside or NONE


def _beside(node: Any, parts: list[str]) -> str | None:
    names = [name for name in _names(node) if name != _HIDDEN]
    name = parts[0] if parts[0] in names else nearest(parts[0], names)
    if name == NONE or len(parts) == 1:
        return None if name == NONE else name
    below = _beside(child_of(node, name), parts[1:])
    return None if below is None else f"{name}.{below}"


def _same_name(config: Any, key: str) -> str | None:
    """The key of that last name which shares most of the way."""
    parts = key.split(".")
    found = [other for other in _keys(config, "") if other.rpartition(".")[2] == parts[-1]]
    return max(found, key=lambda other: _shared(parts, other.split(".")), default=None)


def _shared(parts: list[str], other: list[str]) -> tuple[int, int]:
    same = sum(1 for part in parts if part in other)
    return same, -len(other)


def _keys(node: Any, prefix: str) -> Iterator[str]:
    for name in _names(node):
        key = f"{prefix}.{name}" if prefix else name
        yield key
        yield from _keys(child_of(node, name), key)


def _names(node: Any) -> list[str]:
    from omegaconf import DictConfig

    if not isinstance(node, DictConfig) or node._is_none() or node._is_missing() or node._is_interpolation():
        return []
    return [str(name) for name in node]
