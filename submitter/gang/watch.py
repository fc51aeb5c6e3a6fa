"""The heartbeat's hands: asks every node by ping and by pinned task, replaces node workers, gathers evidence."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from .ended import Ended
from .heartbeat import NodePulse, Pulse, SteadyClock, Verdict
from .members import Gang
from .node_worker import pinned_to, start_node_worker
from .say import clean, warn

EVIDENCE_S = 3.0

_FATAL = {
    Verdict.NODE_FROZEN: "node_frozen",
    Verdict.RAYLET_FROZEN: "node_frozen",
    Verdict.NODE_LOST: "node_lost",
}


class Watch:
    def __init__(self, gang: Gang) -> None:
        import ray

        self._ray = ray
        self._gang = gang
        self._pulses = [NodePulse() for _ in gang.members]
        self._asked: dict[Any, Pulse] = {}
        self._samples: list[tuple[str, Mapping[str, Any]]] = []
        self._clock = SteadyClock()
        self._identities = [worker.identity.remote() for worker in gang.workers]
        nothing = ray.remote(num_cpus=0, max_retries=0)(_nothing)
        self._tasks = [nothing.options(scheduling_strategy=pinned_to(member.node_id)) for member in gang.members]

    def beat(self) -> Ended | None:
        """Collect answers, ask again, replace node workers; how the attempt has to end if a node is gone."""
        now = self.now()
        self._collect(now)
        for index, pulse in enumerate(self._pulses):
            self._ask(index, now)
            verdict = pulse.judge(now)
            if verdict in _FATAL:
                return self._ended(index, verdict)
            if verdict is not Verdict.WELL:
                self._replace(index, verdict, now)
        return None

    def now(self) -> float:
        """The watch's own time, for `well_since`."""
        return self._clock.at(time.monotonic())

    def well_since(self, moment: float) -> bool:
        """Every node has answered a ping and a task that were sent after `moment`."""
        return all(pulse.well_since(moment) for pulse in self._pulses)

    def samples(self) -> list[tuple[str, Mapping[str, Any]]]:
        """(IP, sample) of each that has come with the answer to a ping since the last call."""
        found, self._samples = self._samples, []
        return found

    def evidence(self) -> tuple[str, ...]:
        """One line per node that answers within 3 s; a node worker that is silent already is not waited for."""
        now = self.now()
        triples = zip(self._gang.workers, self._gang.members, self._pulses, strict=True)
        asked = {worker.evidence.remote(): member.ip for worker, member, pulse in triples if pulse.worker_answers(now)}
        ready = self._ray.wait(list(asked), num_returns=len(asked), timeout=EVIDENCE_S)[0] if asked else []
        lines = {asked[reference]: self._line(reference) for reference in ready}
        return tuple(f"{member.ip}: {lines.get(member.ip, 'does not answer')}" for member in self._gang.members)

    def _collect(self, now: float) -> None:
        if not self._asked:
            return
        ready, _ = self._ray.wait(list(self._asked), num_returns=len(self._asked), timeout=0)
        for reference in ready:
            pulse = self._asked.pop(reference)
            try:
                self._keep(pulse, self._ray.get(reference, timeout=1))
                pulse.answer(now)
            except self._ray.exceptions.RayError:  # an answer too: the process or its node has gone
                pulse.fail(now)

    def _keep(self, pulse: Pulse, answer: Any) -> None:
        """A ping's answer: the newest sample, if there is one. A task's is nothing."""
        if isinstance(answer, dict):
            index = next(number for number, one in enumerate(self._pulses) if one.ping is pulse)
            self._samples.append((self._gang.members[index].ip, answer))

    def _ask(self, index: int, now: float) -> None:
        pulse = self._pulses[index]
        if pulse.task.due(now):
            pulse.task.send(now)
            self._asked[self._tasks[index].remote()] = pulse.task
        if pulse.ping.due(now):
            pulse.ping.send(now)
            self._asked[self._gang.workers[index].ping.remote()] = pulse.ping

    def _replace(self, index: int, verdict: Verdict, now: float) -> None:
        member, old = self._gang.members[index], self._gang.workers[index]
        state = "has died" if verdict is Verdict.WORKER_DEAD else "does not answer"
        warn(f"the node worker on {member.ip} {state}, while its node does; it is replaced and training goes on")
        new = start_node_worker(member, self._gang.attempt)
        if identity := self._identity(index):
            new.end_predecessor.remote(*identity)
        self._ray.kill(old, no_restart=True)
        lost = self._pulses[index].ping
        self._asked = {reference: pulse for reference, pulse in self._asked.items() if pulse is not lost}
        self._gang.workers[index] = new
        self._identities[index] = new.identity.remote()
        self._pulses[index].replaced(now)

    def _identity(self, index: int) -> Any:
        try:
            return self._ray.get(self._identities[index], timeout=0)
        except self._ray.exceptions.RayError:  # it died before it could say
            return None

    def _ended(self, index: int, verdict: Verdict) -> Ended:
        member, pulse = self._gang.members[index], self._pulses[index]
        waited = f"task unanswered for {pulse.task.waits(self.now()):.0f} s"
        line = f"node {member.ip}: {verdict.value}; {waited}"
        return Ended(_FATAL[verdict], node=member.ip, evidence=(line,), quarantine=(member.ip,))

    def _line(self, reference: Any) -> str:
        try:
            return clean(self._ray.get(reference, timeout=1))
        except self._ray.exceptions.RayError as error:
            return clean(error)[:300]


def _nothing() -> None:
    """The task of the heartbeat."""
