"""Reads a job file's text, bounded: a directory, a pipe or a huge file is one line of error, never a hang."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from submitter.errors import Place, UsageError

MAX_JOB_BYTES = 1 << 20
"""A job file has a few hundred lines; whatever is larger is another file, and is not read."""

# What YAML does not allow in a stream. Looked for here, because the parser reports a byte offset, not a line.
_NOT_YAML = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_text(path: Path, shown: str) -> str:
    """The text of the job file at `path`. UsageError: not a readable regular file of UTF-8 text within the bound."""
    data = _read_bytes(path, Place(file=shown))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError("job.not_utf8", _place(shown, data[: error.start].count(b"\n"))) from None
    if strange := _NOT_YAML.search(text):
        line = text.count("\n", 0, strange.start())
        raise UsageError("job.control_character", _place(shown, line), code=f"U+{ord(strange[0]):04X}")
    return text


def _read_bytes(path: Path, place: Place) -> bytes:
    try:
        # O_NONBLOCK: opening a pipe without a writer would wait for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (OSError, ValueError) as error:
        raise UsageError("job.unreadable", place, why=_why(error)) from None
    try:
        _check_kind(os.fstat(descriptor), place)
        data = _read_bounded(descriptor)
    except OSError as error:
        raise UsageError("job.unreadable", place, why=_why(error)) from None
    finally:
        os.close(descriptor)
    if len(data) > MAX_JOB_BYTES:
        raise UsageError("job.too_large", place, size=len(data), limit=MAX_JOB_BYTES)
    return data


def _read_bounded(descriptor: int) -> bytes:
    """One byte more than the bound at most: a file's stated size may be 0 (/proc) or still grow."""
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        return file.read(MAX_JOB_BYTES + 1)


def _check_kind(status: os.stat_result, place: Place) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise UsageError("job.directory", place)
    if not stat.S_ISREG(status.st_mode):
        raise UsageError("job.not_regular", place)
    if status.st_size > MAX_JOB_BYTES:
        raise UsageError("job.too_large", place, size=status.st_size, limit=MAX_JOB_BYTES)


def _why(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _place(shown: str, line0: int) -> Place:
    return Place(file=shown, line=line0 + 1)
