"""One supervisor for a ledger: a dead one is followed at once, a silent one after a minute; neither writes again."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.ledger import Holder, Ledger, LedgerError, LockLostError, held, is_stale, this_process
from submitter.texts import LANGUAGES
from tests.support.ledgers import end, ended, intend, start
from tests.support.processes import wait_for

NOW = 1_000_000
ELSEWHERE = Holder("other-host", os.getpid(), "boot/[1]/5", "theirs", NOW)


@pytest.fixture
def me() -> Holder:
    return this_process(NOW)


@pytest.fixture
def child() -> Iterator[subprocess.Popen[str]]:
    """A process that lives until it is ended, and its own word of who it is."""
    with ended(start("print(this_process(0).started, flush=True)\nsys.stdin.read()")) as process:
        yield process


def holder_of(process: subprocess.Popen[str]) -> Holder:
    assert process.stdout is not None
    return replace(this_process(NOW), pid=process.pid, started=process.stdout.readline().strip(), token="child's")


class TestTaking:
    def test_a_free_one_is_taken_and_given_back(self, ledger: Ledger, me: Holder) -> None:
        assert ledger.holder() is None
        assert ledger.take(me, NOW) is None and ledger.holder() == me
        ledger.leave(me)
        assert ledger.holder() is None

    def test_it_stays_ours_and_every_beat_is_kept(self, ledger: Ledger, me: Holder) -> None:
        ledger.take(me, NOW)
        assert ledger.beat(me, NOW + 5_000)
        assert ledger.holder() == replace(me, heartbeat_ms=NOW + 5_000)
        assert ledger.take(me, NOW + 9_000) is None

    def test_a_second_supervisor_on_this_host_gets_the_first(
        self, ledger: Ledger, me: Holder, child: subprocess.Popen[str]
    ) -> None:
        first = holder_of(child)
        ledger.take(first, NOW)
        assert ledger.take(me, NOW + 59_999) == first
        assert not ledger.beat(me, NOW) and ledger.holder() == first
        ledger.leave(me)
        assert ledger.holder() == first

    def test_another_token_of_the_same_process_is_another_supervisor(self, ledger: Ledger, me: Holder) -> None:
        ledger.take(me, NOW)
        assert ledger.take(this_process(NOW), NOW) == me

    @pytest.mark.parametrize("reaped", [True, False])
    def test_a_killed_one_is_followed_at_once_also_while_it_is_a_zombie(
        self, ledger: Ledger, me: Holder, child: subprocess.Popen[str], reaped: bool
    ) -> None:
        first = holder_of(child)
        ledger.take(first, NOW)
        child.kill()
        if reaped:
            child.wait(timeout=20)
        wait_for(lambda: is_stale(first, NOW), bound_s=20, what="the killed one counts as gone")
        assert ledger.take(me, NOW) is None

    @pytest.mark.parametrize("part", ["boot", "start"])
    def test_a_pid_that_is_used_again_is_not_the_holder(self, ledger: Ledger, me: Holder, part: str) -> None:
        boot, namespace, ticks = me.started.split("/")
        was = f"other/{namespace}/{ticks}" if part == "boot" else f"{boot}/{namespace}/1"
        ledger.take(replace(me, started=was, token="old"), NOW)
        assert ledger.take(me, NOW) is None

    def test_a_container_on_this_host_has_pids_of_its_own(self, ledger: Ledger, me: Holder) -> None:
        boot, _, ticks = me.started.split("/")
        there = replace(me, started=f"{boot}/[1]/{ticks}", pid=2**22, token="inside")
        ledger.take(there, NOW)
        assert ledger.take(me, NOW + 59_999) == there and ledger.take(me, NOW + 60_000) is None

    @pytest.mark.parametrize(("after_ms", "taken"), [(0, False), (59_999, False), (60_000, True), (-60_000, True)])
    def test_another_host_is_waited_for_by_its_heartbeat(
        self, ledger: Ledger, me: Holder, after_ms: int, taken: bool
    ) -> None:
        ledger.take(ELSEWHERE, NOW)
        assert ledger.take(me, NOW + after_ms) == (None if taken else ELSEWHERE)

    def test_its_own_processes_say_nothing_about_that_host(self, ledger: Ledger, me: Holder) -> None:
        there = replace(ELSEWHERE, pid=2**22)  # no such pid here
        ledger.take(there, NOW)
        assert ledger.take(me, NOW + 1_000) == there

    def test_a_paused_one_on_this_host_is_silent_too(self, ledger: Ledger, child: subprocess.Popen[str]) -> None:
        first = holder_of(child)
        child.send_signal(signal.SIGSTOP)
        assert not is_stale(first, NOW + 59_999) and is_stale(first, NOW + 60_000)

    @given(started=st.text(max_size=30), pid=st.integers(1, 2**31), host=st.text(max_size=20))
    def test_whatever_stands_there_is_judged(self, started: str, pid: int, host: str) -> None:
        assert is_stale(Holder(host, pid, started, "t", 0), 60_000)

    def test_the_error_names_host_pid_and_age(self, tmp_path: Path) -> None:
        error = held(ELSEWHERE, tmp_path, NOW + 7_000)
        assert isinstance(error, LedgerError)
        for language in LANGUAGES:
            said = error.render(language)
            assert all(word in said for word in ("other-host", str(os.getpid()), "7", "60")) and "\n" not in said

    def test_of_many_at_once_one_takes_it(self, ledger: Ledger) -> None:
        code = (
            "ledger = Ledger(Path(sys.argv[1]))\nsys.stdin.readline()\n"
            "print(ledger.take(this_process(5), 5) is None)\nsys.stdin.read()"
        )
        many = [start(code, ledger.path.parent) for _ in range(5)]
        try:
            for one in many:
                assert one.stdin is not None
                one.stdin.write("go\n")
                one.stdin.flush()
            said = [one.stdout.readline() for one in many if one.stdout is not None]
        finally:
            for one in many:
                with ended(one):
                    pass
        assert sorted(said) == ["False\n"] * 4 + ["True\n"]


class TestFence:
    """Whoever has lost the lock writes nothing more, however late it finds out."""

    def test_intents_decisions_and_ends_are_the_holders(self, ledger: Ledger, me: Holder) -> None:
        ledger.take(ELSEWHERE, NOW)
        intend(ledger)
        mine, writes = (
            me.token,
            [
                lambda: intend(ledger, "other", holder=me.token),
                lambda: ledger.take_intent("run-a1", 9, holder=me.token),
                lambda: end(ledger, holder=me.token),
                lambda: ledger.record_decision("run", 1, {"action": "retry"}, 5, 5, holder=me.token),
                lambda: ledger.end_run("run", "failed", "x", 5, holder=me.token),
            ],
        )
        before = dump(ledger)
        for write in writes:
            with pytest.raises(LockLostError) as caught:
                write()
            assert caught.value.values["host"] == "other-host"
        assert dump(ledger) == before and mine != ELSEWHERE.token
        ledger.take(me, NOW + 60_000)
        for write in writes:
            write()

    def test_a_lock_that_was_given_back_is_nobodys(self, ledger: Ledger, me: Holder) -> None:
        ledger.take(me, NOW)
        ledger.leave(me)
        with pytest.raises(LockLostError):
            intend(ledger, holder=me.token)
        assert ledger.runs() == {}

    def test_together_is_fenced_and_undone_as_one(self, ledger: Ledger, me: Holder) -> None:
        ledger.take(me, NOW)
        intend(ledger)
        with pytest.raises(LockLostError), ledger.together(me.token):
            end(ledger)
            ledger.leave(me)
            ledger.record_decision("run", 1, {"action": "stop"}, 5, 5, holder=me.token)
        assert ledger.attempts("run")[0].state is None and ledger.holder() == me

    @pytest.mark.parametrize("act", ["intend(ledger, 'late', holder=me.token)", "decide()"])
    def test_a_paused_supervisor_that_wakes_after_the_takeover_writes_nothing(self, ledger: Ledger, act: str) -> None:
        """Two processes; the first is stopped by a signal right before it writes."""
        intend(ledger)
        code = (
            "ledger, me = Ledger(Path(sys.argv[1])), this_process(0)\n"
            "assert ledger.take(me, 0) is None\n"
            "decide = lambda: ledger.record_decision('run', 1, {'action': 'retry'}, 0, 0, holder=me.token)\n"
            "print('mine')\n"
            "os.kill(os.getpid(), signal.SIGSTOP)\n"
            f"try:\n    {act}\nexcept LockLostError as error:\n    print(error.text_id, ledger.beat(me, 99_000))"
        )
        with ended(start(code, ledger.path.parent)) as old:
            assert old.stdout is not None and old.stdout.readline() == "mine\n"
            wait_for(lambda: stopped(old.pid), bound_s=20, what="it has stopped")
            new = this_process(60_000)
            assert ledger.take(new, 59_999) is not None
            assert ledger.take(new, 60_000) is None
            end(ledger, holder=new.token)
            intend(ledger, attempt=2, holder=new.token)
            before = dump(ledger)
            old.send_signal(signal.SIGCONT)
            assert old.stdout.readline() == "ledger.lock_lost False\n"
            assert old.wait(timeout=20) == 0
        assert dump(ledger) == before and "late" not in ledger.runs()
        assert ledger.decision("run", 1) is None and ledger.holder() == new

    def test_one_that_is_paused_inside_a_transaction_holds_others_up_and_is_told(
        self, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        code = (
            "ledger, me = Ledger(Path(sys.argv[1])), this_process(0)\n"
            "ledger.take(me, 0)\n"
            "with ledger.together(me.token):\n"
            "    intend(ledger)\n    print('begun')\n    os.kill(os.getpid(), signal.SIGSTOP)"
        )
        monkeypatch.setattr("submitter.ledger.database.BUSY_WAIT_S", 0.05)
        impatient = Ledger(ledger.path.parent)
        with ended(start(code, ledger.path.parent)) as old:
            assert old.stdout is not None and old.stdout.readline() == "begun\n"
            assert impatient.runs() == {}  # reading goes on
            with pytest.raises(LedgerError) as caught:
                impatient.take(this_process(60_000), 60_000)
            assert caught.value.text_id == "ledger.locked"
        assert impatient.take(this_process(60_000), 60_000) is None and impatient.runs() == {}
        impatient.close()


def test_two_supervisors_in_turn_never_have_two_live_attempts(ledger: Ledger) -> None:
    """Both try all the time to go on with the same run; each loses the lock again and again."""
    intend(ledger)
    code = (
        "ledger, bound = Ledger(Path(sys.argv[1])), 40\n"
        "while True:\n"
        "    me = this_process(0)\n"
        "    ledger.leave(ledger.holder() or me)\n"
        "    ledger.take(me, 0)\n"
        "    try:\n"
        "        for _ in range(5):\n"
        "            newest = ledger.attempts('run')[-1]\n"
        "            if newest.attempt >= bound: sys.exit()\n"
        "            if newest.state is None: end(ledger, newest.submission_id, holder=me.token)\n"
        "            ledger.record_decision('run', newest.attempt, {'by': me.token}, 0, 0, holder=me.token)\n"
        "            intend(ledger, attempt=newest.attempt + 1, holder=me.token)\n"
        "    except LedgerError as error:\n"
        "        assert error.text_id in ('ledger.lock_lost', 'ledger.attempt_live'), error\n"
    )
    many = [start(code, ledger.path.parent) for _ in range(3)]
    try:
        assert [one.wait(timeout=50) for one in many] == [0] * 3
    finally:
        for one in many:
            with ended(one):
                pass
    attempts = ledger.attempts("run")
    assert [one.attempt for one in attempts] == list(range(1, 41))
    assert [one.state for one in attempts].count(None) <= 1
    assert len({one.decision["by"] for one in ledger.decisions("run")}) > 1


def stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def dump(ledger: Ledger) -> list[str]:
    return list(ledger._database.connection.iterdump())
