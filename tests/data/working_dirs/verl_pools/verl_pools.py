"""Stands in for a trainer: builds pools and worker groups by verl's own classes, and prints where each rank landed.

    python3 verl_pools.py '{"global_pool": [16, 16, 16, 16]}'

Pools are built one manager after the other when the argument is a list of such objects.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

RESULT = "RESULT "


def main() -> None:
    import ray
    import verl
    from verl.single_controller.ray.base import ResourcePoolManager

    use_npu_platform()
    ray.init()
    specs = json.loads(sys.argv[1])
    result: dict[str, Any] = {"verl": verl.__version__, "verl_file": verl.__file__, "pools": {}, "refused": None}
    keep = []  # a group whose handles are collected ends its actors
    for spec in specs if isinstance(specs, list) else [specs]:
        manager = ResourcePoolManager(resource_pool_spec=spec, mapping={})
        started = time.monotonic()
        try:
            manager.create_resource_pool()
        except RuntimeError as error:
            result["refused"] = {"message": str(error), "seconds": time.monotonic() - started}
            break
        for name, pool in manager.resource_pool_dict.items():
            groups = worker_groups(name, pool)
            keep.append(groups)
            result["pools"][name] = [group.execute_all_sync("where") for group in groups]
    result["cpu_ranks"] = cpu_ranks()
    result["no_npu"] = [ray.get(actor.where.remote()) for actor in actors_without_npu()]
    print(RESULT + json.dumps(result), flush=True)


def use_npu_platform() -> None:
    """verl's own Ascend platform without torch_npu: only its names of Ray resources are needed here."""
    try:
        from verl.plugin.platform import set_platform
        from verl.plugin.platform.platform_npu import PlatformNPU
    except ImportError:
        return  # verl before 0.9 goes by device_name
    set_platform(PlatformNPU())


def worker_groups(name: str, pool: Any) -> list[Any]:
    """One group over the pool; for a pool whose name ends in `_split`, one per half, as reward models are started."""
    import ray
    from light_worker import LightWorker
    from verl.single_controller.ray.base import RayClassWithInitArgs, RayWorkerGroup, split_resource_pool

    parts = split_resource_pool(pool, pool.world_size // 2) if name.endswith("_split") else [pool]
    return [
        RayWorkerGroup(
            resource_pool=part,
            ray_cls_with_init=RayClassWithInitArgs(ray.remote(LightWorker)),
            name_prefix=f"{name}_{index}_",
            device_name="npu",
        )
        for index, part in enumerate(parts)
    ]


def cpu_ranks() -> list[dict[str, Any]]:
    """A pool without NPUs: one rank on each of two nodes."""
    import ray
    from light_worker import LightWorker
    from verl.single_controller.ray.base import RayClassWithInitArgs, RayResourcePool, RayWorkerGroup

    pool = RayResourcePool([1, 1], use_gpu=False, name_prefix="cpu_pool", max_colocate_count=2)
    group = RayWorkerGroup(resource_pool=pool, ray_cls_with_init=RayClassWithInitArgs(ray.remote(LightWorker)))
    ranks: list[dict[str, Any]] = group.execute_all_sync("where")
    return ranks


def actors_without_npu() -> list[Any]:
    """As verl starts them: no strategy, and a soft affinity to each node that Ray lists, in turn."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    class Helper:
        def where(self) -> str:
            return str(ray.get_runtime_context().get_node_id())

    helper = ray.remote(Helper)
    soft = [NodeAffinitySchedulingStrategy(node["NodeID"], soft=True) for node in ray.nodes()]
    return [helper.remote(), *[helper.options(scheduling_strategy=strategy).remote() for strategy in soft]]


if __name__ == "__main__":
    main()
