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


def living_actors() -> list[Any]:
    """`ActorTableData` of each actor that is not dead, with its runtime environment, which no public call tells.

    Straight from the GCS: the State API goes through the dashboard, which may be off.
    """
    from ray._private.state import state
    from ray.core.generated.gcs_pb2 import ActorTableData

    connect = getattr(state, "_connect_and_get_accessor", None)  # absent in 2.46, where ray.nodes() has connected it
    accessor = connect() if connect else state.global_state_accessor
    return [ActorTableData.FromString(row) for name in _LIVING for row in accessor.get_actor_table(None, name)]


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
