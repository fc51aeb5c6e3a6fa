"""One line of a log: its text, who wrote it, and when. Pure."""

from __future__ import annotations

import re
from calendar import timegm
from dataclasses import dataclass

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_JUNK = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufeff]")
LEAST_CHINESE = 2
"""Characters; a single one may be two of another encoding."""
_CJK = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")

_PREFIXES = (
    # Ray: (WorkerDict pid=22126, ip=10.0.0.2)   (raylet, ip=10.0.0.2)   (autoscaler +19s); vLLM: (EngineCore_DP0 pid=7)
    re.compile(
        r"\((?P<actor>[^()\n]{0,120}?)\s?\b(?:pid=(?P<pid>\d+)|(?P<part>raylet|autoscaler|gcs_server)\b[^,)]{0,40})"
        r"(?:, ip=(?P<ip>[\w.:-]+))?[^)\n]{0,200}\) ?"
    ),
    # What npurun's driver gathered from the nodes.
    re.compile(r"\[npurun\] from (?P<ip>\S+) (?P<actor>\S+?): ?"),
    # torch and torchrun.
    re.compile(r"\[(?:rank|default)(?P<rank>\d+)\]:[ \t]?"),
)
_HEADER = re.compile(
    r"(?:ERROR|WARNING|INFO|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d (?:\[[^\]\n]{1,120}\]|[\w./]+:\d+\]?) ?"
)
"""Each line of a traceback that vLLM logs starts so."""
_STAMP = re.compile(
    r"^(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d) (?:std(?:out|err) [FP] )?"
    r"|\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?\] )"
)
"""Put before every line by Kubernetes, containers and job platforms."""
_LEAD = re.compile(
    r"^(?:\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)? "
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?:\S{1,80} [\w./-]{1,80}\[\d+\]: )?"
    r"|[\w.-]{1,80}(?:: | +\| ))(?=\((?:[\w.:<>]{1,120} )?pid=\d|\[rank\d)"
)
"""What journald, `ts`, pdsh and compose put before a prefix; without one after it, it may be a logger's own."""
_PREFIX_LIMIT = 3
"""Ray's around vLLM's around torch's."""

_FULL_TIME = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)[ T-](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,6}))?")
"""`2026-11-30 12:07:17,486`, also CANN's `2026-11-30-11:53:38.123.456`."""
_SHORT_TIME = re.compile(r"(?:\b(\d\d)-(\d\d)|[IWEF](\d{1,2})(\d\d)) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?")
"""Without a year: vLLM's `11-30 11:53:38`, glog's `W1130 11:57:22.874000`, torch's `E510 …`."""
_TIME_WITHIN_CHARS = 400

_MILD = re.compile(r"\b(?:WARNING|WARN|INFO|DEBUG|NOTICE|EVENT)\b|\b\w+Warning:|\[\d{4}-[-\d :,.]+ [IW] ")
_GRAVE = re.compile(r"\b(?:ERROR|CRITICAL|FATAL)\b|\[\d{4}-[-\d :,.]+ [EFC] ")
_LEVEL_WITHIN_CHARS = 160


@dataclass(frozen=True)
class Origin:
    """Who wrote a line; empty for the driver itself and for a file of one process."""

    actor: str = ""
    pid: int | None = None
    ip: str | None = None
    rank: int | None = None


_NOBODY = Origin()
_FIRST_CHARS = frozenset("([EWIC")
"""Of every prefix."""


def decode(raw: bytes) -> str:
    """A line's text without colours and control characters. UTF-8, else GB18030 where that makes Chinese of it."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = _chinese(raw) or raw.decode("utf-8", "replace")
    return _JUNK.sub("", _ESCAPES.sub("", text)).rstrip()


def _chinese(raw: bytes) -> str | None:
    try:
        text = raw.decode("gb18030")
    except UnicodeDecodeError:
        return None
    strange = [char for char in text if char > "\x7f"]
    return text if len(strange) >= LEAST_CHINESE and all(map(_CJK.match, strange)) else None


def split_origin(text: str) -> tuple[Origin, str]:
    """The line's writer, and the line without the prefixes that say so."""
    if text[:1].isdigit() or text[:1] == "[":
        text = _STAMP.sub("", text, count=1)
    if text[:1] not in _FIRST_CHARS or text[:1].isalpha():
        text = _LEAD.sub("", text, count=1)
    if text[:1] not in _FIRST_CHARS:  # most lines
        return _NOBODY, text
    found: dict[str, str] = {}
    for _ in range(_PREFIX_LIMIT):
        match = next((match for form in _PREFIXES if (match := form.match(text))), None)
        if match is None:
            break
        found = {**{key: value for key, value in match.groupdict().items() if value}, **found}
        text = text[match.end() :]
    header = _HEADER.match(text)
    return _origin(found), text[header.end() :] if header else text


def _origin(found: dict[str, str]) -> Origin:
    if not found:
        return _NOBODY
    pid, rank = found.get("pid"), found.get("rank")
    return Origin(
        actor=(found.get("actor") or found.get("part") or "").strip(),
        pid=int(pid) if pid else None,
        ip=found.get("ip"),
        rank=int(rank) if rank else None,
    )


def time_of(text: str, year: int | None = None) -> float | None:
    """Seconds since 1970 as if the line's clock were UTC, for order alone; None for a line without a time.

    `year`: of a time that is written without one.
    """
    head = text[:_TIME_WITHIN_CHARS]
    if full := _FULL_TIME.search(head):
        return _seconds(int(full[1]), full[2], full[3], full.groups()[3:])
    short = _SHORT_TIME.search(head) if year is not None else None
    if short is None or year is None:
        return None
    month, day = short[1] or short[3], short[2] or short[4]
    return _seconds(year, month, day, short.groups()[4:])


def year_of(text: str) -> int | None:
    full = _FULL_TIME.search(text[:_TIME_WITHIN_CHARS])
    return int(full[1]) if full else None


def _seconds(year: int, month: str, day: str, clock: tuple[str | None, ...]) -> float | None:
    hour, minute, second, fraction = clock
    fields = (year, int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))
    in_range = 1970 <= year < 2200 and 1 <= fields[1] <= 12 and 1 <= fields[2] <= 31
    if not in_range:  # digits of something else
        return None
    return timegm((*fields, 0, 0, 0)) + (float(f"0.{fraction}") if fraction else 0.0)


def is_mild(text: str) -> bool:
    """A line that its writer calls a warning or less."""
    head = text[:_LEVEL_WITHIN_CHARS]
    return _MILD.search(head) is not None and _GRAVE.search(head) is None
