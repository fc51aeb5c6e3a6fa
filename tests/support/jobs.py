"""Submit a plan to a local cluster as `npurun submit` does, wait for its end with a bound, and find what it left."""

from __future__ import annotations

import json
import os
import re
import textwrap
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runtime_env.build import NOSET_FLAG, STOP_WAIT_FLAG, STOP_WAIT_S
from submitter.cluster.client import JobInfo, RayClient
from submitter.cluster.packages import Package, gang_package, working_dir_package
from submitter.gang.attempt_safe import attempt_safe
from submitter.gang.plan import Plan
from submitter.gang.record import parse_end, parse_proof
from submitter.job.model import RuntimeEnvSpec
from submitter.rehearsal.local_cluster import LocalCluster
from submitter.render.request import ENTRYPOINT
from tests.support.processes import carrying, command_line, wait_for

SIX_FLAGS = {
    "CPU_AFFINITY_CONF": "1",
    "VLLM_ALLREDUCE_USE_SYMM_MEM": "0",
    "VLLM_ASCEND_ENABLE_FLASHCOMM1": "1",
    "VLLM_ASCEND_ENABLE_PREFETCH_MLP": "1",
    "VLLM_ASCEND_ENABLE_TOPK_OPTIMIZE": "1",
    "VLLM_USE_V1": "1",
}
LEFTOVERS_BOUND_S = 30.0
"""Ray needs some seconds after a job's end until its last worker has gone; longer on a loaded machine."""


@dataclass(frozen=True)
class Submitted:
    cluster: LocalCluster
    client: RayClient
    attempt: str

    def log(self) -> str:
        return self.client.log_tail(self.attempt, 5000)

    def info(self) -> JobInfo:
        info = self.client.job(self.attempt)
        assert info is not None
        return info

    def stop(self) -> None:
        assert self.client.stop(self.attempt)

    def wait_line(self, part: str, *, bound_s: float = 90.0) -> str:
        """The first log line that contains `part`; fails at once when the job ends without it."""

        def found() -> str | None:
            ended = self.info().ended
            lines = [line for line in self.log().splitlines() if part in line]
            assert lines or not ended, f"ended without {part!r}:\n{self.log()}"
            return lines[0] if lines else None

        return wait_for(found, bound_s=bound_s, what=f"{part!r} in the log of {self.attempt}") or ""

    def wait_end(self, *, bound_s: float = 120.0) -> Result:
        try:
            wait_for(lambda: self.info().ended, bound_s=bound_s, what=f"the end of {self.attempt}")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.log()}") from None
        lines = self.log().splitlines()
        ends = [end for line in lines if (end := parse_end(line, self.attempt))]
        proofs = [proof for line in lines if (proof := parse_proof(line, self.attempt))]
        return Result(self.info(), lines, ends[-1] if ends else None, proofs)

    def driver_pid(self) -> int:
        """Of the driver itself, not of the shell that Ray starts it in."""
        (driver,) = (pid for pid in _marked(self.attempt) if _is_driver(pid))
        return driver

    def worker_pids(self) -> list[int]:
        """Of the node workers."""
        return [pid for pid in _marked(self.attempt) if command_line(pid).startswith("ray::NodeWorker")]


@dataclass(frozen=True)
class Result:
    info: JobInfo
    lines: list[str]
    end: dict[str, Any] | None
    """The end record, None when the driver could not write one."""
    proofs: list[dict[str, Any]] = field(default_factory=list)

    def end_evidence(self) -> list[str]:
        assert self.end is not None, self
        evidence: list[str] = self.end["evidence"]
        return evidence

    def __str__(self) -> str:
        return f"{self.info.status} {self.info.driver_exit_code} {self.info.message}\n" + "\n".join(self.lines)


def plan(command: Sequence[str], **changes: Any) -> Plan:
    """4 nodes x 16 NPUs with the six flags, launcher ray."""
    values: dict[str, Any] = {
        "launcher": "ray",
        "command": tuple(command),
        "nodes": 4,
        "npus_per_node": 16,
        "labels": {"pool": "a3"},
        "flags": SIX_FLAGS,
        "place_wait_s": 60,
    }
    return Plan(**{**values, **changes})


