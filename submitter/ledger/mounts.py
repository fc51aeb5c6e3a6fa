"""Which file system a path is on. SQLite's WAL wants memory that all its users share, so one host."""

from __future__ import annotations

import re
from pathlib import Path

MOUNTINFO = Path("/proc/self/mountinfo")

_NETWORK = re.compile(
    r"nfs\d*|cifs|smb\w*|afs|9p|virtiofs|vboxsf|fuse\..+|lustre\w*|gpfs|ceph|beegfs\w*|glusterfs|orangefs|pvfs2|panfs"
    r"|wekafs|dpc|gfs2|ocfs2"
)
"""File systems that several hosts, or a virtual machine and its host, may have mounted at once. What is behind fuse.*
is not known; fuseblk is a local disk."""
_ESCAPED = re.compile(r"\\([0-7]{3})")
"""Space, tab, newline and backslash in a mount point."""


def filesystem(path: Path, mountinfo: Path = MOUNTINFO) -> str:
    """The type of the mount that `path` is on; empty where the system does not tell."""
    try:
        lines = mountinfo.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    here = path.resolve()
    found = [(len(point.parts), kind) for point, kind in map(_mount, lines) if point in (here, *here.parents)]
    # Of two mounts on one point, the later one covers the earlier.
    return max(enumerate(found), key=lambda one: (one[1][0], one[0]))[1][1] if found else ""


def is_network(kind: str) -> bool:
    return _NETWORK.fullmatch(kind) is not None


def _mount(line: str) -> tuple[Path, str]:
    """(mount point, type) of `36 35 98:0 / /mnt/x rw,noatime shared:1 - nfs4 server:/x rw`."""
    before, _, after = line.partition(" - ")
    words, kinds = before.split(" "), after.split(" ")
    point = _ESCAPED.sub(lambda match: chr(int(match[1], 8)), words[4]) if len(words) > 4 else "\0"
    return Path(point), kinds[0]
