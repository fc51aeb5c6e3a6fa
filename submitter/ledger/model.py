"""What the ledger hands out: rows as they are, without behaviour."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

RunState = Literal["active", "succeeded", "failed", "stopped"]
Wanted = Literal["run", "stop"]


@dataclass(frozen=True)
class Run:
    run: str
    job: str
    address: str
    spec: str
    """Hash of what its attempts do."""
    total_steps: int | None
    """As the job asks, else as the trainer has said; None before it has."""
    created_ms: int
    policy: dict[str, Any] = field(default_factory=dict)
    """Of its recovery; empty for a run of an npurun that had none."""
    wanted: Wanted = "run"
    """What its user wants of it."""
    state: RunState = "active"
    reason: str | None = None
    """Why it ended."""
    ended_ms: int | None = None
    supervised: bool = False
    """False: it ends with its attempt."""
    reopened: int = 0
    """So many times, each a new chance: what was decided before does not count."""
    reopened_after: int = 0
    """Its newest attempt when it was last reopened; decisions look at later ones only."""


@dataclass(frozen=True)
class Attempt:
    submission_id: str
    run: str
    attempt: int
    body: str
    """The request, as posted; holds no secret's value."""
    intended_ms: int
    posted_ms: int | None = None
    """None: written down, but the cluster never confirmed it."""
    state: str | None = None
    """Ray's last word, once the attempt had ended; else None."""
    reason: str | None = None
    end: dict[str, Any] | None = None
    """The driver's last line; of one that was killed, only the `nodes` that its log proves."""
    last_step: int | None = None
    started_ms: int | None = None
    ended_ms: int | None = None
    resumed_from: int | None = None
    """Step of the checkpoint that it goes on from; None: from the start, or not known yet."""
    first_step: int | None = None
    """The first one that it logged."""
    seen_state: str | None = None
    """What the supervisor saw last: Ray's status, or that the cluster did not answer."""
    seen_ms: int | None = None
    log_bytes: int | None = None
    """So much of its log has been read."""
    changes: list[str] = field(default_factory=list)
    """Trainer arguments that its decision added."""
    trained: int | None = None
    """The highest step that earlier attempts logged."""
    diagnosis: dict[str, Any] | None = None
    ended_by: str | None = None
    """itself, user or supervisor."""


@dataclass(frozen=True)
class Observation:
    """What changed, when it was first seen."""

    seen_ms: int
    state: str
    last_step: int | None
    log_bytes: int | None


@dataclass(frozen=True)
class Step:
    run: str
    step: int
    attempt: int
    seen_ms: int
    metrics: dict[str, float]
    """What the row had; nan and the infinities as they are."""


@dataclass(frozen=True)
class Sample:
    """What a node measured of itself at one moment."""

    run: str
    attempt: int
    node: str
    """IP, as Ray shows it."""
    at_ms: int
    sample: dict[str, Any]
    """As `gang.telemetry` writes it; None is what could not be measured."""


@dataclass(frozen=True)
class StoredAlert:
    number: int
    """Grows; of all runs."""
    run: str
    id: str
    """Its rule, `NR9xx`."""
    severity: str
    node: str | None
    """None: of the whole run."""
    attempt: int
    """In which it was opened."""
    first_step: int | None
    last_step: int | None
    """Up to which it held so far."""
    values: dict[str, Any]
    """The numbers behind it, the newest ones."""
    since_ms: int
    until_ms: int | None
    """None: it holds still."""


@dataclass(frozen=True)
class Decided:
    run: str
    after_attempt: int
    decision: dict[str, Any]
    """With its inputs."""
    due_ms: int
    """When it is to be done."""
    decided_ms: int


@dataclass(frozen=True)
class Event:
    """Something that people are told about a run."""

    id: int
    """Grows; of all runs."""
    run: str
    attempt: int | None
    text_id: str
    values: dict[str, Any]
    at_ms: int


@dataclass(frozen=True)
class Quarantined:
    """One reason to keep a node out of new attempts. A node may have several; each ends on its own."""

    address: str
    """Of the cluster that the node is in."""
    node: str
    """IP, as Ray shows it."""
    submission_id: str
    """The attempt that found it out."""
    finding: str
    """`NR5xx`, or the reason of an attempt's end (`node_frozen`)."""
    evidence: dict[str, Any]
    since_ms: int
    until_ms: int
    released_ms: int | None = None


@dataclass(frozen=True)
class Holder:
    """The supervisor that serves a ledger."""

    host: str
    pid: int
    started: str
    """Boot, pid namespace and start time: with the pid it names one process for ever."""
    token: str
    """What it shows when it writes; a new one each time a supervisor starts."""
    heartbeat_ms: int
