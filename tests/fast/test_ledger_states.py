"""Two supervisors and their users do anything in any order; the ledger holds what it promises throughout."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from submitter.ledger import Holder, Ledger, LedgerError, LockLostError
from tests.support.ledgers import end, intend

RUNS = st.sampled_from(["a", "b"])
WHO = st.sampled_from([0, 1])
NUMBERS = st.integers(1, 4)
STALE_MS = 60_000


class Supervisors(RuleBasedStateMachine):
    """A model beside the ledger: who has the lock, which attempts live, what was decided first."""

    @initialize()
    def open(self) -> None:
        self.home = Path(tempfile.mkdtemp())
        self.ledgers = [Ledger(self.home / "home"), Ledger(self.home / "home")]
        self.holders = [Holder(f"host-{who}", 1, "-", f"token-{who}", 0) for who in (0, 1)]
        self.now = 0
        self.lock: tuple[int, int] | None = None
        """Who, and its last beat."""
        self.attempts: dict[tuple[str, int], dict[str, Any]] = {}
        self.decided: dict[tuple[str, int, int], object] = {}
        self.runs: dict[str, dict[str, Any]] = {}

    def teardown(self) -> None:
        for ledger in getattr(self, "ledgers", ()):
            ledger.close()
        if hasattr(self, "home"):
            shutil.rmtree(self.home)

    def fenced(self, who: int, act: Any) -> Any:
        """The result, or None where the lock is not `who`'s: then it must have been refused."""
        mine = self.lock is not None and self.lock[0] == who
        try:
            result = act(self.ledgers[who], self.holders[who].token)
        except LockLostError:
            assert not mine
            return None
        assert mine
        return result

    @rule(passed_ms=st.sampled_from([1, 5_000, STALE_MS]))
    def time_passes(self, passed_ms: int) -> None:
        self.now += passed_ms

    @rule(who=WHO)
    def take(self, who: int) -> None:
        other = self.ledgers[who].take(self.holders[who], self.now)
        free = self.lock is None or self.lock[0] == who or self.now - self.lock[1] >= STALE_MS
        assert (other is None) == free
        if free:
            self.lock = (who, self.now)

    @rule(who=WHO)
    def beat(self, who: int) -> None:
        kept = self.ledgers[who].beat(self.holders[who], self.now)
        assert kept == (self.lock is not None and self.lock[0] == who)
        if kept:
            self.lock = (who, self.now)

    @rule(who=WHO)
    def leave(self, who: int) -> None:
        self.ledgers[who].leave(self.holders[who])
        if self.lock is not None and self.lock[0] == who:
            self.lock = None

    @rule(who=WHO, run=RUNS)
    def submit(self, who: int, run: str) -> None:
        intend(self.ledgers[who], run, now_ms=self.now)
        self.runs.setdefault(run, {"state": "active", "reopened": 0})
        self.attempts.setdefault((run, 1), {"intended": self.now, "posted": None, "state": None})

    @rule(who=WHO, run=RUNS, number=NUMBERS)
    def go_on(self, who: int, run: str, number: int) -> None:
        if run not in self.runs:
            return
        live = [n for (name, n), one in self.attempts.items() if name == run and n != number and one["state"] is None]
        try:
            done = self.fenced(who, lambda ledger, token: intend(ledger, run, number, now_ms=self.now, holder=token))
        except LedgerError as error:
            assert error.text_id == "ledger.attempt_live" and live
            return
        if done is not None:
            assert not live
            self.attempts.setdefault((run, number), {"intended": self.now, "posted": None, "state": None})

    @rule(who=WHO, run=RUNS, number=NUMBERS)
    def posted(self, who: int, run: str, number: int) -> None:
        self.ledgers[who].record_posted(f"{run}-a{number}", self.now)
        one = self.attempts.get((run, number))
        if one is not None and one["posted"] is None:
            one["posted"] = self.now

    @rule(who=WHO, run=RUNS, number=NUMBERS, intended=st.sampled_from(["its", "other"]))
    def withdraw(self, who: int, run: str, number: int, intended: str) -> None:
        one = self.attempts.get((run, number))
        moment = one["intended"] if one is not None and intended == "its" else -1
        self.ledgers[who].withdraw(f"{run}-a{number}", moment)
        if one is None or moment == -1 or one["posted"] is not None:
            return
        del self.attempts[(run, number)]
        self.decided = {key: value for key, value in self.decided.items() if key[:2] != (run, number)}
        if not any(name == run for name, _ in self.attempts):
            del self.runs[run]

    @rule(who=WHO, run=RUNS, number=NUMBERS, state=st.sampled_from(["SUCCEEDED", "FAILED", "STOPPED"]))
    def ends(self, who: int, run: str, number: int, state: str) -> None:
        done = self.fenced(
            who, lambda ledger, token: end(ledger, f"{run}-a{number}", state=state, holder=token) or token
        )
        if done and (run, number) in self.attempts:
            self.attempts[(run, number)]["state"] = state

    @rule(who=WHO, run=RUNS, number=NUMBERS)
    def decide(self, who: int, run: str, number: int) -> None:
        if (run, number) not in self.attempts:
            return
        said = {"by": who, "at": self.now}
        found = self.fenced(
            who, lambda ledger, token: ledger.record_decision(run, number, said, self.now, self.now, holder=token)
        )
        if found is not None:
            key = (run, number, self.runs[run]["reopened"])
            assert found.decision == self.decided.setdefault(key, said)

    @rule(who=WHO, run=RUNS, state=st.sampled_from(["succeeded", "failed", "stopped"]))
    def end_run(self, who: int, run: str, state: Any) -> None:
        self.ledgers[who].end_run(run, state, "why", self.now)
        if run in self.runs and self.runs[run]["state"] == "active":
            self.runs[run]["state"] = state

    @rule(who=WHO, run=RUNS)
    def reopen(self, who: int, run: str) -> None:
        opened = self.ledgers[who].reopen(run, self.now)
        assert (opened is None) == (run not in self.runs)
        if opened is None or self.runs[run]["state"] == "active":
            return
        self.runs[run] = {"state": "active", "reopened": self.runs[run]["reopened"] + 1}
        newest = max(number for name, number in self.attempts if name == run)
        if self.attempts[(run, newest)]["state"] is not None:
            decided = self.ledgers[who].decision(run, newest)
            assert decided is not None and decided.due_ms == self.now
            self.decided[(run, newest, self.runs[run]["reopened"])] = decided.decision

    @invariant()
    def both_see_what_was_written(self) -> None:
        for ledger in getattr(self, "ledgers", ()):
            assert {name: run.state for name, run in ledger.runs().items()} == {
                name: run["state"] for name, run in self.runs.items()
            }
            active = {name for name, run in self.runs.items() if run["state"] == "active"}
            assert {run.run for run in ledger.active_runs()} == active
            holder = ledger.holder()
            assert (holder and (holder.token, holder.heartbeat_ms)) == (
                self.lock and (f"token-{self.lock[0]}", self.lock[1])
            )
            found = {(one.run, one.attempt): one for run in self.runs for one in ledger.attempts(run)}
            assert {key: (one.posted_ms, one.state) for key, one in found.items()} == {
                key: (one["posted"], one["state"]) for key, one in self.attempts.items()
            }
            for key in found:
                decided = ledger.decision(*key)
                expected = self.decided.get((*key, self.runs[key[0]]["reopened"]))
                assert (decided.decision if decided else None) == expected


TestSupervisors = Supervisors.TestCase
TestSupervisors.settings = settings(max_examples=40, stateful_step_count=30)
