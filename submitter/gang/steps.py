"""The trainer's steps, read from the driver's own log: the trainer prints there, and Ray what its actors print."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from .step_lines import LINE_BYTES, Step, StepReader

OWN_LOG = Path("/proc/self/fd/1")
READ_BYTES = 4 * 1024 * 1024
READ_AT_ONCE_BYTES = 64 * 1024 * 1024
"""Of one look; what is more waits for the next."""
KEPT_BYTES = LINE_BYTES
"""Of a line that has not ended: with less, the numbers of a long one would be cut where two looks meet."""

_COLOUR = rb"(?:\x1b\[[0-9;]*m)*"
_SPEAKER = _COLOUR + rb"(?:\([^()\n]{1,200}\) ?)?" + _COLOUR + rb"[ \t]*"
"""Ray's mark of who printed a line: `(TaskRunnerV1 pid=1, ip=10.0.0.2)`, in colour or not."""
_TOTAL = re.compile(rb"^" + _SPEAKER + rb"(?:INFO:[^\n]{0,40}:)?Total training steps: (\d{1,9})\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Seen:
    """What new lines tell. `steps` in their order; 0 is the validation before training."""

    steps: tuple[int, ...] = ()
    total: int | None = None
    """How many steps there will be."""
    newest: Step | None = field(default=None, compare=False)
    """The last of the steps, with what was logged of it."""


def seen_in(text: bytes) -> Seen:
    """Of whole lines."""
    total = _TOTAL.search(text)
    steps = StepReader().feed(text)
    return Seen(tuple(step.number for step in steps), int(total[1]) if total else None, steps[-1] if steps else None)


def total_in(lines: Iterable[str]) -> int | None:
    """How many steps the trainer says that there will be; None: it does not say it here."""
    told = (_TOTAL.match(line.encode()) for line in lines if "Total training steps: " in line)
    return next((int(found[1]) for found in told if found), None)


class LogTail:
    """New whole lines of a file that others write. OSError: it is no regular file, as when output goes to a pipe."""

    def __init__(self, path: Path = OWN_LOG) -> None:
        """From the end that the file has now."""
        self._file: BinaryIO = path.open("rb")
        if not stat.S_ISREG(os.fstat(self._file.fileno()).st_mode):
            self._file.close()
            raise OSError(f"{path} is no regular file")
        self._rest = b""
        self._file.seek(0, os.SEEK_END)

    def read(self) -> bytes:
        """Whole lines since the last call; OSError when the file cannot be read any more."""
        if os.fstat(self._file.fileno()).st_size < self._file.tell():  # emptied by somebody
            self._file.seek(0)
        parts = [self._rest]
        size = 0
        while size < READ_AT_ONCE_BYTES and (chunk := self._file.read(READ_BYTES)):
            parts.append(chunk)
            size += len(chunk)
        whole, newline, rest = b"".join(parts).rpartition(b"\n")
        self._rest = rest[:KEPT_BYTES]
        return whole + newline
