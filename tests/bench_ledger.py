"""The ledger's own figures, for a run that logs much and for many runs: `python -m tests.bench_ledger`."""

from __future__ import annotations

import json
import math
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from submitter.ledger import Ledger
from tests.support.ledgers import intend
from tests.support.trained import trained_run

STEPS, METRICS, BATCH = 20_000, 95, 500
"""What a log of 200 MB holds, and as many steps at once as a reader hands over."""
RECORD_LIMIT_S = 1.2
STEP_LIMIT_BYTES = 1_100
LONG_STEPS, LONG_METRICS = 100_000, 40
COLUMNS = 6
"""The curves that a run's page begins with."""
COLUMNS_LIMIT_S = 0.4
BUILD_LIMIT_S = 8.0
RUNS = 50
"""Live at once, each looked at every second."""
LOOK_LIMIT_S = 0.01
ROUNDS = 3


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="npurun-bench-") as folder:
        rows = [*_writing(Path(folder) / "written"), *_reading(Path(folder) / "read"), *_many(Path(folder) / "many")]
    print(f"{'ledger':72}{'measured':>12}{'limit':>10}")
    for name, value, limit in rows:
        print(f"{name:72}{value:12.4g}{'-' if limit is None else f'{limit:g}':>10}")
    return int(any(limit is not None and value > limit for _, value, limit in rows))


def _writing(home: Path) -> list[tuple[str, float, float | None]]:
    names = [f"group_{number % 7}/metric_{number}/mean" for number in range(METRICS)]
    rows = [(step, step, {name: math.sin(step + place) for place, name in enumerate(names)}) for step in range(STEPS)]
    ledger = Ledger(home)
    intend(ledger)
    taken = _seconds(lambda: [ledger.record_steps("run", 1, rows[at : at + BATCH]) for at in range(0, STEPS, BATCH)])
    ledger._database.read("PRAGMA wal_checkpoint(TRUNCATE)")
    size = (home / "ledger.db").stat().st_size / STEPS
    one = _seconds(lambda: [ledger.record_steps("run", 1, [(STEPS + step, 1, rows[step][2])]) for step in range(200)])
    ledger.close()
    return [
        (f"record {STEPS} steps x {METRICS} values, {BATCH} at once: s", taken, RECORD_LIMIT_S),
        ("record one step by itself: ms", one / 200 * 1000, None),
        ("bytes of the file for a step", size, STEP_LIMIT_BYTES),
        ("bytes of the same step as JSON", float(len(json.dumps(rows[-1][2]))), None),
    ]


def _reading(home: Path) -> list[tuple[str, float, float | None]]:
    ledger = Ledger(home)
    built = _seconds(lambda: trained_run(ledger, "long", steps=LONG_STEPS, metrics=LONG_METRICS, step_s=5.0))
    names = ledger.metric_names("long")[1 : 1 + COLUMNS]
    whole = min(_seconds(lambda: ledger.columns("long", names)) for _ in range(ROUNDS))
    last = ledger.columns("long", names).last
    new = min(_seconds(lambda: ledger.columns("long", names, after=last)) for _ in range(ROUNDS))
    ledger.close()
    return [
        (f"build a run of {LONG_STEPS} steps x {LONG_METRICS} metrics for a test: s", built, BUILD_LIMIT_S),
        (f"columns of {COLUMNS} of its names: s", whole, COLUMNS_LIMIT_S),
        ("the same when nothing is new: ms", new * 1000, 1.0),
    ]


def _many(home: Path) -> list[tuple[str, float, float | None]]:
    ledger = Ledger(home)
    names = [f"run-{number}" for number in range(RUNS)]
    for name in names:
        trained_run(ledger, name, steps=200, samples=50)

    def look() -> None:
        ledger.newest_steps(names)
        ledger.open_alerts()
        ledger.attempt_counts()

    looked = min(_seconds(look) for _ in range(ROUNDS))
    sampled = min(_seconds(lambda: [ledger.samples(name) for name in names]) for _ in range(ROUNDS))
    ledger.close()
    return [
        (f"newest step, open alerts and attempts of {RUNS} runs: s", looked, LOOK_LIMIT_S),
        (f"newest samples of 4 nodes x 16 devices of {RUNS} runs: s", sampled, None),
    ]


def _seconds(act: Callable[[], object]) -> float:
    before = time.perf_counter()
    act()
    return time.perf_counter() - before


if __name__ == "__main__":
    sys.exit(main())
