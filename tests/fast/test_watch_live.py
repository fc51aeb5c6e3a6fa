"""Runs as they are now: what a page shows is what the ledger has, however often one looked meanwhile."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from submitter.ledger import Ledger
from submitter.watch.live import LiveRun, LiveRuns, UnknownRunError
from submitter.watch.view import RunRow
from tests.support.runs import Told
from tests.support.trained import NOW_MS, trained_run

KEY = {"reward": "critic/rewards/mean", "entropy": "actor/entropy", "kl": "rollout_corr/kl"}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    found = Ledger(tmp_path)
    yield found
    found.close()


def took_ms(what: Callable[[], object], times: int = 9) -> float:
    """Of the middle one: others share this machine."""
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        what()
        found.append(1000 * (time.perf_counter() - begin))
    return median(found)


class TestView:
    def test_it_is_what_the_ledger_has(self, ledger: Ledger) -> None:
        told = trained_run(ledger, "one", steps=200, attempts=3, nodes=4, devices=16)
        view = LiveRun(ledger, "one").view(NOW_MS)
        assert (view.run, view.state, view.step, view.total_steps) == ("one", "running", 200, told.total_steps)
        last = ledger.steps("one", newest=1)[0]
        assert (view.reward, view.reward_name) == (last.metrics[KEY["reward"]], KEY["reward"])
        said = [step.metrics["perf/throughput"] for step in ledger.steps("one", newest=20)]
        assert view.tokens_per_npu_s == pytest.approx(median(said))
        assert [one.attempt for one in view.attempts] == [1, 2, 3] and len(view.nodes) == 4
        assert [one.reason for one in view.attempts] == ["device_lost", "hung", None]
        assert [one.void_steps for one in view.attempts] == [
            *(one.last - (after.resumed_from or 0) for one, after in zip(told.parts, told.parts[1:], strict=False)),
            0,
        ]
        assert view.attempts[0].evidence[0]["line"] == 812 and view.attempts[0].decision is not None
        assert list(view.alerts) == ledger.alerts("one") and [one.id for one in view.open_alerts] == ["NR907"]
        assert list(view.events) == ledger.events("one") and view.supervisor is None
        assert view.seen_ms == told.parts[-1].seen_ms[-1]

    def test_curves_are_the_rows_that_count(self, ledger: Ledger) -> None:
        told = trained_run(ledger, "one", steps=120, attempts=3)
        curves = LiveRun(ledger, "one").view(NOW_MS).curves
        newest = {step.step: step for step in ledger.steps("one")}  # of a step the latest attempt's row comes last
        assert list(curves) == ["reward", "entropy", "kl", "grad_norm", "response_length", "step_s"]
        for key, name in KEY.items():
            assert (curves[key].name, list(curves[key].steps)) == (name, list(range(1, 121)))
            assert list(curves[key].values) == [newest[step].metrics[name] for step in range(1, 121)]
        assert told.parts[-1].last == 120

    def test_time_adds_up_and_says_where_it_went(self, ledger: Ledger) -> None:
        told = trained_run(ledger, "one", steps=150, attempts=3, step_s=60.0)
        good = LiveRun(ledger, "one").view(NOW_MS).goodput
        assert good is not None and good.wall_s == pytest.approx((NOW_MS - told.began_ms) / 1000)
        counted = {step.step: step for step in ledger.steps("one") if step.step}
        assert good.useful_s == pytest.approx(math.fsum(one.metrics["timing_s/step"] for one in counted.values()))
        assert [round(one.start_s) for one in good.attempts] == [240, 240, 240]
        assert [round(one.waiting_s) for one in good.attempts] == [0, 60, 60]
        assert good.attempts[0].again_s > 10 * 60 and good.attempts[-1].again_s == 0

    def test_pace_and_what_is_left(self, ledger: Ledger) -> None:
        told = trained_run(ledger, "one", steps=150, attempts=2, step_s=60.0)
        view = LiveRun(ledger, "one").view(NOW_MS)
        assert view.step_s is not None and view.step_s == pytest.approx(65, rel=0.1)
        assert view.steps_per_hour == pytest.approx(3600 / view.step_s)
        assert view.eta is not None
        assert view.eta.mid_s == pytest.approx((told.total_steps - 150) * view.step_s, rel=0.05)
        later = LiveRun(ledger, "one").view(NOW_MS + 20_000).eta
        assert later is not None and later.mid_s == pytest.approx(view.eta.mid_s - 20)
        stuck = LiveRun(ledger, "one").view(NOW_MS + 7_200_000).eta
        assert stuck is not None and stuck.mid_s > view.eta.mid_s - 2 * view.step_s, (
            "a run that hangs does not get done"
        )

    @pytest.mark.parametrize("state", ["waiting", "failed", "succeeded", "stopped"])
    def test_a_run_that_does_not_train_has_no_time_left(self, state: str, ledger: Ledger) -> None:
        trained_run(ledger, "one", steps=60, attempts=2, state=state)  # type: ignore[arg-type]
        view = LiveRun(ledger, "one").view(NOW_MS)
        assert view.state == state and view.eta is None and view.step == 60
        again = LiveRun(ledger, "one").view(NOW_MS + 3_600_000)
        assert view.goodput is not None and again.goodput is not None
        grows = again.goodput.wall_s - view.goodput.wall_s
        assert grows == pytest.approx(3600 if state == "waiting" else 0)

    def test_what_was_not_measured_is_none(self, ledger: Ledger) -> None:
        trained_run(ledger, "one", steps=5, attempts=1, devices=None)
        node = LiveRun(ledger, "one").view(NOW_MS).nodes[0]
        assert node.devices is None and node.why and node.use_percent is None and node.memory_used_mb

    def test_a_run_that_was_just_submitted(self, ledger: Ledger) -> None:
        told = Told(ledger, "new", total_steps=None)
        told.begin(1, 0)
        view = LiveRun(ledger, "new").view(told.began_ms + 60_000)
        assert (view.state, view.step, view.reward, view.eta, view.steps_per_hour) == (
            "pending",
            None,
            None,
            None,
            None,
        )
        assert (view.curves, view.phases, view.nodes) == ({}, (), ()) and view.tokens_per_npu_s is None
        assert view.goodput is not None and (view.goodput.wall_s, view.goodput.share) == (60, 0)
        assert view.attempts[0].nodes is None

    def test_time_in_which_its_user_had_it_stopped_is_not_counted(self, ledger: Ledger) -> None:
        told = Told(ledger, "one")
        told.begin(1, 0)
        told.end(1, 10, "stopped", state="STOPPED", ended_by="user")
        told.over(10, "stopped", "stopped")
        ledger.reopen("one", told.began_ms + 600 * 60_000)
        told.begin(2, 601)
        good = LiveRun(ledger, "one").view(told.began_ms + 611 * 60_000).goodput
        assert good is not None and good.wall_s == pytest.approx(21 * 60)
        assert good.attempts[1].waiting_s == pytest.approx(60)

    def test_there_is_no_view_of_a_run_that_is_not_there(self, ledger: Ledger) -> None:
        with pytest.raises(UnknownRunError):
            LiveRun(ledger, "none")


class TestRefresh:
    def test_it_says_whether_anything_is_new(self, ledger: Ledger) -> None:
        trained_run(ledger, "one", steps=20, attempts=1)
        live = LiveRun(ledger, "one")
        assert not live.refresh()
        trained_run(ledger, "another", steps=5)
        assert not live.refresh(), "of another run"
        ledger.record_steps("one", 1, [(21, NOW_MS, {"actor/entropy": 1.0})])
        assert live.refresh() and live.view(NOW_MS).step == 21 and not live.refresh()
        ledger.event("one", 1, "supervise.posted", {}, NOW_MS)
        assert live.refresh() and live.view(NOW_MS).events[-1].text_id == "supervise.posted"

    def test_step_by_step_is_as_at_once(self, ledger: Ledger) -> None:
        """Attempts, resumes, late rows of an earlier attempt, a name that comes later."""
        told = Told(ledger, "one", total_steps=100)
        told.begin(1, 0)
        live = LiveRun(ledger, "one")
        live.columns(["actor/entropy"])

        def rows(attempt: int, first: int, last: int, **metrics: float) -> None:
            seen = [(step, told.began_ms + 60_000 * (30 * attempt + step)) for step in range(first, last + 1)]
            values = {"timing_s/step": 50.0, "actor/entropy": 1.0 / attempt, **metrics}
            ledger.record_steps("one", attempt, [(step, at_ms, values) for step, at_ms in seen])

        def same() -> None:
            live.refresh()
            now_ms = told.began_ms + 120 * 60_000
            fresh = LiveRun(ledger, "one")
            assert live.view(now_ms) == fresh.view(now_ms)
            names = ["actor/entropy", "critic/rewards/mean", "not/there"]
            one, other = live.columns(names), fresh.columns(names)
            assert [one.steps, one.attempts, one.seen_ms, one.counted, one.void, one.last] == [
                *(other.steps, other.attempts, other.seen_ms, other.counted, other.void, other.last)
            ]
            for name in one.values:
                both = zip(one.values[name], other.values[name], strict=True)
                assert all(left == right or (left != left and right != right) for left, right in both)

        same()
        ledger.record_steps("one", 1, [(0, told.began_ms, {"val-core/x": 0.5})])
        same()
        for last in range(2, 12):
            rows(1, last - 1, last)
            same()
        told.end(1, 30, "hung")
        told.begin(2, 31)
        same()
        rows(2, 9, 9)  # its resume is not known yet
        same()
        ledger.record_resumed("one-a2", 7)
        same()
        rows(2, 8, 14, **{"critic/rewards/mean": 0.4})
        same()
        rows(1, 12, 13)  # the end of an earlier log, read late
        same()
        assert list(LiveRun(ledger, "one").view(NOW_MS).curves["entropy"].values) == [1.0] * 7 + [0.5] * 7

    def test_an_unchanged_run_costs_next_to_nothing(self, ledger: Ledger) -> None:
        trained_run(ledger, "one", steps=2_000, attempts=3)
        live = LiveRun(ledger, "one")
        assert took_ms(live.refresh) < 1

    def test_columns_are_copies_and_only_some_are_kept(self, ledger: Ledger) -> None:
        trained_run(ledger, "one", steps=30, attempts=1, metrics=120)
        live = LiveRun(ledger, "one")
        names = live.names()
        for name in names:
            assert len(live.columns([name]).values[name]) == 31
        many = live.columns(names)
        assert set(many.values) == set(names), "all that are asked for at once"
        many.values[names[0]].append(1.0)
        assert len(live.columns(names[:1]).values[names[0]]) == 31

    def test_threads_may_share_it(self, ledger: Ledger) -> None:
        trained_run(ledger, "one", steps=50, attempts=1)
        live, failed = LiveRun(ledger, "one"), []

        def look() -> None:
            try:
                for _ in range(30):
                    live.refresh()
                    view = live.view(NOW_MS)
                    assert len(view.curves["entropy"].steps) == len(view.curves["entropy"].values) == view.step
                    live.columns(["actor/entropy", "actor/lr"])
            except Exception as error:  # told in the test's own thread
                failed.append(error)

        threads = [threading.Thread(target=look) for _ in range(4)]
        for thread in threads:
            thread.start()
        for step in range(51, 90):
            ledger.record_steps("one", 1, [(step, NOW_MS, {"actor/entropy": 1.0, "actor/lr": 1.0})])
        for thread in threads:
            thread.join(30)
        assert failed == []


class TestRuns:
    def test_rows_are_the_newest_first_and_as_their_views(self, ledger: Ledger) -> None:
        states = ["running", "waiting", "failed", "succeeded"]
        for place, state in enumerate(states):
            trained_run(ledger, state, state=state, steps=40, attempts=2, now_ms=NOW_MS - 3_600_000 * place)  # type: ignore[arg-type]
        rows = LiveRuns(ledger).rows(NOW_MS)
        assert [row.run for row in rows] == sorted(states, key=lambda run: -ledger.runs()[run].created_ms)
        for row in rows:
            view = LiveRun(ledger, row.run).view(NOW_MS)
            assert view.goodput is not None
            assert row == RunRow(
                *(row.run, view.job, view.address, view.state, view.step, view.total_steps, view.reward),
                *(view.goodput.share, view.steps_per_hour, 2, view.created_ms, view.ended_ms),
                len(view.open_alerts),
            )

    def test_it_follows_what_happens(self, ledger: Ledger) -> None:
        told = trained_run(ledger, "one", steps=40, attempts=1)
        runs = LiveRuns(ledger)
        assert runs.rows(NOW_MS)[0].step == 40
        ledger.record_steps("one", 1, [(41, NOW_MS, {"critic/rewards/mean": 0.77})])
        assert (runs.rows(NOW_MS)[0].step, runs.rows(NOW_MS)[0].reward) == (41, 0.77)
        ledger.end_run("one", "failed", "hung", NOW_MS)
        (row,) = runs.rows(NOW_MS)
        assert (row.state, row.step, row.reward, row.ended_ms) == ("failed", 41, 0.77, NOW_MS)
        ledger.record_alerts("one", 1, [], NOW_MS)
        assert runs.rows(NOW_MS)[0].alerts == 0
        ledger.reopen("one", NOW_MS)
        assert runs.rows(NOW_MS)[0].state == "running" and told.run == "one"

    def test_runs_that_ended_long_ago_are_worked_out_bit_by_bit(self, ledger: Ledger) -> None:
        for number in range(4):
            trained_run(ledger, f"r{number}", steps=5, attempts=1, state="succeeded", now_ms=NOW_MS + number)
        ticks = iter(range(1_000))
        runs = LiveRuns(ledger, clock=lambda: next(ticks))  # each look at the clock is a second
        known = [[row.goodput is not None for row in runs.rows(NOW_MS, fill_s=2.5)] for _ in range(3)]
        assert known == [[True, True, False, False], [True] * 4, [True] * 4]
        bare = LiveRuns(ledger).rows(NOW_MS, fill_s=0)[0]
        assert bare == replace(runs.rows(NOW_MS)[0], step=None, reward=None, goodput=None, steps_per_hour=None)

    def test_many_runs_cost_little_when_nothing_changed(self, ledger: Ledger) -> None:
        with ledger.together(durable=False):
            for number in range(300):
                state = "running" if number < 20 else "succeeded"
                trained_run(ledger, f"r{number}", steps=3, attempts=1, nodes=1, samples=1, state=state)  # type: ignore[arg-type]
        runs = LiveRuns(ledger)
        runs.rows(NOW_MS, fill_s=60)
        assert took_ms(lambda: runs.rows(NOW_MS)) < 15
