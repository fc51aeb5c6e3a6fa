"""Metrics in the ledger: every number comes back as it was, also as columns, whatever a trainer calls its metrics."""

from __future__ import annotations

import math
import struct
import time
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from submitter.ledger import Columns, Ledger
from submitter.ledger.layouts import LAYOUT_NAMES_KEPT, LAYOUTS_KEPT, WIDE_NAMES
from tests.support.ledgers import intend

HOSTILE = ("a\n\"b'", "\ud800 alone", "", "x" * 5_000, "中/文", "a; DROP TABLE metrics", "\x00", "%s {x}", "-0")
NAMES = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(), max_size=20))
NUMBERS = st.floats(allow_nan=True, allow_infinity=True)
ROWS = st.lists(st.dictionaries(NAMES, NUMBERS, max_size=6), min_size=1, max_size=12)


@pytest.fixture
def run(ledger: Ledger) -> str:
    intend(ledger)
    return "run"


def bits(metrics: Mapping[str, float]) -> dict[str, bytes]:
    """Unlike floats, these are equal for nan and differ for -0.0."""
    return {name: struct.pack("<d", value) for name, value in metrics.items()}


def write(ledger: Ledger, rows: list[dict[str, float]], *, attempt: int = 1, first: int = 1) -> None:
    ledger.record_steps("run", attempt, [(step, 10 * step, row) for step, row in enumerate(rows, first)])


def table(columns: Columns) -> list[tuple[int, int, int]]:
    return list(zip(columns.steps, columns.attempts, columns.seen_ms, strict=True))


