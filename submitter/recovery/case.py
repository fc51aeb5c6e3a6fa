"""What the logs hold of the newest attempt, put together for the decision. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from submitter.errors import UsageError
from submitter.recovery.lines import decode
from submitter.recovery.scan import LINE_AFTER_BYTES, Find, Mark, Marked, Scanned, Segment, Spot, end_record
from submitter.recovery.traces import Trace

GOES_ON_STEPS = 2
"""A failure after which so many steps were logged did not end the attempt. One may be printed late."""
_ERROR_LINE = re.compile(r"\b(?:ERROR|CRITICAL|FATAL|Error|Exception|Fatal|FAILED|failed|panic)\b|Error:|错误|失败")


@dataclass(frozen=True)
class Case:
    """One attempt: a segment of each log."""

    segments: tuple[Segment, ...]
    attempts: int
    """How many the logs hold."""
    logs: tuple[Scanned, ...]

    @classmethod
    def of(cls, logs: Sequence[Scanned], attempt: int | None = None) -> Case:
        """The newest attempt, or the one of that number (from 1), counted over all logs in the order of time.

        A log in which a trainer starts is an attempt's; other logs (workers, plog) belong to every attempt. UsageError
        when there is no such attempt.
        """
        drivers = [log for log in _in_time(logs) if any(map(_is_driver, log.segments))]
        others = [log.segments[-1] for log in logs if log not in drivers]
        count = sum(log.attempts for log in drivers)
        if attempt is None:
            return cls((*[log.segments[-1] for log in drivers][-1:], *others), count, tuple(logs))
        return cls((_numbered(drivers, attempt, count), *others), count, tuple(logs))

    @cached_property
    def driver(self) -> Segment | None:
        first = self.segments[0] if self.segments else None
        return first if first is not None and _is_driver(first) else None

    @cached_property
    def finds(self) -> list[Find]:
        return [find for segment in self.segments for find in segment.finds]

    @cached_property
    def traces(self) -> list[tuple[Segment, Trace]]:
        return [(segment, trace) for segment in self.segments for trace in segment.traces]

    @cached_property
    def last_trace(self) -> Trace | None:
        """What ended the driver itself, else the last one at all."""
        traces = [trace for _, trace in self.traces]
        own = [trace for trace in self.driver.traces if not trace.origin.actor] if self.driver else []
        return next(reversed(own or traces), None)

    @cached_property
    def end(self) -> tuple[dict[str, Any], Spot] | None:
        """The last end record of npurun's driver, and where it stands."""
        found = [(record, one.spot) for one in self.marked("end") if (record := end_record(one.spot.text))]
        return found[-1] if found else None

    @cached_property
    def word(self) -> Marked | None:
        """What `ray job submit` said of the end: succeeded, failed, was stopped."""
        said = [one for one in self.marked("word") if one.values["word"] != "submitted"]
        return said[-1] if said else None

    @cached_property
    def steps(self) -> list[Marked]:
        return self.marked("step")

    @property
    def last_step(self) -> int | None:
        return int(self.steps[-1].values["step"]) if self.steps else None

    @cached_property
    def completed(self) -> Marked | None:
        """The progress bar's last state, where that is the end of it."""
        full = self.marked("full")
        return full[-1] if full and full[-1].values["done"] == full[-1].values["total"] else None

    @property
    def is_open(self) -> bool:
        """A trainer started, and nothing says that it ended."""
        if self.driver is None:
            return False
        own = [trace for trace in self.driver.traces if not trace.origin.actor]
        return not self.driver.has_ended and not own

    def marked(self, mark: Mark) -> list[Marked]:
        return self.driver.marked(mark) if self.driver else []

    def went_on_after(self, spot: Spot, steps: int = GOES_ON_STEPS) -> bool:
        """So many steps were logged after this line."""
        if len(self.steps) < steps:
            return False
        later = self.steps[-steps].spot
        if later.file == spot.file:
            return spot.line < later.line
        return None not in (later.time, spot.time) and (spot.time or 0) < (later.time or 0)

    def before_first_step(self, spot: Spot) -> bool:
        return not self.steps or (self.steps[0].spot.file == spot.file and spot.line < self.steps[0].spot.line)

    @cached_property
    def ip_of_pid(self) -> dict[int, str]:
        """Ray's prefixes leave out the driver's own node; its tracebacks name it."""
        raised = [one for _, trace in self.traces for one in trace.raised]
        return {one.pid: one.ip for one in raised if one.pid is not None and one.ip}

    @cached_property
    def nodes(self) -> frozenset[str]:
        """IPs that Ray or the driver's records name."""
        spots = [find.spot for find in self.finds] + [one.spot for kept in self._marks() for one in kept]
        seen = {spot.origin.ip for spot in spots} | {trace.origin.ip for _, trace in self.traces}
        listed = (self.end[0].get("nodes") or ()) if self.end else ()
        return frozenset(ip for ip in (*seen, *self.ip_of_pid.values(), *listed) if ip)

    def _marks(self) -> Iterator[list[Marked]]:
        if self.driver:
            yield from (self.driver.marked(mark) for mark in self.driver.seen)

    def error_lines(self, limit: int) -> list[Spot]:
        """The last lines that look like errors, of the logs' ends; the newest last."""
        found = [spot for log in self.logs for spot in _errors(log)]
        return found[-limit:]

    def last_lines(self, limit: int) -> list[Spot]:
        return [spot for log in self.logs for spot in _tail(log)][-limit:]


def _numbered(drivers: Sequence[Scanned], attempt: int, count: int) -> Segment:
    before = 0
    for log in drivers:
        kept_from = before + log.attempts - len(log.segments)
        if kept_from < attempt <= before + log.attempts:
            return log.segments[attempt - kept_from - 1]
        before += log.attempts
    raise UsageError("diagnose.no_attempt", attempt=attempt, count=count)


def _is_driver(segment: Segment) -> bool:
    return any(mark in segment.seen for mark in ("start", "step", "word", "end", "fatal"))


def _in_time(logs: Sequence[Scanned]) -> list[Scanned]:
    """By the time of their first mark, where every log has one; else as they were given."""
    times = {log.name: _begin(log) for log in logs if any(map(_is_driver, log.segments))}
    if None in times.values():
        return list(logs)
    return sorted(logs, key=lambda log: times.get(log.name) or 0.0)


def _begin(log: Scanned) -> float | None:
    spots = [one.spot for segment in log.segments for mark in segment.seen for one in segment.marked(mark)]
    times = [spot.time for spot in spots if spot.time is not None]
    return min(times) if times else None


def _errors(log: Scanned) -> Iterator[Spot]:
    return (spot for spot in _tail(log) if _ERROR_LINE.search(spot.text[:400]))


def _tail(log: Scanned) -> Iterator[Spot]:
    for block in log.tail:
        for number, raw in enumerate(block.data.split(b"\n"), start=block.line):
            text = decode(raw[:LINE_AFTER_BYTES])
            if text.strip():
                yield Spot(log.name, number, text)
