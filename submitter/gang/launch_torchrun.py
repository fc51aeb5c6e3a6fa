"""Launcher torchrun: one torchrun per node of the gang, static rendezvous, explicit ranks.

The driver's side. `torchrun_node` is the actor on each node, `torchrun_agent` runs torchrun there, `guard` ends it.
"""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .launcher import LaunchResult
from .members import Gang, Member
from .plan import Plan, TorchrunPlan
from .secrets import SecretMissingError
from .torchrun_agent import Death
from .torchrun_node import Chunk, TorchrunNode

START_WAIT_S = 180.0
"""For the actors: a cold worker takes 10 s on a busy machine, 64 nodes load their packages at once."""
READ_WAIT_S = 2.0
"""How long a node keeps a question for output when it has none: one small message per node and 2 s."""
OTHERS_GRACE_S = 2.0
"""After the first failed rank, for the other nodes: nothing that they do can be used any more."""
REPORT_GRACE_S = 5.0
"""After the first failed rank, for its own node: torchrun ends the ranks beside it and writes its report."""
TERMINATE_GRACE_S = 30.0
"""Longer than the driver waits before it calls `kill`."""
SILENT_AFTER_S = 120.0
"""A launcher that has not answered `read` for so long is frozen. A frozen node is noticed sooner, by the heartbeat."""
LOST_AFTER_S = 10.0
"""After SIGKILL has been asked for: a node that has not answered is frozen or gone."""
METHODS_AT_ONCE = 4
"""`read` waits in the actor while `end` has to get through."""


def launch(plan: Plan, gang: Gang) -> TorchrunRun:
    """Start one launcher actor per node. ValueError: the master address is none of the gang's nodes."""
    if plan.torchrun is None:
        raise ValueError("the plan names launcher torchrun and has no options for it")
    order = rank_order(gang.members, plan.torchrun.master_addr)
    nodes = [Node(gang.members[place], _actor(gang, place, plan, rank)) for rank, place in enumerate(order)]
    return TorchrunRun(plan, plan.torchrun, gang.attempt, nodes)


def rank_order(members: Sequence[Member], master_addr: str | None) -> list[int]:
    """Places of the members in the order of their node ranks: the master first, the rest as they are."""
    places = list(range(len(members)))
    if master_addr is None:
        return places
    wanted = {master_addr, *_addresses(master_addr)}
    master = [place for place in places if members[place].ip in wanted]
    if not master:
        ips = ", ".join(member.ip for member in members)
        raise ValueError(
            f"MASTER_ADDR {master_addr} is none of the nodes that were reserved ({ips}): leave it out, "
            "and the first node is taken"
        )
    return sorted(places, key=lambda place: place != master[0])


def torchrun_options(torchrun: TorchrunPlan, ips: Sequence[str], rank: int, port: int, attempt: str) -> list[str]:
    """Options of `torch.distributed.run` for the node of that rank. c10d would ignore --node_rank."""
    options = {
        "--nnodes": len(ips),
        "--nproc_per_node": torchrun.nproc_per_node,
        "--node_rank": rank,
        "--rdzv_backend": "static",
        "--rdzv_endpoint": endpoint(ips[0], port),
        "--rdzv_id": attempt,
        "--local_addr": ips[rank],
        "--max_restarts": 0,
    }
    return [str(part) for option in options.items() for part in option]


def endpoint(ip: str, port: int) -> str:
    return f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"


@dataclass
class Clock:
    """How far a node's clock is ahead of the driver's, from the question with the shortest way."""

    ahead_s: float = 0.0
    unsure_s: float = float("inf")

    def learn(self, asked: float, received: float, sent: float, answered: float) -> None:
        """Times of one question: asked and answered by the driver's clock, received and sent by the node's."""
        unsure = ((answered - asked) - (sent - received)) / 2
        if unsure < self.unsure_s:
            self.unsure_s = unsure
            self.ahead_s = ((received - asked) + (sent - answered)) / 2

    def driver_time(self, node_time: float) -> float:
        """Clocks that may be equal are taken as equal: NTP does better than this estimate."""
        return node_time if abs(self.ahead_s) <= self.unsure_s else node_time - self.ahead_s


@dataclass
class Node:
    """One node as the driver sees it."""

    member: Member
    actor: Any
    clock: Clock = field(default_factory=Clock)
    deaths: list[Death] = field(default_factory=list)
    asked_to_start: bool = False
    code: int | None = None
    """torchrun's exit code."""
    ended_at: float | None = None
    tail: tuple[str, ...] = ()
    lost: str | None = None
    """Why the launcher itself gives no answer any more: Ray's words, or how long it was silent."""
    given_up: bool = False
    """Never started, or silent after SIGKILL was asked for."""

    @property
    def over(self) -> bool:
        return self.code is not None or self.lost is not None or self.given_up

    @property
    def failed(self) -> bool:
        return bool(self.code) or any(death.code for death in self.deaths)


