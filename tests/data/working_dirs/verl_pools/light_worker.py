"""A worker of verl's RayWorkerGroup that imports neither verl nor torch, so that 64 of them fit on one machine."""

from __future__ import annotations

import os
import re
import sys
from typing import Any


class LightWorker:
    def where(self) -> dict[str, Any]:
        """Where this rank runs: node, placement group, bundle, and the device ids that Ray gave it."""
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
            "bundle": bundle_index(),
            "npu": context.get_accelerator_ids()["NPU"],
            "heavy": sorted({"torch", "verl"} & set(sys.modules)),
        }


def bundle_index() -> int:
    """From the resource `bundle_group_<index>_<group id>`, which every actor in a bundle holds a bit of."""
    import ray

    held = ray._private.worker.global_worker.core_worker.resource_ids()
    (index,) = [int(found[1]) for name in held if (found := re.fullmatch(r"bundle_group_(\d+)_[0-9a-f]+", name))]
    return index
