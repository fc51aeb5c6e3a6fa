"""`npurun watch` as a process: in a pipe, in a terminal, and left by q or Ctrl-C while the run goes on."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from submitter.ledger import Ledger
from tests.support.cli import COMMAND, environment, npurun
from tests.support.fake_ray import FakeRay
from tests.support.processes import ignores, wait_for
from tests.support.supervisor import end_below
from tests.support.trained import trained_run

WAIT_S = 30


def now_ms() -> int:
    return int(time.time() * 1000)


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Ledger]:
    ledger = Ledger(tmp_path / "npurun")
    yield ledger
    ledger.close()
    end_below(tmp_path)


def test_a_run_that_is_over_has_its_exit_code(book: Ledger, tmp_path: Path) -> None:
    for state, code in (("succeeded", 0), ("failed", 1), ("stopped", 6)):
        trained_run(book, state, steps=20, attempts=1, state=state)  # type: ignore[arg-type]
        done = npurun("watch", state, home=tmp_path)
        assert (done.code, done.err) == (code, "") and done.out.startswith("step 20/")


def test_a_run_that_nobody_knows(book: Ledger, tmp_path: Path) -> None:
    done = npurun("watch", "nobody", home=tmp_path)
    assert done.code == 2 and "nobody" in done.err and len(done.err.splitlines()) == 1


def test_in_a_pipe_until_the_run_is_over(book: Ledger, ray: FakeRay, tmp_path: Path) -> None:
    trained_run(book, "r", steps=20, attempts=1, alerts=0, address=ray.address, now_ms=now_ms())
    ray.add_job("r-a1", log=b"")
    with subprocess.Popen(
        [*COMMAND, "watch", "r"], env=environment(tmp_path), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("step 20/25")
        book.record_steps("r", 1, [(21, now_ms(), {"critic/rewards/mean": 0.5})])
        assert process.stdout.readline().startswith("step 21/25  reward 0.5")
        book.end_run("r", "stopped", "stopped", now_ms())
        assert process.wait(WAIT_S) == 6


class Terminal:
    """The command in a terminal of 80 x 24."""

    def __init__(self, home: Path, *arguments: str, **env: str) -> None:
        master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, 80)) if hasattr(termios, "tcsetwinsize") else None
        self.before = termios.tcgetattr(slave)
        self.slave, self.master, self.text = slave, master, b""
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            env=environment(home, {"TERM": "xterm-256color", "LANG": "C.UTF-8", **env}),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )

    def wait(self, text: str) -> None:
        wait_for(lambda: text in self._read(), bound_s=WAIT_S, what=f"{text!r} on the screen")

    def press(self, key: str) -> None:
        os.write(self.master, key.encode())

    def end(self) -> int:
        wait_for(lambda: self._read() is not None and self.process.poll() is not None, bound_s=WAIT_S, what="the end")
        return self.process.wait(WAIT_S)

    def _read(self) -> str:
        while select.select([self.master], [], [], 0.05)[0]:
            try:
                self.text += os.read(self.master, 65536)
            except OSError:  # nobody writes any more
                break
        return self.text.decode(errors="replace")

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(WAIT_S)
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def terminal(book: Ledger, ray: FakeRay, tmp_path: Path) -> Iterator[Terminal]:
    trained_run(book, "r", steps=20, attempts=1, address=ray.address, now_ms=now_ms())
    ray.add_job("r-a1", log=b"\x1b]0;evil\x07the \x1b[31mlast\x1b[0m line\n")
    found = Terminal(tmp_path, "watch", "r")
    yield found
    found.close()


def test_q_leaves_and_the_run_goes_on(terminal: Terminal, book: Ledger) -> None:
    terminal.wait("20/25 80.0%")
    terminal.wait("the last line")
    assert "\x1b]0;evil" not in terminal._read()
    terminal.press("q")
    assert terminal.end() == 0
    terminal.wait("run r goes on")
    run = book.run("r")
    assert run is not None and run.state == "active" and run.wanted == "run"
    assert termios.tcgetattr(terminal.slave) == terminal.before, "the terminal is as it was"
    assert "\x1b[?1049l" in terminal._read(), "the screen before is back"


def test_ctrl_c_leaves_too(terminal: Terminal) -> None:
    terminal.wait("20/25 80.0%")
    os.kill(terminal.process.pid, signal.SIGINT)
    assert terminal.end() == 130
    assert termios.tcgetattr(terminal.slave) == terminal.before


def test_ctrl_z_leaves_no_broken_terminal(terminal: Terminal) -> None:
    terminal.wait("20/25 80.0%")
    assert ignores(terminal.process.pid, signal.SIGTSTP)
    terminal.press("q")
    assert terminal.end() == 0


def test_it_follows_what_happens(terminal: Terminal, book: Ledger) -> None:
    terminal.wait("20/25 80.0%")
    book.record_steps("r", 1, [(21, now_ms(), {"critic/rewards/mean": 0.5})])
    terminal.wait("21/25 84.0%")
    book.end_run("r", "failed", "hung", now_ms())
    terminal.wait("the run is over")
    terminal.press("q")
    assert terminal.end() == 1


def test_a_terminal_without_a_cursor_is_a_pipe(book: Ledger, tmp_path: Path) -> None:
    trained_run(book, "r", steps=20, attempts=1, state="succeeded")
    found = Terminal(tmp_path, "watch", "r", TERM="dumb")
    try:
        assert found.end() == 0 and "\x1b[" not in found._read() and "step 20/20" in found._read()
    finally:
        found.close()


def test_in_chinese(book: Ledger, tmp_path: Path) -> None:
    trained_run(book, "r", steps=20, attempts=1, state="succeeded")
    found = Terminal(tmp_path, "watch", "r", "--lang", "zh")
    try:
        found.wait("运行已结束")
        found.press("q")
        assert found.end() == 0
    finally:
        found.close()
