"""Steps from the file of verl's own file logger, where this machine reaches it: what the job log lost, it has."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from submitter.gang.attempt_safe import LOGGER_PATH, LOGGER_ROOT
from submitter.gang.bounded import Bounded
from submitter.gang.plan import Plan
from submitter.gang.step_lines import FILE_LOGGER, Step, StepReader
from submitter.ledger import Attempt, Ledger, LedgerError
from submitter.supervise.kept import plan_of

READ_BYTES = 16 << 20
"""At once; the rest with the next look."""
READ_S = 5.0
"""A file server that answers no longer must not hold the care for the run up."""


def file_of(attempt: Attempt, ledger: Ledger) -> Path | None:
    """Where the attempt's trainer writes it (verl/utils/tracking.py, 0.8.0 and 0.9.1); None: not known, or relative to
    a folder or a home of the node that it runs on."""
    body = json.loads(attempt.body)
    flags: Mapping[str, str] = body.get("runtime_env", {}).get("env_vars", {})
    if LOGGER_PATH in flags:
        return _absolute(flags[LOGGER_PATH])
    if LOGGER_ROOT not in flags or (plan := _plan(body, ledger)) is None:
        return None
    project, experiment = (_argument(plan, f"trainer.{name}") for name in ("project_name", "experiment_name"))
    if project is None or experiment is None:
        return None
    return _absolute(f"{flags[LOGGER_ROOT]}/{project}/{experiment}.jsonl")


class FileSteps:
    def __init__(self, path: Path | None, since_ms: int) -> None:
        """`since_ms`: when the attempt was meant to begin. A file that nobody has written to since is another run's of
        the same project and experiment: the trainer empties it, but only when it starts."""
        self._path = path
        self._since_ms = since_ms
        self._position = 0
        self._reader = StepReader(FILE_LOGGER)

    def read(self) -> list[Step]:
        """New ones. None any more once the file did not answer in time."""
        if self._path is None:
            return []
        found: Bounded[list[Step]] = Bounded(self._read, READ_S)
        if found.value is None:
            self._path = None
        return found.value or []

    def _read(self) -> list[Step]:
        """None in a file that is not there, is no regular one, or is not this attempt's yet."""
        assert self._path is not None
        try:
            file = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            return []
        with os.fdopen(file, "rb") as opened:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode) or found.st_mtime_ns // 1_000_000 < self._since_ms:
                return []
            if found.st_size < self._position:  # begun anew
                self._position, self._reader = 0, StepReader(FILE_LOGGER)
            opened.seek(self._position)
            data = opened.read(READ_BYTES)
        self._position += len(data)
        return self._reader.feed(data)


def _plan(body: Mapping[str, Any], ledger: Ledger) -> Plan | None:
    with suppress(LedgerError):  # a package that cannot be read: the log has the steps
        return plan_of(body, ledger)
    return None


def _absolute(text: str) -> Path | None:
    return Path(text) if text.startswith("/") and "\0" not in text else None


def _argument(plan: Plan, key: str) -> str | None:
    """The last value wins, as with Hydra; one with quotes or references is not known here."""
    values = [one.partition("=")[2] for one in plan.command if one.lstrip("+").partition("=")[0] == key]
    plain = values[-1] if values else None
    return plain if plain and not set(plain) & set("\"'${}[]/\\") else None
