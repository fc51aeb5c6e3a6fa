"""The node's NPUs by npu-smi: asked for as seldom as its cost demands, and never waited for beyond a bound."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from ..probes.devices import NPU_SMI_S, look
from ..probes.measure import NotMeasuredError
from ..probes.npu_smi import Device, UnreadableError, parse
from .tool import Ran

EVERY_S = 10.0
SHARE = 0.01
"""Of one core: so much may npu-smi take."""
MISSING_EVERY_S = 60.0
"""Where it is not there, or does not answer: it may be installed, or its driver recover."""
WAIT_S = NPU_SMI_S + 1.0
"""For one answer; then the sample goes without, and the answer belongs to the next."""


def interval_s(tool_s: float | None) -> float:
    """Seconds from one look to the next, by the CPU seconds that one takes (None: not measured)."""
    return max(EVERY_S, (tool_s or 0.0) / SHARE)


class Devices:
    """`read` is for one thread. At most one npu-smi runs at a time: one that hangs is not joined by others."""

    def __init__(self, run: Callable[[], Ran] = look, clock: Callable[[], float] = time.monotonic) -> None:
        self._run = run
        self._clock = clock
        self._looking: threading.Thread | None = None
        self._due = clock()
        self._seen: dict[str, Any] = {"devices": None, "devices_at": None, "why": "not asked for yet", "tool_s": None}

    def read(self, now: float, wait_s: float = WAIT_S) -> dict[str, Any]:
        """`devices`, `devices_at`, `why`, `tool_s`, `interval_s` of a sample. `now`: Unix seconds."""
        if self._looking is None and self._clock() >= self._due:
            looking = threading.Thread(target=self._look, args=(now,), daemon=True, name="npurun-npu-smi")
            looking.start()
            self._looking = looking  # only one that runs can be joined
        if self._looking is not None:
            self._looking.join(wait_s)
            if self._looking.is_alive():
                return {**self._none("npu-smi does not end"), "interval_s": EVERY_S}
            self._looking = None
        return {**self._seen, "interval_s": interval_s(self._seen["tool_s"])}

    def _look(self, now: float) -> None:
        began = self._clock()
        self._due = began + MISSING_EVERY_S
        try:
            ran = self._run()
            devices = [_as_json(number, one) for number, one in enumerate(parse(ran.text).devices)]
            self._seen = {"devices": devices, "devices_at": now, "why": None, "tool_s": ran.cpu_s}
            self._due = began + interval_s(ran.cpu_s)
        except (NotMeasuredError, UnreadableError, OSError) as error:
            self._seen = self._none(str(error))

    @staticmethod
    def _none(why: str) -> dict[str, Any]:
        return {"devices": None, "devices_at": None, "why": why, "tool_s": None}


def _as_json(number: int, device: Device) -> dict[str, Any]:
    """`number`: in npu-smi's table; where that has no physical id, it counts the devices as /dev/davinci does."""
    return {
        "npu": number if device.physical is None else device.physical,
        "use": device.use,
        "hbm_used_mb": device.hbm_used_mb,
        "hbm_total_mb": device.hbm_total_mb,
        "power_w": device.power_w,
        "temp_c": device.temp_c,
        "health": device.health,
    }
