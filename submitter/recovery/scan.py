"""One pass over a log: where each signature stands, the tracebacks, and the marks of a trainer's start, steps and end.

An automaton looks for the literal cores of all signatures at once; the exact pattern sees only lines that hold one.
What is kept is bounded, however long the log is: the first and the last of each. What need not be understood to go on
(tracebacks, steps, times) is kept as bytes, and read when it is asked for.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

from submitter.gang.record import END_PREFIX
from submitter.recovery.lines import Origin, decode, split_origin, time_of, year_of
from submitter.recovery.logs import Block, DamagedError, Source, blocks
from submitter.recovery.signatures import Signature
from submitter.recovery.traces import HEADER, UNHANDLED, WINDOW_BYTES, Trace, parse

FIRST_FINDS = 5
LAST_FINDS = 5
"""Of each signature and mark. The first are the cause's, the last say whether it went on to the end."""
FIRST_TRACES = 20
LAST_TRACES = 20
LINE_BEFORE_BYTES = 2048
LINE_AFTER_BYTES = 4096
"""Of a long line, around a core."""
LINE_HEAD_BYTES = 160
"""Of a long line: who wrote it, and when."""
CARRIAGE_RETURN = 0x0D
LOOK_BACK_BYTES = 1 << 12
"""For the time of a line that has none of its own."""
SEGMENTS = 20
"""Attempts in one log that are kept, and so many tracebacks of each but the newest:"""
OLD_TRACES = 8
TAIL_BLOCKS = 2
"""Of the log's end, for what no signature knows."""

Mark = str
_STEP = r"(?:^|\s)step:(?P<step>\d+) - "
_WORD = r"-- Job '(?P<job>[^']+)' (?P<word>submitted|succeeded|failed|was stopped)"
_MARKS: tuple[tuple[Mark, str, str | None], ...] = (
    # name, literal, pattern of the line
    ("trace", HEADER, None),
    ("trace", UNHANDLED, None),
    ("end", "[npurun] end {", r"^\[npurun\] end \{"),
    ("step", " step:", _STEP),
    ("step", "\nstep:", _STEP),
    ("start", "Running entrypoint for job ", None),
    ("start", "ray init kwargs: {", None),
    ("start", "Connecting to existing Ray cluster", None),
    ("start", "Started a local Ray instance", None),
    ("word", "' submitted successfully", _WORD),
    ("word", "' succeeded", _WORD),
    ("word", "' failed", _WORD),
    ("word", "' was stopped", _WORD),
    ("fatal", "Error executing job with overrides", None),
    ("signal", " received at time=", r"\*\*\* (?P<signal>SIG[A-Z]+) received"),
    ("full", "Training Progress: 100%", r"Training Progress: 100%.*\b(?P<done>\d+)/(?P<total>\d+) "),
    ("validated", "Final validation metrics", None),
)
_PATTERNS = {mark: re.compile(pattern) for mark, _, pattern in _MARKS if pattern}
_DIVIDING = frozenset({"end", "start", "word", "fatal"})
"""Read at once: they tell where one attempt ends and the next begins."""

T = TypeVar("T")


@dataclass(frozen=True)
class Spot:
    """A line of a log."""

    file: str
    line: int
    text: str
    """Without colours; of a long line the part that matters."""
    before: bytes = b""
    """Of the log, ahead of the line."""
    year: int | None = None
    """For times that are written without one."""

    @cached_property
    def origin(self) -> Origin:
        return split_origin(self.text)[0]

    @cached_property
    def time(self) -> float | None:
        """Of the line, else of the last one before it that has a time."""
        own = time_of(self.text, year_of(self.text) or self.year)
        return own if own is not None else _last_time(self.before, self.year)


def _last_time(before: bytes, year: int | None) -> float | None:
    for raw in reversed(before.split(b"\n")):
        text = decode(raw[:LINE_HEAD_BYTES])
        if (time := time_of(text, year_of(text) or year)) is not None:
            return time
    return None


