"""What verl asks of `torch.npu` or `torch.cuda`, answered for a CPU."""

from __future__ import annotations

import resource
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch

TOTAL_BYTES = 8 << 30
"""A figure for verl's memory reports; nothing is allocated by it."""

_NOTHING_TO_DO = (
    "empty_cache",
    "ipc_collect",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_peak_memory_stats",
    "set_device",
    "set_per_process_memory_fraction",
)
_PEAK_MEMORY = ("max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved")


class CpuDevice:
    """Stands where verl expects the module `torch.<device>`; what is not named here is `torch.cpu`'s."""

    def __getattr__(self, name: str) -> Any:
        if name in _NOTHING_TO_DO:
            return _nothing
        if name in _PEAK_MEMORY:
            return _peak_bytes
        return getattr(torch.cpu, name)

    manual_seed: Callable[[int], Any] = staticmethod(torch.manual_seed)
    manual_seed_all: Callable[[int], Any] = staticmethod(torch.manual_seed)

    def is_available(self) -> bool:
        return True

    def device_count(self) -> int:
        return 1

    def current_device(self) -> str:
        return "cpu"

    def get_device_name(self, *_: object) -> str:
        return "cpu"

    def get_device_properties(self, *_: object) -> SimpleNamespace:
        return SimpleNamespace(name="cpu", total_memory=TOTAL_BYTES)

    def mem_get_info(self, *_: object) -> tuple[int, int]:
        """(free, total) bytes."""
        return TOTAL_BYTES - _peak_bytes(), TOTAL_BYTES

    def get_rng_state(self, *_: object) -> torch.Tensor:
        return torch.get_rng_state()

    def set_rng_state(self, state: torch.Tensor, *_: object) -> None:
        torch.set_rng_state(state)


def _nothing(*_: object, **__: object) -> None:
    return None


def _peak_bytes(*_: object) -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
