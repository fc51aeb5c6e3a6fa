"""Derived figures: pace and time left, phases, tokens, goodput."""

from __future__ import annotations

import math
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.metrics.goodput import Trained, goodput
from submitter.metrics.pace import ETA_STEPS, Eta, eta, per_hour, step_seconds, usual_s
from submitter.metrics.phases import OTHER, PHASES, phases
from submitter.metrics.recent import Row
from submitter.metrics.times import StepTimes
from submitter.metrics.tokens import tokens_per_npu_s

STEP_S = 60.0


def rows(count: int = 40, *, lump: int = 1, between_s: float = 0.0, timed: bool = True) -> list[Row]:
    """Steps of a minute, each tenth with a validation of half a minute; read in lumps of `lump`."""
    found, clock_ms = [], 0
    for step in range(1, count + 1):
        testing = {"timing_s/testing": 30.0} if step % 10 == 0 else {}
        clock_ms += round(1000 * (STEP_S + sum(testing.values()) + between_s))
        found.append(Row(step, 1, clock_ms, {"timing_s/step": STEP_S, **testing} if timed else {}))
    seen = [found[min(place + lump - 1 - place % lump, count - 1)].seen_ms for place in range(count)]
    return [Row(row.step, 1, at_ms, row.metrics) for row, at_ms in zip(found, seen, strict=True)]


class TestPace:
    def test_a_step_takes_its_validation_and_what_lies_between(self) -> None:
        seconds = step_seconds(rows(between_s=5.0))
        assert seconds[0] == pytest.approx(65.0) and seconds[9] == pytest.approx(95.0)

    def test_a_log_that_is_read_late_does_not_make_steps_fast_or_slow(self) -> None:
        assert step_seconds(rows(lump=20)) == pytest.approx(step_seconds(rows()))

    def test_a_trainer_that_measures_nothing_is_timed_by_its_rows(self) -> None:
        assert fmean(step_seconds(rows(timed=False))) == pytest.approx(63.0, abs=1.5)

    def test_neither_a_gap_between_attempts_counts(self) -> None:
        first = rows(10)
        second = [Row(10 + one.step, 2, one.seen_ms + 7_200_000, one.metrics) for one in rows(10)]
        assert max(step_seconds([*first, *second])) < 100

    def test_steps_per_hour(self) -> None:
        usual = usual_s(step_seconds(rows(80)))
        assert per_hour(usual) == pytest.approx(3600 / 63, rel=0.02)
        assert per_hour(usual_s([])) is None and per_hour(usual_s([0.0])) is None


class TestEta:
    def test_nothing_is_said_before_enough_steps_or_without_an_end(self) -> None:
        assert eta([60.0] * (ETA_STEPS - 1), 100) is None and eta([60.0] * 50, None) is None

    def test_of_steady_steps_there_is_no_spread(self) -> None:
        assert eta([60.0] * 50, 100) == Eta(6000.0, 6000.0, 6000.0)

    def test_it_is_near_the_truth_and_within_its_spread(self) -> None:
        left = eta(step_seconds(rows(80)), 100)
        assert left is not None and left.low_s <= left.mid_s <= left.high_s
        assert left.mid_s == pytest.approx(100 * 63, rel=0.02)

    def test_of_few_known_steps_a_validation_still_counts(self) -> None:
        left = eta([60.0, 60.0, 60.0, 100.0, 60.0, 60.0, 60.0, 100.0], 4)
        assert left is not None and left.mid_s == pytest.approx(280.0)

    def test_of_one_step_the_spread_is_that_of_single_steps(self) -> None:
        left = eta([60.0] * 15 + [120.0] * 5, 1)
        assert left is not None and (left.low_s, left.high_s) == (60.0, 120.0)

    def test_it_runs_down_to_nothing_and_no_further(self) -> None:
        assert Eta(10.0, 20.0, 30.0).after(15.0) == Eta(0.0, 5.0, 15.0)
        assert eta([60.0] * 50, 0) == Eta(0.0, 0.0, 0.0)

    @given(st.lists(st.floats(0, 1e6), min_size=ETA_STEPS, max_size=300), st.integers(0, 10_000))
    def test_it_is_ordered_whatever_the_steps(self, seconds: list[float], left: int) -> None:
        found = eta(seconds, left)
        assert found is not None and 0 <= found.low_s <= found.mid_s <= found.high_s


