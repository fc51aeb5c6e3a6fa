"""Are the nodes fine: one that differs from the others, memory that grows, NPUs that are not healthy."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median

from submitter.metrics.alerts.names import HOST_GB
from submitter.metrics.alerts.nodes import Minute
from submitter.metrics.alerts.rule import Alert, Rule, shown
from submitter.metrics.alerts.statistics import rolling_median
from submitter.metrics.alerts.window import Window

COMPARED_MINUTES = 20
"""Long enough for whole steps of most trainings: within one, nodes differ by what they happen to generate."""
LEAST_NODES = 3
"""Of two that differ nobody can say which is the odd one."""
ODD_POINTS = 20.0
"""Percentage points of mean device use away from the others' median."""
ODD_MADS = 6.0

TREND_MINUTES = 30
BLOCKS = 6
KILL_SHARE = 0.95
"""Of a node's memory, where Ray's memory monitor kills workers (RAY_memory_usage_threshold)."""
RISE_SHARE = 0.03
"""Of the node's memory, risen over the time that is looked at; less may be caches."""
FULL_SHARE = 0.92
SOON_H, SOONEST_H = 12.0, 1.0
MB_PER_GB = 1024
GROWN = 1.5
"""Times what the trainer's own process view of the host was, where no node samples tell."""
GROWN_GB = 20.0
GROWN_STEPS = 200


def _odd_node(window: Window) -> Iterator[Alert]:
    """The NPUs of one node were used much more, or much less, than those of the others, in both halves of 20 minutes.

    Source: in synchronous training everybody waits for the slowest (arXiv 2505.05713), so that its devices are busy
    while the others idle; one that is used less gets less work, or waits for its own host. What is measured is the
    use alone.
    """
    halves = [_uses(window.nodes, half) for half in (0, 1)]
    for node in sorted(window.nodes):
        odd = [_away(uses, node) for uses in halves]
        if any(one is None for one in odd) or odd[0] * odd[1] <= 0:  # type: ignore[operator]
            continue
        use, usual = halves[1][node], _others(halves[1], node)
        values = {"value": shown(use), "usual": shown(usual), "minutes": COMPARED_MINUTES, "nodes": len(halves[1])}
        yield Alert("NR910", "warning", node, None, window.last_step, {"node": node, **values})


def _memory(window: Window) -> Iterator[Alert]:
    """The memory of a node grows steadily and meets Ray's limit within 12 hours, or is all but there.

    Source: Ray kills workers at 95 % of a node's memory (RAY_memory_usage_threshold); hosts that fill up step by step
    are a known ending of verl runs (verl 429, 630, 1964).
    """
    for node, minutes in sorted(window.nodes.items()):
        used = [(one.at_s, one.memory_used_mb) for one in minutes if one.memory_used_mb is not None]
        total = next((one.memory_total_mb for one in reversed(minutes) if one.memory_total_mb), None)
        if total and used:
            yield from _node_memory(node, used, total, window.last_step)


def _unhealthy(window: Window) -> Iterator[Alert]:
    """npu-smi says of an NPU, for two minutes, that it is not OK.

    Source: the health column of `npu-smi info`: OK, Warning, Alarm, Critical or UNKNOWN.
    """
    for node, minutes in sorted(window.nodes.items()):
        recent = minutes[-2:]
        if len(recent) < 2:
            continue
        npus = sorted(recent[0].unhealthy.keys() & recent[1].unhealthy.keys())
        if npus:
            said = ", ".join(sorted({recent[1].unhealthy[npu] for npu in npus}))
            values = {"node": node, "npus": ", ".join(map(str, npus)), "health": said}
            yield Alert("NR912", "error", node, None, window.last_step, values)


