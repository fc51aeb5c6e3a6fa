"""Launcher `ray`: the trainer is one child process of the driver and places its own workers on the held groups."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from .launcher import LaunchResult
from .members import Gang
from .plan import Plan
from .say import say

_PYTHONS = ("python", "python3")


def launch(plan: Plan, gang: Gang) -> Child:
    return Child(plan.command)


class Child:
    """In the driver's own process group, which Ray kills as a whole; its output is the driver's, untouched."""

    def __init__(self, command: Sequence[str]) -> None:
        wrapper = str(Path(__file__).with_name("exec_child.py"))
        argv = [sys.executable, "-I", "-S", wrapper, str(os.getpid()), *_own_python(command)]
        self._process = subprocess.Popen(argv)
        start = 3 if "-m" in command[1:2] else 2
        began, arguments = " ".join(command[:start]), len(command[start:])
        say(f"training: started process {self._process.pid}: {began} and {arguments} arguments")

    def poll(self, wait_s: float) -> LaunchResult | None:
        with suppress(subprocess.TimeoutExpired):
            return LaunchResult(self._process.wait(wait_s))
        return None

    def stopped(self) -> None:
        """Ray has signalled the child itself: a second SIGTERM would cut its ending short."""

    def terminate(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        self._process.kill()


def _own_python(command: Sequence[str]) -> list[str]:
    """The trainer runs in the very interpreter that has Ray, whatever PATH says."""
    program, *arguments = command
    return [sys.executable if program in _PYTHONS else program, *arguments]