TIMED = {
    "timing_s/step": 100.0,
    "timing_s/gen": 50.0,
    "timing_s/agent_loop/generate_sequences/max": 48.0,
    "timing_s/agent_loop/slowest/tool_calls": 9.0,
    "timing_s/update_actor": 30.0,
    "timing_s/ref": 10.0,
    "timing_s/testing": 25.0,
    "timing_per_token_ms/gen": 4.0,
}


class TestPhases:
    def test_shares_of_step_and_validation(self) -> None:
        found = {one.id: one for one in phases([Row(1, 1, 0, TIMED)])}
        assert {name: one.seconds for name, one in found.items()} == {
            "generation": 50.0,
            "reference": 10.0,
            "actor_update": 30.0,
            "validation": 25.0,
            OTHER: pytest.approx(10.0),
        }
        assert math.fsum(one.share for one in found.values()) == pytest.approx(1.0)
        assert found["generation"].share == pytest.approx(50 / 125)

    def test_a_phase_of_some_steps_is_shared_by_all(self) -> None:
        saved = {**TIMED, "timing_s/save_checkpoint": 8.0, "timing_s/step": 108.0}
        found = {one.id: one.seconds for one in phases([Row(1, 1, 0, TIMED), Row(2, 1, 0, saved)])}
        assert found["checkpoint"] == pytest.approx(4.0) and found[OTHER] == pytest.approx(10.0)

    def test_without_times_there_are_none(self) -> None:
        assert phases([]) == () and phases([Row(1, 1, 0, {"actor/loss": 1.0})]) == ()

    @given(
        st.dictionaries(
            st.sampled_from([f"timing_s/{name}" for names in PHASES.values() for name in names]), st.floats(0, 1e4)
        ),
        st.floats(0.1, 1e5),
    )
    def test_all_seconds_are_somewhere_whatever_was_measured(self, timed: dict[str, float], step_s: float) -> None:
        found = phases([Row(1, 1, 0, {**timed, "timing_s/step": step_s})])
        assert math.fsum(one.share for one in found) == pytest.approx(1.0)
        assert min(one.seconds for one in found) > 0


def test_tokens_are_what_verl_says_per_npu_or_worked_out() -> None:
    said = [Row(1, 1, 0, {"perf/throughput": 300.0, "perf/total_num_tokens": 1.0, "timing_s/step": 1.0})]
    assert tokens_per_npu_s(said) == 300.0
    counted = [Row(1, 1, 0, {"perf/total_num_tokens": 64_000.0, "timing_s/step": 10.0})]
    assert tokens_per_npu_s(counted, npus=64) == 100.0
    assert tokens_per_npu_s(counted) is None and tokens_per_npu_s([]) is None


def attempt(number: int, posted_s: float, ended_s: float | None, **changes: float) -> Trained:
    values = {"first_s": None, "last_s": None, "useful_s": 0.0, "void_s": 0.0, **changes}
    return Trained(number, posted_s, ended_s, **values)  # type: ignore[arg-type]


