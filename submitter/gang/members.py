"""The gang: the nodes that one attempt holds, in one fixed order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ATTEMPT_VARIABLE = "NPURUN_ATTEMPT"
"""Environment variable that every process of an attempt has: its submission id."""

RUN_VARIABLE = "NPURUN_RUN"
"""The run's name, in every process of all its attempts."""

QUARANTINE_VARIABLE = "NPURUN_QUARANTINE"
"""IPs of nodes that this attempt must not use, with commas. Not in the plan: it differs between attempts of one run."""

CHANGES_VARIABLE = "NPURUN_CHANGES"
"""JSON list of `key=value`: what this attempt's trainer gets after the plan's arguments. Absent: nothing."""

TRAINED_VARIABLE = "NPURUN_TRAINED"
"""The highest step that any earlier attempt of the run logged, 0 for none. Absent in the first attempt."""

RESUME_VARIABLE = "NPURUN_RESUME"
"""1: the first attempt, too, goes on from the newest complete checkpoint."""

ACTOR_NAME = "gang"
"""Named actor whose `facts()` tells the trainer's processes what is reserved."""


def namespace(attempt: str) -> str:
    """Ray namespace of an attempt's actors."""
    return f"npurun-{attempt}"


@dataclass(frozen=True)
class Member:
    node_id: str
    ip: str
    hostname: str
    npus: float = 0
    """Ray's resources of the node, in total."""
    cpus: float = 0
    shared: bool = False
    """When the gang was reserved, others held NPUs of the node through Ray."""


@dataclass(frozen=True)
class Gang:
    """Members, placement groups and node workers share one order (by IP)."""

    attempt: str
    members: tuple[Member, ...]
    groups: tuple[Any, ...]
    """One `ray.util.placement_group.PlacementGroup` per member, CREATED and pinned to it."""
    bundles_per_group: int
    """Launcher ray: npus_per_node bundles {"NPU": 1, "CPU": 3}; torchrun: one {"NPU": n, "CPU": n}."""
    supports_label_selector: bool
    """False on a Ray whose bundles cannot be pinned by label: each bundle then carries "node:<ip>": 0.001."""
    labels: Mapping[str, str] = field(default_factory=dict)
    workers: list[Any] = field(default_factory=list)
    """Node worker handles; the heartbeat puts a replacement in its place."""

    def facts(self) -> dict[str, Any]:
        """What the named actor answers; placement groups as hex ids."""
        return {
            "attempt": self.attempt,
            "nodes": [{"node_id": member.node_id, "ip": member.ip} for member in self.members],
            "groups": [group.id.hex() for group in self.groups],
            "bundles_per_group": self.bundles_per_group,
            "labels": dict(self.labels),
            "supports_label_selector": self.supports_label_selector,
        }
