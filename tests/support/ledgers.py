"""Runs in a ledger, processes that use one, and disks that do not let them."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from submitter.ledger import Ledger, Run

ROOT = Path(__file__).parents[2]
ADDRESS = "http://h:8265"
PACKAGE = "_ray_pkg_0123.zip"
BODY = json.dumps({"runtime_env": {"py_modules": [f"gcs://{PACKAGE}"]}}).encode()


def intend(ledger: Ledger, run: str = "run", attempt: int = 1, **changes: Any) -> Run:
    values = {
        "run": run,
        "attempt": attempt,
        "submission_id": f"{run}-a{attempt}",
        "address": ADDRESS,
        "spec": "abc",
        "job": "tiny",
        "total_steps": None,
        "body": BODY,
        "now_ms": 1000 + attempt,
        "supervised": True,
    }
    return ledger.record_intent(**{**values, **changes})


def end(ledger: Ledger, submission_id: str = "run-a1", **changes: Any) -> None:
    values = {"state": "FAILED", "reason": "trainer_failed", "end": None, "started_ms": 3, "ended_ms": 4}
    ledger.record_end(submission_id, **{**values, **changes})


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Python that has `Path` and the ledger's names, and talks by lines."""
    head = "import os, signal, sys\nfrom pathlib import Path\nfrom submitter.ledger import *\n"
    head += "from tests.support.ledgers import end, intend\n"
    return subprocess.Popen(
        [sys.executable, "-uc", head + code, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """Killed at the latest when the block is left."""
    try:
        yield process
    finally:
        process.kill()
        process.wait(timeout=20)
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()


def die_after(instructions: int) -> None:
    """This process, by SIGKILL, after so many of SQLite's own instructions in connections that are opened from now on.

    To be called in a process that is there for that.
    """
    left, connect = instructions, sqlite3.connect

    def tick() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def watched(*arguments: Any, **settings: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **settings)
        connection.set_progress_handler(tick, 1)
        return connection

    sqlite3.connect = watched  # type: ignore[assignment]


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Root writes to everything but to a mount that can only be read."""
    if os.geteuid() != 0:
        folder.chmod(0o500)
        try:
            yield
        finally:
            folder.chmod(0o700)
        return
    _mount("--bind", str(folder), str(folder))
    try:
        _mount("-o", "remount,bind,ro", str(folder))
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def small_disk(folder: Path, kib: int) -> Iterator[Path]:
    folder.mkdir()
    _mount("-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", str(folder))
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _mount(*arguments: str) -> None:
    if os.geteuid() != 0 or subprocess.run(["mount", *arguments], capture_output=True).returncode != 0:
        pytest.skip("wants to mount")
