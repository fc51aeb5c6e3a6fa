"""Everything that a page or a terminal shows of one run: frozen, without words and formats. None: not measured."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from submitter.ledger import Event, StoredAlert
from submitter.metrics.goodput import Goodput, Spent
from submitter.metrics.names import CURVES as KEY_CURVES
from submitter.metrics.pace import Eta
from submitter.metrics.phases import Phase

__all__ = [
    "KEY_CURVES",
    "AttemptView",
    "Curve",
    "DeviceView",
    "NodeView",
    "RunRow",
    "RunView",
    "SupervisorView",
    "as_json",
    "thinned",
]

EVENTS_SHOWN = 50
"""Of one run, the newest."""
CURVE_POINTS = 240
"""Of a curve in JSON; the series of a chart have their own way."""


@dataclass(frozen=True)
class DeviceView:
    """One NPU, as its node measured it last."""

    npu: int
    use_percent: float | None
    hbm_used_mb: float | None
    hbm_total_mb: float | None
    power_w: float | None
    temp_c: float | None
    health: str | None
    """`OK`, or what npu-smi says instead."""


@dataclass(frozen=True)
class NodeView:
    """A node of the newest attempt that has measured anything."""

    node: str
    """IP, as Ray shows it."""
    host: str | None
    attempt: int
    at_ms: int
    """When it measured."""
    devices: tuple[DeviceView, ...] | None
    why: str | None
    """Why there are no devices."""
    use_percent: float | None
    """Mean of its devices that were measured."""
    hbm_percent: float | None
    """Of the device with the least room."""
    unhealthy: tuple[int, ...]
    """NPUs whose health was measured and is not OK."""
    memory_used_mb: float | None
    memory_total_mb: float | None
    cpu_percent: float | None
    load: float | None


@dataclass(frozen=True)
class AttemptView:
    attempt: int
    submission_id: str
    state: str
    """In small letters: submitting, pending, running, unreachable, succeeded, failed, stopped."""
    reason: str | None
    """Of its end, an id of `recovery.reasons`."""
    node: str | None
    """That was blamed."""
    evidence: tuple[Mapping[str, Any], ...]
    """{"file", "line", "text"} each."""
    ended_by: str | None
    first_step: int | None
    last_step: int | None
    resumed_from: int | None
    void_steps: int
    """Of its steps, those that a later attempt has trained again."""
    nodes: tuple[str, ...] | None
    """Of its end record; of one that goes on, those that measure."""
    changes: tuple[str, ...]
    decision: Mapping[str, Any] | None
    """That followed its end."""
    posted_ms: int | None
    started_ms: int | None
    ended_ms: int | None
    spent: Spent | None
    """Where its time went; None before its submission."""


@dataclass(frozen=True)
class SupervisorView:
    """The process that cares for the ledger's runs; None in its place: there is none."""

    host: str
    pid: int
    heartbeat_ms: int


@dataclass(frozen=True)
class Curve:
    """A metric over the steps that count; neither holds what a step lacks, nor nan."""

    name: str
    """As the trainer logs it."""
    steps: Sequence[int]
    values: Sequence[float]


@dataclass(frozen=True)
class RunView:
    run: str
    job: str
    address: str
    state: str
    """As `status` says it: submitting, pending, running, unreachable, waiting, succeeded, failed, stopped."""
    reason: str | None
    """Why it ended."""
    step: int | None
    """The last one that counts."""
    total_steps: int | None
    created_ms: int
    ended_ms: int | None
    reward: float | None
    """Of the last step."""
    reward_name: str | None
    step_s: float | None
    """What a step usually takes, with everything between two steps."""
    steps_per_hour: float | None
    eta: Eta | None
    """From now on; None: not known, or the run does not train now."""
    tokens_per_npu_s: float | None
    goodput: Goodput | None
    phases: tuple[Phase, ...]
    """Of the newest steps."""
    attempts: tuple[AttemptView, ...]
    nodes: tuple[NodeView, ...]
    alerts: tuple[StoredAlert, ...]
    """All that are kept, in the order of their opening; open ones have no `until_ms`."""
    events: tuple[Event, ...]
    """The newest `EVENTS_SHOWN`, in their order."""
    supervisor: SupervisorView | None
    seen_ms: int | None
    """When the supervisor last heard of it."""
    curves: Mapping[str, Curve]
    """By the keys of `KEY_CURVES`; those that the run does not log are left out."""

    @property
    def open_alerts(self) -> tuple[StoredAlert, ...]:
        return tuple(one for one in self.alerts if one.until_ms is None)


@dataclass(frozen=True)
class RunRow:
    """A run in a list of runs."""

    run: str
    job: str
    address: str
    state: str
    step: int | None
    total_steps: int | None
    reward: float | None
    goodput: float | None
    """Share of its wall time; None: not worked out yet, or not submitted yet."""
    steps_per_hour: float | None
    attempts: int
    created_ms: int
    ended_ms: int | None
    alerts: int
    """That are open."""


def as_json(view: Any, *, points: int = CURVE_POINTS) -> Any:
    """Any of the above as JSON has it: nan, the infinities and what was not measured are null.

    Curves are thinned to about `points` so that extremes survive.
    """
    if isinstance(view, Curve):
        steps, values = thinned(view.steps, view.values, points)
        return {"name": view.name, "steps": list(steps), "values": [_number(one) for one in values]}
    if is_dataclass(view):
        return {one.name: as_json(getattr(view, one.name), points=points) for one in fields(view)}
    if isinstance(view, Mapping):
        return {str(key): as_json(value, points=points) for key, value in view.items()}
    if isinstance(view, (list, tuple, array)):
        return [as_json(one, points=points) for one in view]
    return _number(view) if isinstance(view, float) else view


def thinned(steps: Sequence[int], values: Sequence[float], points: int) -> tuple[Sequence[int], Sequence[float]]:
    """At most about `points` of them: first and last, and the lowest and highest of each stretch between."""
    if len(steps) <= points:
        return steps, values
    size = math.ceil(2 * len(steps) / points)
    kept = {0, len(steps) - 1}
    for begin in range(0, len(steps), size):
        stretch = values[begin : begin + size]
        kept |= {begin + stretch.index(min(stretch)), begin + stretch.index(max(stretch))}
    places = sorted(kept)
    return [steps[place] for place in places], [values[place] for place in places]


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
