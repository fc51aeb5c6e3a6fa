"""The uploaded packages, kept for the attempts to come: a cluster that restarts has lost them."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from pathlib import Path

from submitter.errors import Place
from submitter.ledger.database import Database
from submitter.ledger.home import LedgerError

FOLDER = "packages"
KEPT_AFTER_END_MS = 30 * 24 * 3_600_000
"""A run that ended less than 30 days ago can be resumed as it was."""
YOUNG_MS = 24 * 3_600_000
"""A package is kept before its run is written down: a young one may be about to be used."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")
_URI = re.compile(r'"gcs://([A-Za-z0-9_.-]+)"')


class Packages:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._folder = database.path.parent / FOLDER

    def keep_package(self, name: str, data: bytes) -> None:
        """On disk, whole, when this returns. The name is a hash of the content: one that is there stays."""
        file = self._file(name)
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            if file.exists() and file.stat().st_size == len(data):
                os.utime(file)
            else:
                _write(file, data)
        except OSError as error:
            raise self._error(error) from error

    def package(self, name: str) -> bytes | None:
        try:
            return self._file(name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._error(error) from error

    def drop_unused_packages(self, now_ms: int) -> list[str]:
        """Removes those that no run needs which is active or ended lately; their names."""
        used = self._used(now_ms)
        dropped = []
        try:
            for file in sorted(self._folder.iterdir()):
                if file.name not in used and file.stat().st_mtime * 1000 < now_ms - YOUNG_MS:
                    file.unlink(missing_ok=True)
                    dropped.append(file.name)
        except FileNotFoundError:  # no folder yet, or somebody else tidies it
            return dropped
        except OSError as error:
            raise self._error(error) from error
        return dropped

    def _used(self, now_ms: int) -> set[str]:
        rows = self._database.read(
            "SELECT body FROM attempts JOIN runs USING (run) WHERE runs.state = 'active' OR runs.ended_ms > ?",
            (now_ms - KEPT_AFTER_END_MS,),
        )
        return {name for (body,) in rows for name in _URI.findall(body)}

    def _file(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ValueError(f"no name of a package: {name!r}")
        return self._folder / name

    def _error(self, error: OSError) -> LedgerError:
        text_id = {errno.ENOSPC: "ledger.full", errno.EDQUOT: "ledger.full"}.get(error.errno or 0, "ledger.readonly")
        return LedgerError(text_id, Place(file=str(self._folder)), reason=error.strerror)


def _write(file: Path, data: bytes) -> None:
    """Under another name first: a reader sees the whole of it or nothing, also after a power failure."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".new-")  # 0600
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        Path(name).replace(file)
    except BaseException:  # Ctrl-C too: a half file is of no use
        Path(name).unlink(missing_ok=True)
        raise
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
