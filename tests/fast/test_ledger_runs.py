"""What a supervisor writes and reads: states, observations, steps, decisions, events, reopening, packages."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from submitter.ledger import Ledger, LedgerError, Observation, this_process
from submitter.ledger.attempts import OBSERVATIONS_KEPT
from submitter.ledger.events import EVENTS_KEPT
from submitter.ledger.packages import KEPT_AFTER_END_MS, YOUNG_MS
from tests.support.ledgers import BODY, PACKAGE, end, intend

HOSTILE = "a 'quoted\"; DROP TABLE runs; -- $x \\ \n 中"


@pytest.fixture
def token(ledger: Ledger) -> str:
    """Of the supervisor's lock, which is held."""
    me = this_process(0)
    assert ledger.take(me, 0) is None
    return me.token


def see(ledger: Ledger, state: str, step: int | None = None, now_ms: int = 5, log_bytes: int | None = None) -> bool:
    return ledger.observe("run-a1", state=state, last_step=step, log_bytes=log_bytes, now_ms=now_ms)


class TestIntent:
    def test_all_of_it_comes_back(self, ledger: Ledger, token: str) -> None:
        policy = {"max_attempts": 3, HOSTILE: [HOSTILE, None, 1.5]}
        made = intend(ledger, policy=policy, changes=[HOSTILE, "a=b"], trained=7, holder=token)
        assert made == ledger.run("run") and made.policy == policy and made.supervised
        assert (made.state, made.wanted, made.reason, made.reopened) == ("active", "run", None, 0)
        (attempt,) = ledger.attempts("run")
        assert (attempt.changes, attempt.trained, attempt.state) == ([HOSTILE, "a=b"], 7, None)

    def test_no_second_attempt_while_one_lives(self, ledger: Ledger, token: str) -> None:
        intend(ledger)
        with pytest.raises(LedgerError) as caught:
            intend(ledger, attempt=2, holder=token)
        assert caught.value.text_id == "ledger.attempt_live" and caught.value.values["submission"] == "run-a1"
        intend(ledger, holder=token)  # the same one again
        end(ledger)
        intend(ledger, attempt=2, holder=token)
        assert [one.attempt for one in ledger.attempts("run")] == [1, 2]

    def test_a_run_of_another_spec_gets_no_attempt(self, ledger: Ledger, token: str) -> None:
        intend(ledger)
        end(ledger)
        assert intend(ledger, attempt=2, spec="other", holder=token).spec == "abc"
        assert len(ledger.attempts("run")) == 1

    def test_only_supervised_active_runs_are_a_supervisors(self, ledger: Ledger) -> None:
        intend(ledger, "mine", now_ms=2)
        intend(ledger, "older", now_ms=1)
        intend(ledger, "alone", supervised=False)
        intend(ledger, "over")
        ledger.end_run("over", "failed", "bad_config", 9)
        assert [run.run for run in ledger.active_runs()] == ["older", "mine"]
        assert sorted(ledger.newest_attempts()) == ["mine", "older"]

    def test_submitting_again_brings_it_under_supervision_but_does_not_take_it_out(self, ledger: Ledger) -> None:
        intend(ledger, supervised=False)
        assert intend(ledger, policy={"max_attempts": 2}).supervised
        again = intend(ledger, supervised=False, policy={})
        assert again.supervised and again.policy == {"max_attempts": 2}

    def test_one_that_the_supervisor_has_taken_over_is_not_withdrawn(self, ledger: Ledger, token: str) -> None:
        intend(ledger, now_ms=1_000)
        assert ledger.take_intent("run-a1", 61_000, holder=token)
        ledger.withdraw("run-a1", 1_000)
        assert list(ledger.runs()) == ["run"]
        ledger.record_posted("run-a1", 62_000)
        assert not ledger.take_intent("run-a1", 63_000, holder=token)
        assert not ledger.take_intent("none-a1", 63_000, holder=token)

    def test_with_a_clock_that_stands_still_too(self, ledger: Ledger, token: str) -> None:
        intend(ledger, now_ms=1_000)
        assert ledger.take_intent("run-a1", 1_000, holder=token)
        ledger.withdraw("run-a1", 1_000)
        assert list(ledger.runs()) == ["run"]

    def test_what_hangs_on_a_withdrawn_one_goes_with_it(self, ledger: Ledger) -> None:
        intend(ledger)
        intend(ledger, "kept")
        see(ledger, "unreachable")
        ledger.record_steps("run", 1, [(1, 1, {})])
        ledger.event("run", 1, "told", {}, 1)
        ledger.withdraw("run-a1", 1_001)
        assert list(ledger.runs()) == ["kept"] and ledger.events("run") == [] and ledger.steps("run") == []


