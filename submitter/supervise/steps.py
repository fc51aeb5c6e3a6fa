"""What a trainer logs of its steps: `step:12 - actor/loss:0.5 - …`, verl's console line. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_STEP = re.compile(r"(?:\([^()]{1,200}\) ?)?\s*step:(\d{1,9}) - (.*)")
"""At a line's beginning alone, but for Ray's mark of who printed it: elsewhere it may stand in a model's answer."""
_REPEATED = re.compile(r" ?\[repeated \d+x across cluster\].*$")
_NUMPY = re.compile(r"np\.\w+\((.*)\)")
"""`np.float64(0.5)`: how numpy 2 prints its own numbers."""


@dataclass(frozen=True)
class Step:
    number: int
    """0: a validation before training; no step was trained."""
    metrics: dict[str, float | str]
    """Numbers; those that JSON does not have as "nan", "inf" or "-inf"."""


def step_of(line: str) -> Step | None:
    """The step that `line` tells of, or None."""
    if "step:" not in line:
        return None
    found = _STEP.match(_COLOUR.sub("", line) if "\x1b" in line else line)
    return Step(int(found[1]), dict(_metrics(_REPEATED.sub("", found[2])))) if found else None


def steps_in(lines: Iterable[str]) -> list[Step]:
    """In the order of their numbers; of a step that is logged again the last line counts."""
    steps = {step.number: step for line in lines if (step := step_of(line))}
    return [steps[number] for number in sorted(steps)]


def trained(steps: Iterable[Step]) -> list[int]:
    """Numbers of the steps that were trained, ascending."""
    return sorted(step.number for step in steps if step.number > 0)


def as_rows(steps: Iterable[Step], seen_ms: int) -> list[tuple[int, int, dict[str, Any]]]:
    """As the ledger takes them."""
    return [(step.number, seen_ms, dict(step.metrics)) for step in steps]


def _metrics(text: str) -> Iterator[tuple[str, float | str]]:
    for pair in text.split(" - "):
        name, colon, value = pair.strip().rpartition(":")
        number = _number(value.strip()) if colon and name else None
        if number is not None:
            yield name, number


def _number(text: str) -> float | str | None:
    numpy = _NUMPY.fullmatch(text)
    try:
        value = float(numpy[1] if numpy else text)
    except ValueError:
        return None
    return value if math.isfinite(value) else str(value)
