"""Killed at any instruction, on a full disk, with a damaged file: what was reported as written is there, and whole."""

from __future__ import annotations

import os
import random
import resource
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import pytest

from submitter.ledger import Ledger, LedgerError, this_process
from submitter.ledger.schema import VERSION
from submitter.texts import LANGUAGES
from tests.support.ledgers import die_after, end, ended, intend, read_only, small_disk, start

KILLS = (*range(0, 5_500, 389), *range(5_500, 8_000, 139))
"""Instructions of SQLite's own machine before each kill: opening takes about 5500, an attempt 900."""


def work(home: Path, table: Path, say: Callable[[str, int], None]) -> None:
    """What a supervisor writes, attempt after attempt; `say`: that was reported as written."""
    ledger = Ledger(home, mountinfo=table)
    me = this_process(0)
    assert ledger.take(me, 0) is None  # the one before is dead: at once
    number = len(ledger.attempts("run"))
    while True:
        if number:
            end(ledger, f"run-a{number}", holder=me.token)
            ledger.record_decision("run", number, {"action": "retry"}, 0, 0, holder=me.token)
        number += 1
        intend(ledger, attempt=number, holder=me.token)
        say("intended", number)
        ledger.observe(f"run-a{number}", state="RUNNING", last_step=number, log_bytes=1, now_ms=number)
        ledger.record_steps("run", number, [(number, number, {"loss": 0.5})])
        ledger.event("run", number, "told", {"n": number}, number)
        say("told", number)


@contextmanager
def worker(home: Path, table: Path, instructions: int | None = None) -> Iterator[tuple[int, IO[bytes]]]:
    """A process that does `work` until it is killed, and its reports; by itself after so many instructions."""
    out, into = os.pipe()
    pid = os.fork()  # a new interpreter for each kill would take a hundred times as long
    if pid == 0:
        with suppress(BaseException):
            if instructions is not None:
                die_after(instructions)
            reports = open(into, "w", buffering=1)  # noqa: PTH123, SIM115 - a pipe, until the kill
            work(home, table, lambda *said: print(*said, file=reports))
        os._exit(1)
    os.close(into)
    with open(out, "rb", buffering=0) as reports:  # noqa: PTH123 - a pipe
        try:
            yield pid, reports
        finally:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL


def check(home: Path, table: Path, said: bytes) -> int:
    """All that was reported is there, all attempts but the newest are ended and decided; the newest reported one."""
    reports = [line.split() for line in said.decode().splitlines(keepends=True) if line.endswith("\n")]
    numbers = {what: [int(number) for kind, number in reports if kind == what] for what in ("intended", "told")}
    ledger = Ledger(home, mountinfo=table)
    assert ledger._database.read("PRAGMA integrity_check") == [("ok",)]
    assert ledger._database.read("PRAGMA foreign_key_check") == []
    attempts = ledger.attempts("run")
    assert [one.attempt for one in attempts] == list(range(1, len(attempts) + 1))
    if numbers["intended"]:
        assert len(attempts) - numbers["intended"][-1] in (0, 1)
    for one in attempts[:-1]:
        assert one.state is not None and ledger.decision("run", one.attempt) is not None
    assert {one.attempt for one in ledger.events("run")} >= set(numbers["told"])
    assert {one.attempt for one in ledger.steps("run")} >= set(numbers["told"])
    ledger.close()
    return max(numbers["intended"], default=0)


@pytest.fixture(params=["ext4", "nfs4"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    (tmp_path / "table").write_text(f"27 1 0:5 / / rw - {request.param} server:/ rw\n")
    return tmp_path / "table"


def test_killed_at_any_instruction(tmp_path: Path, table: Path) -> None:
    """From the very first ones, while the tables are made, to the middle of the work."""
    reached = []
    for instructions in KILLS:
        home = tmp_path / f"home-{instructions}"
        with worker(home, table, instructions) as (_, said):
            reports = b"".join(said)
        reached.append(check(home, table, reports))
    assert reached[0] == 0 and reached[-1] > 1


def test_killed_at_random_moments_again_and_again_over_one_file(tmp_path: Path, table: Path) -> None:
    """Each process goes on where the killed one ended, as supervisors do; also killed within the system's calls."""
    rng, reached = random.Random(5), 0
    for _ in range(12):
        with worker(tmp_path / "home", table) as (pid, said):
            reports = said.readline()
            time.sleep(rng.random() * 0.03)
            os.kill(pid, signal.SIGKILL)
            reports += b"".join(said)
        before, reached = reached, check(tmp_path / "home", table, reports)
        assert reached > before


class TestFullDisk:
    def test_a_disk_that_fills_up_is_told_and_loses_nothing(self, tmp_path: Path) -> None:
        with small_disk(tmp_path / "disk", 2048) as disk:
            ledger = Ledger(disk / "home")
            intend(ledger, "before")
            room = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
            (disk / "filler").write_bytes(b"x" * room)
            for _ in range(3):
                assert text_id(lambda: intend(ledger, "big", body=b"x" * 400_000)) == "ledger.full"
                assert text_id(lambda: ledger.keep_package("p.zip", b"x" * 400_000)) == "ledger.full"
            assert list(ledger.runs()) == ["before"] and ledger.package("p.zip") is None
            assert list((disk / "home" / "packages").iterdir()) == []
            # A second process on the full disk: it reads, or says what is wrong.
            with ended(start("print(list(Ledger(Path(sys.argv[1])).runs()))", disk / "home")) as other:
                assert other.stdout is not None and other.stdout.read() == "['before']\n"
            ledger.close()
            assert text_id(lambda: intend(Ledger(disk / "home"), "big", body=b"x" * 400_000)) == "ledger.full"
            (disk / "filler").unlink()
            ledger = Ledger(disk / "home")
            intend(ledger, "after", body=b"x" * 400_000)
            assert sorted(ledger.runs()) == ["after", "before"]
            assert ledger._database.read("PRAGMA integrity_check") == [("ok",)]
            ledger.close()

    @pytest.mark.parametrize("kib", [4, 16, 40, 64, 100])
    def test_one_that_is_full_from_the_start(self, tmp_path: Path, kib: int) -> None:
        """Here SQLite has rolled back by itself when the error comes: a ROLLBACK of ours would hide it."""
        with small_disk(tmp_path / "disk", kib) as disk:
            assert text_id(lambda: intend(Ledger(disk / "home"), body=b"x" * 200_000)) == "ledger.full"

    def test_a_limit_of_the_file_itself(self, tmp_path: Path) -> None:
        ledger = Ledger(tmp_path / "home")
        intend(ledger, "before")
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, before[1]))
        try:
            assert text_id(lambda: intend(ledger, "big", body=b"x" * 1_000_000)) == "ledger.io"
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert list(ledger.runs()) == ["before"]
        intend(ledger, "after")
        ledger.close()