class TestObservations:
    def test_a_row_only_where_something_changed(self, ledger: Ledger) -> None:
        intend(ledger)
        seen = [
            see(ledger, "PENDING", None, 1),
            see(ledger, "PENDING", None, 2),
            see(ledger, "RUNNING", None, 3, 10),
            see(ledger, "RUNNING", 1, 4, 20),
            see(ledger, "RUNNING", 1, 5, 30),
            see(ledger, "unreachable", None, 6),
        ]
        assert seen == [True, False, True, True, False, True]
        assert ledger.observations("run-a1") == [
            Observation(1, "PENDING", None, None),
            Observation(3, "RUNNING", None, 10),
            Observation(4, "RUNNING", 1, 20),
            Observation(6, "unreachable", 1, None),
        ]

    def test_the_attempt_has_the_newest_and_is_not_ended_by_it(self, ledger: Ledger) -> None:
        intend(ledger)
        see(ledger, "RUNNING", 5, 3, 10)
        see(ledger, "unreachable", None, 9)
        see(ledger, "FAILED", 4, 10)  # an older step: the log was read from its start
        (attempt,) = ledger.attempts("run")
        assert (attempt.seen_state, attempt.seen_ms, attempt.last_step, attempt.log_bytes) == ("FAILED", 10, 5, 10)
        assert attempt.state is None

    def test_of_an_attempt_that_is_not_there(self, ledger: Ledger) -> None:
        assert not see(ledger, "RUNNING")
        assert not ledger.event("none", 1, "told", {}, 1)
        ledger.record_steps("none", 1, [(1, 1, {})])
        assert ledger.steps("none") == [] == ledger.events("none")

    def test_a_cluster_that_comes_and_goes_for_ever_fills_no_disk(
        self, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert 1_000 < OBSERVATIONS_KEPT < 100_000 and 1_000 < EVENTS_KEPT < 100_000
        monkeypatch.setattr("submitter.ledger.attempts.OBSERVATIONS_KEPT", 5)
        monkeypatch.setattr("submitter.ledger.events.EVENTS_KEPT", 4)
        intend(ledger)
        intend(ledger, "other")
        ledger.event("other", None, "told", {}, 1)
        with ledger.together(durable=False):
            for now_ms in range(40):
                see(ledger, ("RUNNING", "unreachable")[now_ms % 2], None, now_ms)
                ledger.event("run", 1, ("away", "back")[now_ms % 2], {}, now_ms)
        assert [one.seen_ms for one in ledger.observations("run-a1")] == [35, 36, 37, 38, 39]
        assert [one.at_ms for one in ledger.events("run")] == [36, 37, 38, 39] and len(ledger.events("other")) == 1


class TestSteps:
    def test_again_changes_nothing(self, ledger: Ledger) -> None:
        intend(ledger)
        steps: list[tuple[int, int, dict[str, float]]] = [(3, 30, {"loss": 0.5, HOSTILE: 7.0}), (4, 40, {})]
        for read in (steps, steps, [(3, 99, {"loss": 9})], []):
            ledger.record_steps("run", 1, read)
        assert [(one.step, one.seen_ms, one.metrics) for one in ledger.steps("run")] == steps
        (attempt,) = ledger.attempts("run")
        assert (attempt.first_step, attempt.last_step) == (3, 4)

    def test_a_step_that_was_trained_twice_is_there_for_both_attempts(self, ledger: Ledger) -> None:
        intend(ledger)
        ledger.record_steps("run", 1, [(1, 1, {}), (2, 2, {})])
        intend(ledger, attempt=2)
        ledger.record_resumed("run-a2", 1)
        ledger.record_steps("run", 2, [(2, 9, {"x": 1}), (3, 10, {})])
        assert [(one.step, one.attempt) for one in ledger.steps("run")] == [(1, 1), (2, 1), (2, 2), (3, 2)]
        assert [one.step for one in ledger.steps("run", 2)] == [2, 3]
        assert [one.step for one in ledger.steps("run", newest=2)] == [2, 3]
        second = ledger.attempts("run")[1]
        assert (second.resumed_from, second.first_step, second.last_step) == (1, 2, 3)

    def test_not_a_number_is_kept(self, ledger: Ledger) -> None:
        intend(ledger)
        ledger.record_steps("run", 1, [(1, 1, {"loss": float("nan"), "most": float("inf")})])
        assert str(ledger.steps("run")[0].metrics) == "{'loss': nan, 'most': inf}"


class TestEnd:
    def test_the_diagnosis_and_who_ended_it(self, ledger: Ledger) -> None:
        intend(ledger)
        see(ledger, "RUNNING", 5)
        end(ledger, reason="hung", diagnosis={"reason": "hung", "evidence": [HOSTILE]}, ended_by="supervisor")
        (attempt,) = ledger.attempts("run")
        assert attempt.diagnosis == {"reason": "hung", "evidence": [HOSTILE]} and attempt.ended_by == "supervisor"
        assert (attempt.last_step, attempt.reason) == (5, "hung")

    def test_a_command_that_reads_the_same_end_later_takes_nothing_away(self, ledger: Ledger) -> None:
        intend(ledger)
        end(ledger, reason="hung", last_step=5, diagnosis={"reason": "hung"}, ended_by="supervisor")
        before = ledger.attempts("run")
        end(ledger, reason="trainer_failed", last_step=None)
        assert ledger.attempts("run") == before
        end(ledger, reason="oom", last_step=6, diagnosis={"reason": "oom"})
        (attempt,) = ledger.attempts("run")
        assert (attempt.reason, attempt.last_step, attempt.ended_by) == ("oom", 6, "supervisor")

    @pytest.mark.parametrize(
        ("state", "run_state"), [("SUCCEEDED", "succeeded"), ("FAILED", "failed"), ("STOPPED", "stopped")]
    )
    def test_an_unsupervised_run_ends_with_its_attempt_a_supervised_one_does_not(
        self, ledger: Ledger, state: str, run_state: str
    ) -> None:
        intend(ledger, "alone", supervised=False)
        intend(ledger)
        for run in ("alone", "run"):
            end(ledger, f"{run}-a1", state=state, reason="why", ended_ms=9)
        runs = ledger.runs()
        assert (runs["alone"].state, runs["alone"].reason, runs["alone"].ended_ms) == (run_state, "why", 9)
        assert (runs["run"].state, runs["run"].reason, runs["run"].ended_ms) == ("active", None, None)

    def test_the_first_end_of_a_run_counts(self, ledger: Ledger) -> None:
        intend(ledger)
        ledger.end_run("run", "failed", "same_reason_twice", 5)
        ledger.end_run("run", "stopped", "by_hand", 6)
        run = ledger.runs()["run"]
        assert (run.state, run.reason, run.ended_ms) == ("failed", "same_reason_twice", 5)

    def test_how_many_steps_there_are_is_learnt_once(self, ledger: Ledger) -> None:
        intend(ledger)
        intend(ledger, "asked", total_steps=7)
        for run, total in (("run", 12), ("run", 13), ("asked", 12), ("none", 12)):
            ledger.learn_total(run, total)
        assert {name: run.total_steps for name, run in ledger.runs().items()} == {"run": 12, "asked": 7}

    def test_wishes(self, ledger: Ledger) -> None:
        intend(ledger)
        assert ledger.want("run", "stop") and ledger.active_runs()[0].wanted == "stop"
        assert ledger.want("run", "run") and ledger.active_runs()[0].wanted == "run"
        assert not ledger.want("none", "stop")


class TestDecisions:
    def test_the_first_one_counts(self, ledger: Ledger, token: str) -> None:
        intend(ledger)
        assert ledger.decision("run", 1) is None
        first = ledger.record_decision("run", 1, {"action": "retry", "inputs": {HOSTILE: [1]}}, 20, 5, holder=token)
        again = ledger.record_decision("run", 1, {"action": "stop"}, 99, 6)
        assert again == first == ledger.decision("run", 1)
        assert (first.decision, first.due_ms, first.decided_ms) == (
            {"action": "retry", "inputs": {HOSTILE: [1]}},
            20,
            5,
        )

    def test_after_an_attempt_that_is_not_there(self, ledger: Ledger) -> None:
        intend(ledger)
        with pytest.raises(LedgerError):
            ledger.record_decision("run", 2, {}, 1, 1)
        assert ledger.decisions("run") == []

    def test_reopening_goes_on_from_the_newest_attempt(self, ledger: Ledger) -> None:
        intend(ledger)
        end(ledger)
        ledger.record_decision("run", 1, {"action": "stop"}, 5, 5)
        ledger.end_run("run", "failed", "x", 6)
        ledger.want("run", "stop")
        opened = ledger.reopen("run", 50)
        assert opened == ledger.run("run") and opened is not None
        assert (opened.state, opened.wanted, opened.reason, opened.ended_ms) == ("active", "run", None, None)
        assert (opened.reopened, opened.reopened_after) == (1, 1)
        decided = ledger.decision("run", 1)
        assert decided is not None and (decided.decision["action"], decided.due_ms) == ("retry", 50)
        assert [one.decision["action"] for one in ledger.decisions("run")] == ["stop", "retry"]
        # Stopped before the attempt was made, and reopened once more.
        ledger.end_run("run", "stopped", "by_hand", 60)
        ledger.reopen("run", 70, decision={"action": "retry", "why": "by_hand"})
        decided = ledger.decision("run", 1)
        assert decided is not None and (decided.decision["why"], decided.due_ms) == ("by_hand", 70)

    def test_reopening_an_active_run_keeps_what_was_decided(self, ledger: Ledger) -> None:
        intend(ledger)
        end(ledger)
        first = ledger.record_decision("run", 1, {"action": "retry"}, 5, 5)
        ledger.want("run", "stop")
        opened = ledger.reopen("run", 50)
        assert opened is not None and (opened.reopened, opened.wanted) == (0, "run")
        assert ledger.decision("run", 1) == first
        assert ledger.reopen("none", 50) is None

    def test_reopening_a_run_whose_attempt_has_not_ended_adopts_it(self, ledger: Ledger) -> None:
        intend(ledger)
        ledger.end_run("run", "stopped", "by_hand", 6)
        ledger.reopen("run", 50)
        assert ledger.decision("run", 1) is None and [run.run for run in ledger.active_runs()] == ["run"]


class TestEvents:
    def test_they_come_in_their_order_after_the_last_one_seen(self, ledger: Ledger) -> None:
        intend(ledger)
        intend(ledger, "other")
        ledger.event("run", None, "one", {HOSTILE: HOSTILE, "path": Path("/x")}, 1)
        ledger.event("other", 1, "two", {}, 2)
        ledger.event("run", 1, "three", {"n": 1}, 3)
        first, last = ledger.events("run")
        assert (first.attempt, first.text_id, first.values) == (None, "one", {HOSTILE: HOSTILE, "path": "/x"})
        assert ledger.events("run", first.id) == [last] and ledger.events("run", last.id) == []

    def test_again_right_after_itself_changes_nothing(self, ledger: Ledger) -> None:
        intend(ledger)
        told = [ledger.event("run", 1, text_id, {"n": 1}, now) for now, text_id in enumerate("aabab")]
        assert told == [True, False, True, True, True]
        assert not ledger.event("run", 1, "a", {"n": 1}, 9, once=True)
        assert ledger.event("run", 2, "a", {"n": 1}, 9, once=True)
        assert [one.text_id for one in ledger.events("run")] == ["a", "b", "a", "b", "a"]


class TestPackages:
    def test_one_comes_back_and_is_private(self, ledger: Ledger) -> None:
        assert ledger.package(PACKAGE) is None
        ledger.keep_package(PACKAGE, b"\x00data")
        ledger.keep_package(PACKAGE, b"\x00data")
        assert ledger.package(PACKAGE) == b"\x00data"
        (file,) = (ledger.path.parent / "packages").iterdir()
        assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)

    def test_half_a_one_is_written_again(self, ledger: Ledger) -> None:
        ledger.keep_package(PACKAGE, b"whole")
        (ledger.path.parent / "packages" / PACKAGE).write_bytes(b"who")
        ledger.keep_package(PACKAGE, b"whole")
        assert ledger.package(PACKAGE) == b"whole"

    @pytest.mark.parametrize("name", ["", ".", "..", "../ledger.db", "a/b", "/etc/passwd", "a\nb", ".new-x", "x" * 300])
    def test_a_name_is_no_path(self, ledger: Ledger, name: str) -> None:
        for act in (lambda: ledger.keep_package(name, b""), lambda: ledger.package(name)):
            with pytest.raises(ValueError):
                act()

    def test_a_folder_that_cannot_be_read_is_the_ledgers_trouble(
        self, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A supervisor tells it and goes on."""
        ledger.keep_package(PACKAGE, b"x")

        def fails(_path: Path) -> Iterator[Path]:
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(Path, "iterdir", fails)
        with pytest.raises(LedgerError):
            ledger.drop_unused_packages(10**15)

    def test_what_no_run_needs_goes(self, ledger: Ledger) -> None:
        assert ledger.drop_unused_packages(10**15) == []
        for name in (PACKAGE, "_ray_pkg_old.zip", "_ray_pkg_unused.zip", "_ray_pkg_young.zip"):
            ledger.keep_package(name, b"x")
        folder, now_ms = ledger.path.parent / "packages", 10**12
        (folder / ".new-left-by-a-kill").touch()
        for file in folder.iterdir():
            os.utime(file, (now_ms / 1000 - YOUNG_MS / 1000 - 1,) * 2)
        os.utime(folder / "_ray_pkg_young.zip", (now_ms / 1000,) * 2)
        intend(ledger)
        intend(ledger, "over", body=BODY.replace(b"0123", b"old"))
        ledger.end_run("over", "failed", "x", now_ms - KEPT_AFTER_END_MS + 1)
        unused = [".new-left-by-a-kill", "_ray_pkg_unused.zip"]
        assert ledger.drop_unused_packages(now_ms) == unused
        assert ledger.drop_unused_packages(now_ms + 1) == ["_ray_pkg_old.zip"]
        assert ledger.package(PACKAGE) == b"x" == ledger.package("_ray_pkg_young.zip")


def test_threads_share_a_ledger(ledger: Ledger) -> None:
    """A heartbeat beside the loop, or requests in parallel."""
    intend(ledger)

    def work(number: int) -> None:
        for step in range(30):
            with ledger.together(durable=False):
                ledger.record_steps("run", 1, [(number * 100 + step, 1, {})])
                ledger.event("run", number, "told", {"step": step}, 1)
            ledger.attempts("run")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=50)
    assert len(ledger.steps("run")) == 120 == len(ledger.events("run"))


def test_together_is_all_or_nothing(ledger: Ledger) -> None:
    with pytest.raises(RuntimeError), ledger.together():
        intend(ledger)
        ledger.event("run", 1, "told", {}, 1)
        raise RuntimeError
    assert ledger.runs() == {}
    with ledger.together():
        intend(ledger)
        ledger.event("run", 1, "told", {}, 1)
    assert len(ledger.events("run")) == 1
