"""From version 3 to 4 every number stays what it was, in a few times what reading the texts takes."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import signal
import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from submitter.ledger import Ledger
from submitter.ledger.layouts import LAYOUTS_KEPT
from submitter.ledger.schema import MIGRATIONS
from tests.support.ledgers import ROOT, die_after

STEPS = 20_000
NAMES = [f"group_{number % 7}/metric_{number}" for number in range(40)]
TIMES_THE_READING = 8
"""The migration may take so many times what `json.loads` takes for the same rows."""
ROWS = 500
KILLS = (*range(500, 3_500, 500), *range(3_500, 50_000, 6_000), *range(50_000, 54_000, 250), 10**9)
"""Instructions of SQLite's own machine before each kill: the tables, the rows, the indices, and after it all."""


def version_3(home: Path, texts: list[str], *, run: str = "run") -> Path:
    """A ledger as version 3 made it, with the texts of these steps."""
    home.mkdir(mode=0o700)
    connection = sqlite3.connect(home / "ledger.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN")
    for migration in MIGRATIONS[:3]:
        assert isinstance(migration, str)
        for statement in filter(str.strip, migration.split(";")):
            connection.execute(statement)
    connection.execute(
        "INSERT INTO runs (run, job, address, spec, created_ms) VALUES (?, 'tiny', 'http://h:8265', 'abc', 1)", (run,)
    )
    connection.execute(
        "INSERT INTO attempts (submission_id, run, attempt, body, intended_ms) VALUES (?, ?, 1, '{}', 1)",
        (f"{run}-a1", run),
    )
    connection.executemany(
        "INSERT INTO metrics VALUES (?, ?, 1, ?, ?)", [(run, step, 10 * step, said) for step, said in enumerate(texts)]
    )
    connection.execute("PRAGMA user_version = 3")
    connection.execute("COMMIT")
    connection.close()
    (home / "ledger.db").chmod(0o600)
    return home


def test_the_file_that_version_3_made(tmp_path: Path) -> None:
    shutil.copy(ROOT / "tests" / "data" / "ledger" / "v3.db", tmp_path / "ledger.db")
    ledger = Ledger(tmp_path)
    first, second, third = ledger.steps("twice", 1)
    hostile = 'a "quoted"\n中'
    assert (first.step, first.seen_ms) == (1, 1001)
    assert first.metrics == {
        "actor/grad_norm": 0.5,
        "critic/rewards/mean": 1.0,
        hostile: -math.inf,
        "timing_s/step": 3.0,
    }
    assert math.isnan(second.metrics["critic/rewards/mean"]) and third.metrics["critic/rewards/mean"] == 3.0
    validated, again, _ = ledger.steps("twice", 2)
    assert (validated.step, validated.metrics) == (0, {"val-core/acc/mean@1": 0.25})
    assert again.metrics["actor/grad_norm"] == math.inf and math.isnan(again.metrics["most"])
    assert [one.metrics for one in ledger.steps("done")] == [{}]
    assert list(ledger.columns("twice", ["critic/rewards/mean"]).steps) == [1, 2, 3, 0, 3, 4]  # as they were written
    ledger.record_steps("twice", 2, [(4, 9, {"other": 1.0}), (5, 9, {"critic/rewards/mean": 5.0})])
    assert [one.step for one in ledger.steps("twice", 2)] == [0, 3, 4, 5]
    assert "other" not in ledger.steps("twice", 2)[2].metrics
    ledger.close()


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({"a": 1, "b": "nan", "c": "inf", "d": "-inf"}, {"a": 1.0, "b": math.nan, "c": math.inf, "d": -math.inf}),
        ({"a": None, "b": "text", "c": [1], "d": True, "e": -0.0}, {"d": 1.0, "e": -0.0}),
        ({"\ud800\n\"'": 1e308, "": 5e-324}, {"\ud800\n\"'": 1e308, "": 5e-324}),
        ({"a": "Infinity", "b": "1.0", "c": {}}, {}),
        ({"large": 10**400, "small": 1.0}, {"small": 1.0}),
        ({}, {}),
    ],
)
def test_what_a_text_said(tmp_path: Path, said: dict[str, Any], kept: dict[str, float]) -> None:
    ledger = Ledger(version_3(tmp_path / "home", [json.dumps(said)]))
    assert repr(ledger.steps("run")[0].metrics) == repr(kept)
    ledger.close()


def test_a_long_run(tmp_path: Path) -> None:
    rng = random.Random(4)
    rows = [{name: rng.random() for name in NAMES} for _ in range(STEPS)]
    texts = [json.dumps(row) for row in rows]
    home = version_3(tmp_path / "home", texts)
    size = (home / "ledger.db").stat().st_size
    before = time.process_time()
    for text in texts:
        json.loads(text)
    reading_s = time.process_time() - before
    before = time.process_time()
    ledger = Ledger(home)
    assert time.process_time() - before < TIMES_THE_READING * reading_s
    assert [one.metrics for one in ledger.steps("run")] == rows
    ledger._database.read("PRAGMA wal_checkpoint(TRUNCATE)")
    assert (home / "ledger.db").stat().st_size < 1.5 * size  # what the texts had is free for later rows
    assert ledger._database.read("PRAGMA integrity_check") == [("ok",)]
    assert ledger._database.read("PRAGMA foreign_key_check") == []
    ledger.close()


def test_of_a_trainer_that_made_up_names(tmp_path: Path) -> None:
    texts = [json.dumps({"loss": float(step), f"step_{step}": 1.0}) for step in range(2 * LAYOUTS_KEPT)]
    ledger = Ledger(version_3(tmp_path / "home", texts))
    assert list(ledger.columns("run", ["loss"]).values["loss"]) == [float(step) for step in range(2 * LAYOUTS_KEPT)]
    ledger.close()


def test_killed_in_the_midst_it_is_version_3_as_before_or_4(tmp_path: Path) -> None:
    texts = [json.dumps({"loss": float(step), "kl": "nan"}) for step in range(ROWS)]
    found = []
    for instructions in KILLS:
        home = version_3(tmp_path / f"home-{instructions}", texts)
        _open_and_die(home, instructions)
        connection = sqlite3.connect(home / "ledger.db")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == 3:
            rows = connection.execute("SELECT step, metrics FROM metrics ORDER BY step").fetchall()
            assert rows == list(enumerate(texts))
        connection.close()
        ledger = Ledger(home)
        assert [one.metrics["loss"] for one in ledger.steps("run")] == [float(step) for step in range(ROWS)]
        ledger.close()
        found.append(version)
    assert found[0] == 3 and found[-1] == 4


def _open_and_die(home: Path, instructions: int) -> None:
    pid = os.fork()
    if pid == 0:
        with suppress(BaseException):
            die_after(instructions)
            Ledger(home)
            os.kill(os.getpid(), signal.SIGKILL)
        os._exit(1)
    _, status = os.waitpid(pid, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
