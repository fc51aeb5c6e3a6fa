"""How many tokens an NPU gets through. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from submitter.metrics.names import THROUGHPUT, TOKENS
from submitter.metrics.recent import Row

USUAL_STEPS = 20
"""The newest: a step that also saves is not the usual one, nor is the first."""


def tokens_per_npu_s(rows: Sequence[Row], npus: int | None = None) -> float | None:
    """Of the usual one of the newest rows. `npus`: of the whole run, for a trainer that logs only its tokens."""
    found = [value for row in rows[-USUAL_STEPS:] if not math.isnan(value := _of(row, npus))]
    return median(found) if found else None


def _of(row: Row, npus: int | None) -> float:
    if row.has(THROUGHPUT):
        return row.get(THROUGHPUT)
    step_s = row.step_s
    return row.get(TOKENS) / (step_s * npus) if step_s and npus else math.nan
