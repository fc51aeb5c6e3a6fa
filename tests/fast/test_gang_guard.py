"""Whatever way the guard's holder ends, nothing of the command survives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from submitter.gang import guard
from tests.support.processes import carrying, wait_for, wait_gone

BOUND_S = 15.0

# A command with everything that is hard to find or to end; it tells when all of it is there.
HARD_TREE = r"""
import os, signal, subprocess, sys, time
ready, mark = sys.argv[1], "import time; time.sleep(600)"
subprocess.Popen([sys.executable, "-c", mark], start_new_session=True)
subprocess.Popen([sys.executable, "-c", "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + mark])
stopped = subprocess.Popen([sys.executable, "-c", mark], start_new_session=True)
os.kill(stopped.pid, signal.SIGSTOP)
if os.fork() == 0:                      # a daemon: its parent is gone at once
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
os.wait()
open(ready, "w").close()
time.sleep(600)
"""

# Whatever dies is started anew by its parent, and new processes come all the time.
FORKING = r"""
import os, sys, time
for _ in range(4):
    if os.fork() == 0:
        break
open(sys.argv[1], "w").close()
while True:
    if os.fork() == 0:
        time.sleep(0.05)
        if os.fork():
            os._exit(0)
        os.setsid()
        time.sleep(600)
    time.sleep(0.02)
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
"""


class Held:
    """A guard as a launcher holds it: by its standard input."""

    def __init__(self, command: list[str], mark: str) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.outer = subprocess.Popen(
            [sys.executable, "-m", "submitter.gang.guard", guard.REMOVE, str(self.folder), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **dict([mark.split("=")])},
        )

    @property
    def inner(self) -> int:
        return guard.descendants(self.outer.pid)[0]

    def ask(self, grace_s: float) -> None:
        assert self.outer.stdin
        self.outer.stdin.write(f"{grace_s}\n".encode())
        self.outer.stdin.flush()

    def let_go(self) -> None:
        assert self.outer.stdin
        self.outer.stdin.close()

    def code(self) -> int:
        return self.outer.wait(BOUND_S)


@pytest.fixture
def mark() -> Iterator[str]:
    mark = f"NPURUN_TEST_MARK={uuid.uuid4().hex}"
    yield mark
    for pid in carrying(mark):
        os.kill(pid, signal.SIGKILL)


def hard_tree(mark: str, tmp_path: Path, script: str = HARD_TREE) -> Held:
    ready = tmp_path / "ready"
    held = Held([sys.executable, "-c", script, str(ready)], mark)
    wait_for(ready.exists, bound_s=BOUND_S, what="the command's tree is there")
    return held


def by_end_of_input(held: Held) -> None:
    held.let_go()


def by_sigterm(held: Held) -> None:
    held.outer.terminate()


def by_kill_of_outer(held: Held) -> None:
    held.outer.kill()


def by_kill_of_inner(held: Held) -> None:
    os.kill(held.inner, signal.SIGKILL)


def by_request_without_grace(held: Held) -> None:
    held.ask(0)


WAYS = [by_end_of_input, by_sigterm, by_kill_of_outer, by_kill_of_inner, by_request_without_grace]


@pytest.mark.parametrize("end", WAYS)
def test_nothing_of_a_hard_tree_survives(end, mark: str, tmp_path: Path) -> None:
    held = hard_tree(mark, tmp_path)
    assert len(carrying(mark)) == 7  # two guards, the command, four kinds of children
    end(held)
    wait_gone(mark, bound_s=BOUND_S)
    assert not held.folder.exists()


def test_nothing_survives_that_forks_while_it_is_being_killed(mark: str, tmp_path: Path) -> None:
    held = hard_tree(mark, tmp_path, FORKING)
    held.let_go()
    wait_gone(mark, bound_s=BOUND_S)


def test_a_command_whose_two_guards_are_killed_is_asked_to_end(mark: str, tmp_path: Path) -> None:
    held = hard_tree(mark, tmp_path, "import time, sys; open(sys.argv[1], 'w'); time.sleep(600)")
    for pid in (held.inner, held.outer.pid):
        os.kill(pid, signal.SIGSTOP)  # neither may act on the other's death
    for pid in (held.inner, held.outer.pid):
        os.kill(pid, signal.SIGKILL)
    held.code()
    wait_gone(mark, bound_s=BOUND_S)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["true"], 0),
        (["sh", "-c", "exit 7"], 7),
        (["sh", "-c", "kill -9 $$"], 137),
        (["/nonexistent/command"], 127),
    ],
)
def test_the_commands_exit_code_is_passed_on(command: list[str], code: int, mark: str) -> None:
    assert Held(command, mark).code() == code


def test_output_and_arguments_are_passed_on_unchanged(mark: str) -> None:
    hostile = ["a b", "'; echo x", "\\", 'q"q', "line\nbreak", "$HOME"]
    held = Held([sys.executable, "-c", "import sys; print(sys.argv[1:], end='')", *hostile], mark)
    assert held.outer.stdout
    assert held.outer.stdout.read().decode() == repr(hostile)
    assert held.code() == 0


def test_the_command_gets_no_input_and_ordinary_signals(mark: str) -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # as a thread of a Ray worker may
    try:
        held = Held(["grep", "-hE", "Sig(Blk|Ign)", "-", "/proc/self/status"], mark)  # reads its input first
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert held.outer.stdout
    words = held.outer.stdout.read().decode().split()
    ordinary = (1 << 31) - 1  # signals 1 to 31; the C library keeps 32 and 33 for itself, and may leave them ignored
    masks = {name: int(mask, 16) & ordinary for name, mask in zip(words[::2], words[1::2], strict=True)}
    assert masks == {"SigBlk:": 0, "SigIgn:": 0}


def test_a_gentle_end_leaves_time_and_keeps_the_commands_code(mark: str, tmp_path: Path) -> None:
    script = (
        "import signal, sys, time\n"
        "def end(*_):\n    time.sleep(0.5); print('saved', flush=True); sys.exit(3)\n"
        "signal.signal(signal.SIGTERM, end); open(sys.argv[1], 'w'); time.sleep(600)"
    )
    held = hard_tree(mark, tmp_path, script)
    held.ask(BOUND_S)
    assert held.code() == 3
    assert held.outer.stdout
    assert held.outer.stdout.read() == b"saved\n"


def test_a_second_request_shortens_the_first(mark: str, tmp_path: Path) -> None:
    script = "import signal, sys, time; signal.signal(15, signal.SIG_IGN); open(sys.argv[1], 'w'); time.sleep(600)"
    held = hard_tree(mark, tmp_path, script)
    started = time.monotonic()
    held.ask(300)
    held.ask(0.2)
    assert held.code() == 137
    assert time.monotonic() - started < BOUND_S
    wait_gone(mark, bound_s=BOUND_S)


def test_what_a_finished_command_left_behind_is_ended(mark: str) -> None:
    held = Held(["sh", "-c", "setsid sleep 600 & (setsid sleep 600 &); exit 5"], mark)
    assert held.code() == 5
    assert carrying(mark) == []
