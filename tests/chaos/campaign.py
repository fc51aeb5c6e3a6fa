"""Runs of the stand-in trainer to which faults happen, in an order that a seed decides."""

from __future__ import annotations

import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from submitter.cluster.client import RayClient
from submitter.ledger import Attempt
from submitter.rehearsal.local_cluster import NodeSpec
from tests.chaos.faults import FAULTS, SAVE_EVERY, Fault, Scene
from tests.chaos.tally import AttemptSeen, RunSeen, Tally, tally
from tests.support.renew import RenewableCluster
from tests.support.standin import Standin
from tests.support.supervisor import ledger_of

GANG = 4
NODES = [NodeSpec(npus=1, cpus=8)] * (GANG + 1)
STEPS = 120
STEP_S = 0.2
SETS = (f"NNODES={GANG}", f"STEP_S={STEP_S}", f"SAVE_FREQ={SAVE_EVERY}", "HANG_MIN=0.15")
FAULTS_OF_A_RUN = 3
NEW_STEPS = 3
"""An attempt makes so many that the run never had before the next fault comes: two that end alike without any would
end the run."""
OVER_BOUND_S = 180.0
FOLLOWER_BOUND_S = 60.0
STOPPED = 6
"""Exit code of a command whose run was stopped."""

RESUMED = "resumed"
"""Why there is a next attempt, when a person wanted it."""

Say = Callable[[str], None]


def run_campaign(faults: int, seed: int, *, steps: int = STEPS, say: Say = print) -> Tally:
    """On a cluster of its own. Everything is bounded; AssertionError with the run's story where a bound is passed."""
    rng = random.Random(seed)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="nrchaos", dir="/tmp")))
        cluster = stack.enter_context(RenewableCluster.start(NODES, base_dir=folder / "nodes"))
        assert isinstance(cluster, RenewableCluster)
        campaign = Campaign(cluster, folder, rng, steps, say)
        stack.callback(campaign.end)
        for group in grouped(drawn(faults, rng)):
            campaign.play(group)
        return campaign.tally()


def drawn(faults: int, rng: random.Random) -> list[Fault]:
    """Each kind comes before any comes again."""
    found: list[Fault] = []
    while len(found) < faults:
        found += rng.sample(FAULTS, len(FAULTS))
    return found[:faults]


def grouped(faults: Sequence[Fault]) -> list[list[Fault]]:
    """The faults of each run: those that end it for good alone, and at most one that costs it a node."""
    groups: list[list[Fault]] = []
    for fault in faults:
        if fault.arguments:
            groups.insert(0, [fault])
            continue
        last = groups[-1] if groups else []
        full = not last or bool(last[0].arguments) or len(last) == FAULTS_OF_A_RUN
        if full or (fault.blames_node and any(one.blames_node for one in last)):
            groups.append([fault])
        else:
            last.append(fault)
    return groups


@dataclass
class _Run:
    name: str
    standin: Standin
    wanted: str
    steps: int | None
    expected: dict[int, frozenset[str]] = field(default_factory=dict)
    """By attempt; of those to which nothing was done, success."""
    follower: subprocess.Popen[bytes] | None = None


