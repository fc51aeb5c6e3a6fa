"""The ledger: private, durable before anything is posted, and one clear line for each thing that can be wrong."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from submitter.exit_codes import ExitCode
from submitter.ledger import Ledger, LedgerError, default_home

HOSTILE = "a 'quoted\"; DROP TABLE runs; -- $x \\ \n 中"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home of npurun"


def _intend(ledger: Ledger, run: str = "run", attempt: int = 1, **changes: Any) -> str:
    values = {
        "run": run,
        "attempt": attempt,
        "submission_id": f"{run}-a{attempt}",
        "address": "http://h:8265",
        "spec": "abc",
        "job": "tiny",
        "total_steps": None,
        "body": b'{"entrypoint": "true"}',
        "now_ms": 1000 + attempt,
    }
    return ledger.record_intent(**{**values, **changes}).spec


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _text_id(home: Path) -> str:
    with pytest.raises(LedgerError) as caught:
        _intend(Ledger(home))
    assert caught.value.exit_code is ExitCode.USAGE
    for language in ("en", "zh"):
        assert "\n" not in caught.value.render(language)
    return caught.value.text_id


def test_what_was_written_is_found_by_another_process(home: Path) -> None:
    ledger = Ledger(home)
    _intend(ledger, job=HOSTILE, body=HOSTILE.encode(), total_steps=7)
    ledger.record_posted("run-a1", 2000)
    ledger.record_end(
        "run-a1",
        state="FAILED",
        reason="not_placed",
        end={"code": None, "nodes": ["10.0.0.1"]},
        started_ms=3,
        ended_ms=4,
    )
    again = Ledger(home)
    assert again.runs()["run"].job == HOSTILE
    assert again.runs()["run"].total_steps == 7
    (attempt,) = again.attempts("run")
    assert (attempt.body, attempt.posted_ms, attempt.state, attempt.reason) == (HOSTILE, 2000, "FAILED", "not_placed")
    assert attempt.end == {"code": None, "nodes": ["10.0.0.1"]}
    assert (attempt.started_ms, attempt.ended_ms) == (3, 4)
    assert again.run("other") is None and again.attempts("other") == []


def test_runs_come_newest_first_and_attempts_in_their_order(home: Path) -> None:
    ledger = Ledger(home)
    _intend(ledger, "old", now_ms=1)
    _intend(ledger, "new", now_ms=2)
    for attempt in (10, 2):
        _intend(ledger, "old", attempt)
    assert list(ledger.runs()) == ["new", "old"]
    assert [attempt.attempt for attempt in ledger.attempts("old")] == [1, 2, 10]


def test_the_first_spec_of_a_run_stays(home: Path) -> None:
    ledger = Ledger(home)
    assert _intend(ledger) == "abc"
    assert _intend(ledger, body=b"again") == "abc"
    assert _intend(ledger, attempt=2, spec="other") == "abc"
    assert [(one.attempt, one.body) for one in ledger.attempts("run")] == [(1, '{"entrypoint": "true"}')]


def test_an_intent_that_was_never_sent_leaves_the_name_free(home: Path) -> None:
    ledger = Ledger(home)
    _intend(ledger)
    _intend(ledger, "kept")
    ledger.record_posted("kept-a1", 5)
    ledger.withdraw("run-a1", 1_000)  # not the intent of that moment
    assert sorted(ledger.runs()) == ["kept", "run"]
    ledger.withdraw("run-a1", 1_001)
    ledger.withdraw("kept-a1", 1_001)
    assert list(ledger.runs()) == ["kept"]


def test_home_and_file_are_private(home: Path) -> None:
    before = os.umask(0)
    try:
        Ledger(home)
    finally:
        os.umask(before)
    assert (_mode(home), _mode(home / "ledger.db")) == (0o700, 0o600)
    home.chmod(0o755)
    (home / "ledger.db").chmod(0o644)
    Ledger(home)
    assert (_mode(home), _mode(home / "ledger.db")) == (0o700, 0o600)


def test_a_folder_that_others_use_is_not_closed_to_them(home: Path) -> None:
    home.mkdir(mode=0o777)
    home.chmod(0o777)
    (home / "somebody's file").touch()
    assert _text_id(home) == "ledger.home_shared"
    assert _mode(home) == 0o777


def test_where_home_is(tmp_path: Path) -> None:
    assert default_home({"HOME": "/h", "NPURUN_HOME": "/n"}) == Path("/n")
    assert default_home({"HOME": "/h", "NPURUN_HOME": ""}) == Path("/h/.npurun")


def test_a_home_that_is_a_file(home: Path) -> None:
    home.write_text("")
    assert _text_id(home) == "ledger.home"
    assert _text_id(home / "below") == "ledger.home"


def test_a_home_of_somebody_else(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: home.stat().st_uid + 1)
    assert _text_id(home) == "ledger.home_of_other"


@pytest.mark.parametrize("content", [b"not a database" * 100, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_file_that_is_no_ledger(home: Path, content: bytes) -> None:
    home.mkdir(mode=0o700)
    (home / "ledger.db").write_bytes(content)
    assert _text_id(home) == "ledger.corrupt"
    assert (home / "ledger.db").read_bytes() == content


def test_a_full_disk_is_told_and_loses_nothing(home: Path) -> None:
    ledger = Ledger(home)
    _intend(ledger, "before")
    ledger._database.connection.execute("PRAGMA max_page_count = 8")
    with pytest.raises(LedgerError) as caught:
        _intend(ledger, "big", body=b"x" * 200_000)
    assert caught.value.text_id == "ledger.full"
    assert list(Ledger(home).runs()) == ["before"]


def test_a_ledger_that_another_process_holds(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Ledger(home).close()
    holder = sqlite3.connect(home / "ledger.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr("submitter.ledger.database.BUSY_WAIT_S", 0.05)
    assert _text_id(home) == "ledger.locked"
    holder.execute("ROLLBACK")
    assert _intend(Ledger(home)) == "abc"
    holder.close()


def test_processes_that_start_at_once_lose_nothing(home: Path) -> None:
    code = (
        "import os, sys; sys.path.insert(0, os.getcwd())\n"
        "from pathlib import Path; from submitter.ledger import Ledger\n"
        "for n in range(10):\n"
        f"    Ledger(Path({str(home)!r})).record_intent(run=f'run-{{sys.argv[1]}}-{{n}}', attempt=1,"
        " submission_id=f'run-{sys.argv[1]}-{n}-a1', address='a', spec='s', job='j', total_steps=None, body=b'{}',"
        " now_ms=1)"
    )
    root = Path(__file__).parents[2]
    writers = [subprocess.Popen([sys.executable, "-c", code, str(n)], cwd=root) for n in range(4)]
    assert [writer.wait(timeout=50) for writer in writers] == [0] * 4
    assert len(Ledger(home).runs()) == 40
