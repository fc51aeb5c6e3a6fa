"""What the nodes of an attempt measured, minute by minute: hours of it in a few hundred numbers. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MINUTES_KEPT = 720
"""Twelve hours: memory that grows slowly still shows."""
HEALTHY = "OK"


@dataclass(frozen=True)
class Minute:
    """Means over the samples of one minute; None: not measured."""

    at_s: float
    use_percent: float | None
    """Of all devices of the node."""
    memory_used_mb: float | None
    memory_total_mb: float | None
    unhealthy: Mapping[int, str]
    """NPUs that were not OK in every sample of the minute that tells of their health, and what was said instead."""


class NodeMinutes:
    """Fed with samples in the order of their times."""

    def __init__(self) -> None:
        self._attempt = 0
        self._kept: dict[str, list[Minute]] = {}
        self._now: dict[str, list[Mapping[str, Any]]] = {}
        """Samples of the minute that has not ended."""

    def add(self, attempt: int, samples: Iterable[Mapping[str, Any]]) -> None:
        if attempt < self._attempt:
            return
        if attempt > self._attempt:
            self._attempt, self._kept, self._now = attempt, {}, {}
        for sample in samples:
            self._add(sample)

    def minutes(self) -> dict[str, Sequence[Minute]]:
        """By node; the minute that has not ended is among them."""
        return {
            node: [*self._kept.get(node, ()), *([_minute(samples)] if samples else [])]
            for node, samples in self._now.items()
        }

    def _add(self, sample: Mapping[str, Any]) -> None:
        now = self._now.setdefault(sample["node"], [])
        if now and sample["at"] <= now[-1]["at"]:
            return
        if now and sample["at"] // 60 > now[0]["at"] // 60:
            kept = self._kept.setdefault(sample["node"], [])
            kept.append(_minute(now))
            del kept[:-MINUTES_KEPT]
            now.clear()
        now.append(sample)


def _minute(samples: Sequence[Mapping[str, Any]]) -> Minute:
    uses = [one["use"] for sample in samples for one in sample.get("devices") or () if one.get("use") is not None]
    return Minute(
        samples[0]["at"],
        _mean(uses),
        _mean([one for sample in samples if (one := sample.get("memory_used_mb")) is not None]),
        _mean([one for sample in samples if (one := sample.get("memory_total_mb")) is not None]),
        _unhealthy(samples),
    )


def _unhealthy(samples: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    said: dict[int, list[str]] = {}
    for sample in samples:
        for one in sample.get("devices") or ():
            if one.get("health") is not None and one.get("npu") is not None:
                said.setdefault(one["npu"], []).append(one["health"])
    return {npu: words[-1] for npu, words in said.items() if HEALTHY not in words}


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
