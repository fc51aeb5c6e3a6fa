"""Steps as the ledger takes them."""

from __future__ import annotations

from collections.abc import Iterable

from submitter.gang.step_lines import Step


def as_rows(steps: Iterable[Step], seen_ms: int) -> list[tuple[int, int, dict[str, float]]]:
    return [(step.number, seen_ms, step.metrics) for step in steps]
