"""A run of the real verl trainer in the care of a real supervisor process, on a local cluster."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from submitter.cluster.client import RayClient
from submitter.cluster.errors import RayError
from submitter.gang.record import parse_proof
from submitter.gang.step_lines import steps_in, trained
from submitter.job.load import load_job
from submitter.job.model import Job
from submitter.ledger import Attempt, Ledger, Run
from submitter.rehearsal import assets, verl_cpu
from submitter.rehearsal.local_cluster import LocalCluster
from submitter.rehearsal.overlay import apply_overlay, load_overlay
from submitter.rehearsal.rehearse import PACKAGE
from submitter.supervise.serve import ensure_running
from submitter.supervise.submit import submit
from tests.support.processes import carrying, command_line, wait_for

JOB = "qwen3_5_122b_a10b_32k"
LOOK_EVERY_S = 0.3
TAIL_LINES = 2000


@dataclass(frozen=True)
class Supervised:
    name: str
    cluster: LocalCluster
    ledger: Ledger
    home: Path

    @classmethod
    def start(cls, cluster: LocalCluster, folder: Path, job: Job, name: str) -> Supervised:
        home = folder / "home"
        ledger = Ledger(home)
        submit(
            job,
            RayClient(cluster.address),
            ledger,
            run=name,
            tell=_silent,
            supervised=True,
            extra_packages={PACKAGE: Path(verl_cpu.__file__).parent},
            rng=random.Random(),
        )
        made = cls(name, cluster, ledger, home)
        made.care()
        return made

    def care(self) -> None:
        ensure_running(self.home, self.ledger, tell=_silent, environ=os.environ)

    @property
    def run(self) -> Run:
        found = self.ledger.run(self.name)
        assert found is not None
        return found

    @property
    def attempts(self) -> list[Attempt]:
        return self.ledger.attempts(self.name)

    def wait(self, what: str, condition: Callable[[], Any], *, bound_s: float) -> None:
        """Fails at once when the run ends without it."""

        def seen() -> bool:
            if condition():
                return True
            assert self.run.state == "active", f"ended without {what}:\n{self.story()}"
            return False

        try:
            wait_for(seen, bound_s=bound_s, what=what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.story()}") from None

    def wait_step(self, attempt: int, step: int, *, bound_s: float) -> None:
        """By the log itself: the ledger has it some seconds later."""

        def seen() -> bool:
            newest = self.attempts[-1]
            if newest.attempt != attempt or newest.posted_ms is None:
                return False
            return self._logged(newest.submission_id) >= step

        self.wait(f"step {step} of attempt {attempt}", seen, bound_s=bound_s)

    def _logged(self, attempt: str) -> int:
        time.sleep(LOOK_EVERY_S)
        try:
            lines = RayClient(self.cluster.address).log_tail(attempt, TAIL_LINES).splitlines()
        except RayError:
            return 0
        return max(trained(steps_in(lines)), default=0)

    def wait_end(self, *, bound_s: float) -> Run:
        wait_for(lambda: self.run.state != "active", bound_s=bound_s, what=f"the end of {self.name}")
        return self.run

    def processes(self, attempt: int, title: str) -> list[int]:
        """Pids of the attempt's processes whose command line begins so."""
        return [
            pid for pid in carrying(f"NPURUN_ATTEMPT={self.name}-a{attempt}") if command_line(pid).startswith(title)
        ]

    def supervisor(self) -> psutil.Process:
        holder = self.ledger.holder()
        assert holder is not None
        return psutil.Process(holder.pid)

    def steps(self) -> list[tuple[int, int]]:
        """(attempt, step) as the ledger has them."""
        return sorted((one.attempt, one.step) for one in self.ledger.steps(self.name))

    def trained_after_resume(self) -> list[int]:
        """The steps that count: of each attempt those up to where the next one went on."""
        kept: list[int] = []
        for attempt in self.attempts:
            own = [step for number, step in self.steps() if number == attempt.attempt]
            kept = [step for step in kept if step <= (attempt.resumed_from or 0)] + own
        return kept

    def nodes(self, attempt: int) -> list[str]:
        """IPs of the attempt's gang, by its log."""
        name = f"{self.name}-a{attempt}"
        log = RayClient(self.cluster.address).log_tail(name, 100_000)
        return [proof["ip"] for line in log.splitlines() if (proof := parse_proof(line, name))]

    def story(self) -> str:
        """For a test that failed."""
        events = [f"{event.attempt} {event.text_id} {event.values}" for event in self.ledger.events(self.name)]
        rows = [
            f"{one.submission_id} {one.state} {one.reason} {one.resumed_from} {one.last_step}" for one in self.attempts
        ]
        newest = self.attempts[-1].submission_id
        log = RayClient(self.cluster.address).log_tail(newest, 60)
        return "\n".join([*rows, *events, log])

    def end(self) -> None:
        """Nothing of it stays: the supervisor goes first."""
        holder = self.ledger.holder()
        if holder is not None and psutil.pid_exists(holder.pid):
            process = psutil.Process(holder.pid)
            process.terminate()
            process.wait(timeout=20)
        self.ledger.close()


def real_verl(folder: Path, *, nodes: int, arguments: Sequence[str] = (), **recovery: Any) -> Job:
    """The first job as a CPU can run it, one rank a node; `arguments` are appended."""
    assets.make(folder / "assets")
    job = load_job(JOB, environ={"HOME": str(folder)})
    small = replace(job, cluster=replace(job.cluster, npus_per_node=1, labels={}))
    changed, _ = apply_overlay(small, folder, nodes=nodes, overlay=replace(load_overlay(), ranks_per_node=1))
    return replace(changed, extra_arguments=tuple(arguments), recovery=replace(changed.recovery, **recovery))


def _silent(*_: object, **__: object) -> None:
    return None
