"""The platform `cpu_rehearsal`: device cpu, Ray resource NPU, collectives by gloo."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from verl.plugin.platform.platform_base import PlatformBase
from verl.plugin.platform.platform_manager import PlatformRegistry

from .device import CpuDevice

NAME = "cpu_rehearsal"


@PlatformRegistry.register(platform=NAME)
class CpuRehearsal(PlatformBase):  # type: ignore[misc]
    device_name = "cpu"
    vendor_name = NAME
    device_module = CpuDevice()

    def is_available(self) -> bool:
        return True

    def is_platform_available(self, use_smi_check: bool = False) -> bool:
        """Never found by probing: only VERL_PLATFORM may choose a rehearsal."""
        return False

    def ray_resource_name(self) -> str:
        return "NPU"

    def ray_noset_envvars(self) -> list[str]:
        return []

    def visible_devices_envvar(self) -> str:
        return "NPURUN_REHEARSAL_VISIBLE_DEVICES"

    def communication_backend_name(self) -> str:
        """verl asks for this to build "cpu:gloo,<device>:<name>", which torch refuses for device cpu (twice the same
        device), and only then looks whether a process group exists. So a worker's group is brought up here.
        """
        if {"RANK", "WORLD_SIZE", "WG_PREFIX"} <= os.environ.keys() and not torch.distributed.is_initialized():
            rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
            torch.distributed.init_process_group("cpu:gloo", rank=rank, world_size=world_size)
        return "gloo"

    def current_device(self) -> str:
        return "cpu"

    def device_count(self) -> int:
        return 1

    def set_device(self, device_index: int) -> None:
        return None

    def synchronize(self, device_index: int | None = None) -> None:
        return None

    def manual_seed(self, seed: int) -> None:
        torch.manual_seed(seed)

    def manual_seed_all(self, seed: int) -> None:
        torch.manual_seed(seed)

    def set_allocator_settings(self, settings: str) -> None:
        return None

    def empty_cache(self) -> None:
        return None

    def get_device_capability(self, device_index: int = 0) -> tuple[int | None, int | None]:
        return (None, None)

    @contextmanager
    def nvtx_range(self, msg: str) -> Iterator[None]:
        yield

    def profiler_start(self) -> None:
        return None

    def profiler_stop(self) -> None:
        return None

    def is_ipc_supported(self) -> bool:
        return False

    def cudart(self) -> Any:
        return None
