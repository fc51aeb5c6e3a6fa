"""The telemetry file in the driver's folder: whole lines, bounded in size, never a reason to end a training."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from .sample import TELEMETRY_FILE

FILE_BYTES = 8 << 20
"""Then it becomes `….1`, in the place of the one before: 16 nodes of 16 NPUs need an hour for it."""


def path_beside(log: Path, attempt: str) -> Path | None:
    """In the folder where the log file behind `log` (a link in /proc) lies; None: the log is no file, as in a pipe."""
    try:
        target = log.readlink()
    except OSError:
        return None
    return target.parent / TELEMETRY_FILE.format(attempt=attempt) if target.is_file() else None


class TelemetryFile:
    def __init__(self, path: Path, warn: Callable[[str], None], most_bytes: int = FILE_BYTES) -> None:
        self._path: Path | None = path
        self._warn = warn
        self._most_bytes = most_bytes

    def add(self, lines: Iterable[str]) -> None:
        """Each as one line, all in one write. After an error nothing more is written: told once."""
        data = "".join(f"{line}\n" for line in lines).encode()
        if self._path is None or not data:
            return
        try:
            self._append(self._path, data)
        except OSError as error:
            self._warn(f"telemetry: {self._path} is not written any more: {error.strerror}; training goes on")
            self._path = None

    def _append(self, path: Path, data: bytes) -> None:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        try:
            full = os.fstat(file).st_size + len(data) > self._most_bytes
            if not full:
                os.write(file, data)
        finally:
            os.close(file)
        if full:
            path.replace(path.with_name(f"{path.name}.1"))
            path.write_bytes(data)
