"""The trainer from its start to its end: the only place that decides to end it."""

from __future__ import annotations

import os
import time
from importlib import import_module

from .ended import Ended, Stop
from .evidence import tell_hang
from .heartbeat import FIRST_LIMIT_S
from .launcher import Launch, LaunchResult, Running
from .members import RUN_VARIABLE, Gang
from .plan import Plan
from .progress import Progress
from .say import say
from .telemetry.publish import Publisher
from .watch import Watch

POLL_S = 0.25
LOOK_EVERY_S = 0.1
TERM_WAIT_S = 5.0
"""After a node froze: from SIGTERM to SIGKILL."""

KILL_WAIT_S = 5.0
"""A killed process is gone at once, unless it waits for a device."""

STOP_WAIT_S = 20.0
"""After a stop: how long the trainer may take to end. Ray's own bound (RAY_JOB_STOP_WAIT_TIME_S) is larger."""

FIRST_ANSWERS_S = FIRST_LIMIT_S + 10.0
"""The heartbeat's judgement comes first; this only keeps the wait from being without a bound."""

AFTERMATH_S = 8.0
"""A trainer fails within seconds of a node's death; the node is known to be lost a little later."""


def train(plan: Plan, gang: Gang, stop: Stop) -> LaunchResult:
    """The trainer's result. Raises Ended: node_frozen, node_lost, hung, stopped, launch_failed."""
    watch = Watch(gang)
    # The heartbeat's processes are up before the trainer takes the hosts' cores: from now on a silence means something.
    if ended := _trouble_within(watch, stop, FIRST_ANSWERS_S):
        raise ended
    progress = Progress(plan.hang)
    publisher = Publisher(os.environ.get(RUN_VARIABLE, gang.attempt), gang.attempt)
    running = _launch(plan, gang)
    try:
        return _follow(running, watch, progress, publisher, gang, stop)
    except Ended:
        raise
    except BaseException:  # a bug of ours must not leave a trainer without a watch
        running.kill()
        raise


def _launch(plan: Plan, gang: Gang) -> Running:
    launch: Launch = import_module(f"{__package__}.launch_{plan.launcher}").launch
    try:
        return launch(plan, gang)
    except Exception as error:  # by contract: whatever keeps the trainer from starting
        raise Ended("launch_failed", evidence=(f"{type(error).__name__}: {error}",)) from error


def _follow(
    running: Running, watch: Watch, progress: Progress, publisher: Publisher, gang: Gang, stop: Stop
) -> LaunchResult:
    while (result := running.poll(POLL_S)) is None:
        if stop.requested:
            raise _stopped(running)
        if ended := watch.beat():
            raise _frozen(running, watch, ended)
        if line := progress.hung():
            raise _hung(running, watch, gang, stop, line)
        publisher.samples(watch.samples())
        if step := progress.news():
            publisher.step(step, progress.total)
    if stop.requested:  # Ray signals the trainer too, which may end first
        raise Ended("stopped", code=result.code)
    if result.code != 0 and (ended := _trouble_within(watch, stop, AFTERMATH_S)):
        ended.code = result.code
        raise ended
    return result


def _trouble_within(watch: Watch, stop: Stop, bound_s: float) -> Ended | None:
    """Ask every node once more: the first trouble, or None when all have answered (or the bound has passed)."""
    asked_at = watch.now()
    deadline = time.monotonic() + bound_s
    while time.monotonic() < deadline and not watch.well_since(asked_at):
        stop.check()
        if ended := watch.beat():
            return ended
        time.sleep(LOOK_EVERY_S)
    return None


def _stopped(running: Running) -> Ended:
    say("stop requested: waiting for the trainer to end")
    running.stopped()
    result = _wait(running, STOP_WAIT_S) or _kill(running)
    return Ended("stopped", code=result.code if result else None)


def _frozen(running: Running, watch: Watch, ended: Ended) -> Ended:
    say(f"{ended.evidence[0]}; the attempt ends")
    ended.evidence = (*ended.evidence, *watch.evidence())
    running.terminate()
    result = _wait(running, TERM_WAIT_S) or _kill(running)
    ended.code = result.code if result else None
    return ended


def _hung(running: Running, watch: Watch, gang: Gang, stop: Stop, line: str) -> Ended:
    """Evidence first: nothing is left to look at afterwards."""
    say(f"{line}; the attempt ends when it is known what its processes are doing")
    try:
        stopped = tell_hang(gang, stop.check)
    except Ended:
        return _stopped(running)
    node = stopped[0] if len(stopped) == 1 else None
    evidence = (line, *(f"{ip}: has stopped processes" for ip in stopped), *watch.evidence())
    running.terminate()
    result = _wait(running, TERM_WAIT_S) or _kill(running)
    return Ended("hung", node=node, code=result.code if result else None, evidence=evidence)


def _kill(running: Running) -> LaunchResult | None:
    say("the trainer has not ended by itself: SIGKILL")
    running.kill()
    return _wait(running, KILL_WAIT_S)


def _wait(running: Running, bound_s: float) -> LaunchResult | None:
    deadline = time.monotonic() + bound_s
    while (left := deadline - time.monotonic()) > 0:
        if result := running.poll(min(POLL_S, left)):
            return result
    return None
