"""Linux calls that Python 3.10 does not have: namespaces, mounts, what a process gives up for good."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from pathlib import Path

NEW_NAMESPACES = 0x00020000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
"""CLONE_NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET of <linux/sched.h>."""

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 0x1, 0x2, 0x4, 0x8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 0x20, 0x1000, 0x4000, 0x40000
MS_NOATIME, MS_NODIRATIME, MS_RELATIME = 0x400, 0x800, 0x200000
_MNT_DETACH = 2

_PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 4, 24, 38, 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_CAPABILITY_VERSION_3 = 0x20080522
_LAST_CAPABILITY = 63
"""Numbers beyond the kernel's last one are EINVAL."""


@dataclass(frozen=True)
class Machine:
    """The numbers of system calls that differ between machines."""

    audit_arch: int
    pivot_root: int
    seccomp: int


MACHINES = {
    "x86_64": Machine(audit_arch=0xC000003E, pivot_root=155, seccomp=317),
    "aarch64": Machine(audit_arch=0xC00000B7, pivot_root=41, seccomp=277),
}


class RefusedError(Exception):
    """A step that this machine does not allow."""

    def __init__(self, step: str, why: str) -> None:
        super().__init__(step, why)
        self.step = step
        self.why = why


_libc = ctypes.CDLL(None, use_errno=True)


def _call(step: str, result: int) -> None:
    if result == -1:
        raise RefusedError(step, os.strerror(ctypes.get_errno()))


def unshare() -> None:
    _call("unshare", _libc.unshare(ctypes.c_int(NEW_NAMESPACES)))


def mount(source: str | Path, target: str | Path, kind: str | None, flags: int, data: str = "") -> None:
    result = _libc.mount(
        os.fsencode(source),
        os.fsencode(target),
        kind.encode() if kind else None,
        ctypes.c_ulong(flags),
        data.encode() or None,
    )
    _call(f"mount {target}", result)


def pivot_into(root: Path) -> None:
    """`root` becomes `/`, and nothing of the old tree stays reachable: pivot_root(2), "pivot_root(".", ".")"."""
    os.chdir(root)
    number = MACHINES[os.uname().machine].pivot_root
    _call("pivot_root", _libc.syscall(ctypes.c_long(number), b".", b"."))
    _call("umount /", _libc.umount2(b".", _MNT_DETACH))
    os.chdir("/")


def _prctl(step: str, option: int, *values: int) -> None:
    padded = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    _call(step, _libc.prctl(ctypes.c_int(option), *padded))


def hide_from_trace() -> None:
    """No process without capabilities may then look into this one, or at its files in /proc."""
    _prctl("dumpable", _PR_SET_DUMPABLE, 0)


def drop_capabilities() -> None:
    for number in range(_LAST_CAPABILITY + 1):
        if _libc.prctl(ctypes.c_int(_PR_CAPBSET_DROP), ctypes.c_ulong(number), *[ctypes.c_ulong(0)] * 3) == -1:
            break
    _prctl("ambient capabilities", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    _call("capset", _libc.capset(header, (ctypes.c_uint32 * 6)()))
    _prctl("no_new_privs", _PR_SET_NO_NEW_PRIVS, 1)
    if _left():
        raise RefusedError("capset", "capabilities are left")


def _left() -> bool:
    lines = Path("/proc/self/status").read_text().splitlines()
    return any(int(line.split()[1], 16) for line in lines if line.startswith("Cap"))