def submit(
    cluster: LocalCluster,
    plan: Plan,
    *,
    env: Mapping[str, str] | None = None,
    working_dir: Path | None = None,
    run: str | None = None,
    attempt: int = 1,
    drop_flags: Sequence[str] = (),
) -> Submitted:
    """POST one attempt. `env` is added to the plan's flags; `drop_flags` are left out, as if they had got lost."""
    client = RayClient(cluster.address)
    run = run or f"t-{uuid.uuid4().hex[:8]}"
    name = f"{run}-a{attempt}"
    env_vars = {
        **attempt_safe(plan.flags, attempt),
        NOSET_FLAG: "1",
        STOP_WAIT_FLAG: str(STOP_WAIT_S),
        "NPURUN_RUN": run,
        "NPURUN_ATTEMPT": name,
        **({"NPURUN_SECRETS": json.dumps(plan.secrets)} if plan.secrets else {}),
        **(env or {}),
    }
    runtime_env: dict[str, Any] = {
        "env_vars": {name: value for name, value in env_vars.items() if name not in drop_flags},
        "py_modules": [_put(client, gang_package(plan))],
    }
    packed = working_dir_package(RuntimeEnvSpec(working_dir=str(working_dir))) if working_dir else None
    if packed:
        runtime_env["working_dir"] = _put(client, packed)
    body = {
        "entrypoint": " ".join(ENTRYPOINT),
        "submission_id": name,
        "runtime_env": runtime_env,
        "entrypoint_label_selector": {"ray.io/node-id": cluster.nodes[0].node_id},
        "metadata": {},
    }
    client.post_job(json.dumps(body).encode())
    return Submitted(cluster, client, name)


def submit_plain(cluster: LocalCluster, entrypoint: str, *, working_dir: Path) -> Submitted:
    """Another user's job: no gang, no npurun."""
    client = RayClient(cluster.address)
    name = f"plain-{uuid.uuid4().hex[:8]}"
    packed = working_dir_package(RuntimeEnvSpec(working_dir=str(working_dir)))
    assert packed is not None
    body = {
        "entrypoint": entrypoint,
        "submission_id": name,
        "runtime_env": {"working_dir": _put(client, packed)},
    }
    client.post_job(json.dumps(body).encode())
    return Submitted(cluster, client, name)


def trainer(folder: Path, source: str, *, name: str = "light_trainer") -> list[str]:
    """Write `source` as a module into `folder` (the working_dir to be); the command that runs it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(textwrap.dedent(source))
    return ["python3", "-m", name]


def looked_at(result: Result) -> list[float]:
    """Seconds of each look at the nodes."""
    return [float(match[1]) for line in result.lines if (match := re.search(r"looked at in ([0-9.]+) s", line))]


def leftovers(submitted: Submitted) -> list[str]:
    """What is still there of an attempt: its processes, its placement groups, actors in its namespace."""
    processes = [f"process {pid} {command_line(pid)[:200]}" for pid in _marked(submitted.attempt)]
    return processes + _groups(submitted) + _actors(submitted)


def wait_nothing_left(submitted: Submitted, *, bound_s: float = LEFTOVERS_BOUND_S) -> None:
    try:
        wait_for(lambda: not leftovers(submitted), bound_s=bound_s, what="nothing left")
    except AssertionError:
        raise AssertionError(f"left of {submitted.attempt}: {leftovers(submitted)}") from None


def state(submitted: Submitted, kind: str) -> list[dict[str, Any]]:
    """Rows of Ray's State API: "placement_groups" or "actors"."""
    found = submitted.client._get(f"/api/v0/{kind}?detail=1&limit=10000&timeout=10")
    rows: list[dict[str, Any]] = found["data"]["result"]["result"]
    return rows


def _groups(submitted: Submitted) -> list[str]:
    mine = f"npurun-{submitted.attempt}-"
    rows = state(submitted, "placement_groups")
    return [f"group {r['name']} {r['state']}" for r in rows if r["name"].startswith(mine) and r["state"] != "REMOVED"]


def _actors(submitted: Submitted) -> list[str]:
    mine = f"npurun-{submitted.attempt}"
    rows = state(submitted, "actors")
    return [f"actor {r['class_name']}" for r in rows if r["ray_namespace"] == mine and r["state"] != "DEAD"]


def _put(client: RayClient, package: Package) -> str:
    if not client.has_package(package.uri):
        client.put_package(package)
    return package.uri


def _marked(attempt: str) -> list[int]:
    return [pid for pid in carrying(f"NPURUN_ATTEMPT={attempt}") if pid != os.getpid()]


def _is_driver(pid: int) -> bool:
    words = command_line(pid).split()
    return "npurun_gang" in words and "-m" in words and "-c" not in words
