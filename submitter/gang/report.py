"""What was found out about the nodes, as lines of the job's log: a table for people, records for npurun."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from .fitness import Fitness
from .probes.measure import as_json
from .probes.verdict import Node
from .record import fitness_line, verdict_line
from .say import clean, say


def tell_fitness(attempt: str, fitness: Fitness) -> None:
    """People read the verdicts; the two kinds of records hold everything, for the client's own table."""
    for node in fitness.nodes:
        print(fitness_line(attempt, _as_json(node)), flush=True)
    for verdict in fitness.verdicts:
        print(verdict_line(attempt, verdict.as_json()), flush=True)
    silent = [node.ip for node in fitness.nodes if node.silent is not None]
    answered = len(fitness.nodes) - len(silent)
    tail = f"; silent: {', '.join(silent)}" if silent else ""
    say(f"nodes: {answered} of {len(fitness.nodes)} looked at in {fitness.took_s:.1f} s{tail}")
    for verdict in fitness.verdicts:
        say(f"  {verdict.severity}: {verdict.node}: {clean(verdict.line())}")
    for line in _not_measured(fitness.nodes):
        say(f"  not measured: {line}")


def _as_json(node: Node) -> dict[str, object]:
    fields = {field.name: getattr(node, field.name) for field in dataclasses.fields(node)}
    return {**fields, "measured": as_json(node.measured)}


def _not_measured(nodes: Sequence[Node]) -> list[str]:
    """One line per probe and reason, with the number of nodes."""
    found: dict[tuple[str, str], int] = {}
    for node in nodes:
        for probe, measured in node.measured.items():
            if measured.why is not None:
                found[probe, measured.why] = found.get((probe, measured.why), 0) + 1
    return [
        f"{probe} ({count} node{'s' if count > 1 else ''}): {clean(why)[:200]}" for (probe, why), count in found.items()
    ]
