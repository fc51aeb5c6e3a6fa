"""A worker of verl's RayWorkerGroup that imports neither verl nor torch, so that 64 of them fit on one machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any


class LightWorker:
    def where(self) -> dict[str, Any]:
        """Where this rank runs. `npu` is the device id that Ray gave it: one per bundle of its node."""
        import ray
        from ray.util.placement_group import get_current_placement_group

        context = ray.get_runtime_context()
        return {
            "rank": int(os.environ["RANK"]),
            "world_size": int(os.environ["WORLD_SIZE"]),
            "master": os.environ["MASTER_ADDR"],
            "name": context.get_actor_name(),
            "node_id": context.get_node_id(),
            "ip": ray.util.get_node_ip_address(),
            "group": get_current_placement_group().id.hex(),
            "resources": context.get_assigned_resources(),
            "npu": context.get_accelerator_ids()["NPU"],
            "rss_mib": int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20,
            "heavy": sorted({"torch", "verl"} & set(sys.modules)),
        }