@dataclass(frozen=True)
class Find:
    signature: Signature
    spot: Spot
    values: Mapping[str, str]


@dataclass(frozen=True)
class Marked:
    spot: Spot
    values: Mapping[str, str]


@dataclass
class Kept(Generic[T]):
    """The first and the last of something."""

    first: list[T] = field(default_factory=list)
    last: deque[T] = field(default_factory=lambda: deque(maxlen=LAST_FINDS))
    most: int = FIRST_FINDS

    @property
    def full(self) -> bool:
        return len(self.first) >= self.most

    def add(self, one: T) -> None:
        (self.last if self.full else self.first).append(one)

    @property
    def newest(self) -> T | None:
        return self.last[-1] if self.last else self.first[-1] if self.first else None

    def __iter__(self) -> Iterator[T]:
        yield from self.first
        yield from self.last


def _kept_traces() -> Kept[_Window]:
    return Kept(last=deque(maxlen=LAST_TRACES), most=FIRST_TRACES)


@dataclass
class _Window:
    """A traceback, not yet read: its bytes from the header on."""

    line: int
    data: bytes
    before: bytes


@dataclass
class Segment:
    """What one attempt left in one log."""

    file: str
    first_line: int = 1
    kept: dict[int, Kept[Find]] = field(default_factory=dict)
    """By the signature's place in the table."""
    seen: dict[Mark, Kept[Spot]] = field(default_factory=dict)
    windows: Kept[_Window] = field(default_factory=_kept_traces)

    @cached_property
    def finds(self) -> list[Find]:
        return sorted((find for kept in self.kept.values() for find in kept), key=lambda find: find.spot.line)

    @cached_property
    def traces(self) -> list[Trace]:
        read = (parse(one.data, one.line, _last_line(one.before)) for one in self.windows)
        return [trace for trace in read if trace is not None]

    def marked(self, mark: Mark) -> list[Marked]:
        found = ((spot, read_mark(mark, spot.text)) for spot in self.seen.get(mark, ()))
        return [Marked(spot, values) for spot, values in found if values is not None]

    @property
    def has_ended(self) -> bool:
        if "end" in self.seen or "fatal" in self.seen:
            return True
        return any(one.values["word"] != "submitted" for one in self.marked("word"))


def read_mark(mark: Mark, text: str) -> Mapping[str, str] | None:
    """What the mark's pattern finds in a line; None for a line that only looks like it."""
    if mark not in _PATTERNS:
        return {}
    match = _PATTERNS[mark].search(text)
    return match.groupdict() if match else None


def end_record(text: str) -> dict[str, Any] | None:
    """What npurun's driver wrote last; None for a line that only begins like it."""
    try:
        record = json.loads(text.removeprefix(END_PREFIX))
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("reason"), str):
        return None
    lists = [record.get(name) or [] for name in ("nodes", "evidence")]
    return record if all(isinstance(one, list) and all(isinstance(x, str) for x in one) for one in lists) else None


def _last_line(before: bytes) -> str:
    return split_origin(decode(before[before.rfind(b"\n", 0, -1) + 1 :]))[1]


@dataclass
class Scanned:
    """One log, whole."""

    name: str
    segments: list[Segment]
    """One for each attempt, the newest last; at most `SEGMENTS`."""
    attempts: int
    """How many the log holds."""
    tail: Sequence[Block] = ()
    size: int = 0
    """Bytes, after decompression."""
    damaged: bool = False
    """A compressed file that ends early: what could be read counts."""


