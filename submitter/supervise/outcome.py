"""How an attempt ended, from Ray's word and the driver's last line. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from submitter.cluster.client import JobInfo
from submitter.cluster.errors import CAUSE_LIMIT_CHARS
from submitter.exit_codes import ExitCode
from submitter.gang.record import parse_end
from submitter.texts import clipped


@dataclass(frozen=True)
class Outcome:
    exit_code: ExitCode
    state: str
    """Ray's status: SUCCEEDED, FAILED or STOPPED; the last one seen when the following was interrupted."""
    reason: str | None
    """The end record's, else Ray's error type in lower case."""
    end: dict[str, Any] | None
    """The end record; None when the driver was killed, never started, or its log cannot be read."""
    message: str = ""
    """Ray's own words, one line, when there is no end record."""


_LOG_FOLLOWS = re.compile(r",? *last available logs\b[^:]*:$")
"""Ends the line of Ray's message that its quotation of the log comes after."""

_DRIVER_EXITS: Mapping[int, ExitCode] = {
    1: ExitCode.RUN_FAILED,
    5: ExitCode.NOT_PLACED,
    6: ExitCode.STOPPED,
}


def outcome_of(info: JobInfo, end: dict[str, Any] | None) -> Outcome:
    """Of an ended job. `end` may be None: then Ray's message, which quotes the last log lines, is searched for it."""
    end = end or end_in(info.message.splitlines(), info.submission_id)
    if info.status == "STOPPED":
        return Outcome(ExitCode.STOPPED, info.status, "stopped", end)
    if info.status == "SUCCEEDED" and (end is None or end.get("exit") == 0):
        return Outcome(ExitCode.DONE, info.status, "succeeded", end)
    if end is not None and end.get("exit") != 0:
        exit_code = _DRIVER_EXITS.get(end.get("exit", 1), ExitCode.RUN_FAILED)
        return Outcome(exit_code, info.status, end.get("reason"), end)
    # Killed, or never started; also after a last line that said "succeeded": Ray saw another end.
    reason = (info.error_type or "unknown").lower()
    return Outcome(ExitCode.RUN_FAILED, info.status, reason, end, first_line(info.message))


def end_in(lines: Iterable[str], submission_id: str) -> dict[str, Any] | None:
    """The last end record of this attempt among `lines`."""
    found = [record for line in lines if (record := parse_end(line, submission_id))]
    return found[-1] if found else None


def first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return clipped(_LOG_FOLLOWS.sub("", line), CAUSE_LIMIT_CHARS)
