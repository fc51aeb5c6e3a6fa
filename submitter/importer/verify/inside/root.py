"""The file system that the script sees: the machine's, read-only, below a new root of our own.

The new root is a tmpfs. Each folder of `/` is bound into it with all that is mounted below; what holds secrets, sockets
or other people's files is a new empty folder instead, and the folders that the script may write to are laid out in
memory. At the end the old tree is gone from this mount namespace, and what is left is looked at once more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .folders import Folder, lay_out
from .kernel import (
    MS_BIND,
    MS_NOATIME,
    MS_NODEV,
    MS_NODIRATIME,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_RDONLY,
    MS_REC,
    MS_RELATIME,
    MS_REMOUNT,
    RefusedError,
    mount,
    pivot_into,
)
from .places import EMPTY, OWN, RECORDS, STUB, STUBS

_SOURCE = "npurun-sandbox"
"""How this room's tmpfs are told from the machine's, in mountinfo."""
_NEW_ROOT = Path("/tmp")
"""Where the new root is put together: hidden itself, so that covering it hides nothing that is bound."""
_DEVICES = ("null", "zero", "full", "random", "urandom")
_DEVICE_LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
_NAMESPACES = ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup")
_KEPT_FLAGS = {
    "noexec": MS_NOEXEC,
    "noatime": MS_NOATIME,
    "nodiratime": MS_NODIRATIME,
    "relatime": MS_RELATIME,
}
"""A bind mount made again has exactly the flags that are named; the kernel refuses to clear these ones."""
_OCTAL = re.compile(r"\\([0-7]{3})")

ROOT_BYTES = "256m"
COVER_BYTES = "128m"
RECORD_BYTES = "64m"
_INODES = 32_768


@dataclass(frozen=True)
class Mount:
    id: str
    point: str
    options: frozenset[str]
    source: str

    @property
    def own(self) -> bool:
        return self.source == _SOURCE


def build(plan: Mapping[str, Any], folders: Sequence[Folder]) -> None:
    """After it, `/` is the sandbox's."""
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    root = _NEW_ROOT.resolve()
    _tmpfs(root, ROOT_BYTES)
    _bind_machine(root)
    _devices(root / "dev")
    _read_only(root)
    _processes(root / "proc")
    for path in sorted({*plan["hidden"], *(folder.path for folder in folders)}, key=len):
        _cover(root, path)
    for folder in folders:
        lay_out(folder, below(root, folder.path))
    _stubs(root, plan)
    pivot_into(root)
    _look_again()


def below(root: Path, path: str) -> Path:
    return root / path.lstrip("/")


def _tmpfs(target: Path, size: str) -> None:
    mount(_SOURCE, target, "tmpfs", MS_NOSUID | MS_NODEV, f"size={size},nr_inodes={_INODES},mode=755")


def _bind_machine(root: Path) -> None:
    for source in sorted(Path("/").iterdir()):
        target = root / source.name
        if source.is_symlink():
            target.symlink_to(source.readlink())
        elif source.name not in EMPTY:
            _bind(source, target)
    for name in EMPTY:
        if not (root / name).is_symlink():
            (root / name).mkdir()


def _bind(source: Path, target: Path) -> None:
    if os.path.isdir(source):  # noqa: PTH112 - False also below a folder that may not be entered, where pathlib raises
        target.mkdir()
    elif os.path.isfile(source):  # noqa: PTH113
        target.touch()
    else:
        return
    with suppress(RefusedError):  # some network file systems cannot be bound: the folder stays empty
        mount(source, target, None, MS_BIND | MS_REC)


def _devices(target: Path) -> None:
    for name in ("shm", "pts"):
        (target / name).mkdir()
    for name, link in _DEVICE_LINKS.items():
        (target / name).symlink_to(link)
    for name in _DEVICES:
        (target / name).touch()
        mount(f"/dev/{name}", target / name, None, MS_BIND)


def _read_only(root: Path) -> None:
    for one in _mounts():
        if not one.own and one.point.startswith(f"{root}/") and _visible(one):
            kept = sum(flag for name, flag in _KEPT_FLAGS.items() if name in one.options)
            device = 0 if one.point.startswith(f"{root}/dev/") else MS_NODEV
            mount("none", one.point, None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | device | kept)


def _processes(target: Path) -> None:
    """A /proc of the new process namespace, in which nobody can make further namespaces."""
    flags = MS_NOSUID | MS_NODEV | MS_NOEXEC
    mount("proc", target, "proc", flags)
    for kind in _NAMESPACES:
        (target / f"sys/user/max_{kind}_namespaces").write_text("0")
    mount("none", target, None, MS_REMOUNT | MS_BIND | MS_RDONLY | flags)


def _cover(root: Path, path: str) -> None:
    """An empty folder that can be written to in place of `path`, or of the first one above it that can be reached."""
    target = place = below(root, path)
    while not os.path.isdir(place) and not _is_own(place.parent):  # noqa: PTH112
        place = place.parent
    if not _is_own(place):
        _tmpfs(place, COVER_BYTES)
    target.mkdir(parents=True, exist_ok=True)


def _is_own(path: Path) -> bool:
    """On one of this room's tmpfs: what does not exist belongs to the folder that would hold it."""
    while not os.path.lexists(path):
        path = path.parent
    device = path.stat().st_dev
    return any(one.own and Path(one.point).stat().st_dev == device for one in _mounts())


def _stubs(root: Path, plan: Mapping[str, Any]) -> None:
    """Mounts of their own: these the script can neither move away nor remove."""
    own, records, folder, stub = (below(root, path) for path in (OWN, RECORDS, STUBS, STUB))
    own.mkdir()
    _tmpfs(own, "1m")
    folder.mkdir()
    records.mkdir()
    _tmpfs(records, RECORD_BYTES)
    stub.write_text(plan["stub"])
    stub.chmod(0o555)
    for name in plan["stubs"]:
        (folder / name).symlink_to(stub.name)
    absent = folder / ".absent"
    absent.touch(0)
    mount("none", own, None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)
    for path, is_absent in plan["replaced"]:
        target = below(root, path)
        if os.path.isfile(target):  # noqa: PTH113
            mount(absent if is_absent else stub, target, None, MS_BIND)


def _look_again() -> None:
    for one in _mounts():
        wanted = {"nosuid"} if one.own else {"nosuid", "ro"}
        if not wanted <= one.options and _visible(one):
            raise RefusedError("mount", f"{one.point}: {','.join(sorted(one.options))}")


def _visible(one: Mount) -> bool:
    """What another mount covers, or no path leads to, cannot be changed; the script cannot reach it either."""
    try:
        descriptor = os.open(one.point, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        facts = Path(f"/proc/self/fdinfo/{descriptor}").read_text()
    finally:
        os.close(descriptor)
    return ["mnt_id:", one.id] in map(str.split, facts.splitlines())


def _mounts() -> list[Mount]:
    with Path("/proc/self/mountinfo").open(errors="surrogateescape") as lines:
        return [_parsed(line) for line in lines]


def _parsed(line: str) -> Mount:
    """proc_pid_mountinfo(5)."""
    before, _, after = line.partition(" - ")
    fields = before.split(" ")
    point = _OCTAL.sub(lambda match: chr(int(match[1], 8)), fields[4])
    return Mount(fields[0], point, frozenset(fields[5].split(",")), after.split(" ")[1])