class Matcher:
    """All literal cores as one automaton; built once for a table."""

    def __init__(self, table: Sequence[Signature]) -> None:
        self.table = table
        cores: dict[bytes, list[int]] = {}
        for index, signature in enumerate(table):
            cores.setdefault(signature.core, []).append(index)
        for index, (_, literal, _) in enumerate(_MARKS):
            cores.setdefault(literal.encode(), []).append(~index)
        self.cores = tuple(cores)
        self.wanted = tuple(cores.values())
        """Of each core: signatures by index, marks by the complement of theirs."""
        self.skipped = tuple(len(core) - len(core.lstrip(b"\n")) for core in cores)
        """A core may begin with the end of the line before."""

    @cached_property
    def automaton(self) -> Any:
        from ahocorasick_rs import BytesAhoCorasick, Implementation

        return BytesAhoCorasick(self.cores, implementation=Implementation.DFA)

    def places(self, data: bytes) -> dict[int, list[int]]:
        """By core: where it stands, in ascending order."""
        found: dict[int, list[int]] = {}
        for core, start, _ in self.automaton.find_matches_as_indexes(data, overlapping=True):
            found.setdefault(core, []).append(start + self.skipped[core])
        return found


def scan(source: Source, matcher: Matcher) -> Scanned:
    """UsageError when the log cannot be read; a damaged archive is read as far as it goes."""
    run = _Pass(source.name, matcher)
    damaged = True
    with suppress(DamagedError):
        for block in blocks(source):
            run.take(block)
        damaged = False
    return run.result(damaged)


