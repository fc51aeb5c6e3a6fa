"""What a node worker remembers while the trainer lives, so that it can tell of it when all are dead."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from . import oom
from .processes import Process, of_attempt

NOTE_EVERY_S = 5.0
"""A sweep over /proc takes some hundredths of a second on a host with a thousand processes."""
GONE_KEPT = 10_000
"""Those that went last. A reward function may start some for every answer, for weeks."""
CLOCKS_DIFFER_S = 5.0
"""Between this host's clock and that of a file server."""


class Known:
    """Processes of the attempt that have been here, and how things were when it began."""

    def __init__(self, attempt: str, find: Callable[[str], list[Process]] = of_attempt) -> None:
        self._attempt = attempt
        self._find = find
        self._processes: dict[tuple[int, str], Process] = {}
        self._started = False
        self.since = time.time() - CLOCKS_DIFFER_S
        self.since_boot = time.clock_gettime(time.CLOCK_BOOTTIME)
        self.oom_kills = oom.oom_kills()

    def start(self) -> None:
        """Note from now on, in the background; a second call does nothing."""
        if not self._started:
            self._started = True
            threading.Thread(target=self._keep_noting, daemon=True, name="npurun-known").start()

    def note(self) -> None:
        here = {(one.pid, one.started): one for one in self._find(self._attempt)}
        gone = [one for one in self._processes.items() if one[0] not in here]
        self._processes = {**dict(gone[-GONE_KEPT:]), **here}

    def pids(self) -> set[int]:
        return {pid for pid, _ in self._processes}

    def jobs(self) -> set[str]:
        """Hex ids of the Ray jobs that they were started for."""
        return {one.ray_job for one in self._processes.values() if one.ray_job}

    def new_oom_kills(self) -> int | None:
        """Since the beginning; None: not told."""
        now = oom.oom_kills()
        return None if now is None or self.oom_kills is None else now - self.oom_kills

    def _keep_noting(self) -> None:
        while True:
            self.note()
            time.sleep(NOTE_EVERY_S)