def _trainer_memory(window: Window) -> Iterator[Alert]:
    """The host memory that the trainer logs has grown by half, step by step, over 200 steps; where nodes tell nothing.

    Source: `actor/perf/cpu_memory_used_gb` is psutil's view of rank 0's host (verl's engine workers); it knows no
    limit, so that only a lasting growth means something (verl 630).
    """
    series = window.series(HOST_GB)
    measured = any(one.memory_used_mb is not None for minutes in window.nodes.values() for one in minutes)
    if measured or len(series) < GROWN_STEPS:
        return
    levels = rolling_median(series.values, GROWN_STEPS // 10)[GROWN_STEPS // 10 - 1 :: GROWN_STEPS // 10]
    steady = all(after > before for before, after in pairwise(levels))
    if steady and levels[-1] > GROWN * levels[0] and levels[-1] - levels[0] > GROWN_GB:
        values = {"metric": series.name, "value": shown(levels[-1]), "begin": shown(levels[0])}
        values["steps"] = series.steps[-1] - series.steps[0] + 1
        yield Alert("NR913", "warning", None, series.steps[0], series.steps[-1], values)


def _uses(nodes: Mapping[str, Sequence[Minute]], half: int) -> dict[str, float]:
    """Mean device use of each node in one half of the time that is looked at; nodes that did not measure are absent."""
    size = COMPARED_MINUTES // 2
    newest_s = max((minutes[-1].at_s for minutes in nodes.values() if minutes), default=0.0)
    begin_s = newest_s - 60 * size * (2 - half)
    found = {}
    for node, minutes in nodes.items():
        uses = [
            one.use_percent
            for one in minutes
            if one.use_percent is not None and begin_s < one.at_s <= begin_s + 60 * size
        ]
        if len(uses) >= size // 2:
            found[node] = math.fsum(uses) / len(uses)
    return found


def _others(uses: Mapping[str, float], node: str) -> float:
    return median(use for other, use in uses.items() if other != node)


def _away(uses: Mapping[str, float], node: str) -> float | None:
    """Points from the others' median, where that is far; None: it is not, or cannot be told."""
    if node not in uses or len(uses) < LEAST_NODES:
        return None
    usual = _others(uses, node)
    spread = median(abs(use - usual) for other, use in uses.items() if other != node)
    away = uses[node] - usual
    return away if abs(away) >= max(ODD_POINTS, ODD_MADS * spread) else None


def _node_memory(
    node: str, used: Sequence[tuple[float, float]], total_mb: float, last_step: int | None
) -> Iterator[Alert]:
    now_mb = median(value for _, value in used[-3:])
    hours = _hours_left(used, total_mb)
    is_full = now_mb >= FULL_SHARE * total_mb and len(used) >= 3
    if hours is None and not is_full:
        return
    values = {
        "node": node,
        "used_gb": shown(now_mb / MB_PER_GB),
        "total_gb": shown(total_mb / MB_PER_GB),
        "percent": shown(100 * now_mb / total_mb),
        "limit": shown(100 * KILL_SHARE),
        "hours": shown(hours) if hours is not None else "-",
    }
    is_soon = is_full or (hours is not None and hours <= SOONEST_H)
    yield Alert("NR911", "error" if is_soon else "warning", node, None, last_step, values)


def _hours_left(used: Sequence[tuple[float, float]], total_mb: float) -> float | None:
    """Until the limit, where memory has grown from block to block; None: it has not, or the limit is far."""
    if len(used) < TREND_MINUTES:
        return None
    size = len(used) // BLOCKS
    blocks = [used[begin : begin + size] for begin in range(len(used) - BLOCKS * size, len(used), size)]
    levels = [median(value for _, value in block) for block in blocks]
    rise_mb = levels[-1] - levels[0]
    steady = all(after > before for before, after in pairwise(levels))
    if not steady or rise_mb < RISE_SHARE * total_mb:
        return None
    per_hour = rise_mb / ((blocks[-1][0][0] - blocks[0][0][0]) / 3600)
    hours = max(0.0, KILL_SHARE * total_mb - levels[-1]) / per_hour
    return hours if hours <= SOON_H else None


RULES = (
    Rule("NR910", ("warning",), _odd_node),
    Rule("NR911", ("error", "warning"), _memory),
    Rule("NR912", ("error",), _unhealthy),
    Rule("NR913", ("warning",), _trainer_memory),
)
