"""Which of the things that a log shows is the cause. Pure.

A lead is one possible reason with its evidence. Leads come in tiers; within a tier the earliest wins, since what fails
later mostly fails because of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

from submitter.recovery.case import Case
from submitter.recovery.lines import is_mild
from submitter.recovery.reasons import REASONS
from submitter.recovery.scan import Find, Segment, Spot
from submitter.recovery.signatures import NODE_GROUPS
from submitter.recovery.traces import MESSAGE_LINES, Frame, Trace


class Tier(IntEnum):
    SAID = 0
    """A line that says the cause in so many words."""
    ROOT = 1
    """A line or a traceback that is a cause."""
    CASCADE = 2
    """What the survivors say: counts when nothing else is known."""
    GUESS = 3
    """The kind of exception and the place where it was raised."""
    HINT = 4
    """Also in healthy logs, called a warning by its writer, or long before the end."""


SURE = Tier.GUESS
"""The last tier that makes a reason; the rest are candidates."""
_TIER_OF_STRENGTH = {3: Tier.SAID, 2: Tier.ROOT, 1: Tier.HINT}
_OWN_DOING = frozenset({"config", "arithmetic", "version", "placement", "checkpoint", "data", "user_code", "outcome"})
"""Families that no node is to blame for."""
_LOST_ELSEWHERE = frozenset({"process", "network", "cluster", "device", "device_memory", "host_memory"})
"""Families that explain an attempt's end without the user's code."""
_NODE_WENT = frozenset({"raylet_lost", "node_lost"})


@dataclass(frozen=True)
class Lead:
    reason: str
    tier: Tier
    spot: Spot
    values: Mapping[str, str] = field(default_factory=dict)
    node: str | None = None
    trace: Trace | None = None
    strength: int = 0
    """Of a cascade: among survivors, who names the one that went counts more than who only waited."""


def leads(case: Case) -> list[Lead]:
    """The likeliest first; one for each reason."""
    found = [*_of_user_code(case), *_of_finds(case), *_of_places(case)]  # of one traceback the first wins
    order = _order(found)
    best: dict[str, Lead] = {}
    for lead in sorted(found, key=lambda lead: (lead.tier, -lead.strength, order[id(lead)])):
        best.setdefault(lead.reason, lead)
    return [_blamed(_explained(lead), case) for lead in best.values()]


def _explained(lead: Lead) -> Lead:
    """With what was raised and where, if the line stands in a traceback."""
    if lead.trace is None:
        return lead
    root, frame = lead.trace.root, lead.trace.user_frame
    place = {"place": f"{frame.file}:{frame.line}"} if frame else {}
    return replace(lead, values={"exception": root.text, **place, **lead.values})


def _order(found: Sequence[Lead]) -> dict[int, int]:
    """Place in time: by line within a file, by clock between files where both have one."""
    keys: dict[int, tuple[float, str, int]] = {}
    for file in {lead.spot.file for lead in found}:
        there = sorted((lead for lead in found if lead.spot.file == file), key=_line)
        for lead, clock in zip(there, _clock([lead.spot.time for lead in there]), strict=True):
            keys[id(lead)] = (clock, file, _line(lead))
    return {key: place for place, key in enumerate(sorted(keys, key=keys.__getitem__))}


def _line(lead: Lead) -> int:
    """A traceback is one event, whichever of its lines is known."""
    return lead.trace.line if lead.trace else lead.spot.line


def _clock(times: Sequence[float | None]) -> list[float]:
    """One that never goes back, for lines in their order: what has no time has that of the one before."""
    known = [time for time in times if time is not None]
    now = known[0] if known else float("inf")
    ticks = []
    for time in times:
        now = now if time is None else max(now, time)
        ticks.append(now)
    return ticks


def _of_finds(case: Case) -> Iterator[Lead]:
    for find in case.finds:
        signature = find.signature
        if signature.role == "noise" or not _in_phase(find, case):
            continue
        values = {key: value for key, value in find.values.items() if key not in NODE_GROUPS}
        node = next((find.values[group] for group in NODE_GROUPS if group in find.values), None)
        strength = signature.strength if signature.role == "cascade" else 0
        trace = _trace_at(case, find.spot)
        yield Lead(signature.reason, _tier(find, case), find.spot, values, node, trace, strength=strength)


def _in_phase(find: Find, case: Case) -> bool:
    phase = find.signature.phase
    return phase is None or (phase == "start") == case.before_first_step(find.spot)


def _tier(find: Find, case: Case) -> Tier:
    if case.went_on_after(find.spot):
        return Tier.HINT
    strength = find.signature.strength - is_mild(find.spot.text)
    if find.signature.role == "cascade":
        return Tier.CASCADE if strength >= 1 else Tier.HINT
    return _TIER_OF_STRENGTH.get(strength, Tier.HINT)


def _trace_at(case: Case, spot: Spot) -> Trace | None:
    held = (trace for segment, trace in case.traces if segment.file == spot.file and trace.holds(spot.line))
    return next(held, None)


def _of_user_code(case: Case) -> Iterator[Lead]:
    """Exceptions from code that is neither the trainer's nor a library's."""
    for segment, trace in case.traces:
        frame = trace.user_frame
        if frame is None:
            continue
        spot = _spot(segment, trace)
        yield Lead(_users(trace), _user_tier(case, trace, spot), spot, {"function": frame.name}, None, trace)


def _users(trace: Trace) -> str:
    called = " ".join(f"{frame.file} {frame.name}" for frame in trace.root.frames)
    return (
        "reward_error" if re.search(r"reward|compute_score", f"{called} {trace.root.task}", re.I) else "user_exception"
    )


def _user_tier(case: Case, trace: Trace, spot: Spot) -> Tier:
    if case.went_on_after(spot):
        return Tier.HINT
    if _tells_of_others(case, trace, spot.file):
        return Tier.GUESS
    last = case.last_trace
    if last is None or last is trace or trace.root.text in {one.text for one in last.raised}:
        return Tier.ROOT
    ends = (find for find in case.finds if find.spot.file == spot.file and last.holds(find.spot.line))
    lost = any(REASONS[find.signature.reason].family in _LOST_ELSEWHERE for find in ends)
    return Tier.GUESS if lost else Tier.ROOT


def _tells_of_others(case: Case, trace: Trace, file: str) -> bool:
    """What was raised is that another process does not answer, whoever had called it."""
    message = range(trace.root.line, trace.root.line + MESSAGE_LINES)
    spots = (find.spot for find in case.finds if find.signature.role == "cascade" and find.spot.line in message)
    return any(spot.file == file and spot.origin == trace.origin for spot in spots)


@dataclass(frozen=True)
class _Place:
    """A reason by where in the trainer something was raised."""

    reason: str
    file: re.Pattern[str]
    type: re.Pattern[str]

    def holds(self, frames: Sequence[Frame]) -> bool:
        return any(self.file.search(f"{frame.file} {frame.name}") for frame in frames)


def _place(reason: str, file: str, kind: str = r".") -> _Place:
    return _Place(reason, re.compile(file), re.compile(kind))


_CONFIG_CODE = (
    r"/verl/(?:\w+/)*config/|/verl/utils/config\.py|/vllm/config/|/vllm/engine/arg_utils\.py|/vllm_ascend/\w*config\.py"
)
"""Where the trainer and the rollout check what they were given."""
_PLACES = (
    _place("data_column_missing", r"/verl/utils/dataset/|/datasets/", r"^KeyError"),
    _place("data_missing", r"/verl/utils/dataset/|/datasets/", r"^FileNotFoundError"),
    _place("data_unreadable", r"/verl/utils/dataset/|/datasets/|/pyarrow/", r"Arrow|Unicode|JSONDecode|ParserError"),
    _place("checkpoint_missing", r"load_checkpoint|checkpoint_manager|/dist_checkpointing/", r"^FileNotFoundError"),
    _place("checkpoint_mismatch", r"load_checkpoint|checkpoint_manager|/dist_checkpointing/", r"^KeyError"),
    _place("config_value", _CONFIG_CODE, r"ValueError|AssertionError|ValidationError|NotImplementedError"),
    _place("module_missing", r".", r"^ModuleNotFoundError"),
    _place("import_failed", r".", r"^ImportError"),
    _place("permission_denied", r".", r"^PermissionError"),
    _place("weight_sync_failed", r"bucketed_weight_transfer|update_weights|/checkpoint_engine/", r"^zmq\.|Timeout"),
    _place("tracking_failed", r"/(?:wandb|swanlab|mlflow|clearml|trackio)/|/verl/utils/tracking\.py", r"."),
    _place(
        "download_failed", r"/(?:huggingface_hub|modelscope|requests|urllib3)/", r"ConnectionError|Timeout|SSLError"
    ),
)


def _of_places(case: Case) -> Iterator[Lead]:
    """Where no line of a traceback is known: what was raised, and in which part of the trainer."""
    last = case.last_trace
    ends = {one.text for one in last.raised} if last else set()
    for segment, trace in case.traces:
        if (trace is not last and trace.root.text not in ends) or trace.user_frame is not None:
            continue
        for place in _PLACES:
            if place.type.search(trace.root.type) and place.holds(trace.root.frames):
                yield Lead(place.reason, Tier.GUESS, _spot(segment, trace), {}, None, trace)
                break


def _spot(segment: Segment, trace: Trace) -> Spot:
    """Of what was raised."""
    return Spot(segment.file, trace.root.line, trace.root.text, trace.before.encode())


def _blamed(lead: Lead, case: Case) -> Lead:
    family = REASONS[lead.reason].family
    if family in _OWN_DOING:
        return replace(lead, node=None)
    return replace(lead, node=lead.node or _node(lead, case))


def _node(lead: Lead, case: Case) -> str | None:
    if lead.reason in _NODE_WENT:
        return lead.spot.origin.ip or _lost(case)
    if REASONS[lead.reason].family == "network":  # whoever complains is the survivor
        return None
    return _dead_actor(lead) or _raised_at(lead) or _ip(lead.spot, case)


def _dead_actor(lead: Lead) -> str | None:
    """What Ray says of the actor that died, for any line of that traceback."""
    raised = lead.trace.raised if lead.trace else ()
    return next((one.about["ip"] for one in reversed(raised) if "ip" in one.about), None)


def _raised_at(lead: Lead) -> str | None:
    """Where the exception was raised that the line is of, as Ray says in a caller's traceback."""
    raised = lead.trace.raised if lead.trace else ()
    return next((one.ip for one in raised if one.line >= lead.spot.line), None)


def _ip(spot: Spot, case: Case) -> str | None:
    origin = spot.origin
    return origin.ip or (case.ip_of_pid.get(origin.pid) if origin.pid is not None else None)


def _lost(case: Case) -> str | None:
    """The one node of which no process survived to complain; None when that leaves more than one."""
    survivors = {one.ip for _, trace in case.traces for one in trace.raised if one.ip}
    left = case.nodes - survivors
    return next(iter(left)) if len(left) == 1 else None
