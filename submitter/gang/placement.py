"""Which nodes an attempt takes, and why the others do not fit. Pure: node facts in, a choice out."""

from __future__ import annotations

import dataclasses
import ipaddress
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .plan import Plan
from .say import clean
from .selector import matches

ACCELERATOR_LABEL = "ray.io/accelerator-type"

CPUS_PER_NPU = {"ray": 3, "torchrun": 1}
"""Ray: verl's own bundle, one CPU for each of at most 3 worker processes that share an NPU."""

TRAINER_CPUS = 10
"""CPUs that verl's actors without NPUs hold somewhere on the gang, beside the bundles: TransferQueue's controller
and its 8 storage units take one each, and one is needed for a moment to place each of the others. Without them verl
0.9 waits for ever and says nothing."""

_ROUNDING = 1e-4
"""Ray counts resources in ten-thousandths."""


@dataclass(frozen=True)
class NodeFacts:
    """One Ray node as the cluster shows it. Free amounts are of this moment."""

    node_id: str
    ip: str
    hostname: str = ""
    alive: bool = True
    draining: bool = False
    death: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    npus: float = 0
    npus_free: float = 0
    cpus: float = 0
    cpus_free: float = 0


@dataclass(frozen=True)
class Need:
    """What the gang needs: `npus` and `cpus` on each of `nodes` nodes, `spare_cpus` beside them on all together."""

    nodes: int
    npus: int
    cpus: int
    spare_cpus: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    quarantine: frozenset[str] = frozenset()

    def __str__(self) -> str:
        spare = f", and {self.spare_cpus} CPU more on all together" if self.spare_cpus else ""
        labels = "".join(f", {name}={value}" for name, value in sorted(self.labels.items()))
        return clean(f"{self.npus} NPU and {self.cpus} CPU free on each{labels}{spare}")


@dataclass(frozen=True)
class Choice:
    """`chosen` is empty or complete, by IP. `problems` has one entry per node; an empty one means that it fits."""

    chosen: tuple[NodeFacts, ...]
    problems: tuple[tuple[NodeFacts, tuple[str, ...]], ...]
    fitting: int
    """Nodes of one accelerator type that fit now."""
    lacking: str = ""
    """What is missing on the gang as a whole, though enough nodes fit."""


def need_of(plan: Plan) -> Need:
    return Need(
        nodes=plan.nodes,
        npus=plan.npus_per_node,
        cpus=plan.npus_per_node * CPUS_PER_NPU[plan.launcher],
        spare_cpus=TRAINER_CPUS if plan.launcher == "ray" else 0,
        labels=plan.labels,
        quarantine=frozenset(plan.quarantine),
    )


def choose(nodes: Sequence[NodeFacts], need: Need) -> Choice:
    """The first nodes by IP that fit, all of one accelerator type: the same facts give the same choice."""
    shown = [node for node in sorted(nodes, key=_by_ip) if node.alive or not _replaced(node, nodes)]
    problems = [(node, tuple(_problems(node, need))) for node in shown]
    kinds = _by_type(node for node, found in problems if not found)
    kind = max(kinds, key=lambda name: len(kinds[name]), default="")
    fitting = kinds.get(kind, [])
    if len(fitting) < need.nodes:
        return Choice((), _with_types(problems, kinds), len(fitting))
    for candidates in (fitting, sorted(fitting, key=lambda node: -node.cpus_free)):
        chosen = candidates[: need.nodes]
        if _spare(chosen, need) >= need.spare_cpus:
            return Choice(tuple(sorted(chosen, key=_by_ip)), tuple(problems), len(fitting))
    return Choice((), tuple(problems), len(fitting), _lacking(fitting, need))


def could_fit(nodes: Iterable[NodeFacts], need: Need) -> int:
    """How many nodes of one type would fit if nothing else ran on them."""
    empty = [dataclasses.replace(node, npus_free=node.npus, cpus_free=node.cpus) for node in nodes]
    return choose(empty, need).fitting


