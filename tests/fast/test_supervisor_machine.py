"""Any order of ends, outages, wishes and deaths of the supervisor: never two live attempts, never a lost run."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from submitter.ledger import Ledger
from submitter.recovery.policy import Policy
from submitter.supervise import hang
from tests.support.care_bench import Bench, Job, away, in_doubt, step_line, without_syncs

RUNS = ("one", "two")
MANY = Policy(max_attempts=8)
REASONS = ("node_lost", "hung", "not_placed", "flags_missing", "fence_failed", "hung", "succeeded", "driver_error")
METHODS = ("job", "log_of", "head", "has_package", "post_job", "stop")
runs = st.sampled_from(RUNS)


@pytest.fixture(autouse=True, scope="module")
def _no_bound() -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hang, "_hang_plan", lambda *_: None)
        yield None


class Care(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.bench = Bench(self.folder / "home", ledger=without_syncs(Ledger(self.folder / "home")))
        self.wished: set[str] = set()
        self.steps = 0
        self.over: dict[str, tuple[str, int]] = {}

    def teardown(self) -> None:
        try:
            self._bring_to_an_end()
        finally:
            self.bench.ledger.close()
            shutil.rmtree(self.folder)

    @initialize(posted=st.booleans())
    def begins(self, posted: bool) -> None:
        self.submits("one", posted)
        self.goes_on(10)

    @rule(run=runs, posted=st.booleans())
    def submits(self, run: str, posted: bool) -> None:
        if self.bench.ledger.run(run) is None and self.bench.cluster.away is None:
            self.bench.cluster.answers.pop("post_job", None)
            self.bench.submit(run, posted=posted, policy=MANY)

    @rule(turns=st.integers(1, 40))
    def goes_on(self, turns: int) -> None:
        for _ in range(turns):
            self.bench.supervisor.turn()

    @rule(seconds=st.sampled_from([5, 70, 1000]))
    def time_passes(self, seconds: int) -> None:
        end = self.bench.clock.now + seconds
        while self.bench.clock.now < end:
            self.bench.supervisor.turn()

    @rule(run=runs, reason=st.sampled_from(REASONS), step=st.integers(0, 30))
    def ends(self, run: str, reason: str, step: int) -> None:
        """After `step` more steps than the attempt before it."""
        self.steps += step
        for job in self._live(run):
            if step:
                job.write(step_line(self.steps))
            job.end(reason, node="10.0.0.2" if reason in ("node_lost", "fence_failed") else None)

    @rule(run=runs, error=st.sampled_from(["JOB_SUPERVISOR_ACTOR_DIED", "JOB_ENTRYPOINT_COMMAND_ERROR"]))
    def dies_without_a_word(self, run: str, error: str) -> None:
        for job in self._live(run):
            job.die("FAILED", error_type=error)

    @rule()
    def cluster_goes_away(self) -> None:
        self.bench.cluster.away = away()

    @rule()
    def cluster_comes_back(self) -> None:
        self.bench.cluster.away = None

    @rule()
    def head_restarts(self) -> None:
        self.bench.cluster.restart()

    @rule(method=st.sampled_from(METHODS), times=st.integers(1, 4))
    def answers_are_lost(self, method: str, times: int) -> None:
        self.bench.cluster.answers[method] = [in_doubt() for _ in range(times)]

    @rule(pending=st.booleans())
    def starts_as(self, pending: bool) -> None:
        self.bench.cluster.start_as = "PENDING" if pending else "RUNNING"
        if not pending:
            for job in self.bench.cluster.jobs.values():
                if job.info.status == "PENDING":
                    job.run()

    @rule(run=runs)
    def user_wants_it_to_stop(self, run: str) -> None:
        if self.bench.ledger.run(run) is not None:
            self.bench.ledger.want(run, "stop")
            self.wished.add(run)

    @rule()
    def supervisor_dies(self) -> None:
        self.bench.start()

    @precondition(lambda self: self.wished)
    @rule(run=runs)
    def user_wants_it_to_go_on_after_its_end(self, run: str) -> None:
        found = self.bench.ledger.run(run)
        if found is not None and found.state != "active":
            self.bench.ledger.reopen(run, self.bench.now_ms())
            self.wished.discard(run)
            self.over.pop(run, None)

    @invariant()
    def never_two_live_attempts(self) -> None:
        assert all(most == 1 for most in self.bench.cluster.most_live.values())

    @invariant()
    def a_run_that_is_over_stays_over(self) -> None:
        for run in RUNS:
            found = self.bench.ledger.run(run)
            if found is None or found.state == "active":
                continue
            seen = (found.state, len(self.bench.ledger.attempts(run)))
            assert self.over.setdefault(run, seen) == seen
            assert not self._live(run), f"{run} is {found.state}, and an attempt of it lives"

    def _live(self, run: str) -> list[Job]:
        return [job for name, job in self.bench.cluster.jobs.items() if job.live and name.startswith(f"{run}-a")]

    def _bring_to_an_end(self) -> None:
        cluster = self.bench.cluster
        cluster.away, cluster.start_as = None, "RUNNING"
        cluster.answers.clear()
        self.starts_as(pending=False)
        end = self.bench.clock.now + 10_000
        while self.bench.ledger.active_runs():
            assert self.bench.clock.now < end, f"stuck; told: {self.bench.told[-8:]}"
            for _ in range(20):
                self.bench.supervisor.turn()
            for run in RUNS:
                for job in self._live(run):
                    job.end("succeeded", code=0)
            self.never_two_live_attempts()
        for run in RUNS:
            self._check_end(run)

    def _check_end(self, run: str) -> None:
        found = self.bench.ledger.run(run)
        if found is None:
            return
        attempts = self.bench.ledger.attempts(run)
        assert all(attempt.state for attempt in attempts), "an attempt was forgotten"
        assert [attempt.attempt for attempt in attempts] == list(range(1, len(attempts) + 1))
        assert not self._live(run)
        if found.state == "succeeded":
            assert attempts[-1].reason == "succeeded"
        assert (found.state == "stopped") <= (run in self.wished)


TestCare = Care.TestCase
TestCare.settings = settings(
    max_examples=25, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
