"""The token that opens the pages: a file that only its user reads. Whoever reads the ledger may read the pages."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from submitter.errors import Place, UsageError

FILE_NAME = "web-token"
"""In the ledger's home."""
BYTES = 32
"""Of randomness: nobody guesses it."""
_LEAST_CHARS = 20
"""One that a person has put there by hand may be shorter, but not guessed within a night."""
_FILE_LIMIT = 1024
_OTHERS = 0o077


def read_or_make(home: Path) -> str:
    """UsageError: the file is a link, another user's, readable for others, or holds no token."""
    path = home / FILE_NAME
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        return _read(path)
    except OSError as error:
        raise UsageError("web.token_file", Place(file=str(path)), reason=error.strerror) from error
    token = secrets.token_urlsafe(BYTES)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(f"{token}\n")
    return token


def _read(path: Path) -> str:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & _OTHERS:
                raise UsageError("web.token_open", Place(file=str(path)))
            text = file.read(_FILE_LIMIT).decode("ascii", "replace").strip()
    except OSError as error:  # ELOOP: a link
        raise UsageError("web.token_file", Place(file=str(path)), reason=error.strerror) from error
    if len(text) < _LEAST_CHARS or not text.isascii() or not text.isprintable():
        raise UsageError("web.token_short", Place(file=str(path)), least=_LEAST_CHARS)
    return text
