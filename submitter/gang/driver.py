"""The attempt's driver: fence, place, look, resume, prove, train, give back; its last line is the end record."""

from __future__ import annotations

import os
import platform
import threading
import traceback
from collections.abc import Callable
from typing import Any

from .ask import RayNodes
from .bounded import Bounded
from .checkpoint.resume import made_safe, resumed
from .ended import Ended, Stop
from .evidence import failure_lines
from .fence import fence
from .fit_gang import Findings, fit_gang, look_around
from .members import Gang, namespace
from .node_worker import DriverProcess, start_gang_actor, this_driver
from .placement import need_of
from .plan import Plan
from .proof import answers, prove
from .record import End, Phase
from .reserve import give_back
from .say import clean, say, warn
from .training import train

LEFTOVERS_WAIT_S = 10.0
"""Ray needs up to 7 s after the trainer's end until the last of its workers is gone."""

CLEAN_UP_S = 20.0
"""For everything at the end: what is still held then goes with the driver's process, as Ray does it."""

TOLD_BY_NODES = frozenset({"trainer_failed", "node_lost", "hung", "launch_failed"})
"""Ends of which the nodes' own logs may tell more. Not a frozen node's: that has to end within 20 s."""
EVIDENCE_S = 20.0

NODE_GONE = frozenset({"node_frozen", "node_lost"})
HURRIED_LEFTOVERS_WAIT_S = 0.5
FAREWELL_S = 0.5
HURRIED_CLEAN_UP_S = 2.0
"""After a node froze the attempt has to end within 20 s: 11 s to notice, 3 s evidence, 5 s SIGTERM take the rest."""


class Driver:
    """One attempt. `phase` and what is held are kept here so that any failure leads to a record and a clean end."""

    def __init__(self, plan: Plan, attempt: str) -> None:
        self._plan = plan
        self._attempt = attempt
        self._stop = Stop()
        self._phase: Phase = "start"
        self._gang: Gang | None = None
        self._actors: list[Any] = []
        self._findings = Findings()
        self._process = this_driver()

    def run(self) -> End:
        """Never raises. The record is not printed yet."""
        self._stop.listen()
        try:
            end = self._end(self._steps())
        except Ended as ended:
            end = self._end(ended)
        except BaseException as error:  # whatever happens, the outcome is told and everything is given back
            end = self._end(self._unexpected(error))
        if self._gang and self._phase == "training" and end.reason in TOLD_BY_NODES:
            _tell_failure(self._gang, self._attempt)
        _bounded(lambda: self._clean_up(end), HURRIED_CLEAN_UP_S if end.reason in NODE_GONE else CLEAN_UP_S)
        return end

    def _steps(self) -> Ended:
        import ray

        ray.init(address="auto", namespace=namespace(self._attempt), logging_level="warning", log_to_driver=False)
        self._stop.listen()
        say(f"driver of {self._attempt}: Ray {ray.__version__}, Python {platform.python_version()}, {platform.node()}")
        if self._plan.task == "doctor":
            self._phase = "fitness"
            look_around(self._plan, self._attempt, self._stop, self._actors.extend)
            return Ended("succeeded")
        self._phase = "fence"
        fence(self._attempt, self._stop, need_of(self._plan))
        self._phase = "placement"
        gang = fit_gang(self._plan, self._attempt, self._stop, self._hold, self._findings)
        self._phase = "checkpoint"
        plan = resumed(
            made_safe(self._plan, os.environ), self._attempt, gang, RayNodes(gang.workers), self._stop, os.environ
        )
        self._phase = "proof"
        self._actors.append(start_gang_actor(gang))
        prove(plan, gang, self._stop)
        answers({self._actors[0].facts.remote(): platform.node()}, self._stop)  # the trainer will ask it
        self._phase = "training"
        result = train(plan, gang, self._stop)
        reason = result.reason or ("succeeded" if result.code == 0 else "trainer_failed")
        return Ended(reason, node=result.node, code=result.code, evidence=result.evidence)

    def _hold(self, gang: Gang | None) -> None:
        """The gang to give back at the end; None while another one is reserved."""
        self._gang = gang
        self._phase = "fitness" if gang else "placement"

    def _unexpected(self, error: BaseException) -> Ended:
        if self._stop.requested or isinstance(error, SystemExit | KeyboardInterrupt):  # Ray's own SIGTERM handler exits
            return Ended("stopped")
        traceback.print_exc()
        return Ended("driver_error", evidence=(clean(f"{type(error).__name__}: {error}")[:2000],))

    def _end(self, ended: Ended) -> End:
        proposals = self._findings.proposals()
        return End(
            attempt=self._attempt,
            phase=self._phase,
            reason=ended.reason,
            code=ended.code,
            nodes=tuple(member.ip for member in self._gang.members) if self._gang else (),
            node=ended.node,
            evidence=ended.evidence,
            quarantine=tuple(dict.fromkeys((*ended.quarantine, *(one.node for one in proposals)))),
            proposals=proposals,
        )

    def _clean_up(self, end: End) -> None:
        import ray

        if not ray.is_initialized():
            return
        if self._gang:
            if self._phase == "training":
                _end_leftovers(self._gang, end, self._process)
            _end_workers(self._gang, end, self._process)
        for actor in self._actors:
            ray.kill(actor, no_restart=True)
        if self._gang:
            give_back(self._gang.groups)
        ray.shutdown()


def _tell_failure(gang: Gang, attempt: str) -> None:
    found = Bounded(lambda: failure_lines(gang, attempt), EVIDENCE_S)
    for line in found.value or []:
        say(line)
    if found.why:
        warn(f"the nodes' own logs were not looked at: {clean(found.why)}")


def _end_leftovers(gang: Gang, end: End, driver: DriverProcess) -> None:
    """Processes of the trainer that outlive it (a daemon of an inference engine) are ended on every node."""
    import ray

    wait_s = HURRIED_LEFTOVERS_WAIT_S if end.reason in NODE_GONE else LEFTOVERS_WAIT_S
    job = ray.get_runtime_context().get_job_id()
    asked = {
        worker.end_leftovers.remote(driver, job, wait_s): member.ip
        for worker, member in zip(gang.workers, gang.members, strict=True)
    }
    ready, _ = ray.wait(list(asked), num_returns=len(asked), timeout=wait_s + 0.5)
    for reference in ready:
        for line in _value(reference):
            say(f"ended a process that the trainer left on {asked[reference]}: {clean(line)}")


def _end_workers(gang: Gang, end: End, driver: DriverProcess) -> None:
    """A frozen raylet ends nobody: the node worker there is asked to end everything of the attempt, itself last."""
    import ray

    for worker, member in zip(gang.workers, gang.members, strict=False):  # none yet when the attempt ends this early
        if end.reason == "node_frozen" and member.ip == end.node:
            ray.wait([worker.end_everything.remote(driver)], timeout=FAREWELL_S)
        else:
            ray.kill(worker, no_restart=True)


def _value(reference: Any) -> list[str]:
    import ray

    try:
        lines: list[str] = ray.get(reference, timeout=1)
    except ray.exceptions.RayError:  # the node has gone, and its processes with it
        return []
    return lines


def _bounded(work: Callable[[], None], seconds: float) -> None:
    """Runs `work` for at most so long: Ray calls to a frozen node have no bound of their own."""
    thread = threading.Thread(target=_quietly, args=(work,), daemon=True)
    thread.start()
    thread.join(seconds)


def _quietly(work: Callable[[], None]) -> None:
    try:
        work()
    except Exception:  # at the end the outcome matters; the rest goes with the driver's process
        traceback.print_exc()