class Campaign:
    def __init__(self, cluster: RenewableCluster, folder: Path, rng: random.Random, steps: int, say: Say) -> None:
        self._cluster = cluster
        self._folder = folder
        self._rng = rng
        self._steps = steps
        self._say = say
        self._runs: list[_Run] = []
        self._faults = 0
        self._began = time.monotonic()

    def play(self, faults: Sequence[Fault]) -> None:
        """As many runs as they take: a run may be over before all of its faults have come."""
        left = list(faults)
        while left:
            with ExitStack() as stack:
                left = self._play(left, stack)

    def tally(self) -> Tally:
        return tally(self._faults, [self._seen(run) for run in self._runs])

    def end(self) -> None:
        for run in self._runs:
            run.standin.end()
        for run in self._runs:
            run.standin.nothing_left()
        self._say("left behind: nothing")

    def _play(self, faults: list[Fault], stack: ExitStack) -> list[Fault]:
        """Those that did not come to it."""
        name, own = f"chaos-{len(self._runs) + 1}", faults[0].arguments
        place = self._folder / name
        standin = Standin(self._cluster.address, place / "home", place / "folder")
        run = _Run(name, standin, "failed" if own else "succeeded", None if own else self._steps)
        self._runs.append(run)
        sets = (
            f"NNODES={GANG}",
            f"STEPS={self._steps}",
            f"STEP_S={STEP_S}",
            f"SAVE_FREQ={SAVE_EVERY}",
            "HANG_MIN=0.15",
        )
        self._follow(run, stack, "submit", *standin.arguments(name, sets=sets, trainer=own))
        if own:
            self._fail(run, faults.pop(0))
        while faults and self._strike(run, faults[0], stack):
            faults.pop(0)
        standin.wait_over(name, bound_s=OVER_BOUND_S)
        assert run.follower is not None
        run.follower.wait(FOLLOWER_BOUND_S)
        standin.end()
        return faults

    def _fail(self, run: _Run, fault: Fault) -> None:
        run.expected[1] = fault.reasons
        ended = run.standin.wait_over(run.name)
        self._tell(fault, f"{run.name}-a1", f"{ended.state}: {ended.reason}")

    def _strike(self, run: _Run, fault: Fault, stack: ExitStack) -> bool:
        """False: the run was over before."""
        attempt = self._training(run)
        if attempt is None:
            return False
        number = attempt.attempt
        if fault.reasons:
            run.expected[number] = fault.reasons
        scene = Scene(
            self._cluster,
            run.standin,
            self._rng,
            run.name,
            attempt.submission_id,
            stop=lambda: self._stop(run),
            resume=lambda: self._follow(run, stack, "resume", run.name),
        )
        fault.strike(scene)
        if not fault.reasons:
            self._tell(fault, attempt.submission_id, "goes on")
            return True
        ended = run.standin.wait_ended(attempt.submission_id)
        run.standin.wait(run.name, "the next attempt", lambda: self._is_next(run, number), OVER_BOUND_S)
        for mend in scene.mend:
            mend()
        self._tell(fault, attempt.submission_id, f"{ended.reason}, a{number + 1} posted")
        return True

    def _training(self, run: _Run) -> Attempt | None:
        """The newest attempt, once it has made new steps; None when the run is over."""
        found: list[Attempt] = []

        def ready() -> bool:
            if run.standin.is_over(run.name):
                return True
            attempts = run.standin.attempts(run.name)
            newest = attempts[-1] if attempts else None
            if newest is None or newest.posted_ms is None or newest.state is not None:
                return False
            trained = run.standin.trained()
            before = max((step for name, step in trained if name != newest.submission_id), default=0)
            own = max((step for name, step in trained if name == newest.submission_id), default=0)
            if own < max(before + NEW_STEPS, SAVE_EVERY + 1):  # without a checkpoint nobody may go on
                return False
            found.append(newest)
            return True

        run.standin.wait(run.name, "new steps", ready, OVER_BOUND_S)
        return found[0] if found else None

    def _is_next(self, run: _Run, number: int) -> bool:
        return any(one.attempt > number and one.posted_ms for one in run.standin.attempts(run.name))

    def _stop(self, run: _Run) -> None:
        assert run.standin("stop", run.name).code == 0, run.standin.story(run.name)
        assert run.follower is not None
        assert run.follower.wait(FOLLOWER_BOUND_S) == STOPPED

    def _follow(self, run: _Run, stack: ExitStack, *arguments: str) -> None:
        run.follower = stack.enter_context(run.standin.running(*arguments))

    def _tell(self, fault: Fault, attempt: str, came: str) -> None:
        self._faults += 1
        seconds = time.monotonic() - self._began
        self._say(f"{seconds:5.0f} s  {self._faults:2}  {fault.name:40} {attempt:12} {came}")

    def _seen(self, run: _Run) -> RunSeen:
        standin = run.standin
        ended = standin.run(run.name)
        with ledger_of(standin.book) as ledger:
            waits = {
                one.after_attempt: one.decision["wait_s"]
                for one in ledger.decisions(run.name)
                if one.decision["action"] == "retry" and one.decision["why"] != RESUMED
            }
        attempts = standin.attempts(run.name)
        return RunSeen(
            name=run.name,
            state=ended.state,
            wanted=run.wanted,
            steps=run.steps,
            attempts=tuple(_attempt(one, run, waits.get(one.attempt)) for one in attempts),
            trained=tuple((int(name.rpartition("-a")[2]), step) for name, step in standin.trained()),
            posted=tuple(_known(self._cluster.address, run.name)),
        )


def _attempt(attempt: Attempt, run: _Run, wait_s: float | None) -> AttemptSeen:
    return AttemptSeen(
        attempt.attempt,
        attempt.reason,
        attempt.resumed_from,
        ended_s=_seconds(attempt.ended_ms),
        posted_s=_seconds(attempt.posted_ms),
        wait_s=wait_s,
        expected=run.expected.get(attempt.attempt, frozenset({"succeeded"})),
    )


def _known(address: str, run: str) -> Iterator[int]:
    for job in RayClient(address).jobs():
        name, _, number = job.submission_id.rpartition("-a")
        if name == run:
            yield int(number)


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
