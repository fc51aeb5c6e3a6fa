"""The existing key that a wrong one was most likely meant to be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from submitter.arguments.config_classes import child_of
from submitter.arguments.misspelt import misspelt
from submitter.job.nearest import NONE, nearest

_HIDDEN = "_target_"
MOST_COMPARED = 50
"""Keys of one job whose letters are compared, 1 ms each; of any further one only the last name is looked up."""


class NearestKeys:
    """Of one composed config, as it is before the job's values: keys that a job adds are nobody's remedy."""

    def __init__(self, config: Any) -> None:
        self._config = config
        self._by_last_name: dict[str, list[str]] = {}
        self._children: dict[str, list[str]] = {}
        self._compared = 0
        for key in _keys(config, ""):
            parent, _, name = key.rpartition(".")
            self._by_last_name.setdefault(name, []).append(key)
            self._children.setdefault(parent, []).append(name)

    def of(self, key: str) -> str:
        """Dotted, or `NONE`. Each part is looked for among its siblings; else the same last name somewhere else."""
        same = self._same_name(key)
        self._compared += 1
        beside = _beside(self._config, key.split(".")) if self._compared <= MOST_COMPARED else None
        if same and (beside is None or beside.rpartition(".")[2] != key.rpartition(".")[2]):
            return same
        return beside or NONE

    def misspelt(self, parent: str, name: str) -> str | None:
        """The key at `parent` that the new `name` was most likely meant to be; None: it is one of its own."""
        self._compared += 1
        if self._compared > MOST_COMPARED:
            return None
        meant = misspelt(name, self._children.get(parent, ()))
        return meant if meant is None or not parent else f"{parent}.{meant}"

    def _same_name(self, key: str) -> str | None:
        """The key of that last name which shares most of the way."""
        parts = key.split(".")
        found = self._by_last_name.get(parts[-1], [])
        return max(found, key=lambda other: _shared(parts, other.split(".")), default=None)


def _beside(node: Any, parts: list[str]) -> str | None:
    names = [name for name in _names(node) if name != _HIDDEN]
    name = parts[0] if parts[0] in names else nearest(parts[0], names)
    if name == NONE or len(parts) == 1:
        return None if name == NONE else name
    below = _beside(child_of(node, name), parts[1:])
    return None if below is None else f"{name}.{below}"


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
