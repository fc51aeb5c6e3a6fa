"""Runs a node's probes at once, each within its own time limit. A probe measures; it does not judge."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .wish import Wish

Facts = dict[str, Any]
"""JSON values only: they travel from the node to the driver's log."""


class NotMeasuredError(Exception):
    """The probe cannot look here: no such tool, no such file. Its text says why."""


@dataclass(frozen=True)
class Probe:
    name: str
    measure: Callable[[Wish], Facts]
    """Raises NotMeasuredError. May read the host in any way that ends; what does not end is left behind."""
    limit_s: float = 2.0
    asked: Callable[[Wish], object] = lambda _wish: True
    """False for a wish that names nothing to look at: the probe is left out, which is not "not measured"."""


@dataclass(frozen=True)
class Measured:
    """`facts`, or `why` there are none: never both."""

    facts: Facts | None
    why: str | None
    took_s: float


def measure_all(probes: Sequence[Probe], wish: Wish) -> dict[str, Measured]:
    """One entry per probe that is asked for, after the slowest limit at the latest."""
    began = time.monotonic()
    running = {probe: _start(probe, wish) for probe in probes if probe.asked(wish)}
    return {probe.name: _result(probe, *started, began) for probe, started in running.items()}


def as_json(measured: Mapping[str, Measured]) -> dict[str, dict[str, Any]]:
    return {name: {"facts": one.facts, "why": one.why, "took_s": one.took_s} for name, one in measured.items()}


def from_json(raw: Mapping[str, Mapping[str, Any]]) -> dict[str, Measured]:
    return {name: Measured(**one) for name, one in raw.items()}


def _start(probe: Probe, wish: Wish) -> tuple[threading.Thread, list[Measured]]:
    """A daemon: a read that hangs (a dead NFS server) must not hold the process at its end."""
    box: list[Measured] = []
    thread = threading.Thread(target=_measure, args=(probe, wish, box), daemon=True, name=f"probe-{probe.name}")
    thread.start()
    return thread, box


def _measure(probe: Probe, wish: Wish, box: list[Measured]) -> None:
    began = time.monotonic()
    facts: Facts | None = None
    why: str | None = None
    try:
        facts = probe.measure(wish)
    except NotMeasuredError as error:
        why = str(error)
    except Exception as error:  # a host that no test has seen: told, and the other probes still count
        why = f"{type(error).__name__}: {error}"
    box.append(Measured(facts, why, round(time.monotonic() - began, 3)))


def _result(probe: Probe, thread: threading.Thread, box: list[Measured], began: float) -> Measured:
    thread.join(max(0.0, began + probe.limit_s - time.monotonic()))
    if box:
        return box[0]
    return Measured(None, f"no result within {probe.limit_s:g} s", round(time.monotonic() - began, 3))
