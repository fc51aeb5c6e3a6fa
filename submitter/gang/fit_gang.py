"""A gang of fit nodes: reserve, look at every node, leave out what is unfit and reserve anew, within the attempt."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .ask import RayNodes
from .ended import Ended, Stop
from .fitness import Candidate, look
from .members import Gang, Member
from .node_worker import start_node_worker
from .nodes import read_nodes
from .placement import could_fit, need_of
from .plan import Plan
from .probes.verdict import Verdict
from .record import Proposal
from .report import tell_fitness
from .reserve import give_back, reserve
from .say import say

ROUNDS = 5
"""Each costs seconds; who has more unfit nodes than this has another trouble than nodes."""


def fit_gang(plan: Plan, attempt: str, stop: Stop, held: Callable[[Gang | None], None], propose: Proposals) -> Gang:
    """The gang, every node looked at, node workers running. `held` is told each gang before anything is done with
    it, and None once it is given back.

    Raises Ended: not_placed, node_unfit, stopped.
    """
    for _ in range(ROUNDS):
        gang = reserve(plan, attempt, stop)
        held(gang)
        gang.workers.extend(start_node_worker(member, attempt) for member in gang.members)
        fitness = look(_candidates(gang.members), RayNodes(gang.workers), plan.wish, stop.check)
        tell_fitness(attempt, fitness)
        unfit = fitness.unfit
        if not unfit:
            return gang
        if len(unfit) == len(gang.members) and len(unfit) > 1:
            raise _ended(unfit)  # what all nodes have in common is no fault of a node: nobody is proposed
        propose.add(unfit)
        plan = dataclasses.replace(plan, quarantine=(*plan.quarantine, *unfit))
        _check_spare(plan, unfit)
        say(f"left out as unfit: {', '.join(unfit)}; the gang is reserved anew")
        _release(gang)
        held(None)
    raise _ended(unfit)


def look_around(plan: Plan, attempt: str, stop: Stop) -> list[Any]:
    """Looks at every node that is alive, whoever uses it, and holds nothing. Returns the actors to end."""
    alive = [node for node in read_nodes() if node.alive]
    workers = [start_node_worker(Member(node.node_id, node.ip, node.hostname), attempt) for node in alive]
    candidates = [
        Candidate(node.ip, node.hostname, node.npus, node.cpus, busy=node.npus_free < node.npus) for node in alive
    ]
    tell_fitness(attempt, look(candidates, RayNodes(workers), plan.wish, stop.check))
    return workers


class Proposals:
    """Nodes proposed for quarantine, with what was found; of a node seen twice the last look counts."""

    def __init__(self) -> None:
        self._found: dict[str, Sequence[Verdict]] = {}

    def add(self, unfit: Mapping[str, Sequence[Verdict]]) -> None:
        self._found.update(unfit)

    def all(self) -> tuple[Proposal, ...]:
        return tuple(
            Proposal(ip, verdict.id, verdict.value, verdict.limit, dict(verdict.values))
            for ip, verdicts in self._found.items()
            for verdict in verdicts
        )


def _candidates(members: Sequence[Member]) -> list[Candidate]:
    return [Candidate(member.ip, member.hostname, member.npus, member.cpus) for member in members]


def _check_spare(plan: Plan, unfit: Mapping[str, Sequence[Verdict]]) -> None:
    """Raises Ended when the job wants it so, or when no node could take the place of the unfit ones."""
    if plan.on_unfit == "fail" or could_fit(read_nodes(), need_of(plan)) < plan.nodes:
        raise _ended(unfit)


def _ended(unfit: Mapping[str, Sequence[Verdict]]) -> Ended:
    lines = [f"{verdict.node}: {verdict.line()}" for verdicts in unfit.values() for verdict in verdicts]
    return Ended("node_unfit", node=next(iter(unfit)), evidence=tuple(lines))


def _release(gang: Gang) -> None:
    import ray

    for worker in gang.workers:
        ray.kill(worker, no_restart=True)
    give_back(gang.groups)
