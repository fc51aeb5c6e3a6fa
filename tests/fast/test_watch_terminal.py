"""The screen of a run fits its terminal, says what is not measured, and cannot be told what to do by a log."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from submitter.errors import UsageError
from submitter.ledger import Ledger
from submitter.watch.live import LiveRun
from submitter.watch.terminal.figures import ASCII, BLOCKS, number, span, sparkline
from submitter.watch.terminal.log_tail import plain, shown
from submitter.watch.terminal.pipe import PipeLines
from submitter.watch.terminal.screen import PHASE_MARKS, Screen
from submitter.watch.view import RunView
from tests.support.runs import Told
from tests.support.trained import NOW_MS, State, trained_run

LOG = [
    f"line {number_} of the trainer, which is long enough to be cut off somewhere at its end" for number_ in range(60)
]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    ledger = Ledger(tmp_path / "home")
    yield ledger
    ledger.close()


def view(ledger: Ledger, name: str = "r") -> RunView:
    return LiveRun(ledger, name).view(NOW_MS)


def text(lines: list[Text]) -> str:
    return "\n".join(line.plain for line in lines)


SIZES = ((80, 24), (60, 20), (200, 60), (40, 12), (80, 8), (80, 1))


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("state", ["running", "waiting", "failed", "succeeded", "stopped"])
def test_it_fits(ledger: Ledger, width: int, height: int, language: str, state: State) -> None:
    trained_run(ledger, "r", steps=200, attempts=3, state=state)
    lines = Screen(width, height, language).lines(view(ledger), LOG, NOW_MS)
    assert len(lines) <= height
    assert max(line.cell_len for line in lines) <= width
    console = Console(width=width, height=height, file=io.StringIO(), force_terminal=False)
    for line in lines:
        console.print(line)
    assert isinstance(console.file, io.StringIO)
    assert len(console.file.getvalue().splitlines()) == len(lines), "nothing wraps"


def test_what_it_shows(ledger: Ledger) -> None:
    trained_run(ledger, "r", steps=200, attempts=3, total_steps=250)
    shown_ = text(Screen(80, 30).lines(view(ledger), LOG, NOW_MS))
    newest = ledger.newest_steps(["r"])["r"].metrics
    assert "200/250 80.0%" in shown_ and f"reward {number(newest['critic/rewards/mean'])}" in shown_
    assert "goodput" in shown_ and "G generation" in shown_ and "NR907" in shown_ and "a3  running" in shown_
    assert "a1  failed  device_lost (10.0.0.4)" in shown_ and "10.0.0.1" in shown_ and LOG[-1][:40] in shown_


def test_not_measured_is_no_zero(ledger: Ledger) -> None:
    trained_run(ledger, "r", steps=30, attempts=1, devices=None)
    lines = Screen(100, 30).lines(view(ledger), (), NOW_MS)
    nodes = [line.plain for line in lines if line.plain.startswith("10.0.0.")]
    assert len(nodes) == 4 and all(line.count("not measured") == 2 and "0%" not in line for line in nodes)
    Told(ledger, "new").begin(1, 0)
    fresh = text(Screen(100, 30).lines(view(ledger, "new"), (), NOW_MS))
    assert "no step yet" in fresh and "reward not measured" in fresh and "nodes: nothing measured yet" in fresh


def test_of_many_nodes_the_odd_ones_are_shown(ledger: Ledger) -> None:
    trained_run(ledger, "r", steps=30, attempts=1, nodes=64, samples=1)
    found = view(ledger)
    ill = replace(found.nodes[50], unhealthy=(3, 5))
    lines = Screen(80, 24).lines(replace(found, nodes=(*found.nodes[:50], ill, *found.nodes[51:])), LOG, NOW_MS)
    told = text(lines)
    assert f"{ill.node} " in told and "NPU 3, 5 not well" in told and "nodes more" in told


def test_a_hundred_attempts(ledger: Ledger) -> None:
    told = Told(ledger, "r", total_steps=1000)
    for attempt in range(1, 101):
        told.begin(attempt, attempt)
        told.end(attempt, attempt + 0.5, "hung")
    assert "a100" in text(Screen(80, 24).lines(view(ledger), LOG, NOW_MS))


def test_a_terminal_without_blocks(ledger: Ledger) -> None:
    trained_run(ledger, "r", steps=200, attempts=1)
    assert text(Screen(80, 24, blocks=False).lines(view(ledger), ["plain"], NOW_MS)).isascii()


def test_phases_have_marks_of_their_own() -> None:
    assert len(set(PHASE_MARKS.values())) == len(PHASE_MARKS)


def test_a_log_that_cannot_be_read_is_said_and_the_rest_shown(ledger: Ledger) -> None:
    trained_run(ledger, "r", steps=30, attempts=1)
    trouble = UsageError("watch.unknown", run="x")
    told = text(Screen(120, 30).lines(view(ledger), LOG, NOW_MS, trouble))
    assert "the log cannot be read" in told and LOG[-1][:40] in told


def test_a_log_that_is_shorter_than_its_room_is_shown_whole(ledger: Ledger) -> None:
    trained_run(ledger, "r", steps=30, attempts=1)
    for count in range(1, 30):
        told = text(Screen(80, 40).lines(view(ledger), [f"log line {at}." for at in range(count)], NOW_MS))
        assert all(f"log line {at}." in told for at in range(max(0, count - 12), count))


# numbers and curves


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0s"), (12.4, "12s"), (312, "5m12s"), (3600, "1h00m"), (14_580, "4h03m"), (273_600, "3d04h")],
)
def test_spans(seconds: float, said: str) -> None:
    assert span(seconds) == said


@given(st.lists(st.floats(-1e6, 1e6), max_size=300), st.integers(0, 60))
def test_a_sparkline_has_the_width_and_the_extremes(values: list[float], width: int) -> None:
    line = sparkline(range(len(values)), values, width)
    assert len(line) == min(width, len(values)) and set(line) <= set(BLOCKS)
    if line and max(values) - min(values) > 1e-3 * max(1.0, abs(max(values))):
        assert {BLOCKS[0], BLOCKS[-1]} & set(line)


def test_a_curve_of_one_value() -> None:
    assert sparkline([1, 2], [3.0, 3.0], 10, ASCII) == "++"
    assert (number(float("nan")), number(0.12345678), number(7.59e-5), number(1792.4)) == (
        "nan",
        "0.1235",
        "7.59e-05",
        "1792",
    )


# what a log may do


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("\x1b[36m(TaskRunner pid=1)\x1b[0m step:1", "(TaskRunner pid=1) step:1"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b[2J\x1b[1;1Hgone", "gone"),
        ("10%\r20%\r30%", "30%"),
        ("a\x07b\x00c\x9bd", "abcd"),
        ("tab\there", "tab here"),
        ("\x1b", ""),
    ],
)
def test_a_log_line_is_only_text(line: str, left: str) -> None:
    assert plain(line) == left


@given(st.text(max_size=80))
def test_of_any_line_only_printable_characters_are_left(line: str) -> None:
    assert all(char.isprintable() for char in plain(line))


def test_records_of_the_driver_are_not_shown() -> None:
    assert shown(["[npurun] fitness {}", "[npurun] training: started", "x"]) == ["[npurun] training: started", "x"]


# in a pipe


def test_a_line_per_step_and_what_happens_between(ledger: Ledger) -> None:
    trained_run(ledger, "r", steps=50, attempts=1, total_steps=60, alerts=0)
    live = LiveRun(ledger, "r")
    lines = PipeLines(live, "en")
    first = list(lines.new(live.view(NOW_MS)))
    assert len(first) == 1 and first[0].startswith("step 50/60  reward 0.") and first[0].endswith("  a1")
    assert list(lines.new(live.view(NOW_MS))) == []
    ledger.record_steps("r", 1, [(step, NOW_MS, {"critic/rewards/mean": 0.5}) for step in (51, 52)])
    ledger.event("r", 1, "supervise.posted", {"run": "r", "submission": "r-a2", "address": "http://h"}, NOW_MS)
    ledger.event("r", 1, "NR901", {"metric": "actor/loss", "value": "nan", "first": 5, "count": 1, "steps": 5}, NOW_MS)
    live.refresh()
    told = list(lines.new(live.view(NOW_MS)))
    assert [line.split("  ")[0] for line in told[2:]] == ["step 51/60", "step 52/60"]
    assert told[2] == "step 51/60  reward 0.5  a1" and told[1].startswith("run r: NR901: actor/loss is nan at step 5")
