"""Why an attempt ends early, and the request to stop: how the driver's steps leave off in the middle."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from types import FrameType


@dataclass(eq=False)
class Ended(Exception):
    """Raised by a step of the driver; becomes the end record. Fields as in `record.End`."""

    reason: str
    node: str | None = None
    code: int | None = None
    evidence: tuple[str, ...] = ()
    quarantine: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__init__(self.reason)


class Stop:
    """Ray stops a job by SIGTERM to the driver *and* to each of its descendants: it is noted here, never sent on."""

    def __init__(self) -> None:
        self.requested = False

    def listen(self) -> None:
        """Again after `ray.init`, which installs a handler of its own that exits."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._note)

    def check(self) -> None:
        if self.requested:
            raise Ended("stopped")

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.requested = True
