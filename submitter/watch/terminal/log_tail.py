"""The last lines of an attempt's log, fetched beside the screen: a cluster that hangs never holds it up."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Sequence

from submitter.cluster.client import RayClient
from submitter.errors import NpurunError
from submitter.gang.record import RECORD_PREFIXES
from submitter.gang.secret_like import redacted

EVERY_S = 2.0
LINES = 60
"""Machine-readable ones among them are left out."""
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")


class LogTail:
    """`lines` and `trouble` are of the newest look; a thread of its own looks, and ends with the process."""

    def __init__(self, connect: Callable[[], RayClient], submission_of: Callable[[], str | None]) -> None:
        """`submission_of`: whose log; None: of nothing now."""
        self._connect = connect
        self._submission_of = submission_of
        self.lines: Sequence[str] = ()
        self.trouble: NpurunError | None = None

    def start(self) -> None:
        threading.Thread(target=self._run, daemon=True, name="log-tail").start()

    def look(self) -> None:
        try:
            submission = self._submission_of()
            if submission is None:
                return
            text = self._connect().log_tail(submission, LINES)
            self.lines, self.trouble = shown(text.splitlines()), None
        except NpurunError as error:
            self.trouble = error

    def _run(self) -> None:
        while True:  # as long as somebody watches
            self.look()
            time.sleep(EVERY_S)


def shown(lines: Sequence[str]) -> list[str]:
    """Without npurun's own records, and without anything that a terminal would obey."""
    told = (line for line in lines if not line.startswith(RECORD_PREFIXES))
    return [redacted(plain(line)) for line in told]


def plain(line: str) -> str:
    """What is left of a progress bar that draws over itself is its last state."""
    text = _ESCAPES.sub("", line.rstrip("\r").rpartition("\r")[2]).expandtabs(4)
    return "".join(char for char in text if char.isprintable())
