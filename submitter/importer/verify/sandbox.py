"""Running a script where it can do no harm, to see what it would start.

The script gets new user, mount, process, network, IPC and host name namespaces, the machine's files read-only, memory
in place of what it may write to, no capability, no socket, and bounds for everything that it may use up. Where one of
these cannot be had, it is not run.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from submitter.errors import UsageError
from submitter.importer.verify import stubs
from submitter.importer.verify.inside.places import STUBS
from submitter.importer.verify.places import folders, hidden
from submitter.importer.verify.recording import Recording, parsed

_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_BOOT = "import sys; sys.path.append(sys.argv[1]); from inside.main import main; main()"
_KEPT = ("LD_LIBRARY_PATH",)
"""What Python itself may need to start."""
_MEMORY_BYTES = 4_000_000_000
"""Of all processes of the script together; resource limits are each process's own."""
_SET_UP_S = 15.0
"""For making the sandbox and for the answer; a fraction of a second where no file system hangs."""
_SCRIPT_BYTES = 2_000_000
_ANSWER_BYTES = 80_000_000


class SandboxError(UsageError):
    """No sandbox can be had here, so the script was not run; or it was, and nothing came back."""


def record(
    script: Path, *, arguments: Sequence[str], environ: Mapping[str, str], cwd: Path, timeout_s: float = 20
) -> Recording:
    """Run `bash script arguments` in the sandbox, with exactly `environ` but for the recorded commands on its PATH."""
    if not sys.platform.startswith("linux"):
        raise SandboxError("importer.verify_not_linux", platform=sys.platform)
    handed = {"PATH": _SYSTEM_PATH, **environ}
    head, records = _answer(_plan(script, arguments, handed, cwd, timeout_s), timeout_s + _SET_UP_S)
    found = [parsed(one) for one in records]
    commands = tuple(one for one in found if one is not None)
    return Recording(
        commands=commands,
        exit_code=head["status"],
        ended=head["ended"],
        stderr_tail=head["stderr"],
        handed=handed,
        complete=head["complete"] and len(commands) == len(found),
        left_out=head["left_out"],
    )


def _plan(
    script: Path, arguments: Sequence[str], handed: Mapping[str, str], cwd: Path, timeout_s: float
) -> dict[str, Any]:
    bash, cat = _tool("bash"), _tool("cat")
    home = handed.get("HOME")
    return {
        "script": str(script),
        "arguments": list(arguments),
        "environ": {**handed, "PATH": f"{STUBS}:{handed['PATH']}"},
        "cwd": os.path.realpath(cwd),
        "timeout_s": timeout_s,
        "memory_bytes": _MEMORY_BYTES,
        "bash": bash,
        "cat": cat,
        "stub": stubs.program(bash, cat),
        "stubs": [*stubs.RECORDED, *stubs.SILENT],
        "replaced": stubs.replaced(handed["PATH"], [_start_of(cwd / script), *handed.values()]),
        "hidden": hidden(home),
        "folders": folders(cwd / script, cwd, home),
        "uid": os.getuid(),
        "gid": os.getgid() if os.getuid() else 0,
    }


def _start_of(script: Path) -> str:
    try:
        with script.open("rb") as file:
            return file.read(_SCRIPT_BYTES).decode(errors="replace")
    except OSError:  # bash says so too
        return ""


def _tool(name: str) -> str:
    """Of the system: one in a home folder is not there in the sandbox."""
    found = shutil.which(name, path=_SYSTEM_PATH)
    if found is None:
        raise SandboxError("importer.verify_no_tool", tool=name, folders=_SYSTEM_PATH)
    return found


def _answer(plan: Mapping[str, Any], within_s: float) -> tuple[dict[str, Any], list[bytes]]:
    with tempfile.TemporaryFile() as errors:
        answer = _helper_says(plan, within_s, errors)
        errors.seek(0)
        complaint = errors.read()[-1000:].decode(errors="replace").strip()
    first, _, blob = answer.partition(b"\n")
    if not first:
        raise SandboxError("importer.verify_no_answer", why=complaint.rpartition("\n")[2] or "-")
    head = json.loads(first)
    if "refused" in head:
        raise SandboxError("importer.verify_refused", **head["refused"])
    return head, _split(blob, head["sizes"])


def _helper_says(plan: Mapping[str, Any], within_s: float, errors: IO[bytes]) -> bytes:
    """stdin stays open until the end: with it the helper sees that this process has gone."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-X", "utf8", "-c", _BOOT, str(Path(__file__).parent)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env={name: os.environ[name] for name in _KEPT if name in os.environ},
        cwd="/",
        start_new_session=True,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        with suppress(BrokenPipeError):  # it has ended: what it said is read below
            process.stdin.write(json.dumps(plan).encode() + b"\n")
            process.stdin.flush()
        return _read(process.stdout, time.monotonic() + within_s)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # not reaped yet: the number is still its own
        process.wait()
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.stdout.close()


def _read(stream: IO[bytes], deadline: float) -> bytes:
    pieces: list[bytes] = []
    while sum(map(len, pieces)) < _ANSWER_BYTES:
        if not select.select([stream], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise SandboxError("importer.verify_no_answer", why="-")
        piece = os.read(stream.fileno(), 1 << 20)
        if not piece:
            break
        pieces.append(piece)
    return b"".join(pieces)


def _split(blob: bytes, sizes: Sequence[int]) -> list[bytes]:
    found = []
    at = 0
    for size in sizes:
        found.append(blob[at : at + size])
        at += size
    return found
