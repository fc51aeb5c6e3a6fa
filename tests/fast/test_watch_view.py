"""What a view says to others: JSON without nan, thinned curves with their extremes."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.ledger import Ledger
from submitter.watch.live import LiveRun, LiveRuns
from submitter.watch.view import Curve, as_json, thinned
from tests.support.trained import NOW_MS, trained_run


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    found = Ledger(tmp_path)
    yield found
    found.close()


@pytest.mark.parametrize("devices", [None, 2])
def test_a_view_is_json_as_it_stands(devices: int | None, ledger: Ledger) -> None:
    trained_run(ledger, "one", steps=40, attempts=2, devices=devices)
    ledger.record_steps("one", 2, [(41, NOW_MS, {"actor/entropy": math.nan, "critic/rewards/mean": math.inf})])
    view = LiveRun(ledger, "one").view(NOW_MS)
    said = json.loads(json.dumps(as_json(view), allow_nan=False))
    assert said["step"] == 41 and said["reward"] is None, "what is infinite has no number in JSON"
    assert said["curves"]["reward"]["values"][-1] is None and said["curves"]["entropy"]["steps"][-1] == 40
    assert (said["nodes"][0]["devices"] is None) == (devices is None)
    assert said["goodput"]["attempts"][1]["attempt"] == 2 and said["attempts"][0]["spent"]["useful_s"] > 0
    assert said["eta"]["low_s"] <= said["eta"]["high_s"] and said["supervisor"] is None
    assert {one["id"] for one in said["alerts"]} == {"NR904", "NR907"}
    (row,) = json.loads(json.dumps(as_json(LiveRuns(ledger).rows(NOW_MS)), allow_nan=False))
    assert (row["run"], row["attempts"]) == ("one", 2)


def test_a_curve_is_thinned_on_its_way_out() -> None:
    curve = Curve("x", array("q", range(10_000)), array("d", [float(one == 7_777) for one in range(10_000)]))
    said = as_json(curve, points=100)
    assert len(said["steps"]) <= 110 and [said["values"][said["steps"].index(7_777)], said["steps"][-1]] == [1.0, 9_999]


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=400), st.integers(4, 50))
def test_extremes_and_ends_survive(values: list[float], points: int) -> None:
    steps, kept = thinned(list(range(len(values))), values, points)
    assert len(steps) <= points + 2 and list(steps) == sorted(set(steps))
    assert (steps[0], steps[-1]) == (0, len(values) - 1)
    assert (min(kept), max(kept)) == (min(values), max(values))
    assert [values[step] for step in steps] == list(kept)
