"""The cluster's nodes and who holds their NPUs, as Ray shows them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from .compat import free_resources
from .placement import NodeFacts
from .say import clean

HOLDERS_TIMEOUT_S = 5
"""The State API may be slow or off; who holds the NPUs is a help and never a condition."""

HOLDERS_LIMIT = 1000
HOLDERS_SHOWN = 3


def read_nodes() -> list[NodeFacts]:
    import ray

    free = free_resources()
    draining = _draining()
    return [node_facts(node, free.get(node["NodeID"], {}), draining=node["NodeID"] in draining) for node in ray.nodes()]


def node_facts(node: Mapping[str, Any], free: Mapping[str, float], *, draining: bool = False) -> NodeFacts:
    """From one entry of `ray.nodes()` and its free resources (a resource that is used up has no key)."""
    total = node.get("Resources") or {}
    return NodeFacts(
        node_id=node["NodeID"],
        ip=node["NodeManagerAddress"],
        hostname=node.get("NodeManagerHostname") or "",
        alive=bool(node["Alive"]),
        draining=draining,
        death=node.get("DeathReasonMessage") or "",
        labels=dict(node.get("Labels") or {}),
        npus=total.get("NPU", 0),
        npus_free=free.get("NPU", 0),
        cpus=total.get("CPU", 0),
        cpus_free=free.get("CPU", 0),
    )


def read_holders() -> dict[str, list[str]]:
    """Who holds NPUs, by node id; empty when the State API does not answer in time."""
    import ray
    from ray.util import state

    options: dict[str, Any] = {
        "address": ray.get_runtime_context().gcs_address,  # two clusters on one host confuse the default
        "limit": HOLDERS_LIMIT,
        "timeout": HOLDERS_TIMEOUT_S,
        "detail": True,
        "raise_on_missing_output": False,
    }
    try:
        groups = state.list_placement_groups(filters=[("state", "=", "CREATED")], **options)
        actors = state.list_actors(filters=[("state", "=", "ALIVE")], **options)
        jobs = state.list_jobs(**options)
    except Exception:  # an optional help over HTTP to the dashboard: whatever fails there must not fail the attempt
        return {}
    submissions = {job["job_id"]: job["submission_id"] for job in map(_plain, jobs) if job.get("submission_id")}
    return holders(map(_plain, groups), map(_plain, actors), submissions)


def holders(
    groups: Iterable[Mapping[str, Any]], actors: Iterable[Mapping[str, Any]], submissions: Mapping[str, str]
) -> dict[str, list[str]]:
    """{node id: jobs whose placement groups or group-less actors hold NPUs there}, at most 3 and a count.

    A job is told by its submission id, of which `submissions` knows {Ray's job id: submission id}.
    """
    found: dict[str, dict[str, None]] = defaultdict(dict)  # ordered sets
    for node_id, job in (*_group_holders(groups), *_actor_holders(actors)):
        found[node_id][clean(submissions.get(job) or f"Ray job {job}")] = None
    return {node: _shown(list(names)) for node, names in found.items()}


def _group_holders(groups: Iterable[Mapping[str, Any]]) -> Iterable[tuple[str, str]]:
    for group in groups:
        for bundle in group.get("bundles") or ():
            if (bundle.get("unit_resources") or {}).get("NPU") and bundle.get("node_id"):
                yield bundle["node_id"], str(group.get("creator_job_id"))


def _actor_holders(actors: Iterable[Mapping[str, Any]]) -> Iterable[tuple[str, str]]:
    for actor in actors:
        if (actor.get("required_resources") or {}).get("NPU") and not actor.get("placement_group_id"):
            yield actor["node_id"], str(actor.get("job_id"))


def _shown(names: list[str]) -> list[str]:
    rest = len(names) - HOLDERS_SHOWN
    return [*names[:HOLDERS_SHOWN], *([f"{rest} more"] if rest > 0 else [])]


def _plain(item: Any) -> Mapping[str, Any]:
    return item if isinstance(item, Mapping) else vars(item)


def _draining() -> Mapping[str, int]:
    import ray

    read = getattr(ray._private.state.state, "get_draining_nodes", None)  # absent in older Ray
    return read() if read else {}
