"""Single keys from a terminal, which is left as it was found whatever happens."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Keys:
    """`fd`: None where there is no terminal to read from: then there are no keys."""

    def __init__(self, fd: int | None) -> None:
        self._fd = fd

    def wait(self, seconds: float) -> str:
        """The keys that were pressed; "" after that time."""
        if self._fd is None:
            time.sleep(seconds)
            return ""
        ready, _, _ = select.select([self._fd], [], [], seconds)
        if not ready:
            return ""
        pressed = os.read(self._fd, 64)
        if not pressed:  # the terminal is gone
            self._fd = None
        return pressed.decode(errors="replace")


@contextmanager
def keys() -> Iterator[Keys]:
    """Keys come one by one and are not shown; Ctrl-C stays an interrupt, Ctrl-Z does nothing: a screen that is stopped
    would leave the terminal as it has it."""
    if not sys.stdin.isatty():
        yield Keys(None)
        return
    import termios
    import tty

    fd = sys.stdin.fileno()
    before, stopping = termios.tcgetattr(fd), signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    try:
        tty.setcbreak(fd)
        yield Keys(fd)
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
        signal.signal(signal.SIGTSTP, stopping)