def never_fitting(nodes: Iterable[NodeFacts], need: Need) -> frozenset[str]:
    """IPs of those whose labels, NPUs or CPUs rule them out whatever runs on them, and of the quarantined."""
    empty = [
        dataclasses.replace(node, npus_free=node.npus, cpus_free=node.cpus, draining=False)
        for node in nodes
        if node.alive
    ]
    return frozenset(node.ip for node in empty if any(_problems(node, need)))


def rows(choice: Choice, holders: Mapping[str, Sequence[str]]) -> list[str]:
    """One line per node: its IP, and that it fits or everything that it lacks. `holders` is by node id."""
    return [f"{node.ip}: {_state(found, holders.get(node.node_id, ()))}" for node, found in choice.problems]


def summary(choice: Choice, need: Need) -> str:
    return f"{choice.fitting} fit, {need.nodes} wanted{choice.lacking and '; '}{choice.lacking}"


def _by_ip(node: NodeFacts) -> tuple[int, int, str, str]:
    try:
        address = ipaddress.ip_address(node.ip)
    except ValueError:  # a host name: some clusters start Ray with one
        return (9, 0, node.ip, node.node_id)
    return (address.version, int(address), node.ip, node.node_id)


def _replaced(node: NodeFacts, nodes: Iterable[NodeFacts]) -> bool:
    """Ray lists dead nodes for ever; one whose IP is alive again, or which died twice, is told once."""
    others = [other for other in nodes if other.ip == node.ip and other is not node]
    return any(other.alive or other.node_id > node.node_id for other in others)


def _problems(node: NodeFacts, need: Need) -> Iterable[str]:
    if not node.alive:
        yield f"dead{node.death and ': '}{clean(node.death)}"
        return
    if node.draining:
        yield "is being drained"
    if node.ip in need.quarantine:
        yield "quarantined"
    for name, wanted in sorted(need.labels.items()):
        found = node.labels.get(name)
        if not matches(wanted, found):
            yield clean(f"label {name} is {'absent' if found is None else repr(found)}, {wanted!r} wanted")
    yield from _short("NPU", need.npus, node.npus, node.npus_free)
    yield from _short("CPU", need.cpus, node.cpus, node.cpus_free)


def _short(name: str, wanted: int, total: float, free: float) -> Iterable[str]:
    if total + _ROUNDING < wanted:
        yield f"has only {total:g} {name}, {wanted} wanted"
    elif free + _ROUNDING < wanted:
        yield f"{free:g} of {total:g} {name} free, {wanted} wanted"


def _by_type(nodes: Iterable[NodeFacts]) -> dict[str, list[NodeFacts]]:
    kinds: dict[str, list[NodeFacts]] = defaultdict(list)
    for node in nodes:
        kinds[node.labels.get(ACCELERATOR_LABEL, "")].append(node)
    return kinds


def _with_types(
    problems: Sequence[tuple[NodeFacts, tuple[str, ...]]], kinds: Mapping[str, object]
) -> tuple[tuple[NodeFacts, tuple[str, ...]], ...]:
    """When nodes of several types fit, say so: otherwise each reads "fits" and nobody sees why they do not do."""
    if len(kinds) < 2:
        return tuple(problems)
    return tuple((node, found or (_mixed(node),)) for node, found in problems)


def _mixed(node: NodeFacts) -> str:
    kind = node.labels.get(ACCELERATOR_LABEL)
    return clean(f"fits, but only with nodes of its own accelerator type ({kind or 'no label'})")


def _spare(chosen: Iterable[NodeFacts], need: Need) -> float:
    return sum(node.cpus_free - need.cpus for node in chosen) + _ROUNDING


def _lacking(fitting: Sequence[NodeFacts], need: Need) -> str:
    best = sorted(fitting, key=lambda node: -node.cpus_free)[: need.nodes]
    return (
        f"{_spare(best, need):.0f} CPU free beside the bundles, {need.spare_cpus} wanted for the trainer's own actors"
    )


def _state(found: Sequence[str], holders: Sequence[str]) -> str:
    if not found:
        return "fits"
    held = f" (held by {', '.join(holders)})" if holders else ""
    return "; ".join(found) + held
