"""What the cluster knows of an attempt beside its nodes: its Ray jobs, and what waits for a place. From the GCS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from .compat import living_actors
from .members import Gang

GCS_S = 5.0
SUBMISSION_KEY = "job_submission_id"
"""Ray's own metadata of a driver that was started below a submission."""
_WAITING = ("DEPENDENCIES_UNREADY", "PENDING_CREATION", "RESTARTING")
SHOWN = 10


def jobs_of(attempt: str) -> list[str]:
    """Hex ids of the Ray jobs that were started below the submission; empty where this Ray does not tell."""
    import ray

    try:
        table = ray._private.worker.global_worker.gcs_client.get_all_job_info(timeout=GCS_S)
    except Exception:  # private, and the GCS may be away: the nodes know most of the jobs themselves
        return []
    return [job.hex() for job, data in table.items() if dict(data.config.metadata).get(SUBMISSION_KEY) == attempt]


def own_job() -> str:
    import ray

    found: str = ray.get_runtime_context().get_job_id()
    return found


def waiting(gang: Gang) -> list[str]:
    """Lines: the gang's placement groups, actors that have no process yet, and what the scheduler cannot place."""
    return [*_groups(gang), *_actors(), *_demand()]


def _groups(gang: Gang) -> list[str]:
    from ray.util import placement_group_table

    table: Mapping[str, Mapping[str, Any]] = placement_group_table()
    states = Counter(table.get(group.id.hex(), {}).get("state", "gone") for group in gang.groups)
    others = Counter(one["state"] for one in table.values() if one["state"] not in ("CREATED", "REMOVED"))
    told = ", ".join(f"{count} {state}" for state, count in states.items())
    more = "".join(f"; in the whole cluster {count} {state}" for state, count in others.items())
    return [f"placement groups of the gang: {told}{more}"]


def _actors() -> list[str]:
    rows = [(state, actor) for state, actor in living_actors() if state in _WAITING]
    kinds = Counter(f"{actor.class_name or actor.name} ({state})" for state, actor in rows)
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(SHOWN))
    return [f"actors that wait for a process: {told or 'none'}"]


def _demand() -> list[str]:
    import ray

    try:
        from ray.autoscaler.v2.sdk import get_cluster_resource_state

        state = get_cluster_resource_state(ray._raylet.GcsClient(ray.get_runtime_context().gcs_address))
    except Exception as error:  # Ray before 2.41, or the GCS is away
        return [f"pending demand: not measured: {type(error).__name__}"]
    rows = Counter[str]()
    for one in state.pending_resource_requests:
        rows[str(dict(one.request.resources_bundle))] += one.count
    told = ", ".join(f"{count} x {kind}" for kind, count in rows.most_common(SHOWN))
    return [f"pending demand: {told or 'none'}"]
