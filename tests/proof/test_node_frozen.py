"""A node worker that freezes before it answers, on a real local cluster: Ray itself ends it only after a minute."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from submitter.gang.record import parse_fitness
from submitter.rehearsal.local_cluster import LocalCluster, LocalNode
from tests.support import jobs
from tests.support.processes import carrying, command_line, wait_for

pytestmark = pytest.mark.proof


@pytest.mark.timeout(240)
def test_a_node_worker_that_is_frozen_before_it_answers_is_named_and_a_spare_takes_its_place(
    cluster5: LocalCluster, tmp_path: Path
) -> None:
    odd = cluster5.nodes[2]
    submitted = jobs.submit(cluster5, jobs.plan(jobs.trainer(tmp_path, "print('trained')")), working_dir=tmp_path)
    pid = wait_for(lambda: _below(odd, submitted.attempt), bound_s=60, what="a process of the attempt on that node")
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        assert not command_line(pid).startswith("ray::")  # it has not even taken up its work
        result = submitted.wait_end()
        assert result.end is not None, str(result)
        ips = [node.ip for node in cluster5.nodes if node is not odd]
        assert (result.end["reason"], result.end["nodes"]) == ("succeeded", ips), str(result)
        assert [(one["node"], one["id"], one["value"]) for one in result.end["proposals"]] == [
            (odd.ip, "NR571", "does not answer")
        ]
        records = [found for line in result.lines if (found := parse_fitness(line, submitted.attempt))]
        judged = [(one["ip"], one["silent"], bool(one["measured"])) for one in records[:4]]
        assert judged == [
            (node.ip, "does not answer" if node is odd else None, node is not odd) for node in cluster5.nodes[:4]
        ]
        took = jobs.looked_at(result)
        print(f"frozen worker: named after {took[0]:.1f} s")
        assert took[0] < 60
        jobs.wait_nothing_left(submitted, bound_s=90)  # Ray itself ends a worker that has not registered after 60 s
    finally:
        with suppress(ProcessLookupError):  # the attempt's end has ended it
            os.kill(pid, signal.SIGKILL)


def _below(node: LocalNode, attempt: str) -> int | None:
    return next((pid for pid in carrying(f"NPURUN_ATTEMPT={attempt}") if pid in node.pids()), None)
