"""Commands that a probe starts: none outlives the worker that it was started for."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

_WRAPPER = Path(__file__).parent.parent / "exec_child.py"


def python_child(arguments: Sequence[str]) -> list[str]:
    """argv of a Python that ends when the thread that starts it does: a node worker is killed, never asked."""
    return child([sys.executable, *arguments])


def child(command: Sequence[str]) -> list[str]:
    """argv of any program, likewise."""
    return [sys.executable, "-I", "-S", str(_WRAPPER), str(os.getpid()), *command]
