"""A child is gone when the waiting for it ends, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from submitter.child import run_child
from tests.support.processes import wait_for

SLEEPS = """
import os, sys, time
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(os.getpid()))
os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(50)
"""


def test_it_brings_code_and_both_streams() -> None:
    code = "import sys; print(repr(sys.stdin.read())); print('bad', file=sys.stderr); sys.exit(3)"
    done = run_child([sys.executable, "-c", code], timeout_s=20)
    assert (done.returncode, done.stdout, done.stderr) == (3, b"''\n", b"bad\n")


def test_ctrl_c_waits_for_the_killed_child(tmp_path: Path) -> None:
    said = tmp_path / "pid"

    def interrupt() -> None:
        wait_for(said.exists, bound_s=20, what="the child's pid")
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run_child([sys.executable, "-c", SLEEPS, str(said)], timeout_s=40)
    thread.join()
    assert not psutil.pid_exists(int(said.read_text()))


def test_a_slow_child_is_ended(tmp_path: Path) -> None:
    said = tmp_path / "pid"
    with pytest.raises(subprocess.TimeoutExpired):
        run_child([sys.executable, "-c", SLEEPS, str(said)], timeout_s=1.0)
    assert not said.exists() or not psutil.pid_exists(int(said.read_text()))
