"""Errors that are a user's or a cluster's, not a bug: one line each, never a traceback."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar

from submitter.exit_codes import ExitCode
from submitter.texts import clipped, one_line, text


@dataclass(frozen=True)
class Place:
    """Where something is wrong: a line of a job file, a key, or a node. Unknown parts are None."""

    file: str | None = None
    line: int | None = None
    """1-based."""
    key: str | None = None
    node: str | None = None

    def __str__(self) -> str:
        if self.node is not None:
            return f"node {self.node}"
        if self.file is None:
            return self.key or ""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def as_json(self) -> dict[str, str | int | None]:
        return asdict(self)


class NpurunError(Exception):
    """A failure to be told in one line: text id, place, values. `exit_code` is the process's."""

    exit_code: ClassVar[ExitCode] = ExitCode.RUN_FAILED

    def __init__(self, text_id: str, place: Place | None = None, /, **values: object) -> None:
        super().__init__(text_id)
        self.text_id = text_id
        self.place = place
        self.values = values

    def render(self, language: str = "en") -> str:
        where = clipped(one_line(self.place)) if self.place else ""
        message = text(self.text_id, language, **in_language(self.values, language))
        return f"{where}: {message}" if where else message

    def __str__(self) -> str:
        return self.render()


def in_language(values: Mapping[str, object], language: str) -> dict[str, object]:
    """The values of a text: an error among them, the cause of what is told, speaks the same language."""
    return {name: value.render(language) if isinstance(value, NpurunError) else value for name, value in values.items()}


class UsageError(NpurunError):
    """Wrong usage, or a job file that cannot be read."""

    exit_code = ExitCode.USAGE


class UnreachableError(NpurunError):
    """The cluster did not answer, or not as Ray does. Never means that a run failed."""

    exit_code = ExitCode.UNREACHABLE


class NotPlacedError(NpurunError):
    """The gang, or a rehearsal's nodes, do not fit."""

    exit_code = ExitCode.NOT_PLACED


class RunFailedError(NpurunError):
    exit_code = ExitCode.RUN_FAILED
