"""What differs between the Ray releases that the gang runs on (tested: 2.41.0, 2.46.0 and 2.60.0)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

NODE_ID_LABEL = "ray.io/node-id"

BUNDLE_LABELS_SINCE = (2, 49)
"""First release whose documentation has `bundle_label_selector`; 2.46.0 does not know the argument."""

NODE_RESOURCE_SHARE = 0.001
"""Each node has 1.0 of the resource "node:<its ip>": a thousandth pins a bundle to it and keeps room for 1000."""


def version() -> tuple[int, int]:
    """(major, minor) of the cluster's Ray; a driver's is always the same."""
    import ray

    return parse_version(ray.__version__)


def parse_version(text: str) -> tuple[int, int]:
    """(0, 0) for a text that is no version: the oldest ways work everywhere."""
    numbers = re.match(r"(\d+)\.(\d+)", text)
    return (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)


def supports_bundle_labels() -> bool:
    return version() >= BUNDLE_LABELS_SINCE


def pinned_group(bundles: Sequence[Mapping[str, float]], node_id: str, ip: str, *, by_label: bool) -> dict[str, Any]:
    """Arguments of `placement_group` that put all `bundles` on one node."""
    if by_label:
        return {
            "bundles": [dict(bundle) for bundle in bundles],
            "bundle_label_selector": [{NODE_ID_LABEL: node_id} for _ in bundles],
        }
    return {"bundles": [{**bundle, f"node:{ip}": NODE_RESOURCE_SHARE} for bundle in bundles]}


_LIVING = ("DEPENDENCIES_UNREADY", "PENDING_CREATION", "ALIVE", "RESTARTING")


def living_actors() -> list[tuple[str, Any]]:
    """(state, `ActorTableData`) of each actor that is not dead: no public call tells its runtime environment.

    Straight from the GCS: the State API goes through the dashboard, which may be off.
    """
    from ray._private.state import state
    from ray.core.generated.gcs_pb2 import ActorTableData

    connect = getattr(state, "_connect_and_get_accessor", None)  # absent in 2.46, where ray.nodes() has connected it
    accessor = connect() if connect else state.global_state_accessor
    return [(name, ActorTableData.FromString(row)) for name in _LIVING for row in accessor.get_actor_table(None, name)]


END_ACTOR_S = 5.0


def end_actor(actor_id: bytes) -> None:
    """Kills it for good, whoever made it. Raises grpc.RpcError.

    The GCS's own call: `ray.kill` wants a handle, which there is for named actors only. A worker that is killed while
    it starts for an actor's restart costs the actor no restart, so that killing processes alone never ends.
    """
    import ray
    from ray.core.generated import gcs_service_pb2, gcs_service_pb2_grpc

    try:
        from ray._private.grpc_utils import init_grpc_channel
    except ImportError:  # 2.46 and older
        from ray._private.utils import init_grpc_channel
    channel = init_grpc_channel(ray.get_runtime_context().gcs_address)
    stub = gcs_service_pb2_grpc.ActorInfoGcsServiceStub(channel)
    request = gcs_service_pb2.KillActorViaGcsRequest(actor_id=actor_id, force_kill=True, no_restart=True)
    try:
        stub.KillActorViaGcs(request, timeout=END_ACTOR_S)
    finally:
        channel.close()


def free_resources() -> dict[str, dict[str, float]]:
    """Free amounts by node id; a resource of which nothing is free is absent.

    Private in every release so far (verl uses it too); RuntimeError says so when it is gone.
    """
    from ray._private import state

    function = getattr(state, "available_resources_per_node", None)
    if function is None:
        raise RuntimeError(f"Ray {'.'.join(map(str, version()))} has no available_resources_per_node")
    free: dict[str, dict[str, float]] = function()
    return free
