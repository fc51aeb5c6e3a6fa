"""Work that may never return, such as a read from a dead NFS server, waited for no longer than a bound."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Bounded(Generic[Value]):
    """`value` once it is there, or `why` there is none."""

    def __init__(self, work: Callable[[], Value], seconds: float) -> None:
        """Returns after `seconds` at the latest. The thread is a daemon: it never holds the process at its end."""
        self.value: Value | None = None
        self.why = f"no result within {seconds:g} s"
        thread = threading.Thread(target=self._run, args=(work,), daemon=True, name="npurun-bounded")
        thread.start()
        thread.join(seconds)

    def _run(self, work: Callable[[], Value]) -> None:
        try:
            self.value = work()
            self.why = ""
        except Exception as error:  # a host that no test has seen: told, and the rest still counts
            self.why = f"{type(error).__name__}: {error}"
