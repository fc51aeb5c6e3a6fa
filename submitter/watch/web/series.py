"""Metrics as charts take them: steps that count, thinned so that extremes survive, and those trained again. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from submitter.watch.columns import RunColumns
from submitter.watch.view import thinned

POINTS = 2_000
"""Of one curve; a chart has fewer pixels."""
POINTS_MOST = 5_000
NAMES_MOST = 40


def series(columns: RunColumns, points: int, after: int = 0, within: range | None = None) -> dict[str, Any]:
    """`{"names": {name: {"step": [], "value": []}}, "void": {name: [{"attempt", "step": [], "value": []}]},
    "attempts": [{"attempt", "step": its first}], "size": rows so far, "reset": bool}`.

    `after`: the `size` of an answer before: only what came since. `reset`: what was known before is to be forgotten.
    `within`: only steps of this range, of which more points are left then.
    """
    size = len(columns.steps)
    reset = not 0 < after <= size or _newest(columns.attempts[:after]) != _newest(columns.attempts)
    begin = 0 if reset else after
    counted = [row for row in columns.counted if row >= begin]
    void: Sequence[int] = columns.void if reset else ()
    if within is not None:
        counted = [row for row in counted if columns.steps[row] in within]
        void = [row for row in void if columns.steps[row] in within]
    return {
        "names": {name: _curve(columns.steps, values, counted, points) for name, values in columns.values.items()},
        "void": {name: _void(columns, values, void, points) for name, values in columns.values.items()},
        "attempts": _attempts(columns) if reset else [],
        "size": size,
        "reset": reset,
    }


def _curve(steps: Sequence[int], values: Sequence[float], rows: Iterable[int], points: int) -> dict[str, Any]:
    there = [row for row in rows if math.isfinite(values[row])]
    shown_steps, shown = thinned([steps[row] for row in there], [values[row] for row in there], points)
    return {"step": list(shown_steps), "value": list(shown)}


def _void(columns: RunColumns, values: Sequence[float], rows: Sequence[int], points: int) -> list[dict[str, Any]]:
    by_attempt = groupby(sorted(rows, key=columns.attempts.__getitem__), key=columns.attempts.__getitem__)
    return [
        {"attempt": attempt, **_curve(columns.steps, values, sorted(alike, key=columns.steps.__getitem__), points)}
        for attempt, alike in by_attempt
    ]


def _attempts(columns: RunColumns) -> list[dict[str, int]]:
    """Where each begins, among the steps that count."""
    first: dict[int, int] = {}
    for row in columns.counted:
        first.setdefault(columns.attempts[row], columns.steps[row])
    return [{"attempt": attempt, "step": step} for attempt, step in sorted(first.items())]


def _newest(attempts: Sequence[int]) -> int:
    return max(attempts, default=0)
