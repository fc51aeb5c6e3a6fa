"""What was installed where an attempt ran, as its nodes were measured: kept with its end, since Ray forgets the log."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from submitter.gang.record import parse_fitness
from submitter.supervise.nodes import storable

VERSIONS = "versions"
"""The probe's name, and the key of an attempt's end in the ledger."""
MOST_SHOWN = 4
"""Versions of one component; a cluster where more differ does not train."""
CHARS = 80
"""Of one version: the log is the trainer's too, which can print anything."""
_MOST_COMPONENTS = 40


def versions_in(lines: Iterable[str], submission_id: str) -> dict[str, str]:
    """Component -> its version on the gang's nodes, `1.0 | 1.1` where they differ; by the lines of one log.

    The newest look at a node counts. What is installed on none of them is left out.
    """
    nodes: dict[str, dict[str, Any]] = {}
    for line in lines:
        if record := parse_fitness(line, submission_id):
            nodes[record["ip"]] = _facts(record["measured"])
    names = sorted({str(name) for one in nodes.values() for name, value in one.items() if value is not None})
    shown = {_short(name): _versions(one.get(name) for one in nodes.values()) for name in names[:_MOST_COMPONENTS]}
    return {name: text for name, text in shown.items() if text}


def _facts(measured: dict[str, Any]) -> dict[str, Any]:
    """Empty when that was not measured."""
    found = measured.get(VERSIONS)
    facts = found.get("facts") if isinstance(found, dict) else None
    return facts if isinstance(facts, dict) else {}


def _versions(values: Iterable[object]) -> str:
    different = sorted({_short(value) for value in values if value is not None})
    return " | ".join(different[:MOST_SHOWN])


def _short(value: object) -> str:
    return storable(str(value)[:CHARS])