@dataclass(frozen=True)
class Failure:
    """A rank that did not end with 0. `at` is by the driver's clock."""

    node: Node
    death: Death
    at: float


def first_failure(nodes: Sequence[Node]) -> Failure | None:
    failures = [
        Failure(node, death, node.clock.driver_time(death.time))
        for node in nodes
        for death in node.deaths
        if death.code
    ]
    return min(failures, key=lambda failure: failure.at, default=None)


def result(nodes: Sequence[Node]) -> LaunchResult:
    """What the attempt's end record needs, once every node is over.

    A lost launcher is told before failed ranks: the others lose their peers at once, the driver hears of it later.
    """
    failure = first_failure(nodes)
    if lost := next((node for node in nodes if node.lost is not None), None):
        evidence = f"the launcher on node {lost.member.ip} is lost: {lost.lost}"
        return LaunchResult(None, "node_lost", lost.member.ip, (evidence, *(_words(failure) if failure else ())))
    if failure:
        return LaunchResult(failure.death.code, None, failure.node.member.ip, _words(failure))
    ended = [node for node in nodes if node.code]
    if ended:
        return _without_failed_rank(min(ended, key=lambda node: node.ended_at or 0.0))
    silent = [node.member.ip for node in nodes if node.given_up]
    return LaunchResult(None, "launch_failed", silent[0]) if silent else LaunchResult(0)


def _words(failure: Failure) -> tuple[str, ...]:
    death, node = failure.death, failure.node
    how = f"exit code {death.code}" if death.code > 0 else f"signal {-death.code}"
    first = f"rank {death.rank} (local rank {death.local_rank}) on node {node.member.ip} failed first: {how}"
    return (first, *node.tail)


def _without_failed_rank(node: Node) -> LaunchResult:
    evidence = f"torchrun on node {node.member.ip} ended with code {node.code}; none of its ranks had failed"
    return LaunchResult(node.code, "launch_failed", node.member.ip, (evidence, *node.tail))


@dataclass(frozen=True)
class Call:
    """A question that a node has not answered yet."""

    node: Node
    answer: Callable[[Node, Any, float], None]
    """Gets the node, the value, and when it was asked (seconds since the epoch)."""
    asked: float
    since: float
    """The same moment by the monotonic clock."""