class TestGoodput:
    def test_where_the_time_went(self) -> None:
        first = attempt(1, 1000, 2000, first_s=1100, last_s=1900, useful_s=500, void_s=200)
        second = attempt(2, 2300, None, first_s=2350, last_s=2900, useful_s=500)
        found = goodput([first, second], 3000, is_over=False)
        assert found is not None and found.wall_s == 2000 and found.useful_s == 1000 and found.share == 0.5
        one, two = found.attempts
        assert (one.waiting_s, one.start_s, one.useful_s, one.again_s, one.between_s, one.after_s) == (
            *(0, 100, 500, 200, 100, 100),
        )
        assert (two.waiting_s, two.start_s, two.between_s, two.after_s) == (300, 50, 50, 100)
        assert one.lost_s == 400 and two.lost_s == 450

    def test_an_attempt_that_trained_nothing_is_lost(self) -> None:
        found = goodput([attempt(1, 0, 100)], 500, is_over=True)
        assert found is not None and (found.wall_s, found.useful_s, found.share) == (100, 0, 0)
        assert found.attempts[0].lost_s == 100 and found.idle_s == 0

    def test_what_is_waited_for_the_next_attempt_counts_while_the_run_goes_on(self) -> None:
        found = goodput([attempt(1, 0, 100)], 500, is_over=False)
        assert found is not None and (found.wall_s, found.idle_s) == (500, 400)

    def test_time_in_which_its_user_had_it_stopped_is_not_lost(self) -> None:
        found = goodput([attempt(1, 0, 100), attempt(2, 10_100, 10_200, off_s=10_000)], 10_200, is_over=True)
        assert found is not None and found.wall_s == 200

    def test_before_the_first_submission_there_is_none(self) -> None:
        assert goodput([], 100, is_over=False) is None

    @given(st.data())
    def test_the_parts_add_up_to_the_wall_time(self, data: st.DataObject) -> None:
        """Whatever clocks and logs say: ends before begins, steps that take longer than the attempt, rows that lie."""
        times = st.floats(0, 1e6)
        maybe = st.none() | times
        attempts = [
            Trained(number, *data.draw(st.tuples(times, maybe, maybe, maybe, times, times)))
            for number in range(1, data.draw(st.integers(1, 5)) + 1)
        ]
        now_s, is_over = data.draw(times), data.draw(st.booleans())
        found = goodput(attempts, now_s, is_over=is_over)
        assert found is not None
        parts = [
            part
            for one in found.attempts
            for part in (one.waiting_s, one.start_s, one.useful_s, one.again_s, one.between_s, one.after_s)
        ]
        assert min(parts) >= 0 and found.idle_s >= 0
        assert math.fsum([*parts, found.idle_s]) == pytest.approx(found.wall_s)
        assert 0 <= found.share <= 1 + 1e-9
        if not is_over:
            last_s = max(now_s, *(max(one.posted_s, min(one.ended_s or 0, now_s)) for one in attempts))
            assert found.wall_s <= last_s - attempts[0].posted_s + 1e-3 or last_s < attempts[0].posted_s


class TestStepTimes:
    def test_what_the_trainer_does_not_measure_is_the_time_since_the_row_before(self) -> None:
        times = StepTimes()
        times.add([0, 1, 2], [1, 1, 1], [1_000, 11_000, 14_000], [math.nan, math.nan, 2.5])
        assert list(times.seconds) == [0.0, 10.0, 2.5] and times.attempts[1].steps_s == 12.5
        assert (times.attempts[1].first_ms, times.attempts[1].last_ms) == (1_000, 14_000)

    def test_a_number_that_overflows_is_none(self) -> None:
        times = StepTimes()
        times.add([1, 2, 3], [1, 1, 1], [1_000, 3_000, 6_000], [1.0, 1.7e308, 1.7e308])
        assert list(times.seconds) == [1.0, 2.0, 3.0]
        huge = [Row(step, 1, step * 1_000, {"timing_s/step": 1.7e308, "timing_s/gen": 1.7e308}) for step in range(20)]
        assert phases(huge) == () and eta(step_seconds(huge), 10) == Eta(10.0, 10.0, 10.0)

    def test_in_parts_is_as_at_once(self) -> None:
        steps, attempts = [1, 2, 3, 2, 3], [1, 1, 1, 2, 2]
        seen, took = [10_000, 20_000, 30_000, 90_000, 99_000], [9.0, 9.0, 9.0, 8.0, 8.5]
        whole, parts = StepTimes(), StepTimes()
        whole.add(steps, attempts, seen, took)
        for cut in range(5):
            parts.add(*(column[cut : cut + 1] for column in (steps, attempts, seen, took)))  # type: ignore[arg-type]
        assert whole.seconds == parts.seconds and whole.attempts == parts.attempts
        assert whole.of([0, 3]) == 17.0
