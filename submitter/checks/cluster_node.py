"""A node of a live cluster, as rules compare it with what a job asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ClusterNode:
    """Totals, not what is free at the moment: another job's NPUs come back."""

    ip: str
    npus: int
    cpus: float
    labels: Mapping[str, str] = field(default_factory=dict)
    gpus: int = 0
    accelerator_type: str | None = None
    """As Ray's label or its `accelerator_type:` resource names it; None: the node names none."""
    alive: bool = True
