"""Why an attempt ended: one reason with its cause, the node at fault, the lines that prove it. Pure but for reading.

What is certain comes first: Ray's word for a job that succeeded or was stopped, and what npurun's own driver ended an
attempt for. Else the logs decide (`rank`), and what they do not say is unknown, with candidates, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from submitter.gang.masking import mask
from submitter.recovery.case import Case
from submitter.recovery.logs import Source
from submitter.recovery.rank import SURE, Lead, Tier, leads
from submitter.recovery.reasons import REASONS, Retry, of_error_type
from submitter.recovery.scan import Matcher, Scanned, Spot, scan
from submitter.recovery.signatures import signatures
from submitter.recovery.traces import MESSAGE_LINES, Trace
from submitter.texts import clipped, one_line, text

EVIDENCE_LINES = 6
CANDIDATES = 4
LINE_CHARS = 400
"""Of a line that is shown."""

_REFINED = frozenset({"trainer_failed", "driver_error", "launch_failed"})
"""Reasons of an end record that the log says more about."""
_KILLED = frozenset({9, 15})
_CRASHED = frozenset({4, 6, 7, 8, 11})
_SIGNALS_OF_SHELL = 128


_ANNOUNCES = re.compile(r"[Ee]rror|ERROR|CRITICAL|[Ee]xception|[Ff]ail|[Cc]rash")
"""In the line before a traceback, if it is about it."""
_NO_NEWS = "Error executing job with overrides"
"""Stands before whatever ends verl, with all of its arguments."""


@dataclass(frozen=True)
class Line:
    """A line that proves something; secrets in it are masked."""

    file: str
    line: int
    """From 1; 0 for what no log holds, as the driver's own evidence."""
    text: str

    def as_json(self) -> dict[str, Any]:
        return {"file": self.file, "line": self.line, "text": self.text}


@dataclass(frozen=True)
class Candidate:
    """Something that may have been the cause and does not prove it."""

    reason: str | None
    """None: a line alone."""
    evidence: tuple[Line, ...]

    def as_json(self, language: str = "en") -> dict[str, Any]:
        return {
            "reason": self.reason,
            "summary": text(f"reason.{self.reason}", language) if self.reason else None,
            "evidence": [line.as_json() for line in self.evidence],
        }


