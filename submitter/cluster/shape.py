"""A live cluster's nodes, as the State API's rows tell them, for the rules that compare them with a job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from submitter.checks.cluster_node import ClusterNode
from submitter.cluster.client import RayClient
from submitter.gang.placement import ACCELERATOR_LABEL

_TYPE_RESOURCE = "accelerator_type:"
"""Ray's older way to name it: a resource `accelerator_type:Ascend910B`."""


def cluster_nodes(client: RayClient) -> tuple[ClusterNode, ...]:
    """Every node that is alive, by IP; `RayError` when the cluster cannot be asked."""
    found = (cluster_node(row) for row in client.nodes())
    return tuple(sorted((node for node in found if node.alive), key=lambda node: node.ip))


def cluster_node(row: Mapping[str, Any]) -> ClusterNode:
    """From one row of `/api/v0/nodes?detail=1` (Ray 2.41 to 2.60): totals, and labels where that Ray has them."""
    total = _table(row.get("resources_total"))
    labels = {str(name): str(value) for name, value in _table(row.get("labels")).items()}
    return ClusterNode(
        ip=str(row.get("node_ip") or ""),
        npus=int(_number(total.get("NPU"))),
        cpus=_number(total.get("CPU")),
        labels=labels,
        gpus=int(_number(total.get("GPU"))),
        accelerator_type=labels.get(ACCELERATOR_LABEL) or _type(total),
        alive=row.get("state") == "ALIVE",
    )


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _type(total: Mapping[str, Any]) -> str | None:
    names = (name for name in total if name.startswith(_TYPE_RESOURCE))
    return next((name.removeprefix(_TYPE_RESOURCE) for name in names), None)
