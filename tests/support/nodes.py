"""Nodes as the judges see them, made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from submitter.gang.probes.measure import Measured
from submitter.gang.probes.verdict import Node


def node(
    ip: str = "10.0.0.1",
    *,
    npus: float = 16,
    cpus: float = 192,
    measured: Mapping[str, Any] | None = None,
    why: Mapping[str, str] | None = None,
) -> Node:
    """`measured`: probe -> its facts; `why`: probe -> why it has none."""
    found = {name: Measured(facts, None, 0.1) for name, facts in (measured or {}).items()}
    found |= {name: Measured(None, reason, 0.1) for name, reason in (why or {}).items()}
    return Node(ip, f"host-{ip}", npus, cpus, found)
