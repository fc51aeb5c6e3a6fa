"""Which folders of this machine the script gets empty, and which it gets as they are and may write to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

_SYSTEM = (
    "/usr/bin",
    "/usr/sbin",
    "/usr/lib",
    "/usr/lib64",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/etc",
    "/proc",
    "/sys",
)
"""Without these nothing runs: neither they nor what holds them is ever covered."""
_HIDDEN = ("/tmp", "/run", "/root", "/home", "/var/tmp", "/var/run", "/dev/shm")
_PROJECT = (".git", "pyproject.toml", "setup.py")


def hidden(home: str | None) -> list[str]:
    """Homes, temporary folders and sockets. A home need not exist: scripts make folders in it."""
    found = dict.fromkeys(os.path.realpath(path) for path in (*_HIDDEN, *_homes(home)))
    return [path for path in found if not _holds_any(path, _SYSTEM) and _can_be(path)]


def folders(script: Path, cwd: Path, home: str | None) -> list[tuple[str, bool]]:
    """(path, with all below it): the working directory and the script's project. Of a home or a temporary folder only
    what is in it itself; what holds one of these, or a part of the system, stays as it is, read-only."""
    away = [os.path.realpath(path) for path in (*_HIDDEN, *_homes(home))]
    real = Path(os.path.realpath(script))
    wanted = dict.fromkeys([os.path.realpath(cwd), _project_of(real.parent, away), os.path.realpath(script.parent)])
    kept = [path for path in wanted if path in hidden(home) or not _holds_any(path, [*_SYSTEM, *away])]
    found = [(path, path not in away) for path in kept]
    return [one for one in found if not any(deep and _is_below(one[0], other) for other, deep in found)]


def _homes(home: str | None) -> list[str]:
    import pwd

    try:
        own = [pwd.getpwuid(os.getuid()).pw_dir]
    except KeyError:  # a user of a container
        own = []
    return [path for path in (*own, home or "") if Path(path).is_absolute()]


def _can_be(path: str) -> bool:
    """It is there, or can be made in a folder that is covered."""
    above = next(str(one) for one in (Path(path), *Path(path).parents) if os.path.isdir(one))  # noqa: PTH112
    covered = [os.path.realpath(one) for one in _HIDDEN]
    return above in (path, "/") or any(_is_below(path, one) for one in covered)


def _project_of(folder: Path, away: list[str]) -> str:
    """The nearest folder above that a repository or a package begins with."""
    for one in (folder, *folder.parents):
        if _holds_any(str(one), away):
            break
        if any(os.path.exists(one / name) for name in _PROJECT):  # noqa: PTH110 - pathlib raises where one may not look
            return str(one)
    return str(folder)


def _holds_any(path: str, others: Iterable[str]) -> bool:
    return any(path == other or _is_below(other, path) for other in others)


def _is_below(path: str, other: str) -> bool:
    return path != other and path.startswith(f"{other.rstrip('/')}/")
