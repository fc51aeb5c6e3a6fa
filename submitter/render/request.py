"""Job + facts of one attempt -> the body of the POST to /api/jobs/. Reads no clock, environment, disk or network."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runtime_env.build import OF_ATTEMPT, build
from runtime_env.ids import submission_id
from submitter.errors import UsageError
from submitter.gang.attempt_safe import FIRST, as_in_job
from submitter.gang.compat import parse_version
from submitter.gang.plan import PACKAGE
from submitter.job.model import Job

HEAD_PLACEHOLDER = "<head-node-id>"
"""Stands for the head node's id when no cluster was asked."""

ENTRYPOINT = ("python3", "-m", PACKAGE)

LABEL_SELECTORS_SINCE = (2, 54)
"""`entrypoint_label_selector` of JobSubmitRequest came with Ray 2.54.0 (ray#59735): its wheel has the field, 2.53.0's
has not. An older Ray answers an unknown field with 400. Ray's docs tell of label selectors in tasks and placement
group bundles since 2.49."""

OLDEST_RAY = (2, 41)
"""The oldest release that the gang was run on, and that verl asks for."""
UNKNOWN_RAY = (0, 0)

NODE_ID_LABEL = "ray.io/node-id"
HEAD_RESOURCE = "node:__internal_head__"
HEAD_RESOURCE_SHARE = 0.001
"""Ray gives this resource to the head alone (1.0 of it): the smallest share pins the driver and blocks nobody.
Any entrypoint resource also keeps Ray from stripping the NOSET flag."""

RUN_KEY, ATTEMPT_KEY, SPEC_KEY, JOB_KEY = "npurun_run", "npurun_attempt", "npurun_spec", "npurun_job"


@dataclass(frozen=True)
class Facts:
    """What a job file does not know: the attempt, the cluster, the packages."""

    run: str
    attempt: int
    package_uris: tuple[str, ...]
    """`gcs://_ray_pkg_<hash>.zip`, the gang's first."""
    working_dir_uri: str | None
    head_node_id: str
    """HEAD_PLACEHOLDER when no cluster was asked."""
    ray_version: str
    """Empty when no cluster was asked: the request is then one that every supported Ray takes."""
    quarantine: tuple[str, ...] = ()
    """IPs of nodes that the attempt must not use."""


def request(job: Job, facts: Facts) -> dict[str, Any]:
    """Exactly what is posted. UsageError when run and attempt make no valid submission id, or for a Ray too old."""
    _check_ray(facts.ray_version)
    body = {
        "entrypoint": " ".join(ENTRYPOINT),
        "submission_id": submission_id(facts.run, facts.attempt),
        "runtime_env": _runtime_env(job, facts),
        "metadata": _metadata(job, facts),
        **_on_head(facts),
    }
    body["metadata"][SPEC_KEY] = spec_hash(body)
    return body


def request_bytes(body: Mapping[str, Any]) -> bytes:
    """Canonical JSON: what a dry run prints is byte for byte what is posted."""
    return (json.dumps(body, sort_keys=True, ensure_ascii=False, indent=1) + "\n").encode()


def spec_hash(body: Mapping[str, Any]) -> str:
    """SHA-256 of what a submission does, whichever attempt it is and wherever the head stands."""
    spec = copy.deepcopy(dict(body))
    for field in ("submission_id", "entrypoint_label_selector", "entrypoint_resources"):
        spec.pop(field, None)
    attempt = int(spec["metadata"].get(ATTEMPT_KEY, FIRST))
    for key in (RUN_KEY, ATTEMPT_KEY, SPEC_KEY):
        spec["metadata"].pop(key, None)
    env = as_in_job(spec["runtime_env"]["env_vars"], attempt)
    spec["runtime_env"]["env_vars"] = {name: value for name, value in env.items() if name not in OF_ATTEMPT}
    return hashlib.sha256(request_bytes(spec)).hexdigest()


def supports_label_selectors(ray_version: str) -> bool:
    """Whether a job submission may name `entrypoint_label_selector`; False for a version that cannot be read."""
    return parse_version(ray_version) >= LABEL_SELECTORS_SINCE


def _check_ray(ray_version: str) -> None:
    version = parse_version(ray_version)
    if UNKNOWN_RAY < version < OLDEST_RAY:
        raise UsageError("ray.too_old", version=ray_version, oldest=".".join(map(str, OLDEST_RAY)))


def _runtime_env(job: Job, facts: Facts) -> dict[str, Any]:
    env = build(job, run=facts.run, attempt=facts.attempt, quarantine=facts.quarantine)
    env["py_modules"] = list(facts.package_uris)
    if facts.working_dir_uri is not None:
        env["working_dir"] = facts.working_dir_uri
    return env


def _metadata(job: Job, facts: Facts) -> dict[str, str]:
    """Shown in Ray's dashboard and in every answer: names and numbers only."""
    return {RUN_KEY: facts.run, ATTEMPT_KEY: str(facts.attempt), JOB_KEY: job.name}


def _on_head(facts: Facts) -> dict[str, Any]:
    if supports_label_selectors(facts.ray_version):
        return {"entrypoint_label_selector": {NODE_ID_LABEL: facts.head_node_id}}
    return {"entrypoint_resources": {HEAD_RESOURCE: HEAD_RESOURCE_SHARE}}