class _Pass:
    def __init__(self, name: str, matcher: Matcher) -> None:
        self.name, self.matcher = name, matcher
        self.segments = [Segment(name)]
        self.attempts = 1
        self.growing: list[_Window] = []
        """Tracebacks whose lines may go on in the next block."""
        self.tail: deque[Block] = deque(maxlen=TAIL_BLOCKS)
        self.size = 0
        self.year: int | None = None

    @property
    def segment(self) -> Segment:
        return self.segments[-1]

    def take(self, block: Block) -> None:
        self.size += len(block.data)
        self.tail.append(block)
        self._grow(block.data)
        if places := self.matcher.places(block.data):
            self._look(block, sorted(self._chosen(places)))

    def result(self, damaged: bool) -> Scanned:
        return Scanned(self.name, self.segments, self.attempts, tuple(self.tail), self.size, damaged)

    def _grow(self, data: bytes) -> None:
        for window in self.growing:
            window.data += data[: WINDOW_BYTES - len(window.data)]
        self.growing = [window for window in self.growing if len(window.data) < WINDOW_BYTES]

    def _chosen(self, places: dict[int, list[int]]) -> Iterator[tuple[int, int]]:
        """Place, and whose core stands there. Where the first are known, only the last of a block can count."""
        for core, found in places.items():
            for wanted in self.matcher.wanted[core]:
                for place in found if self._needs_all(wanted) else self._ends(wanted, found):
                    yield place, wanted

    def _needs_all(self, wanted: int) -> bool:
        if wanted < 0:
            return _MARKS[~wanted][0] in _DIVIDING
        return wanted not in self.segment.kept or not self.segment.kept[wanted].full

    def _ends(self, wanted: int, found: list[int]) -> list[int]:
        if wanted >= 0:
            return found[-LAST_FINDS:]
        kept = self.segment.windows if (mark := _MARKS[~wanted][0]) == "trace" else self.segment.seen.get(mark)
        first = 0 if kept is not None and kept.full else FIRST_TRACES if mark == "trace" else FIRST_FINDS
        return found if len(found) <= first + LAST_FINDS else [*found[:first], *found[-LAST_FINDS:]]

    def _look(self, block: Block, chosen: Sequence[tuple[int, int]]) -> None:
        lines = _Lines(block)
        for place, wanted in chosen:
            line = lines.around(place)
            if wanted >= 0:
                self._find(wanted, line)
            elif (mark := _MARKS[~wanted][0]) == "trace":
                self._trace(line)
            elif mark == "end":
                self._end(line)
            else:
                self._mark(mark, self._spot(line))

    def _spot(self, line: _Line) -> Spot:
        before = line.data[max(0, line.start - LOOK_BACK_BYTES) : line.start]
        if self.year is None:
            self.year = year_of(line.text)
        return Spot(self.name, line.number, line.text, before, self.year)

    def _find(self, index: int, line: _Line) -> None:
        signature = self.matcher.table[index]
        if not signature.may_be(line.raw):
            return
        values = signature.find(line.text)
        if values is None:
            return
        kept = self.segment.kept.setdefault(index, Kept())
        if kept.newest is None or kept.newest.spot.line != line.number:
            kept.add(Find(signature, self._spot(line), values))

    def _end(self, line: _Line) -> None:
        """Of any length: the record quotes evidence."""
        spot = replace(self._spot(line), text=decode(line.whole))
        if end_record(spot.text) is not None:
            self._mark("end", spot)

    def _mark(self, mark: Mark, spot: Spot) -> None:
        values = read_mark(mark, spot.text) if mark in _DIVIDING else {}
        if values is None:
            return
        begins = mark == "start" or values.get("word") == "submitted"
        if begins and self.segment.has_ended:
            self._divide(spot.line)
        self.segment.seen.setdefault(mark, Kept()).add(spot)

    def _divide(self, line: int) -> None:
        del self.segment.windows.first[OLD_TRACES // 2 :]
        self.segment.windows.last = deque(self.segment.windows.last, OLD_TRACES // 2)
        self.segments = [*self.segments[1 - SEGMENTS :], Segment(self.name, first_line=line)]
        self.attempts += 1

    def _trace(self, line: _Line) -> None:
        data = line.data[line.start : line.start + WINDOW_BYTES]
        window = _Window(line.number, data, line.data[max(0, line.start - LINE_AFTER_BYTES) : line.start])
        self.segment.windows.add(window)
        if len(data) < WINDOW_BYTES:
            self.growing = [*self.growing[-LAST_TRACES:], window]


class _Line:
    """A line of a block, and the place in it that was asked for."""

    def __init__(self, lines: _Lines, start: int, place: int) -> None:
        self.lines, self.data, self.start, self.place = lines, lines.data, start, place
        self.low, self.high = _window(lines.data, place, start)
        self.raw = lines.data[self.low : self.high]

    def shows(self, place: int) -> bool:
        """With enough of what follows it."""
        return self.low <= place < self.high and place - self.place <= LINE_BEFORE_BYTES

    @cached_property
    def number(self) -> int:
        return self.lines.number_at(self.start)

    @property
    def whole(self) -> bytes:
        end = self.data.find(b"\n", self.place)
        return self.data[self.start : end if end >= 0 else len(self.data)]

    @cached_property
    def text(self) -> str:
        text, head = decode(self.raw), self.data[self.start : min(self.start + LINE_HEAD_BYTES, self.low)]
        return f"{decode(head)} … {text}" if head else text


class _Lines:
    """Lines of a block by a place in it; asked for in ascending order."""

    def __init__(self, block: Block) -> None:
        self.data, self.number, self.counted = block.data, block.line, 0
        self.line: _Line | None = None

    def around(self, place: int) -> _Line:
        if self.line is None or not self.line.shows(place):
            self.line = _Line(self, self.data.rfind(b"\n", 0, place) + 1, place)
        return self.line

    def number_at(self, start: int) -> int:
        self.number += self.data.count(b"\n", self.counted, start)
        self.counted = start
        return self.number


def _window(data: bytes, place: int, start: int) -> tuple[int, int]:
    """Of a line: all of it; of a progress bar's many states the one that holds the place, of a long one what is around.

    The line's end is not in it.
    """
    end = data.find(b"\n", place)
    end = len(data) if end < 0 else end
    last = end - 1 if end > start and data[end - 1] == CARRIAGE_RETURN else end
    begin = max(start, data.rfind(b"\r", start, place) + 1)
    over = data.find(b"\r", place, last)
    return max(begin, place - LINE_BEFORE_BYTES), min(last if over < 0 else over, place + LINE_AFTER_BYTES)
