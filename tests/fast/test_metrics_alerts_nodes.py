"""Alerts over what nodes measured: minutes of samples, by hand."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from submitter.metrics.alerts import Alert, Watched, judge
from submitter.texts import LANGUAGES
from submitter.watch.words import alert_text

NODES = ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]
TOTAL_MB = 1_536_000
AT_S = 1_790_000_000.0


def sample(node: str, at_s: float, *, use: float | None = 80.0, memory_mb: float | None = 420_000.0) -> dict[str, Any]:
    devices = [{"npu": npu, "use": use, "health": "OK"} for npu in range(4)]
    memory = {"memory_used_mb": memory_mb, "memory_total_mb": TOTAL_MB if memory_mb else None}
    return {"at": at_s, "node": node, "devices": None if use is None else devices, **memory}


def watched(minutes: int, of: Callable[[str, float], dict[str, Any]]) -> Watched:
    """`of(node, minute)` gives what a node measured; six times a minute."""
    found = Watched()
    for tick in range(6 * minutes):
        found.add_samples(1, [{**of(node, tick / 6), "at": AT_S + 10 * tick, "node": node} for node in NODES])
    return found


def alerts(found: Watched) -> list[Alert]:
    told = judge(found.window())
    for alert in told:
        assert all("{" not in alert_text(alert, language).message for language in LANGUAGES)
    return told


def test_nodes_that_are_alike_say_nothing() -> None:
    """Each waits at other times, as they do while answers are generated."""

    def wave(node: str, minute: float) -> dict[str, Any]:
        use = 70 + 25 * math.sin(minute / 2 + NODES.index(node))
        return sample(node, 0, use=use, memory_mb=420_000 + 20_000 * math.sin(minute / 5))

    for minutes in (1, 5, 10, 30, 60, 120):
        assert alerts(watched(minutes, wave)) == []


def test_one_that_is_used_more_is_named_with_what_was_measured() -> None:
    found = watched(25, lambda node, _: sample(node, 0, use=95.0 if node == NODES[2] else 60.0))
    (alert,) = alerts(found)
    assert (alert.id, alert.node, alert.values["value"], alert.values["usual"]) == ("NR910", NODES[2], 95, 60)


def test_one_that_is_used_less_is_named_too() -> None:
    assert [
        one.node for one in alerts(watched(25, lambda node, _: sample(node, 0, use=20.0 if node == NODES[0] else 75)))
    ] == [NODES[0]]


def test_a_difference_that_has_not_lasted_says_nothing() -> None:
    def late(node: str, minute: float) -> dict[str, Any]:
        return sample(node, 0, use=95.0 if node == NODES[2] and minute > 20 else 60.0)

    assert alerts(watched(25, late)) == []


def test_of_two_nodes_none_is_odd_and_without_devices_none_either() -> None:
    two = Watched()
    for tick in range(6 * 30):
        rows = [sample(node, AT_S + 10 * tick, use=use) for node, use in ((NODES[0], 90.0), (NODES[1], 20.0))]
        two.add_samples(1, rows)
    assert alerts(two) == []
    assert alerts(watched(30, lambda node, _: sample(node, 0, use=None))) == []


def test_memory_that_grows_is_told_with_the_hours_that_are_left() -> None:
    grows_mb = 0.2 * TOTAL_MB / 60

    def growing(node: str, minute: float) -> dict[str, Any]:
        return sample(node, 0, memory_mb=600_000 + (grows_mb * minute if node == NODES[1] else 0))

    assert alerts(watched(20, growing)) == [], "too early to tell"
    (alert,) = alerts(watched(60, growing))
    left_h = (0.95 * TOTAL_MB - 600_000 - 60 * grows_mb) / (60 * grows_mb)
    assert (alert.id, alert.node, alert.severity) == ("NR911", NODES[1], "warning")
    assert abs(float(alert.values["hours"]) - left_h) < 0.3


def test_memory_that_is_all_but_full_is_an_error() -> None:
    (alert,) = alerts(
        watched(5, lambda node, _: sample(node, 0, memory_mb=(0.94 if node == NODES[3] else 0.5) * TOTAL_MB))
    )
    assert (alert.id, alert.node, alert.severity, alert.values["hours"]) == ("NR911", NODES[3], "error", "-")


def test_memory_that_comes_and_goes_says_nothing() -> None:
    chance = random.Random(1)

    def saw(node: str, minute: float) -> dict[str, Any]:
        return sample(node, 0, memory_mb=500_000 + 200_000 * (minute % 13) / 13 + chance.gauss(0, 5_000))

    for minutes in (35, 60, 90, 300):
        assert alerts(watched(minutes, saw)) == []


def test_an_npu_that_is_not_healthy_for_two_minutes_is_an_error() -> None:
    def ill(node: str, minute: float) -> dict[str, Any]:
        found = sample(node, 0)
        if node == NODES[1] and minute >= 3:
            found["devices"][2]["health"] = "Alarm"
        return found

    assert alerts(watched(4, ill)) == []
    (alert,) = alerts(watched(6, ill))
    assert (alert.id, alert.node, alert.severity) == ("NR912", NODES[1], "error")
    assert (alert.values["npus"], alert.values["health"]) == ("2", "Alarm")


def test_of_a_new_attempt_all_begins_anew() -> None:
    found = watched(25, lambda node, _: sample(node, 0, use=95.0 if node == NODES[2] else 60.0))
    found.add_samples(2, [sample(node, AT_S + 10_000) for node in NODES])
    assert alerts(found) == []
    found.add_samples(1, [sample(NODES[0], AT_S + 20_000, memory_mb=TOTAL_MB)])
    assert alerts(found) == [], "what comes late of an attempt that has ended says nothing"


def test_the_trainer_s_own_number_stands_in_where_nodes_tell_nothing() -> None:
    grows = [(step, 0, {"actor/perf/cpu_memory_used_gb": 400.0 + step}) for step in range(1, 400)]
    alone, measured = Watched(), watched(5, lambda node, _: sample(node, 0))
    for one in (alone, measured):
        one.add_steps(1, grows, None)
    assert [alert.id for alert in alerts(alone)] == ["NR913"] and alerts(measured) == []


numbers = st.none() | st.floats(-1e15, 1e15)
"""As `parse_sample` bounds them."""
devices = st.none() | st.lists(
    st.fixed_dictionaries(
        {"npu": st.none() | st.integers(0, 20), "use": numbers, "health": st.none() | st.text(max_size=5)}
    ),
    max_size=3,
)


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "at": st.floats(0, 1e5),
                "node": st.sampled_from(NODES),
                "devices": devices,
                "memory_used_mb": numbers,
                "memory_total_mb": numbers,
            }
        ),
        max_size=60,
    )
)
def test_whatever_nodes_say_is_judged(samples: list[dict[str, Any]]) -> None:
    found = Watched()
    found.add_samples(1, samples)
    alerts(found)
