"""Ledgers that older versions wrote keep what is in them; tests/data/ledger has files that those versions made."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from submitter.ledger import Ledger, LedgerError
from submitter.ledger.schema import MIGRATIONS, VERSION, Migration, apply
from tests.support.ledgers import ROOT, end, intend, read_only

OLD = sorted((ROOT / "tests" / "data" / "ledger").glob("v*.db"))
HOSTILE = "a 'quoted\\\" $x \\\\ \\n 中"


@pytest.fixture(params=OLD, ids=lambda path: path.stem)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The home of a ledger of that version."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    shutil.copy(request.param, home / "ledger.db")
    (home / "ledger.db").chmod(0o600)
    return home


def rows(file: Path, table: str) -> list[dict[str, object]]:
    connection = sqlite3.connect(file)
    connection.row_factory = sqlite3.Row
    found = [dict(row) for row in connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3")]
    connection.close()
    return found


def version(home: Path) -> int:
    connection = sqlite3.connect(home / "ledger.db")
    try:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])
    finally:
        connection.close()


def failing(migration: Migration) -> Migration:
    def does_and_fails(connection: sqlite3.Connection) -> None:
        apply(connection, migration)
        connection.execute("CREATE TABLE runs (x)")

    return does_and_fails


def test_there_is_a_file_of_each_old_version() -> None:
    assert [path.stem for path in OLD] == [f"v{number}" for number in range(1, VERSION)]


@pytest.mark.parametrize("table", ["runs", "attempts"])
def test_nothing_of_it_is_lost(old: Path, table: str) -> None:
    before = rows(old / "ledger.db", table)
    Ledger(old).close()
    after = rows(old / "ledger.db", table)
    assert len(before) == len(after) > 5
    assert [{key: row[key] for key in was} for was, row in zip(before, after, strict=True)] == before
    assert version(old) == VERSION


def test_its_runs_are_what_their_newest_attempt_says_and_nobody_supervises_them(old: Path) -> None:
    ledger = Ledger(old)
    found = {name: (run.state, run.reason, run.ended_ms, run.supervised) for name, run in ledger.runs().items()}
    assert found == {
        "done": ("succeeded", "succeeded", 1_000_901, False),
        "twice": ("failed", "trainer_failed", 1_000_902, False),
        "halted": ("stopped", "stopped", 1_000_901, False),
        "again": ("active", None, None, False),
        "live": ("active", None, None, False),
        "doubt": ("active", None, None, False),
    }
    assert ledger.active_runs() == [] and {run.wanted for run in ledger.runs().values()} == {"run"}
    assert HOSTILE in ledger.attempts("done")[0].body
    ledger.close()


def test_it_can_be_used_and_reopened(old: Path) -> None:
    ledger = Ledger(old)
    intend(ledger, "new")
    ledger.observe("new-a1", state="RUNNING", last_step=1, log_bytes=5, now_ms=5)
    end(ledger, "live-a1", state="SUCCEEDED", reason="succeeded")
    assert ledger.run("live") is not None and ledger.run("live").state == "succeeded"  # type: ignore[union-attr]
    ledger.reopen("twice", 2_000_000)
    assert [run.run for run in ledger.active_runs()] == ["new", "twice"]
    decided = ledger.decision("twice", 2)
    assert decided is not None and decided.decision["why"] == "resumed"
    ledger.close()


def test_quarantined_nodes_stay_out(tmp_path: Path) -> None:
    shutil.copy(OLD[-1], tmp_path / "ledger.db")
    ledger = Ledger(tmp_path)
    assert [(one.node, one.evidence) for one in ledger.quarantined(1_500_000)] == [("10.0.0.3", {"value": "中"})]
    ledger.close()


@pytest.mark.parametrize("step", range(1, VERSION))
def test_a_migration_that_fails_changes_nothing(old: Path, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    before, found = rows(old / "ledger.db", "runs"), version(old)
    broken = (*MIGRATIONS[:step], failing(MIGRATIONS[step]), *MIGRATIONS[step + 1 :])
    monkeypatch.setattr("submitter.ledger.schema.MIGRATIONS", broken)
    if step >= found:
        with pytest.raises(LedgerError):
            Ledger(old)
        assert (rows(old / "ledger.db", "runs"), version(old)) == (before, found)
    monkeypatch.undo()
    ledger = Ledger(old)
    assert len(ledger.runs()) == len(before) and version(old) == VERSION
    ledger.close()


def test_an_old_ledger_that_can_only_be_read_says_so(old: Path) -> None:
    with read_only(old), pytest.raises(LedgerError) as caught:
        Ledger(old)
    assert caught.value.text_id == "ledger.older"
    assert version(old) < VERSION


def test_a_ledger_of_a_newer_npurun_is_left_alone(tmp_path: Path) -> None:
    Ledger(tmp_path / "home").close()
    connection = sqlite3.connect(tmp_path / "home" / "ledger.db")
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    with pytest.raises(LedgerError) as caught:
        Ledger(tmp_path / "home")
    assert caught.value.text_id == "ledger.newer"
    assert version(tmp_path / "home") == VERSION + 1
