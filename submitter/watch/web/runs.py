"""Runs that somebody looks at, read once however many look. Threads share it."""

from __future__ import annotations

import threading
from collections import OrderedDict

from submitter.ledger import Ledger
from submitter.watch.live import LiveRun

KEPT_RUNS = 32
"""Those that were looked at last; one of 100,000 steps takes some 30 MB."""


class Runs:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._alone = threading.Lock()
        self._runs: OrderedDict[str, LiveRun] = OrderedDict()

    def fresh(self, name: str) -> LiveRun:
        """Read up to now. UnknownRunError."""
        with self._alone:
            found = self._runs.get(name)
            if found is None:
                found = self._runs[name] = LiveRun(self._ledger, name)
            self._runs.move_to_end(name)
            while len(self._runs) > KEPT_RUNS:
                self._runs.popitem(last=False)
        found.refresh()
        return found
