"""Work beside the loop that nobody waits for: one piece after the other, in one thread."""

from __future__ import annotations

import queue
import threading
import traceback
from collections.abc import Callable


class Aside:
    """For one thread, but for the work itself. The thread is a daemon, and is there only once there was work."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[tuple[str, Callable[[], None]]] = queue.SimpleQueue()
        self._keys: set[str] = set()
        self._thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        return bool(self._keys)

    def put(self, key: str, work: Callable[[], None]) -> bool:
        """False: work of that key is waiting or being done."""
        if key in self._keys:
            return False
        self._keys.add(key)
        self._waiting.put((key, work))
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="aside", daemon=True)
            self._thread.start()
        return True

    def _run(self) -> None:
        while True:
            key, work = self._waiting.get()
            try:
                work()
            except Exception:  # a bug in one piece must not end the thread: others would wait for ever
                traceback.print_exc()
            finally:
                self._keys.discard(key)