@given(rows=ROWS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_what_was_logged_comes_back_as_it_was(tmp_path_factory: Any, rows: list[dict[str, float]]) -> None:
    ledger = Ledger(tmp_path_factory.mktemp("home") / "home")
    intend(ledger)
    write(ledger, rows)
    steps = ledger.steps("run")
    assert [one.step for one in steps] == list(range(1, len(rows) + 1))
    assert [bits(one.metrics) for one in steps] == [bits(row) for row in rows]
    names = list(dict.fromkeys(name for row in rows for name in row))
    assert ledger.metric_names("run") == names
    found = ledger.columns("run", [*names, "none of them"])
    for name in (*names, "none of them"):
        column = [struct.pack("<d", value) for value in found.values[name]]
        assert column == [struct.pack("<d", row.get(name, math.nan)) for row in rows]
    ledger.close()


class TestValues:
    def test_not_finite_and_the_largest(self, ledger: Ledger, run: str) -> None:
        row = {"nan": math.nan, "inf": math.inf, "less": -math.inf, "most": 1e308, "least": 5e-324, "zero": -0.0}
        write(ledger, [row])
        assert bits(ledger.steps(run)[0].metrics) == bits(row)

    def test_whole_numbers_are_numbers(self, ledger: Ledger, run: str) -> None:
        write(ledger, [{"training/global_step": 3, "yes": True}])
        assert ledger.steps(run)[0].metrics == {"training/global_step": 3.0, "yes": 1.0}

    def test_what_is_no_number_is_refused_and_nothing_is_written(self, ledger: Ledger, run: str) -> None:
        with pytest.raises(TypeError):
            write(ledger, [{"a": 1.0}, {"a": "nan"}])  # type: ignore[dict-item]
        assert ledger.steps(run) == [] and ledger.metric_names(run) == []
        write(ledger, [{"a": 2.0}])
        assert ledger.steps(run)[0].metrics == {"a": 2.0}


class TestColumns:
    def test_only_what_came_after(self, ledger: Ledger, run: str) -> None:
        write(ledger, [{"a": 1.0}, {"a": 2.0}])
        first = ledger.columns(run, ["a"])
        assert table(ledger.columns(run, ["a"], after=first.last)) == []
        assert ledger.columns(run, ["a"], after=first.last).last == first.last
        write(ledger, [{"b": 3.0}], first=3)
        later = ledger.columns(run, ["a", "b"], after=first.last)
        assert table(later) == [(3, 1, 30)] and later.last > first.last
        assert list(later.values["b"]) == [3.0] and math.isnan(later.values["a"][0])

    def test_in_the_order_of_their_coming_with_steps_that_came_again(self, ledger: Ledger, run: str) -> None:
        write(ledger, [{"a": 1.0}, {"a": 2.0}, {"a": 3.0}])
        intend(ledger, attempt=2)
        write(ledger, [{"a": 22.0}, {"a": 33.0}], attempt=2, first=2)
        found = ledger.columns(run, ["a"])
        assert table(found) == [(1, 1, 10), (2, 1, 20), (3, 1, 30), (2, 2, 20), (3, 2, 30)]
        assert list(found.values["a"]) == [1.0, 2.0, 3.0, 22.0, 33.0]
        assert list(ledger.columns(run, ["a"], attempt=2).values["a"]) == [22.0, 33.0]
        assert list(ledger.columns(run, ["a"], attempt=3).values["a"]) == []

    def test_over_many_chunks_and_layouts_that_take_turns(
        self, ledger: Ledger, run: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("submitter.ledger.metrics.CHUNK_ROWS", 7)
        rows = [{"b": float(n), "a": -float(n)} if n % 3 else {"a": -float(n)} for n in range(1, 50)]
        write(ledger, rows)
        found = ledger.columns(run, ["a", "b"])
        assert list(found.values["a"]) == [-float(n) for n in range(1, 50)]
        assert [one for one in found.values["b"] if not math.isnan(one)] == [float(n) for n in range(1, 50) if n % 3]

    def test_another_runs_rows_between_them(self, ledger: Ledger, run: str) -> None:
        intend(ledger, "other")
        for step in range(1, 6):
            write(ledger, [{"a": float(step)}], first=step)
            ledger.record_steps("other", 1, [(step, 0, {"a": -1.0})])
        assert list(ledger.columns(run, ["a"]).values["a"]) == [1.0, 2.0, 3.0, 4.0, 5.0]
        assert ledger.columns("none", ["a"]).last == 0 and ledger.metric_names("none") == []


class TestNewestSteps:
    def test_of_the_newest_attempt_that_has_one(self, ledger: Ledger, run: str) -> None:
        intend(ledger, "other")
        write(ledger, [{"a": 1.0}, {"a": 2.0}, {"a": 3.0}])
        assert ledger.newest_steps([run, "other", "none"])[run].step == 3
        intend(ledger, attempt=2)
        assert ledger.newest_steps([run])[run].step == 3
        write(ledger, [{"a": 20.0}], attempt=2, first=2)
        found = ledger.newest_steps([run, "other"])
        assert [*found] == [run] and found[run].metrics == {"a": 20.0} and found[run].attempt == 2


class TestManyNames:
    """Of a trainer that makes up new names for ever, so much is kept as a run can pay for."""

    def test_ten_thousand_in_one_row(self, ledger: Ledger, run: str) -> None:
        row = {f"group/{number}": float(number) for number in range(10_000)}
        write(ledger, [row, row])
        assert ledger.steps(run, newest=1)[0].metrics == row
        assert list(ledger.columns(run, ["group/9999"]).values["group/9999"]) == [9999.0, 9999.0]

    def test_more_than_a_run_may_have(self, ledger: Ledger, run: str) -> None:
        row = {f"group/{number}": float(number) for number in range(LAYOUT_NAMES_KEPT + 1)}
        write(ledger, [row])
        kept = ledger.steps(run)[0].metrics
        assert kept == {name: row[name] for name in [*row][:WIDE_NAMES]}

    def test_a_new_name_at_each_step(self, ledger: Ledger, run: str) -> None:
        """What is logged at each step stays whole; names that came late are not kept, and none is made up."""
        steps = 2 * LAYOUTS_KEPT
        rows = [{"loss": float(step), f"step_{step}": 1.0, "kl": -float(step)} for step in range(1, steps + 1)]
        write(ledger, rows)
        found = ledger.columns(run, ["loss", "kl"])
        assert list(found.values["loss"]) == [float(step) for step in range(1, steps + 1)]
        assert list(found.values["kl"]) == [-float(step) for step in range(1, steps + 1)]
        assert ledger.steps(run)[LAYOUTS_KEPT - 1].metrics == rows[LAYOUTS_KEPT - 1]
        assert ledger.steps(run)[-1].metrics == {"loss": float(steps), "kl": -float(steps)}
        assert len(ledger.metric_names(run)) <= LAYOUTS_KEPT + 3

    def test_a_known_name_that_is_absent_stays_so_past_the_bound(self, ledger: Ledger, run: str) -> None:
        write(ledger, [{"loss": 1.0, "kl": 2.0, f"step_{step}": 1.0} for step in range(LAYOUTS_KEPT + 1)])
        write(ledger, [{"loss": math.nan, "late": 3.0}, {"kl": 5.0}], first=10_000)
        one, other = ledger.steps(run, newest=2)
        assert bits(one.metrics) == bits({"loss": math.nan}) and other.metrics == {"kl": 5.0}
        assert math.isnan(ledger.columns(run, ["kl"]).values["kl"][-2])

    def test_every_step_has_one_name_more(self, ledger: Ledger, run: str, tmp_path: Path) -> None:
        """In the log they grow with the square of the steps; here a bound comes first."""
        sizes = []
        for first in (0, 500, 1_000, 1_500):
            rows = [{f"n{number}": 1.0 for number in range(min(first + more, 1_600))} for more in range(0, 500, 5)]
            write(ledger, rows, first=first + 1)
            (pages,) = ledger._database.read("PRAGMA page_count")[0]
            sizes.append(pages * 4096)
        grown = [after - before for before, after in pairwise(sizes)]
        assert grown[-1] < 1.2 * 100 * 8 * WIDE_NAMES

    def test_other_runs_keep_their_names(self, ledger: Ledger, run: str) -> None:
        intend(ledger, "other")
        write(ledger, [{f"step_{step}": 1.0} for step in range(LAYOUTS_KEPT + 5)])
        ledger.record_steps("other", 1, [(1, 1, {"fresh": 1.0})])
        assert ledger.steps("other")[0].metrics == {"fresh": 1.0}


class TestChanges:
    def test_what_anyone_writes_shows(self, ledger: Ledger, run: str) -> None:
        seen = [ledger.changes(), ledger.changes()]
        write(ledger, [{"a": 1.0}])
        seen.append(ledger.changes())
        other = Ledger(ledger.path.parent)
        other.record_steps(run, 1, [(2, 1, {"a": 2.0})])
        other.close()
        seen.append(ledger.changes())
        assert seen[0] == seen[1] and len(set(seen)) == 3

    def test_reading_does_not(self, ledger: Ledger, run: str) -> None:
        write(ledger, [{"a": 1.0}])
        before = ledger.changes()
        ledger.columns(run, ["a"])
        ledger.newest_steps([run])
        ledger.open_alerts()
        assert ledger.changes() == before


def test_what_goes_with_a_run(ledger: Ledger) -> None:
    intend(ledger)
    write(ledger, [{"a": 1.0}])
    ledger.withdraw("run-a1", 1_001)
    intend(ledger)
    assert ledger.metric_names("run") == [] and ledger.columns("run", ["a"]).last == 0


def test_a_trainer_that_floods_it_with_names_costs_what_it_logs(ledger: Ledger, run: str) -> None:
    """Twice the steps take about twice the time, far past the bound on names."""

    def cpu_s(first: int) -> float:
        rows = [{"loss": 1.0, f"step_{step}": 1.0} for step in range(first, first + 1_500)]
        before = time.process_time()
        for start in range(0, 1_500, 50):
            write(ledger, rows[start : start + 50], first=first + start)
        return time.process_time() - before

    cpu_s(0)
    second, *_, last = [cpu_s(first) for first in range(1_500, 7_500, 1_500)]
    assert last < 3 * second