@dataclass(frozen=True)
class Diagnosis:
    reason: str
    """An id of `reasons.REASONS`."""
    retry: Retry
    node: str | None = None
    """IP of the node at fault, as Ray shows it."""
    evidence: tuple[Line, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    """What the lines name: exception, place, sizes; `step`: the last one logged; `attempts` in the logs."""

    def as_json(self, language: str = "en") -> dict[str, Any]:
        return {
            "reason": self.reason,
            "retry": self.retry,
            "node": self.node,
            "summary": text(f"reason.{self.reason}", language),
            "means": text(f"reason.{self.reason}.means", language),
            "fix": text(f"reason.{self.reason}.fix", language),
            "family": REASONS[self.reason].family,
            "evidence": [line.as_json() for line in self.evidence],
            "candidates": [one.as_json(language) for one in self.candidates],
            "values": dict(self.values),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Diagnosis:
        """What `as_json` gave, in whatever language."""
        candidates = (Candidate(one["reason"], _read_lines(one["evidence"])) for one in raw.get("candidates", ()))
        values = raw.get("values", {})
        return cls(raw["reason"], raw["retry"], raw["node"], _read_lines(raw["evidence"]), tuple(candidates), values)


def _read_lines(rows: Iterable[Mapping[str, Any]]) -> tuple[Line, ...]:
    return tuple(Line(row["file"], row["line"], row["text"]) for row in rows)


@dataclass(frozen=True)
class Facts:
    """What is known beside the logs."""

    status: str | None = None
    """Ray's: PENDING, RUNNING, STOPPED, SUCCEEDED or FAILED."""
    error_type: str | None = None
    exit_code: int | None = None
    """The driver's."""
    end: Mapping[str, Any] | None = None
    """The end record of npurun's driver; None: the one in the log counts."""
    message: str = ""
    """Ray's own words for the end."""


def diagnose(sources: Iterable[Source], *, facts: Facts = Facts(), attempt: int | None = None) -> Diagnosis:
    """Of the newest attempt in the logs, or of the one of that number. UsageError when a log cannot be read."""
    found = matcher()
    return conclude([scan(source, found) for source in sources], facts, attempt)


@cache
def matcher() -> Matcher:
    """Of the whole table; built once a process."""
    return Matcher(signatures())


def conclude(logs: Sequence[Scanned], facts: Facts, attempt: int | None = None) -> Diagnosis:
    case = Case.of(logs, attempt)
    view = _View(case, facts, leads(case))
    for rule in _RULES:
        if (answer := rule(view)) is not None:
            return answer
    return _unknown(view)


@dataclass(frozen=True)
class _View:
    case: Case
    facts: Facts
    leads: Sequence[Lead]

    @property
    def end(self) -> Mapping[str, Any] | None:
        return self.facts.end or (self.case.end[0] if self.case.end else None)

    @property
    def ended(self) -> str | None:
        """The end record's reason."""
        return str(self.end["reason"]) if self.end else None

    @property
    def best(self) -> Lead | None:
        return self.leads[0] if self.leads and self.leads[0].tier <= SURE else None

    @property
    def word(self) -> str | None:
        return self.case.word.values["word"] if self.case.word else None

    @property
    def values(self) -> dict[str, Any]:
        """Of every diagnosis."""
        known: dict[str, Any] = {"step": self.case.last_step, "attempts": self.case.attempts or None}
        known["exit_code"] = self.end.get("code") if self.end else self.facts.exit_code
        known["damaged"] = [log.name for log in self.case.logs if log.damaged] or None
        return {key: value for key, value in known.items() if value is not None}


def _succeeded(view: _View) -> Diagnosis | None:
    case, status = view.case, view.facts.status
    if status not in (None, "SUCCEEDED"):
        return None
    if status == "SUCCEEDED" and view.ended in (None, "succeeded"):
        return _told(view, "succeeded", _success_spots(case))
    if status is None and (view.ended == "succeeded" or (view.end is None and view.word == "succeeded")):
        return _told(view, "succeeded", _success_spots(case))
    unrefuted = view.end is None and view.word is None and (view.best is None or view.best.tier > Tier.ROOT)
    done = case.completed and case.marked("validated") and not case.marked("fatal")
    return _told(view, "succeeded", _success_spots(case)) if status is None and unrefuted and done else None


def _success_spots(case: Case) -> list[Spot]:
    marked = [case.word, case.completed, *case.steps[-1:]]
    return [one.spot for one in marked if one is not None][:2]


def _stopped(view: _View) -> Diagnosis | None:
    case, status = view.case, view.facts.status
    by_status = status == "STOPPED"
    by_log = status is None and (view.ended == "stopped" or (view.end is None and view.word == "was stopped"))
    signals = case.marked("signal")
    asked = status is None and view.end is None and view.word is None and signals and not case.marked("fatal")
    if not (by_status or by_log or (asked and signals[-1].values["signal"] in ("SIGTERM", "SIGINT"))):
        return None
    if not by_status and (waited := _never_placed(view)) is not None:
        return waited
    spots = [one.spot for one in (case.word, *signals[-1:], *case.steps[-1:]) if one is not None]
    return _told(view, "stopped", spots)


def _never_placed(view: _View) -> Diagnosis | None:
    """Somebody lost patience with a job that waited for what the cluster does not have: that is the reason."""
    best = view.best
    if best is None or view.case.steps or REASONS[best.reason].family != "placement":
        return None
    return _of_lead(view, best)


def _by_driver(view: _View) -> Diagnosis | None:
    """What npurun's driver ended the attempt for itself."""
    reason = view.ended
    if view.end is None or reason is None or reason not in REASONS or reason in _REFINED | {"succeeded", "stopped"}:
        return None
    return _of_record(view, reason)


def _of_record(view: _View, reason: str) -> Diagnosis:
    end = view.end or {}
    spot = view.case.end[1] if view.case.end else None
    file, number = (spot.file, spot.line) if spot else ("[npurun] end", 0)
    said = [str(one) for one in end.get("evidence") or ()][:EVIDENCE_LINES]
    evidence = tuple(Line(file, number, _shown(one)) for one in said) or _lines([spot] if spot else [])
    said_node = end.get("node")  # as text that UTF-8 has: JSON may hold half a surrogate pair, and SQLite takes none
    node = said_node.encode("utf-8", "replace").decode() if isinstance(said_node, str) else None
    return _diagnosis(view, reason, node, evidence, {})


def _by_log(view: _View) -> Diagnosis | None:
    best = view.best
    if best is None or _is_alive(view, best):
        return None
    if best.tier > Tier.ROOT and _telling_error_type(view):
        return None
    return _of_lead(view, best)


def _is_alive(view: _View, best: Lead) -> bool:
    """Nothing says that it ended, and it may have gone on in spite of what went wrong."""
    if view.facts.status is not None:
        return view.facts.status in ("RUNNING", "PENDING")
    if view.end is not None or not view.case.is_open or best.tier == Tier.SAID:
        return False
    if best.tier == Tier.CASCADE and _is_last(view, best):
        return False
    return best.tier > Tier.ROOT or view.case.went_on_after(best.spot, steps=1)


def _is_last(view: _View, lead: Lead) -> bool:
    """Nothing was logged after it: the log, or what somebody cut out of it, ends so."""
    case = view.case
    ends = {(spot.file, spot.line) for spot in case.last_lines(MESSAGE_LINES)}
    same = (find.spot for find in case.finds if find.signature.reason == lead.reason)
    return any((spot.file, spot.line) in ends for spot in same)


def _telling_error_type(view: _View) -> bool:
    """Ray knows better than what the survivors say."""
    return view.facts.error_type not in (None, "JOB_ENTRYPOINT_COMMAND_ERROR") and bool(
        of_error_type(view.facts.error_type)
    )


def _by_ray(view: _View) -> Diagnosis | None:
    facts = view.facts
    if _telling_error_type(view) and (reason := of_error_type(facts.error_type)):
        said = [Line("ray", 0, _shown(line)) for line in facts.message.splitlines()[:1] if line.strip()]
        return _diagnosis(view, reason.id, None, (*said, *_lines(_last_spots(view))), {})
    return None


def _by_exit_code(view: _View) -> Diagnosis | None:
    """A process that a signal ended says nothing itself."""
    code = view.values.get("exit_code")
    if not isinstance(code, int):
        return None
    signal = -code if code < 0 else code - _SIGNALS_OF_SHELL
    reason = "worker_killed" if signal in _KILLED else "worker_crashed" if signal in _CRASHED else None
    return _diagnosis(view, reason, None, _lines(_last_spots(view)), {"signal": signal}) if reason else None


def _by_end(view: _View) -> Diagnosis | None:
    """`launch_failed`, `driver_error`: what the record says is all that is known."""
    return _of_record(view, str(view.ended)) if view.ended in _REFINED - {"trainer_failed"} else None


def _still_running(view: _View) -> Diagnosis | None:
    status = view.facts.status
    if status in ("RUNNING", "PENDING") or (status is None and view.end is None and view.case.is_open):
        return _told(view, "still_running", _last_spots(view))
    return None


_RULES: tuple[Callable[[_View], Diagnosis | None], ...] = (
    _succeeded,
    _stopped,
    _by_driver,
    _by_log,
    _by_ray,
    _by_exit_code,
    _by_end,
    _still_running,
)


def _unknown(view: _View) -> Diagnosis:
    case = view.case
    shown = [_candidate(lead) for lead in view.leads[:CANDIDATES]]
    shown += [Candidate(None, _trace_lines(segment.file, trace)) for segment, trace in _distinct_traces(case)]
    if not case.traces:
        shown += [Candidate(None, _lines([spot])) for spot in reversed(case.error_lines(CANDIDATES))]
    spots = [] if case.last_trace else case.error_lines(EVIDENCE_LINES // 2) or _last_spots(view)
    evidence = _trace_lines(_file_of(case, case.last_trace), case.last_trace) if case.last_trace else _lines(spots)
    others = [one for one in shown if one.reason or not set(one.evidence) <= set(evidence)]
    return Diagnosis("unknown", "unknown", None, evidence, tuple(others[:CANDIDATES]), view.values)


def _distinct_traces(case: Case) -> list[tuple[Any, Trace]]:
    """The newest first, each exception once."""
    seen: dict[str, tuple[Any, Trace]] = {}
    for segment, trace in reversed(case.traces):
        seen.setdefault(trace.root.text, (segment, trace))
    return list(seen.values())


def _file_of(case: Case, wanted: Trace | None) -> str:
    return next((segment.file for segment, trace in case.traces if trace is wanted), "")


def _last_spots(view: _View) -> list[Spot]:
    steps = [one.spot for one in view.case.steps[-1:]]
    return [*steps, *view.case.last_lines(2)][:2]


def _told(view: _View, reason: str, spots: Sequence[Spot]) -> Diagnosis:
    return _diagnosis(view, reason, None, _lines(spots), {})


def _of_lead(view: _View, lead: Lead) -> Diagnosis:
    node = lead.node
    return _diagnosis(view, lead.reason, node, _proof(view.case, lead), lead.values, lead)


def _diagnosis(
    view: _View,
    reason: str,
    node: str | None,
    evidence: tuple[Line, ...],
    values: Mapping[str, Any],
    lead: Lead | None = None,
) -> Diagnosis:
    more = {key: _shown(value) if isinstance(value, str) else value for key, value in values.items()}
    others = [] if reason == "succeeded" else [one for one in view.leads if one is not lead][:CANDIDATES]
    return Diagnosis(
        reason,
        REASONS[reason].retry,
        node,
        evidence[:EVIDENCE_LINES],
        tuple(map(_candidate, others)),
        {**view.values, **more},
    )


def _candidate(lead: Lead) -> Candidate:
    return Candidate(lead.reason, _lines([lead.spot]))


def _proof(case: Case, lead: Lead) -> tuple[Line, ...]:
    """The line itself, where it was raised, and what came of it."""
    lines = list(_lines([lead.spot]))
    if lead.trace is not None:
        lines += [line for line in _trace_lines(lead.spot.file, lead.trace) if line.line != lead.spot.line]
    last = case.last_trace
    if last is not None and last is not lead.trace:
        lines += _trace_lines(_file_of(case, last), last)[-1:]
    return tuple({(line.file, line.line): line for line in lines}.values())[:EVIDENCE_LINES]


def _trace_lines(file: str, trace: Trace) -> tuple[Line, ...]:
    """The announcement, the root with its place, and the exception that came of it."""
    root, outer = trace.root, trace.raised[0]
    frame = trace.user_frame or (root.frames[-1] if root.frames else None)
    raised = f"{root.text}  ({frame.file}:{frame.line} in {frame.name})" if frame else root.text
    lines = [Line(file, root.line, _shown(raised))]
    if outer is not root:
        lines.append(Line(file, outer.line, _shown(outer.text)))
    if _ANNOUNCES.search(trace.before) and not trace.before.startswith(_NO_NEWS):
        lines.insert(0, Line(file, trace.line - 1, _shown(trace.before)))
    return tuple(sorted(lines, key=lambda line: line.line))


def _lines(spots: Iterable[Spot]) -> tuple[Line, ...]:
    return tuple(_unique(Line(spot.file, spot.line, _shown(spot.text)) for spot in spots))


def _unique(lines: Iterable[Line]) -> Iterator[Line]:
    return iter({(line.file, line.line): line for line in lines}.values())


def _shown(value: str) -> str:
    return clipped(one_line(mask(value.replace("\n", " / ").strip())), LINE_CHARS)
