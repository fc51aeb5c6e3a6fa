"""A Python traceback as a block: what was raised first, where, and whose code that was. Pure.

Ray puts a remote actor's traceback inside the caller's, the innermost exception last; Python's own chains ("The above
exception was the direct cause…") have the first exception first. Lines of other processes may stand in between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from submitter.recovery.lines import Origin, decode, split_origin

HEADER = "Traceback (most recent call last)"
UNHANDLED = "Unhandled error (suppress with 'RAY_IGNORE_UNHANDLED_ERRORS=1'): "
"""Before what an actor raised and nobody asked for: it has no other header."""
WINDOW_BYTES = 1 << 17
"""Sixteen ranks that fail at once write their lines in turns."""
WINDOW_LINES = 1500
MESSAGE_LINES = 3
FREE_LINES = 12
"""Lines without a form that may follow an exception before the block counts as over."""

_FRAME = re.compile(r'\s*File "(?P<file>.+?)", line (?P<line>\d+)(?:, in (?P<name>.+))?$')
_RAISED = re.compile(
    r"(?P<type>[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Killed|Timeout|Failure|Cancelled|Iteration|Fault"
    r"|Warning|Died|Unavailable|NotFound|Undefined)|ray\.exceptions\.\w+)(?:\((?P<inner>[\w.]+)\))?(?P<rest>$|: ?.*)"
)
_ANY_RAISED = re.compile(r"(?P<type>[A-Za-z_][\w.<>]*)(?:\((?P<inner>[\w.]+)\))?(?P<rest>$|: ?.*)")
_REMOTE = re.compile(r"ray::(?P<task>[\w.<>:]+)\(?\)?.*?\(?pid=(?P<pid>\d+)(?:, ip=(?P<ip>[\w.:-]+))?")
_ATTRIBUTE = re.compile(r"\s+(?P<key>class_name|actor_id|pid|ip|node_ip|node_id|name|namespace): ?(?P<value>.*)")
_LINKS = ("The above exception was the direct cause", "During handling of the above exception")
_GROUP_MARGIN = re.compile(r"^\s*[|+](?:-+|) ?")
_NOT_OURS = re.compile(r"\s*Training Progress: ")
_RECORD = re.compile(
    r"(?:[A-Z]+:)?\[?\(?\d{4}-\d\d-\d\d|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\b|step:\d+ - |Error executing job"
)
"""Starts a line of a logger: the block is over."""

_LIBRARY = re.compile(
    r"/(?:site|dist)-packages/|/lib(?:64)?/python\d[\d.]*/|^<|/bin/[\w-]+$|/[Mm]ind[Ss]peed[\w-]*/"
    r"|\.p(?:yx|xi|xd)$|/cython/"
    r"|(?:^|/)verl/(?:trainer|workers|utils|single_controller|models"
    r"|third_party|experimental|plugin|interactions|tools|checkpoint_engine|protocol\.py|base_config\.py)"
    r"|^(?:pydantic|pydantic_core|zmq|pyarrow|pandas|numpy|grpc|uvloop|msgspec)/"  # compiled: named without a folder
    r"|(?:^|/)(?:vllm|vllm_ascend|vllm-ascend|sglang|megatron|Megatron-LM|mbridge|torch|torch_npu|transformers"
    r"|ray(?!/session_)|hydra|omegaconf|npurun_gang|transfer_queue|tensordict)/"
)
"""What a job sends along is the user's, though it lies in a folder of Ray's session."""
_TRAINERS_OWN = re.compile(
    r"(?:^|/)(?:verl/(?:trainer|workers|utils|single_controller|models|experimental|plugin|checkpoint_engine)|ray(?!/session_)|vllm"
    r"|vllm_ascend|sglang|megatron|mindspeed|npurun_gang)/"
)
"""Below these nothing is the user's: who is called by them is the user's code or theirs."""


@dataclass(frozen=True)
class Frame:
    file: str
    line: int
    name: str


@dataclass(frozen=True)
class Raised:
    """One exception of the block."""

    type: str
    """As printed: `ValueError`, `ray.exceptions.RayTaskError`."""
    message: str
    line: int
    """Number of its line in the log."""
    frames: tuple[Frame, ...] = ()
    """The outermost first."""
    task: str | None = None
    """`RewardLoopWorker.compute_score`: the remote function that raised it."""
    pid: int | None = None
    ip: str | None = None
    """Of the process that raised it, where Ray says so."""
    about: Mapping[str, str] = field(default_factory=dict)
    """What Ray says of a dead actor: class_name, pid, ip, name."""

    @property
    def text(self) -> str:
        return f"{self.type}: {self.message}" if self.message else self.type


@dataclass(frozen=True)
class Trace:
    origin: Origin
    line: int
    end_line: int
    raised: tuple[Raised, ...]
    root: Raised
    """What was raised first."""
    before: str = ""
    """The line ahead of it, which may announce it."""

    @property
    def user_frame(self) -> Frame | None:
        """The deepest place in code that is neither the trainer's nor a library's, if the trainer had called it."""
        return user_frame(self.root.frames)

    def holds(self, line: int) -> bool:
        return self.line <= line <= self.end_line


def user_frame(frames: Sequence[Frame]) -> Frame | None:
    for frame in reversed(frames):
        if not _LIBRARY.search(frame.file):
            return frame
        if _TRAINERS_OWN.search(frame.file):
            return None
    return None


@dataclass
class _Draft:
    """The block as far as it was read."""

    groups: list[list[Raised]] = field(default_factory=lambda: [[]])
    frames: list[Frame] = field(default_factory=list)
    remote: Mapping[str, str] = field(default_factory=dict)
    linked: bool = False
    free: int = 0
    last: int = 0


def parse(window: bytes, first_line: int, before: str = "") -> Trace | None:
    """The block whose header is the window's first line; None when nothing is raised in it.

    `first_line`: the header's number. `before`: the line ahead of it.
    """
    lines = _texts(window, first_line)
    head = next(lines, None)
    if head is None:
        return None
    origin, draft = head[1], _Draft(last=first_line)
    if UNHANDLED in head[2] and (remote := _REMOTE.search(head[2])):
        _enter(draft, remote)
    for number, writer, text in lines:
        if writer != origin or _NOT_OURS.match(text):
            continue
        if not _take(draft, number, text):
            break
    return _trace(draft, origin, first_line, before)


def _texts(window: bytes, first_line: int) -> Iterator[tuple[int, Origin, str]]:
    start = 0
    for number in range(first_line, first_line + WINDOW_LINES):
        if start >= len(window):
            return
        end = window.find(b"\n", start)
        end = len(window) if end < 0 else end
        origin, text = split_origin(decode(window[start : min(end, start + 4096)]))
        yield number, origin, _GROUP_MARGIN.sub("  ", text)
        start = end + 1


def _take(draft: _Draft, number: int, text: str) -> bool:
    """Whether the line belongs to the block."""
    if HEADER in text:
        return _next_part(draft)
    if frame := _FRAME.match(text):
        draft.frames.append(Frame(frame["file"], int(frame["line"]), (frame["name"] or "").strip()))
    elif any(link in text for link in _LINKS):
        draft.linked = True
    elif not text or text[0].isspace():
        _attribute(draft, text)
        return True
    elif not _raised(draft, number, text):
        return False
    draft.last, draft.free = number, 0
    return True


def _next_part(draft: _Draft) -> bool:
    """Another header: of the same chain, or of the next block."""
    if not draft.linked and draft.groups[-1]:
        return False
    if draft.linked and draft.groups[-1]:
        draft.groups.append([])
    draft.linked, draft.frames, draft.remote = False, [], {}
    return True


def _attribute(draft: _Draft, text: str) -> None:
    match = _ATTRIBUTE.match(text)
    group = draft.groups[-1]
    if match and group and not draft.frames:
        last = group[-1]
        group[-1] = replace(last, about={**last.about, match["key"]: match["value"].strip()})


def _raised(draft: _Draft, number: int, text: str) -> bool:
    if text.startswith("ray::") and (remote := _REMOTE.match(text)):
        return _enter(draft, remote)
    match = (_ANY_RAISED if draft.frames else _RAISED).fullmatch(text)
    if match is None:
        return _continued(draft, number, text)
    draft.groups[-1].append(_exception(draft, number, match))
    draft.frames, remote = [], _REMOTE.search(text)
    if remote:
        _enter(draft, remote)
    return True


def _exception(draft: _Draft, number: int, match: re.Match[str]) -> Raised:
    kind = f"{match['type']}({match['inner']})" if match["inner"] else match["type"]
    pid = draft.remote.get("pid")
    return Raised(
        kind,
        match["rest"].removeprefix(":").strip(),
        number,
        tuple(draft.frames),
        task=draft.remote.get("task"),
        pid=int(pid) if pid else None,
        ip=draft.remote.get("ip"),
    )


def _enter(draft: _Draft, remote: re.Match[str]) -> bool:
    """What follows was raised over there."""
    draft.remote = {key: value for key, value in remote.groupdict().items() if value}
    if draft.linked:
        draft.groups.append([])
        draft.linked = False
    return True


def _continued(draft: _Draft, number: int, text: str) -> bool:
    """A message of several lines; a logger's line ends the block."""
    group = draft.groups[-1]
    draft.free += 1
    if _RECORD.match(text) or draft.free > FREE_LINES or not (group or draft.frames):
        return False
    if draft.frames:  # an exception whose name has no usual form
        group.append(Raised(text, "", number, tuple(draft.frames)))
        draft.frames = []
    elif group[-1].message.count("\n") + 1 < MESSAGE_LINES:
        group[-1] = replace(group[-1], message=f"{group[-1].message}\n{text}".strip())
    draft.last = number
    return True


def _trace(draft: _Draft, origin: Origin, line: int, before: str) -> Trace | None:
    groups = [group for group in draft.groups if group]
    if not groups:
        return None
    raised = tuple(one for group in groups for one in group)
    return Trace(origin, line, draft.last, raised, groups[0][-1], before)
