"""The numbers of a report's charts, as its script takes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from submitter.ledger import StoredAlert
from submitter.metrics.phases import TIMING_NAMES
from submitter.watch.columns import KEPT_NAMES, RunColumns
from submitter.watch.live import LiveRun
from submitter.watch.view import RunView
from submitter.watch.web.series import POINTS, series
from submitter.watch.web.stack import stack

OTHER_POINTS = 600
"""Of a curve that is not shown first: 100 of them are then 1 MB."""
NAMES_SHOWN = 200
"""Of all curves, those that are shown first among them; `npurun export` has every one."""
STRETCHES = 160
"""Of the phases over time."""
DIGITS = 7
"""Significant ones, as many as a float32 has: half the bytes."""


def charts(live: LiveRun, view: RunView) -> dict[str, Any]:
    """`{"curves": {name: {"step": [], "value": []}}, "again": {name: [{"attempt", "step": [], "value": []}]},
    "attempts": [{"attempt", "step": its first that counts}], "phases": as `stack.stack`,
    "alerts": {name: [{"id", "severity", "first", "last"}]}}`; `again`: steps that a later attempt has trained again.
    """
    first = [curve.name for curve in view.curves.values()]
    shown = series(live.columns(first), POINTS)
    curves, again = dict(shown["names"]), dict(shown["void"])
    for names in _pages(names_shown(live, view)[len(first) :]):
        more = series(live.columns(names), OTHER_POINTS)
        curves |= more["names"]
        again |= more["void"]
    return {
        "curves": {name: _short(curve) for name, curve in curves.items()},
        "again": {name: [_short(curve) for curve in parts] for name, parts in again.items() if parts},
        "attempts": shown["attempts"],
        "phases": _phases(live.columns(TIMING_NAMES)),
        "alerts": _marks(view.alerts),
    }


def names_shown(live: LiveRun, view: RunView) -> list[str]:
    """Those of the view's curves, then the others by name."""
    first = [curve.name for curve in view.curves.values()]
    return [*first, *sorted(set(live.names()) - set(first))][:NAMES_SHOWN]


def _pages(names: Sequence[str]) -> Iterator[Sequence[str]]:
    """As many as are kept at once, so that no more are in memory."""
    return (names[begin : begin + KEPT_NAMES] for begin in range(0, len(names), KEPT_NAMES))


def _short(curve: Mapping[str, Any]) -> dict[str, Any]:
    return {**curve, "value": [_rounded(value) for value in curve["value"]]}


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _phases(columns: RunColumns) -> dict[str, Any]:
    found = stack(columns, STRETCHES)
    seconds = {phase: [_rounded(value) for value in values] for phase, values in found["seconds"].items()}
    return {"step": found["step"], "seconds": seconds}


def _marks(alerts: Sequence[StoredAlert]) -> dict[str, list[dict[str, Any]]]:
    """By the metric that an alert is about."""
    found: dict[str, list[dict[str, Any]]] = {}
    for one in alerts:
        mark = {"id": one.id, "severity": one.severity, "first": one.first_step, "last": one.last_step}
        found.setdefault(str(one.values.get("metric")), []).append(mark)
    return found