class TestDamage:
    @pytest.mark.parametrize("part", [0.9, 0.5, 0.1, 0.0])
    def test_a_wal_file_that_was_cut_loses_only_what_was_cut_off(self, tmp_path: Path, part: float) -> None:
        """As after a power failure: the newest commits may be gone, never half of one."""
        home = tmp_path / "home"
        code = "ledger = Ledger(Path(sys.argv[1]))\nfor n in range(40): intend(ledger, f'run-{n:02}')\n"
        with ended(start(code + "os.kill(os.getpid(), 9)", home)) as writer:
            assert writer.wait(timeout=30) == -9
        wal = home / "ledger.db-wal"
        wal.write_bytes(wal.read_bytes()[: int(wal.stat().st_size * part)])
        ledger = Ledger(home)
        runs = sorted(ledger.runs())
        assert runs == [f"run-{number:02}" for number in range(len(runs))] and len(runs) < 40
        assert len(runs) > 15 or part < 0.5
        assert all(len(ledger.attempts(run)) == 1 for run in runs)
        intend(ledger, "more")
        ledger.close()

    @pytest.mark.parametrize("what", ["junk in the middle", "cut", "another file"])
    def test_a_damaged_file_is_told_and_left_as_it_is(self, tmp_path: Path, what: str) -> None:
        ledger = Ledger(tmp_path / "home")
        for number in range(200):
            intend(ledger, f"run-{number}", body=b"x" * 500)
        ledger.close()
        data = ledger.path.read_bytes()
        damaged = {
            "junk in the middle": data[:4096] + b"\xff" * (len(data) - 4096),
            "cut": data[: len(data) // 2],
            "another file": b"PK\x03\x04" + data[4:],
        }[what]
        ledger.path.write_bytes(damaged)
        assert text_id(lambda: Ledger(tmp_path / "home").runs()) == "ledger.corrupt"
        assert ledger.path.read_bytes() == damaged

    def test_a_new_ledger_takes_nothing_from_a_wal_file_that_was_left_behind(self, tmp_path: Path) -> None:
        home = tmp_path / "home"
        with ended(start("intend(Ledger(Path(sys.argv[1])))\nos.kill(os.getpid(), 9)", home)) as writer:
            writer.wait(timeout=30)
        (home / "ledger.db").unlink()
        assert (home / "ledger.db-wal").exists()
        ledger = Ledger(home)
        assert ledger.runs() == {}
        intend(ledger, "new")
        ledger.close()
        assert sqlite3.connect(home / "ledger.db").execute("PRAGMA user_version").fetchone() == (VERSION,)


class TestReadOnlyHome:
    @pytest.mark.parametrize("killed", [True, False])
    def test_it_can_be_read_and_says_that_it_cannot_be_written(self, tmp_path: Path, killed: bool) -> None:
        """Also what a killed process left in the WAL file."""
        home = tmp_path / "a home?mode=rw#%41"
        code = "ledger = Ledger(Path(sys.argv[1]))\nintend(ledger)\n" + ("os.kill(os.getpid(), 9)" if killed else "")
        with ended(start(code, home)) as writer:
            assert writer.wait(timeout=30) == (-9 if killed else 0)
        with read_only(home):
            ledger = Ledger(home)
            assert list(ledger.runs()) == ["run"] and len(ledger.attempts("run")) == 1
            assert text_id(lambda: intend(ledger, "more")) == "ledger.readonly"
            assert text_id(lambda: ledger.keep_package("p.zip", b"")) == "ledger.readonly"
            assert list(ledger.runs()) == ["run"]
            ledger.close()
        assert list(Ledger(home).runs()) == ["run"]

    def test_one_without_a_ledger(self, tmp_path: Path) -> None:
        (tmp_path / "home").mkdir(mode=0o700)
        with read_only(tmp_path / "home"):
            assert text_id(lambda: Ledger(tmp_path / "home")) == "ledger.home"
            assert text_id(lambda: Ledger(tmp_path / "home" / "below")) == "ledger.home"


def text_id(act: Callable[[], Any]) -> str:
    with pytest.raises(LedgerError) as caught:
        act()
    assert all("\n" not in caught.value.render(language) for language in LANGUAGES)
    return caught.value.text_id
