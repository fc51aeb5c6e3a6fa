"""Steps and samples as Ray's own metrics: whoever scrapes the cluster has them, with `ray_` before each name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..step_lines import Step

PHASE = "timing_s/"
REWARDS = ("critic/rewards/mean", "critic/score/mean")
"""The first that is there."""


@dataclass(frozen=True)
class Gauge:
    name: str
    about: str
    tags: tuple[str, ...] = ()
    """Besides `run`."""


GAUGES = (
    Gauge("npurun_step", "The last step that the trainer has logged"),
    Gauge("npurun_total_steps", "How many steps the trainer will make"),
    Gauge("npurun_reward", "Mean reward of the last step"),
    Gauge("npurun_phase_seconds", "Seconds that a part of the last step took, by verl's name for it", ("phase",)),
    Gauge("npurun_npu_use_percent", "Use of the NPU's AI cores", ("node", "npu")),
    Gauge("npurun_npu_hbm_used_mb", "HBM in use, in 2**20 bytes", ("node", "npu")),
    Gauge("npurun_npu_hbm_total_mb", "HBM, in 2**20 bytes", ("node", "npu")),
    Gauge("npurun_npu_power_watts", "Power of the card; of two chips on one card, the first tells it", ("node", "npu")),
    Gauge("npurun_npu_temperature_celsius", "Temperature of the NPU", ("node", "npu")),
    Gauge("npurun_npu_healthy", "1: npu-smi says OK", ("node", "npu")),
    Gauge("npurun_node_memory_used_mb", "Host memory in use, in 2**20 bytes", ("node",)),
    Gauge("npurun_node_memory_total_mb", "Host memory, or the container's limit, in 2**20 bytes", ("node",)),
)

_OF_DEVICE = {
    "npurun_npu_use_percent": "use",
    "npurun_npu_hbm_used_mb": "hbm_used_mb",
    "npurun_npu_hbm_total_mb": "hbm_total_mb",
    "npurun_npu_power_watts": "power_w",
    "npurun_npu_temperature_celsius": "temp_c",
}
_OF_NODE = {"npurun_node_memory_used_mb": "memory_used_mb", "npurun_node_memory_total_mb": "memory_total_mb"}

Value = tuple[str, float, dict[str, str]]
"""Gauge, number, tags besides `run`."""


def of_step(step: Step, total: int | None) -> Iterator[Value]:
    yield "npurun_step", step.number, {}
    if total is not None:
        yield "npurun_total_steps", total, {}
    reward = next((step.metrics[name] for name in REWARDS if name in step.metrics), None)
    if reward is not None:
        yield "npurun_reward", reward, {}
    for name, value in step.metrics.items():
        if name.startswith(PHASE) and "/" not in name[len(PHASE) :]:
            yield "npurun_phase_seconds", value, {"phase": name[len(PHASE) :]}


def of_sample(sample: Mapping[str, Any]) -> Iterator[Value]:
    """What is not measured has no value, and none is set."""
    node = {"node": str(sample["node"])}
    for gauge, name in _OF_NODE.items():
        if sample.get(name) is not None:
            yield gauge, sample[name], node
    for device in sample.get("devices") or ():
        tags = {**node, "npu": str(device["npu"])}
        for gauge, name in _OF_DEVICE.items():
            if device.get(name) is not None:
                yield gauge, device[name], tags
        if device.get("health"):
            yield "npurun_npu_healthy", float(device["health"] == "OK"), tags


class RayGauges:
    """Off for good, and told once, when Ray does not take them."""

    def __init__(self, run: str, warn: Callable[[str], None]) -> None:
        self._run = run
        self._warn = warn
        self._gauges: dict[str, Any] | None = None
        self._off = False

    def set(self, values: Iterator[Value]) -> None:
        if self._off:
            return
        try:
            gauges = self._made()
            for name, value, tags in values:
                gauges[name].set(value, tags={"run": self._run, **tags})
        except Exception as error:  # whatever Ray's exporter has: no reason to touch the training
            self._off = True
            self._warn(f"metrics: not published through Ray: {type(error).__name__}: {error}")

    def _made(self) -> dict[str, Any]:
        if self._gauges is None:
            from ray.util import metrics

            self._gauges = {
                one.name: metrics.Gauge(one.name, description=one.about, tag_keys=("run", *one.tags)) for one in GAUGES
            }
        return self._gauges
