"""The small distributed program under launcher torchrun, and its processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from submitter.gang.plan import Plan, TorchrunPlan
from submitter.rehearsal.local_cluster import LocalCluster
from tests.support import jobs
from tests.support.processes import carrying, command_line, wait_for

WORKING_DIR = Path(__file__).parent.parent / "data/working_dirs/torchrun"
RANKS_PER_NODE = 2
WORLD = 4 * RANKS_PER_NODE


def plan(*arguments: str, master_addr: str | None = None, **changes: Any) -> Plan:
    """4 nodes x 2 ranks of `gloo_program`."""
    return jobs.plan(
        ["-m", "gloo_program", *arguments],
        launcher="torchrun",
        torchrun=TorchrunPlan(RANKS_PER_NODE, master_addr, None),
        flags={**jobs.SIX_FLAGS, "GLOO_SOCKET_IFNAME": "lo"},  # all nodes are on this host's loopback
        **changes,
    )


def run(cluster: LocalCluster, plan: Plan) -> jobs.Submitted:
    return jobs.submit(cluster, plan, working_dir=WORKING_DIR)


def wait_all_ranks(submitted: jobs.Submitted) -> None:
    """Until every rank has met the others and waits."""
    submitted.wait_line("waits")

    def all_wait() -> bool:
        log = submitted.log().splitlines()
        return all(f"rank {rank} waits" in log for rank in range(WORLD))

    wait_for(all_wait, bound_s=30, what="all ranks wait")


def launcher_pids(submitted: jobs.Submitted) -> list[int]:
    return _with(submitted, "ray::TorchrunNode")


def rank_pids(submitted: jobs.Submitted) -> list[int]:
    pids = _with(submitted, "gloo_program")
    return [pid for pid in pids if "torchrun_agent" not in (line := command_line(pid)) and ".guard" not in line]


def _with(submitted: jobs.Submitted, part: str) -> list[int]:
    return [pid for pid in carrying(f"NPURUN_ATTEMPT={submitted.attempt}") if part in command_line(pid)]
