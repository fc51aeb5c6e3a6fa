"""The one table of reasons why an attempt ends: code, `npurun explain` and the docs are fed from it.

The texts of a reason are `reason.<id>` (one line), `reason.<id>.means` and `reason.<id>.fix` in texts/reasons_*.py;
those of a family are `reason.family.<family>`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Retry = Literal["now", "backoff", "exclude_node", "after_change", "never", "unknown"]
"""What helps. `backoff` covers waiting for the cluster; `after_change`: job or code must change first, by policy or a
person; `never`: nothing to retry."""

Family = Literal[
    "outcome",
    "attempt",
    "ray_job",
    "cluster",
    "placement",
    "config",
    "arithmetic",
    "version",
    "device_memory",
    "host_memory",
    "process",
    "network",
    "device",
    "checkpoint",
    "storage",
    "rollout",
    "data",
    "user_code",
]


@dataclass(frozen=True)
class Reason:
    id: str
    family: Family
    retry: Retry
    blames_node: bool = False
    """The node that the evidence names is at fault: another one may do."""


_Row = tuple[str, Retry] | tuple[str, Retry, Literal["node"]]
"""Id, what helps, and "node" where the node named by the evidence is at fault."""

_FAMILIES: Mapping[Family, tuple[_Row, ...]] = {
    "outcome": (
        ("succeeded", "never"),
        ("stopped", "never"),
        ("still_running", "never"),
        ("unknown", "unknown"),
    ),
    # What the attempt's driver or the supervisor ends an attempt for (gang/record.py).
    "attempt": (
        ("trainer_failed", "unknown"),
        ("not_placed", "backoff"),
        ("flags_missing", "after_change"),
        ("secret_missing", "after_change"),
        ("node_frozen", "exclude_node", "node"),
        ("node_lost", "exclude_node", "node"),
        ("node_unfit", "backoff"),
        ("fence_failed", "exclude_node", "node"),
        ("launch_failed", "after_change"),
        ("driver_error", "unknown"),
        ("hung", "now"),
        ("no_checkpoint", "after_change"),
    ),
    # Ray's own error types of a job, in small letters.
    "ray_job": (
        ("runtime_env_setup_failure", "after_change"),
        ("job_supervisor_actor_start_timeout", "backoff"),
        ("job_supervisor_actor_start_failure", "backoff"),
        ("job_supervisor_actor_unschedulable", "backoff"),
        ("job_supervisor_actor_unknown_failure", "backoff"),
        ("job_supervisor_actor_died", "now"),
        ("job_entrypoint_command_start_error", "after_change"),
        ("job_entrypoint_command_error", "unknown"),
        ("runtime_env_conflict", "after_change"),
        ("package_missing", "now"),
    ),
    "cluster": (
        ("cluster_lost", "backoff"),
        ("gcs_lost", "backoff"),
        ("raylet_lost", "exclude_node", "node"),
        ("worker_not_registered", "after_change", "node"),
        ("host_limits", "after_change", "node"),
        ("ray_ports_exhausted", "after_change", "node"),
    ),
    "placement": (
        ("resources_missing", "after_change"),
        ("placement_timeout", "after_change"),
        ("no_npu_on_node", "after_change"),
        ("devices_not_visible", "after_change"),
    ),
    "config": (
        ("config_unknown_key", "after_change"),
        ("config_syntax", "after_change"),
        ("config_value", "after_change"),
        ("config_missing", "after_change"),
        ("option_removed", "after_change"),
        ("model_not_found", "after_change"),
        ("model_broken", "after_change"),
        ("model_unsupported", "after_change"),
    ),
    "arithmetic": (
        ("batch_not_divisible", "after_change"),
        ("layout_not_divisible", "after_change"),
        ("length_limits", "after_change"),
        ("shape_mismatch", "after_change"),
        ("not_finite", "after_change"),
    ),
    "version": (
        ("ray_version_mismatch", "after_change"),
        ("module_missing", "after_change"),
        ("import_failed", "after_change"),
        ("library_missing", "after_change"),
        ("api_changed", "after_change"),
        ("operator_unsupported", "after_change"),
        ("cann_missing", "after_change"),
        ("driver_mismatch", "after_change", "node"),
    ),
    "device_memory": (
        ("npu_out_of_memory", "after_change"),
        ("kv_cache_too_small", "after_change"),
        ("device_memory_taken", "backoff", "node"),
    ),
    "host_memory": (
        ("ray_oom_killed", "now"),
        ("host_out_of_memory", "backoff", "node"),
        ("shm_full", "after_change"),
        ("object_store_full", "after_change"),
    ),
    "process": (
        ("actor_died", "now"),
        ("actor_unavailable", "backoff"),
        ("worker_crashed", "now"),
        ("worker_killed", "now"),
        ("actor_creation_cancelled", "backoff"),
        ("object_lost", "now"),
        ("actor_name_taken", "now"),
    ),
    "network": (
        ("collective_timeout", "now"),
        ("peer_lost", "now"),
        ("connect_failed", "after_change"),
        ("rendezvous_failed", "backoff"),
        ("interface_missing", "after_change"),
        ("address_in_use", "now"),
        ("nccl_error", "backoff"),
        ("download_failed", "backoff"),
        ("tracking_failed", "after_change"),
        ("hccl_timeout", "now"),
        ("hccl_init_failed", "backoff"),
        ("hccl_port_in_use", "after_change"),
        ("hccl_link_error", "backoff"),
        ("hccl_inconsistent", "after_change"),
        ("hccl_config", "after_change"),
    ),
    "device": (
        ("device_lost", "exclude_node", "node"),
        ("device_error", "exclude_node", "node"),
        ("device_memory_fault", "exclude_node", "node"),
        ("device_in_use", "backoff", "node"),
        ("device_link_error", "exclude_node", "node"),
        ("sdma_error", "now"),
        ("aicore_error", "now"),
        ("stream_resources", "after_change"),
        ("operator_failed", "after_change"),
        ("compile_failed", "after_change"),
    ),
    "checkpoint": (
        ("checkpoint_missing", "after_change"),
        ("checkpoint_incomplete", "after_change"),
        ("checkpoint_world_size", "after_change"),
        ("checkpoint_mismatch", "after_change"),
        ("checkpoint_save_failed", "backoff"),
    ),
    "storage": (
        ("disk_full", "after_change"),
        ("permission_denied", "after_change"),
        ("stale_file_handle", "backoff", "node"),
        ("storage_error", "backoff", "node"),
        ("file_missing", "after_change"),
    ),
    "rollout": (
        ("rollout_engine_died", "now"),
        ("rollout_start_failed", "unknown"),
        ("rollout_timeout", "now"),
        ("sleep_mode_unavailable", "after_change"),
        ("sleep_wake_failed", "now"),
        ("weight_sync_failed", "now"),
        ("weight_bucket_too_small", "after_change"),
        ("no_trajectories", "unknown"),
    ),
    "data": (
        ("data_missing", "after_change"),
        ("data_unreadable", "after_change"),
        ("data_column_missing", "after_change"),
        ("data_empty", "after_change"),
        ("prompt_too_long", "after_change"),
        ("tokenizer_failed", "after_change"),
    ),
    "user_code": (
        ("reward_error", "after_change"),
        ("reward_not_found", "after_change"),
        ("user_exception", "after_change"),
    ),
}

REASONS: Mapping[str, Reason] = {
    row[0]: Reason(row[0], family, row[1], blames_node=len(row) == 3)
    for family, rows in _FAMILIES.items()
    for row in rows
}
FAMILIES: tuple[Family, ...] = tuple(_FAMILIES)


def of_error_type(error_type: str | None) -> Reason | None:
    """The reason for a `JobErrorType` of Ray (`JOB_SUPERVISOR_ACTOR_DIED`), None for one that is not known."""
    reason = REASONS.get((error_type or "").lower())
    return reason if reason is not None and reason.family == "ray_job" else None
