"""`npurun rehearse` as a process in a terminal of its own, and what it leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.support.processes import wait_for

JOB = "qwen3_5_122b_a10b_32k"
LEFT_BOUND_S = 15.0
"""A keeper's SIGTERM and SIGKILL take 4 s at most; the rest is a loaded machine."""


@dataclass
class Rehearsal:
    process: subprocess.Popen[bytes]
    temp: Path
    """TMPDIR of the process: everything it makes lies here."""
    folder: Path
    seen: set[psutil.Process] = field(default_factory=set)
    """Every process that was ever found below it (psutil compares start times too)."""

    @property
    def out(self) -> str:
        return (self.folder / "out").read_text(errors="replace")

    @property
    def err(self) -> str:
        return (self.folder / "err").read_text(errors="replace")

    def look(self) -> list[psutil.Process]:
        """Its descendants now."""
        try:
            found = psutil.Process(self.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            found = []
        self.seen.update(found)
        return found

    def wait_for(self, part: str, *, bound_s: float) -> None:
        """Until `part` stands in what it printed; fails at once when it ends without."""

        def found() -> bool:
            self.look()
            text = self.out + self.err
            assert part in text or self.process.poll() is None, f"ended without {part!r}:\n{text[-4000:]}"
            return part in text

        wait_for(found, bound_s=bound_s, what=f"{part!r} in the rehearsal's output")

    def wait_keepers(self, count: int, *, bound_s: float) -> None:
        wait_for(lambda: self._keepers() >= count, bound_s=bound_s, what=f"{count} nodes being started")

    def wait(self, *, bound_s: float) -> int:
        def ended() -> bool:
            self.look()
            return self.process.poll() is not None

        wait_for(ended, bound_s=bound_s, what=f"the end of the rehearsal:\n{self.err[-2000:]}")
        return self.process.returncode

    def ctrl_c(self) -> None:
        """As a terminal does it: to the whole foreground process group."""
        self.look()
        os.killpg(self.process.pid, signal.SIGINT)

    def assert_nothing_left(self, *, files: bool = True) -> None:
        """No process that it started lives; no temp dir of it is there (`files`: nor anything else it made)."""
        assert self.seen, "no descendant was ever seen: the check would prove nothing"
        deadline = time.monotonic() + LEFT_BOUND_S
        while left := [process for process in self.seen if _lives(process)]:
            assert time.monotonic() < deadline, f"still there: {[_words(process) for process in left]}"
            time.sleep(0.05)
        pattern = "*" if files else "nr*"
        assert [path.name for path in self.temp.glob(pattern)] == []

    def _keepers(self) -> int:
        return sum("keeper.py" in _words(process) for process in self.look())


@contextmanager
def rehearsal(folder: Path, *arguments: str) -> Iterator[Rehearsal]:
    """Started; killed at the end if a test failed (its keepers then end the rest)."""
    folder.mkdir(exist_ok=True)
    # Short: Ray's sockets lie below it.
    with tempfile.TemporaryDirectory(prefix="h", dir="/tmp") as temp:
        command = [str(Path(sys.executable).with_name("npurun")), "rehearse", JOB, *arguments]
        with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
            process = subprocess.Popen(
                command,
                stdout=out,
                stderr=err,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "TMPDIR": temp},
                start_new_session=True,
            )
        try:
            yield Rehearsal(process, Path(temp), folder)
        finally:
            process.kill()
            process.wait()


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _words(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""
