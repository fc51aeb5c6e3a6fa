"""A gang of fit nodes: reserve, look at every node, leave out what is unfit and reserve anew, within the attempt."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import sleep
from typing import Any

from .ask import RayNodes
from .ended import Ended, Stop
from .fitness import Candidate, Fitness, look
from .holding import Holders
from .members import Gang, Member
from .node_worker import start_bound, start_node_worker
from .nodes import read_nodes
from .placement import could_fit, need_of
from .plan import Plan
from .probes.verdict import Verdict
from .record import Proposal
from .report import tell_fitness
from .reserve import bundles, give_back, reserve
from .say import clean, say

ROUNDS = 5
"""Each costs seconds; who has more unfit nodes than this has another trouble than nodes."""

JOB_CAN_CAUSE = frozenset({"NR512", "NR521", "NR551", "NR553", "NR554", "NR555", "NR556", "NR557", "NR558", "NR563"})
"""What the job itself names: paths, modules, its stack, its flags. A broken device, full memory, a taken port or
silence is a node's own, however many nodes have it: the next ones may be well."""

DRAINING = "NR505"
DRAIN_S = 30.0
"""The memory of a process that was just ended comes back within seconds."""
DRAIN_EVERY_S = 2.0

Unfit = Mapping[str, Sequence[Verdict]]
"""IP -> why the node cannot run the job."""


def fit_gang(
    plan: Plan,
    attempt: str,
    stop: Stop,
    held: Callable[[Gang | None], None],
    findings: Findings,
    clock: Callable[[], float] = time.monotonic,
) -> Gang:
    """The gang, every node looked at, node workers running. `held` is told each gang before anything is done with
    it, and None once it is given back.

    Raises Ended: not_placed, node_unfit, stopped.
    """
    trials = itertools.count(1)
    for _ in range(ROUNDS):
        began = clock()
        gang = _reserve(plan, attempt, stop, trials, findings)
        waited = clock() - began
        held(gang)
        gang.workers.extend([start_node_worker(member, attempt) for member in gang.members])
        fitness = _drained(plan, gang, stop, clock)
        tell_fitness(attempt, fitness)
        findings.note(fitness)
        unfit = fitness.unfit
        if not unfit:
            return gang
        _check_policy(plan, findings, unfit)
        left_s = max(0, plan.place_wait_s - int(waited))  # all rounds share the wait for room
        plan = dataclasses.replace(plan, quarantine=(*plan.quarantine, *unfit), place_wait_s=left_s)
        _check_spare(plan, unfit)
        say(f"left out as unfit: {', '.join(unfit)}; the gang is reserved anew")
        _release(gang)
        held(None)
    raise _ended(findings.unfit)


def look_around(plan: Plan, attempt: str, stop: Stop, started: Callable[[Sequence[Any]], None]) -> None:
    """Looks at every node that is alive, whoever uses it, and holds nothing. `started` is told the actors to end."""
    alive = [node for node in read_nodes() if node.alive]
    workers = [start_node_worker(Member(node.node_id, node.ip, node.hostname), attempt) for node in alive]
    started(workers)
    candidates = [
        Candidate(node.ip, node.hostname, node.npus, node.cpus, busy=node.npus_free < node.npus) for node in alive
    ]
    tell_fitness(attempt, look(candidates, RayNodes(workers), plan.wish, stop.check, start_bound()))


class Findings:
    """What was found of every node that the attempt has looked at; of one seen twice the last look counts."""

    def __init__(self) -> None:
        self._found: dict[str, Sequence[Verdict]] = {}

    def note(self, fitness: Fitness) -> None:
        self._found.update({node.ip: fitness.unfit.get(node.ip, ()) for node in fitness.nodes})

    @property
    def unfit(self) -> Unfit:
        return {ip: verdicts for ip, verdicts in self._found.items() if verdicts}

    @property
    def common(self) -> frozenset[str]:
        """Ids that every node has, of two at least: no node shows that another could do without."""
        ids = [frozenset(verdict.id for verdict in verdicts) for verdicts in self._found.values()]
        return frozenset.intersection(*ids) if len(ids) > 1 else frozenset()

    def proposals(self) -> tuple[Proposal, ...]:
        """For quarantine: only what another node shows to be the node's own fault, by not having it."""
        witnessed = len(self._found) > 1
        return tuple(
            Proposal(ip, verdict.id, verdict.value, verdict.limit, dict(verdict.values))
            for ip, verdicts in self._found.items()
            for verdict in verdicts
            if witnessed and verdict.id not in self.common
        )


def _reserve(plan: Plan, attempt: str, stop: Stop, trials: Iterator[int], findings: Findings) -> Gang:
    try:
        return reserve(plan, attempt, stop, trials)
    except Ended as ended:
        if ended.reason == "not_placed" and findings.unfit:  # there was room, but for these
            raise _ended(findings.unfit, ended.evidence) from ended
        raise


def _drained(plan: Plan, gang: Gang, stop: Stop, clock: Callable[[], float]) -> Fitness:
    """A look at the gang; while nothing is wrong but device memory that no process holds, it is repeated."""
    fitness = _look(plan, gang, stop)
    deadline = clock() + DRAIN_S
    while _only_draining(fitness) and clock() < deadline:
        say(f"waiting for device memory on {', '.join(fitness.unfit)}: in use, and no process holds it")
        sleep(DRAIN_EVERY_S)
        fitness = _look(plan, gang, stop)
    return fitness


def _only_draining(fitness: Fitness) -> bool:
    errors = [verdict.id for verdicts in fitness.unfit.values() for verdict in verdicts]
    return bool(errors) and set(errors) == {DRAINING}


def _look(plan: Plan, gang: Gang, stop: Stop) -> Fitness:
    holders = Holders(gang.groups, bundles(plan)[0]["NPU"])
    try:
        return look(_candidates(gang.members), RayNodes(gang.workers), plan.wish, stop.check, start_bound(), holders)
    finally:
        holders.end()


def _candidates(members: Sequence[Member]) -> list[Candidate]:
    return [Candidate(one.ip, one.hostname, one.npus, one.cpus, busy=one.shared) for one in members]


def _check_policy(plan: Plan, findings: Findings, unfit: Unfit) -> None:
    """Raises Ended when the job wants it so, or when other nodes would not be better."""
    jobs_own = findings.common & JOB_CAN_CAUSE
    if jobs_own:
        say(f"every node that was looked at has {', '.join(sorted(jobs_own))}: no node is to blame")
    if jobs_own or plan.on_unfit == "fail":
        raise _ended(unfit)


def _check_spare(plan: Plan, unfit: Unfit) -> None:
    """Raises Ended when no node could take the place of the unfit ones, even if it were free."""
    fitting = could_fit(read_nodes(), need_of(plan))
    if fitting < plan.nodes:
        raise _ended(unfit, (f"without them {fitting} nodes could fit, {plan.nodes} wanted",))


def _ended(unfit: Unfit, more: Sequence[str] = ()) -> Ended:
    lines = [clean(f"{verdict.node}: {verdict.line()}") for verdicts in unfit.values() for verdict in verdicts]
    return Ended("node_unfit", node=next(iter(unfit)), evidence=(*lines, *more))


def _release(gang: Gang) -> None:
    import ray

    for worker in gang.workers:
        ray.kill(worker, no_restart=True)
    give_back(gang.groups)
