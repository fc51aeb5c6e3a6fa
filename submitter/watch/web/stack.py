"""Where the time of a step went, over a whole run. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from submitter.metrics.names import OUTSIDE_S, STEP_S
from submitter.metrics.phases import OTHER, PHASE_NAMES
from submitter.watch.columns import RunColumns

STRETCHES = 300
"""A chart has a few hundred pixels for them."""


def stack(columns: RunColumns, stretches: int = STRETCHES) -> dict[str, Any]:
    """`{"step": [last of each stretch], "seconds": {phase: [of one step of it, on average]}}`, of the steps that count
    and have a step time; phases in the order of their table, without those that took no time.
    Both are empty where no step took any.

    A stretch is one step, or several where there are more than `stretches`: a mean of whole stretches hides no
    validation, as single steps of a thinned curve would.
    """
    whole = columns.values.get(STEP_S, ())
    rows = [row for row in columns.counted if whole and math.isfinite(whole[row])]
    size = max(1, math.ceil(len(rows) / stretches))
    begins = range(0, len(rows), size)
    spent = {phase: _means(columns, names, rows, begins) for phase, names in PHASE_NAMES.items()}
    total = _means(columns, (STEP_S, *OUTSIDE_S), rows, begins)
    known = [math.fsum(parts) for parts in zip(*spent.values(), strict=True)]
    spent[OTHER] = [max(0.0, all_s - known_s) for all_s, known_s in zip(total, known, strict=True)]
    ends = (min(begin + size, len(rows)) - 1 for begin in begins)
    took = {phase: seconds for phase, seconds in spent.items() if any(seconds)}
    return {"step": [columns.steps[rows[end]] for end in ends] if took else [], "seconds": took}


def _means(columns: RunColumns, names: Iterable[str], rows: Sequence[int], begins: range) -> list[float]:
    """Of the names' sum; a row that lacks one spent no time in it."""
    sums = [0.0] * len(begins)
    for name in names:
        values = columns.values.get(name)
        if values is None:
            continue
        there = [values[row] if math.isfinite(values[row]) else 0.0 for row in rows]
        for place, begin in enumerate(begins):
            stretch = there[begin : begin + begins.step]
            sums[place] += math.fsum(stretch) / len(stretch)
    return sums
