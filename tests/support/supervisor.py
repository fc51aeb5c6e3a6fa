"""Real supervisor processes: started for a home, looked for, and ended by pid, never by a name alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import submitter
from submitter.gang.record import EXIT_OF_REASON, End
from submitter.ledger import Ledger, is_stale
from tests.support.fake_ray import FakeJob
from tests.support.processes import command_line, wait_for

BOUND_S = 20.0


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def book(home: Path) -> Iterator[Ledger]:
    ledger = Ledger(home)
    yield ledger
    ledger.close()


@contextmanager
def supervisor(
    home: Path, *, env: Mapping[str, str] | None = None, until_idle: bool = False, output: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """`npurun serve` of that home as a process of its own, which has the lock; ended at the end, whatever happened."""
    with spawned(home, env=env, until_idle=until_idle, output=output) as process:
        wait_for(lambda: holds(home, process.pid) or process.poll() is not None, bound_s=BOUND_S, what="the lock")
        yield process


@contextmanager
def spawned(
    home: Path, *, env: Mapping[str, str] | None = None, until_idle: bool = False, output: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """The same, without waiting for anything."""
    arguments = [sys.executable, "-m", "submitter", "serve", "--until-idle" if until_idle else "--no-web"]
    with (output or Path(os.devnull)).open("ab") as out:
        process = subprocess.Popen(
            arguments, env=environment(home, env), stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )
    try:
        yield process
    finally:
        end(process)


def environment(home: Path, env: Mapping[str, str] | None = None) -> dict[str, str]:
    root = str(Path(submitter.__file__).parents[1])
    return {"PATH": os.environ["PATH"], "HOME": str(home), "NPURUN_HOME": str(home), "PYTHONPATH": root, **(env or {})}


def holds(home: Path, pid: int) -> bool:
    """Whether that process has the home's lock."""
    with ledger_of(home) as ledger:
        found = ledger.holder()
    return found is not None and found.pid == pid


def holder_pid(home: Path) -> int | None:
    """Of the living supervisor of a home."""
    if not (home / "ledger.db").exists():
        return None
    with ledger_of(home) as ledger:
        found = ledger.holder()
    return None if found is None or is_stale(found, found.heartbeat_ms) else found.pid


@contextmanager
def ledger_of(home: Path) -> Iterator[Ledger]:
    ledger = Ledger(home)
    try:
        yield ledger
    finally:
        ledger.close()


def end_of(fake: FakeJob, reason: str) -> None:
    """The attempt ends as its driver ends it: the record, then Ray's word."""
    fake.write(End(fake.submission_id, "training", reason).line().encode() + b"\n")
    code = EXIT_OF_REASON[reason]
    fake.end("FAILED" if code else "SUCCEEDED", code=code, error_type="JOB_ENTRYPOINT_COMMAND_ERROR" if code else None)


def end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(BOUND_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(BOUND_S)


def end_below(folder: Path) -> list[int]:
    """Ends every supervisor whose home is below `folder`, as a test may have left it; their pids."""
    found = [pid for pid in _pids() if _serves_below(pid, folder)]
    for pid in found:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    for pid in found:
        try:
            _wait_gone(pid, folder)
        except AssertionError:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    return found


def _wait_gone(pid: int, folder: Path) -> None:
    wait_for(lambda: not _serves_below(pid, folder), bound_s=BOUND_S, what=f"the end of {pid}")


def _serves_below(pid: int, folder: Path) -> bool:
    if " -m submitter serve" not in command_line(pid):
        return False
    try:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
    homes = [one.removeprefix(b"NPURUN_HOME=").decode() for one in variables if one.startswith(b"NPURUN_HOME=")]
    return any(Path(home).is_relative_to(folder) for home in homes)


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
