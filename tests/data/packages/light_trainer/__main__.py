"""A trainer that places one worker with an NPU in every bundle that the gang has reserved, as verl's plugin does."""

import os

import ray
from ray._raylet import PlacementGroupID
from ray.util.placement_group import PlacementGroup
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy


@ray.remote(num_cpus=1, resources={"NPU": 1})
class Worker:
    def told(self):
        seen = [os.environ.get(name) for name in ("VLLM_USE_V1", "ASCEND_RT_VISIBLE_DEVICES")]
        return f"worker on {ray.util.get_node_ip_address()} flag {seen[0]} visible {seen[1]}"


ray.init(logging_level="warning")
actor = ray.get_actor("gang", namespace=f"npurun-{os.environ['NPURUN_ATTEMPT']}")  # held: an older Ray wants it so
gang = ray.get(actor.facts.remote())
workers = [
    Worker.options(scheduling_strategy=PlacementGroupSchedulingStrategy(group, bundle)).remote()
    for group in (PlacementGroup(PlacementGroupID(bytes.fromhex(hexed))) for hexed in gang["groups"])
    for bundle in range(gang["bundles_per_group"])
]
for line in ray.get([worker.told.remote() for worker in workers], timeout=120):
    print(line)
print(f"Ray {ray.__version__}, bundles by label: {gang['supports_label_selector']}")
