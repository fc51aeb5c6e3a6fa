"""What verl logs of its steps: `step:12 - actor/loss:0.5 - …` on the console, a JSON line in its file logger.

Standard library only: the driver and the client read steps with the same functions. Formats: verl 0.8.0 and 0.9.1,
utils/logger/aggregate_logger.py and utils/tracking.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

LINE_BYTES = 1 << 20
"""Of a line that has not ended, so much is kept: a step of 10,000 metrics has half of it."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_STEP = re.compile(r"(?:\([^()]{1,200}\) ?)?\s*step:(\d{1,9}) - (.*)", re.DOTALL)
"""At a line's beginning alone, but for Ray's mark of who printed it: elsewhere it may stand in a model's answer."""
_REPEATED = re.compile(r" ?\[repeated \d+x across cluster\].*$", re.DOTALL)
_NUMPY = re.compile(r"np\.\w+\((.*)\)")
"""`np.float64(0.5)`: how numpy 2 prints its own numbers."""


@dataclass(frozen=True)
class Step:
    number: int
    """0: a validation before training; no step was trained."""
    metrics: dict[str, float]
    """nan and the infinities are numbers too."""


def step_of(line: str) -> Step | None:
    """The step that `line` tells of, or None. A progress bar before it, drawn over by `\\r`, is left out."""
    if "step:" not in line:
        return None
    text = line.rstrip("\r").rpartition("\r")[2]
    found = _STEP.match(_COLOUR.sub("", text) if "\x1b" in text else text)
    return Step(int(found[1]), dict(_metrics(_REPEATED.sub("", found[2])))) if found else None


def steps_in(lines: Iterable[str]) -> list[Step]:
    """In the order of their numbers, each once."""
    return merged(step for line in lines if (step := step_of(line)))


def merged(steps: Iterable[Step]) -> list[Step]:
    """Each step once, in the order of their numbers. One that is logged in parts has the metrics of all its lines, of
    each metric the last value: fully_async_policy logs rollout and training apart."""
    found: dict[int, dict[str, float]] = {}
    for step in steps:
        found.setdefault(step.number, {}).update(step.metrics)
    return [Step(number, found[number]) for number in sorted(found)]


def trained(steps: Iterable[Step]) -> list[int]:
    """Numbers of the steps that were trained, ascending."""
    return sorted(step.number for step in steps if step.number > 0)


@dataclass(frozen=True)
class Format:
    mark: bytes
    """In every line that tells of a step."""
    step: Callable[[bytes], Step | None]


class StepReader:
    """Steps of a log that comes in pieces, cut anywhere; holds no more than one line that has not ended."""

    def __init__(self, of: Format | None = None) -> None:
        self._format = of or CONSOLE
        self._rest = b""
        self._is_cut = False
        """The line that has not ended is too long: what follows of it is left out."""

    def feed(self, piece: bytes) -> list[Step]:
        """Of the lines that end in `piece`, in the log's order."""
        whole, newline, rest = piece.rpartition(b"\n")
        if not newline:
            self._keep(rest)
            return []
        first, _, others = whole.partition(b"\n")
        self._keep(first)
        line = self._rest
        self._rest, self._is_cut = b"", False
        self._keep(rest)
        return [step for one in (line, *self._marked(others)) if (step := self._format.step(one))]

    def _keep(self, part: bytes) -> None:
        if self._is_cut:
            return
        kept = self._rest + part
        if len(kept) > LINE_BYTES:  # a progress bar draws on one line for days; a step may stand after its last \r
            kept = kept.rpartition(b"\r")[2]
        self._is_cut = len(kept) > LINE_BYTES
        self._rest = kept[:LINE_BYTES]

    def _marked(self, text: bytes) -> Iterator[bytes]:
        """Lines that have the mark: of a log, one in hundreds; the rest is not even split."""
        at = text.find(self._format.mark)
        while at >= 0:
            end = text.find(b"\n", at)
            end = len(text) if end < 0 else end
            yield text[text.rfind(b"\n", 0, at) + 1 : end]
            at = text.find(self._format.mark, end)


def _console_step(line: bytes) -> Step | None:
    return step_of(line.decode("utf-8", "replace"))


def _file_logger_step(line: bytes) -> Step | None:
    """Of verl's file logger: `{"step": 12, "data": {"actor/loss": 0.5}}`; null (a nan, for orjson) is left out."""
    try:
        found = json.loads(line)
        number, data = found["step"], found["data"]
        if type(number) is not int or not 0 <= number < 10**9:
            return None
        return Step(number, {name: float(value) for name, value in data.items() if type(value) in (int, float)})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return None


def _metrics(text: str) -> Iterator[tuple[str, float]]:
    for pair in text.split(" - "):
        name, colon, value = pair.rpartition(":")
        number = _number(value) if colon and name else None
        if number is not None:
            yield name.strip(), number


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        numpy = _NUMPY.fullmatch(text.strip())
    try:
        return float(numpy[1]) if numpy else None
    except ValueError:
        return None


CONSOLE = Format(b"step:", _console_step)
FILE_LOGGER = Format(b'"step"', _file_logger_step)