class TorchrunRun:
    """Everything that is asked of a node is asked without waiting; `poll` takes the answers."""

    def __init__(self, plan: Plan, torchrun: TorchrunPlan, attempt: str, nodes: list[Node]) -> None:
        self._plan = plan
        self._torchrun = torchrun
        self._attempt = attempt
        self._nodes = nodes
        self._calls: dict[Any, Call] = {}
        """By Ray's object reference; the longest outstanding first."""
        self._ports: dict[str, int] = {}
        """By node id."""
        self._ending = False
        self._kill_at: float | None = None
        self._lost_at: float | None = None
        self._start_by = time.monotonic() + START_WAIT_S
        self._started = 0
        self._failed_start: LaunchResult | None = None
        for rank, node in enumerate(nodes):
            self._ask(node, node.actor.prepare.remote(torchrun.master_port if rank == 0 else None), self._prepared)

    def poll(self, wait_s: float) -> LaunchResult | None:
        until = time.monotonic() + wait_s
        while self._take(max(0.0, until - time.monotonic())):
            if time.monotonic() >= until:
                break
        self._keep_time(time.monotonic())
        if not all(node.over for node in self._nodes):
            return None
        return self._failed_start or result(self._nodes)

    def stopped(self) -> None:
        self.terminate()  # Ray's signal has reached none of the nodes' launchers

    def terminate(self) -> None:
        self._end(TERMINATE_GRACE_S)

    def kill(self) -> None:
        self._end(0.0)
        self._lost_at = time.monotonic() + LOST_AFTER_S

    def _ask(self, node: Node, reference: Any, answer: Callable[[Node, Any, float], None]) -> None:
        self._calls[reference] = Call(node, answer, time.time(), time.monotonic())

    def _take(self, wait_s: float) -> bool:
        """Take what has been answered; False when nothing has within `wait_s`."""
        import ray

        if not self._calls:
            time.sleep(wait_s)
            return False
        ready, _ = ray.wait(list(self._calls), num_returns=1, timeout=wait_s)
        for reference in ready:
            self._answer(self._calls.pop(reference), reference)
        return bool(ready)

    def _answer(self, call: Call, reference: Any) -> None:
        import ray

        try:
            value = ray.get(reference)
        except ray.exceptions.RayTaskError as error:
            self._refused(call.node, error.cause)
        except ray.exceptions.RayError as error:
            self._lose(call.node, _first_line(error))
        else:
            call.answer(call.node, value, call.asked)

    def _prepared(self, node: Node, port: int, asked: float) -> None:
        self._ports[node.member.node_id] = port
        if len(self._ports) < len(self._nodes) or self._ending:
            return
        ips = [each.member.ip for each in self._nodes]
        port = self._ports[self._nodes[0].member.node_id]
        for rank, each in enumerate(self._nodes):
            each.asked_to_start = True
            options = torchrun_options(self._torchrun, ips, rank, port, self._attempt)
            start = each.actor.start.remote(options, list(self._plan.command), dict(self._plan.secrets))
            self._ask(each, start, self._node_started)

    def _node_started(self, node: Node, value: None, asked: float) -> None:
        self._started += 1
        self._ask(node, node.actor.read.remote(READ_WAIT_S), self._chunk)

    def _chunk(self, node: Node, chunk: Chunk, asked: float) -> None:
        _write(chunk.data)
        node.clock.learn(asked, chunk.received, chunk.sent, time.time())
        node.deaths += chunk.deaths
        if chunk.code is None:
            self._ask(node, node.actor.read.remote(READ_WAIT_S), self._chunk)
        else:
            node.code, node.tail, node.ended_at = chunk.code, chunk.tail, time.monotonic()
        if node.failed:
            self._end_others(node)

    def _refused(self, node: Node, error: BaseException) -> None:
        """A method of the actor raised: it cannot start."""
        reason = "secret_missing" if isinstance(error, SecretMissingError) else "launch_failed"
        self._fail_start(LaunchResult(None, reason, node.member.ip, (f"node {node.member.ip}: {_first_line(error)}",)))
        node.given_up = True
        self._end_others(node)

    def _fail_start(self, failure: LaunchResult) -> None:
        self._failed_start = self._failed_start or failure

    def _lose(self, node: Node, why: str) -> None:
        node.lost = why
        self._end_others(node)

    def _end_others(self, failed: Node) -> None:
        if self._ending:
            return
        self._end(OTHERS_GRACE_S, but=failed)
        self._kill_at = time.monotonic() + REPORT_GRACE_S

    def _end(self, grace_s: float, but: Node | None = None) -> None:
        self._ending = True
        for node in self._nodes:
            if not node.asked_to_start:
                node.given_up = True
            elif node is not but and not node.over:
                node.actor.end.remote(grace_s)

    def _keep_time(self, now: float) -> None:
        if self._started < len(self._nodes) and not self._ending and now >= self._start_by:
            self._give_up_start()
        for reference, call in list(self._calls.items()):
            if call.answer == self._chunk and now - call.since >= SILENT_AFTER_S:
                del self._calls[reference]
                self._lose(call.node, f"no answer for {SILENT_AFTER_S:g} s")
        if self._kill_at is not None and now >= self._kill_at:
            self._kill_at = None
            self.kill()
        if self._lost_at is not None and now >= self._lost_at:
            for node in self._nodes:
                node.given_up = node.given_up or not node.over

    def _give_up_start(self) -> None:
        waiting = sorted(call.node.member.ip for call in self._calls.values() if call.answer != self._chunk)
        evidence = f"the launchers of these nodes did not start within {START_WAIT_S:g} s: {', '.join(waiting)}"
        self._fail_start(LaunchResult(None, "launch_failed", waiting[0] if waiting else None, (evidence,)))
        self.kill()


def _actor(gang: Gang, place: int, plan: Plan, rank: int) -> Any:
    import ray
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    options = {
        "name": f"torchrun-{rank}",
        "num_cpus": plan.npus_per_node,
        "resources": {"NPU": plan.npus_per_node},
        "max_concurrency": METHODS_AT_ONCE,
        "max_restarts": 0,
        "scheduling_strategy": PlacementGroupSchedulingStrategy(gang.groups[place], placement_group_bundle_index=0),
    }
    return ray.remote(TorchrunNode).options(**options).remote()


def _addresses(host: str) -> set[str]:
    """IPs of a host name; empty for a name that does not resolve."""
    try:
        return {str(entry[4][0]) for entry in socket.getaddrinfo(host, None)}
    except OSError:
        return set()


def _first_line(error: BaseException) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)


def _write(data: bytes) -> None:
    if data:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
