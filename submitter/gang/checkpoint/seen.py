"""What a node says of checkpoints: plain data that travels as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    why: str
    """incomplete: a file is not there; unreadable: not whole; world_size: of another number of ranks; layout: of
    another verl; no_folder: the node does not have it at all."""
    value: str


@dataclass(frozen=True)
class Seen:
    """One `global_step_N` as one node sees it, for the ranks that will run there."""

    problems: tuple[Problem, ...] = ()
    unchecked: int = 0
    """Files that are there, and whose headers there was no time to read."""
    same: str = ""
    """Fingerprint of what every node has to see alike; empty: nothing has to be."""
    data: bool = False
    """Which prompts were used (data.pt) is there, and whole."""

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Seen:
        return cls(**{**raw, "problems": tuple(Problem(**one) for one in raw["problems"])})


@dataclass(frozen=True)
class Listing:
    """The job's checkpoint folder as one node sees it."""

    there: bool
    steps: tuple[int, ...] = ()
    """Of its `global_step_*`, newest first."""
    hint: int | None = None
    """`latest_checkpointed_iteration.txt`: an asynchronous save leaves it behind."""

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Listing:
        return cls(**{**raw, "steps": tuple(raw["steps"])})
