"""`-o FILE`: written beside it and moved there when it is whole, so that nobody ever finds half of it.

What is there and is no file (a device, a pipe) is written to, never replaced; of a link, what it leads to.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from submitter.cli.output import emit_bytes, tell
from submitter.errors import Place, UsageError


def write(pieces: Iterable[str], file: str | None) -> None:
    """To the file, or to stdout; a name or a surrogate that UTF-8 does not have is escaped."""
    if file is None:
        for piece in pieces:
            emit_bytes(piece.encode("utf-8", "backslashreplace"))
        return
    path = Path(file)
    try:
        _write(pieces, path)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError("cli.file_unwritable", Place(key="-o"), file=file, reason=reason) from error
    tell("cli.file_written", file=path)


def _write(pieces: Iterable[str], path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(None, "it is a folder")
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            stream.writelines(pieces)
        return
    path = Path(os.path.realpath(path))
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            file.writelines(pieces)
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except BaseException:  # Ctrl-C too: nothing is left beside it
        with suppress(OSError):
            Path(name).unlink()
        raise


def _umask() -> int:
    found = os.umask(0)
    os.umask(found)
    return found
