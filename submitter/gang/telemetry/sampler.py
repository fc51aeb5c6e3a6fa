"""The node worker's own thread that samples the node; what it found is handed over with the answer to a ping."""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Callable
from typing import Any

from . import host
from .devices import EVERY_S, Devices


class Sampler:
    """Holds no NPU, no CPU of Ray's, and no lock that others wait for."""

    def __init__(
        self,
        devices: Devices | None = None,
        read_host: Callable[[], dict[str, Any]] = host.read,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._devices = devices or Devices()
        self._read_host = read_host
        self._clock = clock
        self._newest: dict[str, Any] | None = None
        self._started = threading.Lock()

    def start(self) -> None:
        """From now on, until the process ends; again: changes nothing."""
        if self._started.acquire(blocking=False):
            threading.Thread(target=self._run, daemon=True, name="npurun-telemetry").start()

    def news(self) -> dict[str, Any] | None:
        """The newest sample, once; without `node`, which the driver knows."""
        found, self._newest = self._newest, None
        return found

    def sample(self) -> dict[str, Any]:
        now = self._clock()
        return {"at": round(now, 3), "host": platform.node(), **self._read_host(), **self._devices.read(now)}

    def _run(self) -> None:
        while True:  # as long as the process lives
            began = time.monotonic()
            try:
                self._newest = self.sample()
            except Exception as error:  # a host that no test has seen: told, and looked at again
                self._newest = {"at": self._clock(), "devices": None, "why": f"{type(error).__name__}: {error}"}
            time.sleep(max(0.0, EVERY_S - (time.monotonic() - began)))
