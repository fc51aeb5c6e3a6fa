"""The folder of the ledger: nobody else's business, so 0700."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from submitter.errors import Place, UsageError

FILE_NAME = "ledger.db"
_OTHERS = 0o077


class LedgerError(UsageError):
    """The ledger cannot be used; nothing was submitted."""


def default_home(environ: Mapping[str, str]) -> Path:
    """`$NPURUN_HOME`, else `~/.npurun`."""
    if environ.get("NPURUN_HOME"):
        return Path(environ["NPURUN_HOME"]).expanduser()
    return Path(environ.get("HOME") or Path.home()) / ".npurun"


def prepare_home(home: Path) -> Path:
    """Makes the folder and the file private; returns the file's path."""
    file = home / FILE_NAME
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        _make_private(home)
        if not file.exists():
            os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
        elif stat.S_IMODE(file.stat().st_mode) & _OTHERS:
            file.chmod(0o600)
    except OSError as error:
        raise LedgerError("ledger.home", Place(key="NPURUN_HOME"), home=home, reason=error.strerror) from error
    return file


def _make_private(home: Path) -> None:
    found = home.stat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(None, "not a directory")
    if found.st_uid != os.geteuid():
        raise LedgerError("ledger.home_of_other", Place(key="NPURUN_HOME"), home=home)
    if not stat.S_IMODE(found.st_mode) & _OTHERS:
        return
    # A folder that others use too (NPURUN_HOME=/tmp, run as root) must not be closed to them.
    if not (home / FILE_NAME).exists() and any(home.iterdir()):
        raise LedgerError("ledger.home_shared", Place(key="NPURUN_HOME"), home=home)
    home.chmod(0o700)
