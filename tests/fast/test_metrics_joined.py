"""Attempts joined: which row of each step counts, however the rows come."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from submitter.metrics.joined import Joined
from submitter.metrics.recent import Recent

Rows = list[tuple[int, int]]
"""(step, attempt)"""


@st.composite
def histories(draw: st.DrawFn) -> tuple[Rows, dict[int, int | None]]:
    """Attempts that each go on from a step that was trained before, or from the start, or nobody knows from where."""
    rows: Rows = []
    resumed: dict[int, int | None] = {}
    reached = 0
    for attempt in range(1, draw(st.integers(1, 5)) + 1):
        begin = draw(st.integers(0, reached))
        known = draw(st.booleans())
        resumed[attempt] = begin if begin and known else None
        if draw(st.booleans()) and (known or not begin):
            rows.append((begin, attempt))  # the validation that it begins with
        last = begin + draw(st.integers(0, 8))
        rows += [(step, attempt) for step in range(begin + 1, last + 1)]
        reached = max(reached, last)
    return rows, resumed


def joined(rows: Rows, resumed: dict[int, int | None], cuts: Sequence[int] = ()) -> Joined:
    found = Joined()
    for begin, end in pairwise([0, *sorted(cuts), len(rows)]):
        part = rows[begin:end]
        found.add([step for step, _ in part], [attempt for _, attempt in part], resumed)
    return found


def counted(rows: Rows, found: Joined) -> dict[int, int]:
    """Step -> the attempt whose row counts."""
    return {rows[row][0]: rows[row][1] for row in found.rows}


def test_a_step_that_is_trained_again_is_the_later_attempt_s() -> None:
    rows = [(step, 1) for step in range(1, 8)] + [(step, 2) for step in range(5, 10)]
    found = joined(rows, {1: None, 2: 4})
    assert counted(rows, found) == {1: 1, 2: 1, 3: 1, 4: 1, 5: 2, 6: 2, 7: 2, 8: 2, 9: 2}
    assert [rows[row] for row in found.void] == [(5, 1), (6, 1), (7, 1)] and not found.beside


def test_all_after_the_checkpoint_is_void_at_the_first_step_that_is_trained_again() -> None:
    rows = [(step, 1) for step in range(1, 8)] + [(4, 2), (5, 2)]
    assert counted(rows, joined(rows[:8], {2: 4})) == dict.fromkeys(range(1, 8), 1), "it has only validated so far"
    found = joined(rows, {2: 4})
    assert counted(rows, found) == {1: 1, 2: 1, 3: 1, 4: 1, 5: 2}
    assert [rows[row] for row in found.void] == [(5, 1), (6, 1), (7, 1)]
    assert [rows[row] for row in found.beside] == [(4, 2)], "the validation that it began with is no step of its own"


def test_from_where_nobody_knows_is_before_its_first_step() -> None:
    rows = [(step, 1) for step in range(1, 8)] + [(step, 2) for step in range(6, 9)]
    assert counted(rows, joined(rows, {}))[6] == 2 and counted(rows, joined(rows, {}))[5] == 1


def test_the_validation_before_training_counts_as_step_0() -> None:
    rows = [(0, 1), (1, 1), (0, 2), (1, 2)]
    assert counted(rows, joined(rows, {})) == {0: 2, 1: 2}


@given(histories())
def test_each_step_counts_once_and_every_row_is_somewhere(history: tuple[Rows, dict[int, int | None]]) -> None:
    rows, resumed = history
    found = joined(rows, resumed)
    assert list(found.steps) == sorted({rows[row][0] for row in found.rows}) and len(found.steps) == len(found.rows)
    assert [rows[row][0] for row in found.rows] == list(found.steps)
    assert sorted([*found.rows, *found.void, *found.beside]) == list(range(len(rows)))


@given(histories())
def test_the_later_attempt_wins(history: tuple[Rows, dict[int, int | None]]) -> None:
    rows, resumed = history
    begun = {}
    for attempt in {attempt for _, attempt in rows}:
        own = sorted(step for step, one in rows if one == attempt and step > (resumed[attempt] or 0))
        if own:
            begun[attempt] = own[0] - 1 if resumed[attempt] is None else resumed[attempt]
    found = joined(rows, resumed)
    for step, attempt in counted(rows, found).items():
        assert not [later for later, after in begun.items() if later > attempt and step > after]
    for row in found.void:
        step, attempt = rows[row]
        assert [later for later, after in begun.items() if later > attempt and step > after]


@given(histories(), st.data())
def test_in_parts_is_as_at_once(history: tuple[Rows, dict[int, int | None]], data: st.DataObject) -> None:
    rows, resumed = history
    cuts = data.draw(st.lists(st.integers(0, len(rows)), max_size=4))
    whole, parts = joined(rows, resumed), joined(rows, resumed, cuts)
    assert (whole.steps, whole.rows, whole.void, whole.beside) == (parts.steps, parts.rows, parts.void, parts.beside)


@given(histories())
def test_rows_that_come_again_change_nothing(history: tuple[Rows, dict[int, int | None]]) -> None:
    rows, resumed = history
    assert counted(rows + rows, joined(rows + rows, resumed)) == counted(rows, joined(rows, resumed))


@given(histories(), st.randoms(use_true_random=False))
def test_the_order_in_which_logs_are_read_does_not_matter(
    history: tuple[Rows, dict[int, int | None]], shuffle: random.Random
) -> None:
    rows, resumed = history
    other = [*rows]
    shuffle.shuffle(other)
    assert counted(other, joined(other, resumed)) == counted(rows, joined(rows, resumed))


@given(histories(), st.integers(1, 12))
def test_the_newest_rows_are_the_last_that_count(history: tuple[Rows, dict[int, int | None]], size: int) -> None:
    rows, resumed = history
    recent, whole = Recent(size), Recent(1_000)
    for step, attempt in rows:
        for one in (recent, whole):
            one.add(attempt, [(step, 0, {})], resumed[attempt])
    of_all = counted(rows, joined(rows, resumed))
    trained = {step: attempt for step, attempt in of_all.items() if step > (resumed[attempt] or 0)}
    assert {row.step: row.attempt for row in whole.rows} == trained
    assert recent.rows == whole.rows[len(whole.rows) - len(recent.rows) :] and len(recent.rows) <= size
