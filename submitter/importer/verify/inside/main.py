"""The helper process: `plan` in on stdin, one line of JSON; the answer on stdout, a line of JSON and then the records.

It stays outside itself and has a child enter the new namespaces, since only from outside may root give them users. The
child's own first child is process 1 in there.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from . import folders, init, root
from .kernel import MACHINES, RefusedError, unshare

_UNPRIVILEGED = 65534
"""nobody: whom root becomes in the sandbox. There it still has the number 0, and outside it owns nothing. As itself
it could read all files, and neither process limits nor the guards of /proc/sys hold for user 0, whatever it gave up."""
_SCORE = 1000
"""oom_score_adj: first to go when the machine is short of memory."""


def main() -> NoReturn:
    os.umask(0o022)
    plan = json.loads(sys.stdin.buffer.readline())
    with _refusing():
        if os.uname().machine not in MACHINES:
            raise RefusedError("seccomp", os.uname().machine)
        Path("/proc/self/oom_score_adj").write_text(str(_SCORE))
        found = [folders.read(path, deep=deep) for path, deep in plan["folders"]]
        _enter({**plan, "processes": _processes()}, found)
    os._exit(0)


@contextmanager
def _refusing() -> Iterator[None]:
    """Ends this process with an answer where a step fails before the script runs."""
    try:
        yield
    except (RefusedError, OSError) as error:
        _answer({"refused": _told(error)})
        os._exit(0)


def _told(error: RefusedError | OSError) -> dict[str, str]:
    if isinstance(error, RefusedError):
        return {"step": error.step, "why": error.why}
    return {"step": str(error.filename or "set-up"), "why": error.strerror or str(error)}


def _processes() -> int:
    """What the user runs already: before Linux 5.14 the limit counts these too."""
    wanted = _outside_id(os.getuid())
    count = 0
    for tasks in Path("/proc").glob("[0-9]*/task"):
        with suppress(OSError):
            count += len(list(tasks.iterdir())) if tasks.stat().st_uid == wanted else 0
    return count


def _outside_id(number: int) -> int:
    return number if os.getuid() else _UNPRIVILEGED


def _enter(plan: Mapping[str, Any], found: Sequence[folders.Folder]) -> None:
    entered_r, entered_w = os.pipe()
    mapped_r, mapped_w = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(entered_r)
        os.close(mapped_w)
        _in_child(plan, found, entered_w, mapped_r)
    os.close(entered_w)
    os.close(mapped_r)
    if os.read(entered_r, 1):
        try:
            _map(child)
        except OSError as error:
            raise RefusedError("uid_map", error.strerror or str(error)) from None
        os.write(mapped_w, b"m")
    os.waitpid(child, 0)


def _map(child: int) -> None:
    """root: 0 inside is nobody outside. Another user can give its own number alone, and no groups."""
    if os.getuid():
        Path(f"/proc/{child}/setgroups").write_text("deny")
    Path(f"/proc/{child}/gid_map").write_text(f"{os.getgid() if os.getuid() else 0} {_outside_id(os.getgid())} 1")
    Path(f"/proc/{child}/uid_map").write_text(f"{os.getuid()} {_outside_id(os.getuid())} 1")


def _in_child(plan: Mapping[str, Any], found: Sequence[folders.Folder], entered: int, mapped: int) -> NoReturn:
    with _refusing():
        _leave_groups()
        unshare()
        os.write(entered, b"e")
        if not os.read(mapped, 1):
            os._exit(1)  # told by the parent
        os.setresgid(*[plan["gid"]] * 3)
        os.setresuid(*[plan["uid"]] * 3)
        first = os.fork()
        if first == 0:
            root.build(plan, found)
            init.prepare(plan)
    if first == 0:
        _run(plan, sum(folder.left_out for folder in found))
    os.waitpid(first, 0)
    os._exit(0)


def _run(plan: Mapping[str, Any], left_out: int) -> NoReturn:
    try:
        course, records, complete = init.run(plan)
        head = {
            "ended": course.ended,
            "status": course.status,
            "stderr": course.stderr.decode(errors="replace"),
            "complete": complete,
            "left_out": left_out,
            "sizes": [len(record) for record in records],
        }
        _answer(head, records)
    except Exception as error:  # the script has run by now: this is no refusal
        os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace"))
    os._exit(0)


def _leave_groups() -> None:
    if os.getuid():
        return
    try:
        os.setgroups([])
    except OSError as error:
        raise RefusedError("setgroups", error.strerror or str(error)) from None


def _answer(head: Mapping[str, Any], records: Sequence[bytes] = ()) -> None:
    with suppress(BrokenPipeError), os.fdopen(1, "wb", closefd=False) as out:
        out.write(json.dumps(head).encode() + b"\n")
        for record in records:
            out.write(record)
