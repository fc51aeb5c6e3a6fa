"""The driver's machine-readable log lines: one proof line per node, and the end record as the very last line.

Standard library only: the client reads these lines back with the same functions.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

PREFIX = "[npurun] "
"""Starts every line that the driver itself writes; all else in the log is the trainer's."""
END_PREFIX = PREFIX + "end "
PROOF_PREFIX = PREFIX + "proof "
FITNESS_PREFIX = PREFIX + "fitness "
VERDICT_PREFIX = PREFIX + "verdict "
RESUME_PREFIX = PREFIX + "resume "
RECORD_PREFIXES = (END_PREFIX, PROOF_PREFIX, FITNESS_PREFIX, VERDICT_PREFIX, RESUME_PREFIX)

Phase = Literal["start", "fence", "placement", "fitness", "checkpoint", "proof", "training"]

# Why an attempt ended, and the driver's own exit code for it (the numbers are those of the `npurun` command).
EXIT_OF_REASON: Mapping[str, int] = {
    "succeeded": 0,
    "trainer_failed": 1,
    "not_placed": 5,
    "flags_missing": 1,
    "secret_missing": 1,
    "node_frozen": 1,
    "node_lost": 1,
    "node_unfit": 1,
    "fence_failed": 1,
    "no_checkpoint": 1,
    "launch_failed": 1,
    "hung": 1,
    "driver_error": 1,
    "stopped": 6,
}


@dataclass(frozen=True)
class Proposal:
    """One reason to keep a node out of the next attempts, as the judgement found it."""

    node: str
    """IP."""
    id: str
    """`NR5xx`."""
    value: str | None = None
    limit: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class End:
    """How an attempt ended. `code` is the trainer's own exit code (negative: a signal), None if it had none."""

    attempt: str
    phase: Phase
    reason: str
    """A key of `EXIT_OF_REASON`."""
    code: int | None = None
    nodes: tuple[str, ...] = ()
    """IPs of the gang's nodes, as Ray shows them."""
    node: str | None = None
    """IP of the node that the reason is about."""
    evidence: tuple[str, ...] = ()
    quarantine: tuple[str, ...] = ()
    """IPs proposed for exclusion from the next attempt."""
    proposals: tuple[Proposal, ...] = ()
    """Why, for those of them that were found unfit; also of an attempt that went on without them."""

    @property
    def exit(self) -> int:
        return EXIT_OF_REASON[self.reason]

    def line(self) -> str:
        return END_PREFIX + _json({**dataclasses.asdict(self), "exit": self.exit})


def fitness_line(attempt: str, node: Mapping[str, Any]) -> str:
    return FITNESS_PREFIX + _json({"attempt": attempt, **node})


def parse_fitness(line: str, attempt: str) -> dict[str, Any] | None:
    """All that was measured on one node (`probes.verdict.Node` as JSON), or None."""
    return _parse(line, FITNESS_PREFIX, attempt, {"ip": str, "measured": dict})


def verdict_line(attempt: str, verdict: Mapping[str, Any]) -> str:
    return VERDICT_PREFIX + _json({"attempt": attempt, **verdict})


def parse_verdict(line: str, attempt: str) -> dict[str, Any] | None:
    """One `probes.verdict.Verdict` as JSON, or None."""
    return _parse(line, VERDICT_PREFIX, attempt, {"id": str, "node": str, "severity": str, "values": dict})


def parse_end(line: str, attempt: str) -> dict[str, Any] | None:
    """The end record in `line`, or None when it is another line, broken, or of another attempt."""
    end = _parse(line, END_PREFIX, attempt, {"reason": str, "exit": int, "nodes": list})
    return end if end and all(isinstance(node, str) for node in end["nodes"]) else None


@dataclass(frozen=True)
class Skipped:
    """A checkpoint that is newer than the one that is resumed, and why it is not."""

    step: int
    why: str
    """incomplete, unreadable, world_size, old_layout, not_measured …"""
    node: str | None = None
    """IP of the node where it shows."""
    value: str = ""
    """What is missing, or what was found: files, sizes."""


@dataclass(frozen=True)
class Resume:
    """From where an attempt goes on."""

    step: int | None
    """None: from the start."""
    path: str | None
    """`…/global_step_N` on the nodes."""
    why: Literal["newest", "older", "none", "first"]
    """older: newer ones were skipped; none: there is no checkpoint to go on from; first: the run's first attempt."""
    skipped: tuple[Skipped, ...] = ()


def resume_line(attempt: str, resume: Resume) -> str:
    return RESUME_PREFIX + _json({"attempt": attempt, **dataclasses.asdict(resume)})


def parse_resume(line: str, attempt: str) -> dict[str, Any] | None:
    """A `Resume` as JSON, or None."""
    resume = _parse(line, RESUME_PREFIX, attempt, {"why": str, "skipped": list})
    if resume is None or type(resume.get("step")) not in (int, type(None)):
        return None
    return resume


@dataclass(frozen=True)
class NodeProof:
    """What one node's task that held an NPU saw, and the node's facts."""

    attempt: str
    ip: str
    node_id: str
    hostname: str
    flags: Mapping[str, str | None]
    """Every wanted flag with the value seen (None: absent)."""
    differs: Mapping[str, str] = field(default_factory=dict)
    """The wanted value of each flag that was seen otherwise; empty when all arrived."""
    secrets: Mapping[str, str] = field(default_factory=dict)
    """"resolved" or "missing", never a value."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """devices (count of /dev/davinci*), npu_ids (ids that Ray gave the task), visible_devices, cpus, memory_gib …"""

    def line(self) -> str:
        return PROOF_PREFIX + _json(dataclasses.asdict(self))


def parse_proof(line: str, attempt: str) -> dict[str, Any] | None:
    """The fields of one node's proof in `line`, or None. One line per node, in the gang's order."""
    return _parse(line, PROOF_PREFIX, attempt, {"ip": str})


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True)  # ASCII, and no newline whatever the values hold


def _parse(line: str, prefix: str, attempt: str, needed: Mapping[str, type]) -> dict[str, Any] | None:
    """The log is the trainer's too, which can print anything: whoever reads the `needed` fields may rely on them."""
    if not line.startswith(prefix):
        return None
    try:
        value = json.loads(line[len(prefix) :], parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError):  # RecursionError: nested deeper than Python follows
        return None
    if not isinstance(value, dict) or value.get("attempt") != attempt:
        return None
    return value if all(isinstance(value.get(key), kind) for key, kind in needed.items()) else None


def _finite(text: str) -> float:
    """JSON has no NaN and no infinity; Python reads them, and `1e999`, all the same."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value
