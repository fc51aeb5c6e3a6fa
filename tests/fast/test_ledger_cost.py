"""A hundred runs that are looked at every second cost a small part of a core; figures are ratios, not times."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from submitter.ledger import Ledger, this_process
from tests.support.ledgers import intend

RUNS = 100
BODY = b"x" * 20_000
"""Of the size of a large job's request."""
TIMES_THE_BARE_WRITE = 25
"""An observation may take so many times what SQLite takes for one bare UPDATE in the same kind of file."""
TIMES_THE_BARE_READ = 25
TIMES_THE_BARE_ROWS = 8
STEPS = 500
"""Written at once, as a log that is caught up with brings them."""
METRICS = 40


@pytest.fixture
def busy(ledger: Ledger) -> Iterator[Ledger]:
    """A hundred supervised runs with some past, a thousand that have ended."""
    with ledger.together():
        for number in range(RUNS):
            intend(ledger, f"run-{number}", body=BODY, policy={"max_attempts": 5, "on_reason": {"oom": "now"}})
            ledger.record_steps(f"run-{number}", 1, [(step, step, {"loss": 0.5}) for step in range(20)])
        for number in range(1_000):
            intend(ledger, f"old-{number}", body=BODY)
            ledger.end_run(f"old-{number}", "succeeded", "succeeded", 5)
    yield ledger


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """SQLite by itself, with as many rows and the same settings."""
    connection = sqlite3.connect(tmp_path / "bare.db", isolation_level=None)
    for pragma in ("journal_mode = WAL", "synchronous = NORMAL"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    connection.execute("CREATE TABLE t (id TEXT PRIMARY KEY, a INTEGER, b TEXT)")
    connection.executemany("INSERT INTO t VALUES (?, 1, '{}')", [(f"run-{number}",) for number in range(RUNS)])
    yield connection
    connection.close()


def cpu_s(act: Callable[[int], object], times: int) -> float:
    """For one of them, the fastest round of three: of this process only, whatever else the machine does."""
    rounds = []
    for _ in range(3):
        before = time.process_time()
        for number in range(times):
            act(number)
        rounds.append(time.process_time() - before)
    return min(rounds) / times


def test_observing_costs_little_more_than_the_write_itself(busy: Ledger, bare: sqlite3.Connection) -> None:
    write = cpu_s(lambda n: bare.execute("UPDATE t SET a = ? WHERE id = ?", (n, f"run-{n % RUNS}")), 500)
    same = cpu_s(lambda n: look(busy, n % RUNS, 7), 500)
    new = cpu_s(lambda n: look(busy, n % RUNS, n), 500)
    assert same < TIMES_THE_BARE_WRITE * write and new < TIMES_THE_BARE_WRITE * write


def test_a_turn_of_the_loop_in_one_transaction_is_cheaper_still(busy: Ledger) -> None:
    def turn(_: int) -> None:
        with busy.together(durable=False):
            for number in range(RUNS):
                look(busy, number, 7)

    assert cpu_s(turn, 3) < RUNS * cpu_s(lambda n: look(busy, n % RUNS, 7), 300)


def test_the_active_runs_cost_what_reading_them_costs(busy: Ledger, bare: sqlite3.Connection) -> None:
    """Those that have ended cost nothing, nor do requests that nobody asks for."""
    read = cpu_s(lambda _: bare.execute("SELECT * FROM t ORDER BY id").fetchall(), 50)
    assert len(busy.active_runs()) == RUNS
    assert cpu_s(lambda _: busy.active_runs(), 50) < TIMES_THE_BARE_READ * read
    assert len(busy.newest_attempts()) == RUNS


def test_a_beat_is_no_more_than_a_write(busy: Ledger, bare: sqlite3.Connection) -> None:
    me = this_process(0)
    busy.take(me, 0)
    write = cpu_s(lambda n: bare.execute("UPDATE t SET a = ? WHERE id = ?", (n, f"run-{n % RUNS}")), 300)
    assert cpu_s(lambda n: busy.beat(me, n), 300) < TIMES_THE_BARE_WRITE * write


def test_steps_cost_little_more_than_their_rows(busy: Ledger, bare: sqlite3.Connection) -> None:
    """Against rows of one blob each, with one index, in transactions of as many."""
    bare.execute("CREATE TABLE steps (id INTEGER PRIMARY KEY, run TEXT, step INTEGER, data BLOB, UNIQUE (run, step))")
    rows = [{f"group/{name}": step + name / 7 for name in range(METRICS)} for step in range(STEPS)]

    def bare_write(turn: int) -> None:
        bare.execute("BEGIN")
        data = bytes(8 * METRICS)
        bare.executemany(
            "INSERT INTO steps (run, step, data) VALUES ('run', ?, ?)",
            [(turn * STEPS + step, data) for step in range(STEPS)],
        )
        bare.execute("COMMIT")

    turns = iter(range(100))
    write = cpu_s(lambda _: bare_write(next(turns)), 5)
    begins = iter(range(1_000, 10**6, STEPS))

    def record(_: int) -> None:
        first = next(begins)
        busy.record_steps("run-0", 1, [(first + step, 0, row) for step, row in enumerate(rows)])

    assert cpu_s(record, 5) < TIMES_THE_BARE_ROWS * write


def test_columns_cost_little_more_than_the_blobs_themselves(busy: Ledger) -> None:
    rows = [{f"group/{name}": step + name / 7 for name in range(METRICS)} for step in range(20 * STEPS)]
    busy.record_steps("run-0", 1, [(100 + step, 0, row) for step, row in enumerate(rows)])
    names = [f"group/{name}" for name in range(0, METRICS, METRICS // 6)]
    read = "SELECT id, step, attempt, seen_ms, layout, numbers FROM metrics WHERE run = 'run-0' ORDER BY id"
    blobs = cpu_s(lambda _: busy._database.read(read), 3)
    assert cpu_s(lambda _: busy.columns("run-0", names), 3) < 5 * blobs
    last = busy.columns("run-0", names).last
    busy.record_steps("run-0", 1, [(10**6, 0, rows[0])])
    assert cpu_s(lambda _: busy.columns("run-0", names, after=last), 50) < blobs / 50


def test_a_step_takes_a_fifth_of_its_text(busy: Ledger) -> None:
    """Eight bytes a number, and the names once: version 3 kept them all, as JSON."""
    rows = [{f"group_{name % 7}/metric_{name}/mean": step + name / 7 for name in range(95)} for step in range(2_000)]
    (before,) = busy._database.read("PRAGMA page_count")[0]
    busy.record_steps("run-0", 1, [(100 + step, 1_700_000_000_000, row) for step, row in enumerate(rows)])
    (after,) = busy._database.read("PRAGMA page_count")[0]
    per_step = (after - before) * busy._database.read("PRAGMA page_size")[0][0] / len(rows)
    assert per_step < 95 * 8 + 300 and per_step < len(json.dumps(rows[-1])) / 3


def test_a_list_of_runs_costs_what_it_shows(busy: Ledger) -> None:
    """However many steps they have: the newest of each, and the alerts that are open."""
    names = [f"run-{number}" for number in range(RUNS)]
    few = cpu_s(lambda _: busy.newest_steps(names), 5)
    with busy.together(durable=False):
        for name in names:
            busy.record_steps(name, 1, [(100 + step, 0, {"loss": 0.5}) for step in range(200)])
    assert len(busy.newest_steps(names)) == RUNS
    assert cpu_s(lambda _: busy.newest_steps(names), 5) < 3 * few
    assert cpu_s(lambda _: busy.changes(), 500) < few / 50


def look(ledger: Ledger, number: int, step: int) -> None:
    ledger.observe(f"run-{number}-a1", state="RUNNING", last_step=step, log_bytes=step, now_ms=step)
