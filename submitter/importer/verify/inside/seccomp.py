"""Which system calls the script may not make: a filter that the kernel keeps for it and all its children.

Most of them would fail in the namespaces anyway. Only this stops sockets of the host: one that lies in a folder takes
connections even where the folder is read-only, and io_uring opens sockets without socket().
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence

from .kernel import MACHINES, RefusedError

_SET_MODE_FILTER = 1
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_EPERM = 1
_LOAD, _IF_EQUAL, _IF_ABOVE, _RETURN = 0x20, 0x15, 0x35, 0x06
"""BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_JMP|JGE|K, BPF_RET|K of <linux/bpf_common.h>."""
_NUMBER_AT, _ARCH_AT, _THIRD_ARGUMENT_AT = 0, 4, 32
"""In struct seccomp_data of <linux/seccomp.h>; arguments have 8 bytes, from 16 on."""
_X32 = 0x40000000
"""x86-64's second set of numbers for the same calls."""

# (x86_64, aarch64), from <asm/unistd.h>
_DENIED = {
    "socket": (41, 198),
    "connect": (42, 203),
    "ptrace": (101, 117),
    "syslog": (103, 116),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "mount": (165, 40),
    "umount2": (166, 39),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "unshare": (272, 97),
    "perf_event_open": (298, 241),
    "open_by_handle_at": (304, 265),
    "setns": (308, 268),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "mount_setattr": (442, 442),
}
_SETRLIMIT = (160, 164)
_PRLIMIT64 = (302, 261)

Instruction = tuple[int, int, int, int]
"""Code, jumps when true and false, operand."""


def program(machine: str) -> list[Instruction]:
    """Everything is allowed but `_DENIED`, and the calls of another machine (32-bit ones have other numbers).

    Limits stay what they are, and setting one seems to succeed: `ulimit -n 65536`, which root may do and the sandbox
    may not, must not end a script that has `set -e`.
    """
    column = list(MACHINES).index(machine)
    return [
        (_LOAD, 0, 0, _ARCH_AT),
        (_IF_EQUAL, 1, 0, MACHINES[machine].audit_arch),
        (_RETURN, 0, 0, _ERRNO | _EPERM),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_IF_ABOVE, 0, 1, _X32),
        (_RETURN, 0, 0, _ERRNO | _EPERM),
        *(one for numbers in _DENIED.values() for one in _answered(numbers[column], _ERRNO | _EPERM)),
        *_answered(_SETRLIMIT[column], _ERRNO),
        (_IF_EQUAL, 0, 5, _PRLIMIT64[column]),
        (_LOAD, 0, 0, _THIRD_ARGUMENT_AT),  # the new limit's address; none: the old one is asked for
        (_IF_EQUAL, 0, 2, 0),
        (_LOAD, 0, 0, _THIRD_ARGUMENT_AT + 4),
        (_IF_EQUAL, 1, 0, 0),
        (_RETURN, 0, 0, _ERRNO),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _answered(number: int, answer: int) -> list[Instruction]:
    return [(_IF_EQUAL, 0, 1, number), (_RETURN, 0, 0, answer)]


class _Filter(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_ushort),
        ("true", ctypes.c_ubyte),
        ("false", ctypes.c_ubyte),
        ("operand", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filters", ctypes.POINTER(_Filter)))


def install(instructions: Sequence[Instruction], machine: str) -> None:
    """For this process, for good. Needs no_new_privs."""
    filters = (_Filter * len(instructions))(*(_Filter(*one) for one in instructions))
    whole = _Program(len(instructions), filters)
    libc = ctypes.CDLL(None, use_errno=True)
    number = ctypes.c_long(MACHINES[machine].seccomp)
    if libc.syscall(number, ctypes.c_ulong(_SET_MODE_FILTER), ctypes.c_ulong(0), ctypes.byref(whole)) == -1:
        raise RefusedError("seccomp", os.strerror(ctypes.get_errno()))
