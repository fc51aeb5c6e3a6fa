"""One sample of one node: a line of JSON in the telemetry file. The client reads it back with the same functions.

`{"at": Unix s, "node": IP, "host", "devices": [{"npu", "use" (%), "hbm_used_mb", "hbm_total_mb", "power_w", "temp_c",
"health"}] or null, "devices_at": Unix s, "why": why there are no devices, "interval_s": between two looks at them,
"tool_s": CPU seconds of one, "memory_used_mb", "memory_total_mb", "cpu_percent", "load"}`. null is not measured.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

TELEMETRY_FILE = "npurun-telemetry-{attempt}.log"
"""Beside the driver's own log, in the folder that Ray's State API reads from."""
LINE_MAX = 64 * 1024
"""Characters: a node of 64 devices needs 10,000."""
NAME_MAX = 64
"""Characters of an IP or a host name that is shown."""
DEVICES_MAX = 256
WHY_MAX = 200

_NUMBERS = ("devices_at", "interval_s", "tool_s", "memory_used_mb", "memory_total_mb", "cpu_percent", "load")
_DEVICE_NUMBERS = ("use", "hbm_used_mb", "hbm_total_mb", "power_w", "temp_c")


def sample_line(sample: Mapping[str, Any]) -> str:
    return json.dumps(dict(sample), separators=(",", ":"))


def parse_sample(line: str) -> dict[str, Any] | None:
    """The sample in `line`; None of anything else. What has another type than it should is not measured."""
    if not line.startswith("{") or len(line) > LINE_MAX:
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    at, node = _number(found.get("at")), _text(found.get("node"), NAME_MAX)
    if at is None or not node:
        return None
    devices = found.get("devices")
    return {
        "at": at,
        "node": node,
        "host": _text(found.get("host"), NAME_MAX),
        "devices": [_device(one) for one in devices[:DEVICES_MAX]] if isinstance(devices, list) else None,
        "why": _text(found.get("why"), WHY_MAX),
        **{name: _number(found.get(name)) for name in _NUMBERS},
    }


def _device(found: object) -> dict[str, Any]:
    device = found if isinstance(found, dict) else {}
    number = _number(device.get("npu"))
    return {
        "npu": None if number is None else int(number),
        **{name: _number(device.get(name)) for name in _DEVICE_NUMBERS},
        "health": _text(device.get("health"), NAME_MAX),
    }


def _number(value: object) -> float | None:
    """Also of what JSON has beyond JSON: a number that is none is not measured."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return value if math.isfinite(value) and abs(value) < 1e15 else None
    except OverflowError:
        return None


def _text(value: object, most: int) -> str | None:
    """UTF-8 has it: JSON may hold half a surrogate pair."""
    return value[:most].encode("utf-8", "replace").decode() if isinstance(value, str) else None
