"""Sessions as this process knows them: signed ones, but for those that were logged out of."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from submitter.watch.web.keys import Keys

ENDED_KEPT = 10_000
"""The newest. One is forgotten when the process ends, too: a stolen cookie then counts until its own end, or until the
token's file is removed."""


class Sessions:
    """Threads share it."""

    def __init__(self, keys: Keys, clock: Callable[[], float] = time.time) -> None:
        self._keys = keys
        self._clock = clock
        self._ended: OrderedDict[str, None] = OrderedDict()

    def new(self) -> str:
        return self._keys.new_session(self._clock())

    def is_open(self, session: str) -> bool:
        return session not in self._ended and self._keys.is_session(session, self._clock())

    def end(self, session: str) -> None:
        if self.is_open(session):
            self._ended[session] = None
            while len(self._ended) > ENDED_KEPT:
                self._ended.popitem(last=False)
