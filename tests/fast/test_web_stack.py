"""Phases over a run, and stretches of a curve: no second is lost or counted twice."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.watch.columns import RunColumns
from submitter.watch.web.series import series
from submitter.watch.web.stack import stack

SECONDS = st.one_of(st.floats(0, 100), st.just(math.nan))


def columns(values: Mapping[str, Sequence[float]], counted: Sequence[int] | None = None) -> RunColumns:
    """One attempt, steps from 1 on."""
    size = len(next(iter(values.values())))
    rows = range(size) if counted is None else counted
    void = [row for row in range(size) if row not in rows]
    arrays = {name: array("d", column) for name, column in values.items()}
    steps, ones = array("q", range(1, size + 1)), array("q", [1] * size)
    return RunColumns(steps, ones, array("q", range(size)), arrays, array("q", rows), array("q", void), size)


def test_steps_that_took_no_time_have_no_phases() -> None:
    assert stack(columns({"timing_s/step": [0.0, 0.0], "timing_s/gen": [0.0, 0.0]})) == {"step": [], "seconds": {}}


@given(st.lists(st.tuples(SECONDS, SECONDS, SECONDS), min_size=1, max_size=50), st.integers(1, 60))
def test_the_stack_is_as_high_as_the_steps_were_long(rows: list[tuple[float, float, float]], stretches: int) -> None:
    gen, testing, beside = (list(column) for column in zip(*rows, strict=True))
    known = [0.0 if math.isnan(one) else one for one in gen]
    step = [one + (0.0 if math.isnan(more) else more) for one, more in zip(known, beside, strict=True)]
    found = stack(columns({"timing_s/step": step, "timing_s/gen": gen, "timing_s/testing": testing}), stretches)
    size = math.ceil(len(rows) / stretches)
    begins = range(0, len(rows), size)
    assert found["step"] == ([min(begin + size, len(rows)) for begin in begins] if found["seconds"] else [])
    whole = [one + (0.0 if math.isnan(more) else more) for one, more in zip(step, testing, strict=True)]
    for place, begin in enumerate(begins):
        stretch = whole[begin : begin + size]
        height = sum(seconds[place] for seconds in found["seconds"].values())
        assert height == pytest.approx(sum(stretch) / len(stretch), abs=1e-6)


def test_a_validation_is_seen_however_many_steps_a_stretch_has() -> None:
    testing = [math.nan] * 100
    testing[41] = 50.0
    found = stack(columns({"timing_s/step": [10.0] * 100, "timing_s/testing": testing}), 10)
    assert found["seconds"]["validation"] == pytest.approx([0, 0, 0, 0, 5.0, 0, 0, 0, 0, 0])


def test_steps_that_do_not_count_or_were_not_measured_are_left_out() -> None:
    found = stack(columns({"timing_s/step": [1.0, 99.0, math.nan, 3.0]}, counted=[0, 2, 3]))
    assert found == {"step": [1, 4], "seconds": {"other": [1.0, 3.0]}}
    assert stack(columns({"actor/lr": [1.0]})) == {"step": [], "seconds": {}}


def test_a_stretch_of_a_curve_has_more_of_its_points() -> None:
    run = columns({"a": [float(number) for number in range(1, 1001)]}, counted=[*range(500), *range(505, 1000)])
    found = series(run, 100, within=range(451, 521))
    assert found["names"]["a"]["step"] == [*range(451, 501), *range(506, 521)]
    assert found["void"]["a"] == [{"attempt": 1, "step": [*range(501, 506)], "value": [501.0, 502, 503, 504, 505]}]
    assert len(series(run, 100)["names"]["a"]["step"]) <= 102
