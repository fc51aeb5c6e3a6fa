"""What the time of a step goes to. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from submitter.metrics.names import OUTSIDE_S, STEP_S
from submitter.metrics.recent import Row

OTHER = "other"
PHASES: Mapping[str, tuple[str, ...]] = {
    "generation": ("gen", "generate_async", "switch_wait", "wait_for_enough_samples"),
    "reward": ("reward",),
    "old_log_prob": ("old_log_prob",),
    "reference": ("ref",),
    "values": ("values",),
    "advantage": ("adv",),
    "critic_update": ("update_critic",),
    "actor_update": ("update_actor",),
    "weight_sync": (
        *("update_weights", "sync_rollout_weights", "param_sync", "timing_s/param_sync"),
        *("switch_to_trainer", "switch_to_rollout"),
    ),
    "checkpoint": ("save_checkpoint",),
    "validation": ("testing",),
}
"""Names after `timing_s/`. Only such as verl's trainers measure side by side: `generate_sequences`, `agent_loop/…` and
the like are parts of `gen`. The asynchronous trainers of `experimental` have names of their own."""

PHASE_NAMES: Mapping[str, tuple[str, ...]] = {
    phase: tuple(f"timing_s/{name}" for name in names) for phase, names in PHASES.items()
}
TIMING_NAMES = (STEP_S, *OUTSIDE_S, *(name for names in PHASE_NAMES.values() for name in names))


@dataclass(frozen=True)
class Phase:
    id: str
    """Of `PHASES`, or `other`: what none of them covers."""
    seconds: float
    """Of one step, on average."""
    share: float
    """Of all seconds; those of all phases add up to 1."""


def phases(rows: Sequence[Row]) -> tuple[Phase, ...]:
    """Of rows that have a step time, in the order of the table; phases that took no time are left out."""
    rows = [row for row in rows if row.get(STEP_S, 0.0) > 0]
    if not rows:
        return ()
    spent = {phase: _total(rows, names) / len(rows) for phase, names in PHASE_NAMES.items()}
    whole = math.fsum(row.step_s or 0.0 for row in rows) / len(rows)
    spent[OTHER] = max(0.0, whole - math.fsum(spent.values()))
    total = math.fsum(spent.values())
    return tuple(Phase(name, took, took / total) for name, took in spent.items() if took > 0)


def phase_seconds(row: Row) -> dict[str, float]:
    """Of one row; phases that it does not have are left out."""
    return {phase: _total([row], names) for phase, names in PHASE_NAMES.items() if _has_any(row, names)}


def _has_any(row: Row, names: Collection[str]) -> bool:
    return any(row.has(name) for name in names)


def _total(rows: Sequence[Row], names: Sequence[str]) -> float:
    return math.fsum(row.get(name, 0.0) for row in rows for name in names)
