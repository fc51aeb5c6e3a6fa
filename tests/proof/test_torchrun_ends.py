"""Launcher torchrun: whatever is killed or frozen, nothing survives; and no line is lost under load."""

from __future__ import annotations

import os
import re
import signal
import time

import pytest

from submitter.rehearsal.local_cluster import LocalCluster
from tests.support.jobs import Result, Submitted, wait_nothing_left
from tests.support.torchrun import WORLD, launcher_pids, plan, rank_pids, run, wait_all_ranks

pytestmark = pytest.mark.proof

LINES = 20_000
FLOODED = re.compile(r"(\d+) (\d+) (x*)")


def waiting(cluster: LocalCluster) -> Submitted:
    submitted = run(cluster, plan("wait"))
    wait_all_ranks(submitted)
    assert len(rank_pids(submitted)) == WORLD
    return submitted


@pytest.mark.timeout(180)
def test_nothing_survives_a_killed_driver(cluster5: LocalCluster) -> None:
    submitted = waiting(cluster5)
    os.kill(submitted.driver_pid(), signal.SIGKILL)
    wait_nothing_left(submitted, bound_s=20)
    assert submitted.wait_end().info.status == "FAILED"


@pytest.mark.timeout(180)
def test_a_killed_launcher_is_named_and_ends_all(cluster5: LocalCluster) -> None:
    submitted = waiting(cluster5)
    launchers = launcher_pids(submitted)
    assert len(launchers) == 4
    os.kill(launchers[1], signal.SIGKILL)
    end = ended(submitted.wait_end(bound_s=40))
    assert (end["reason"], end["code"], end["exit"]) == ("node_lost", None, 1)
    assert end["node"] in end["nodes"]
    assert f"the launcher on node {end['node']} is lost" in end["evidence"][0]
    wait_nothing_left(submitted)


@pytest.mark.timeout(180)
def test_a_stopped_rank_does_not_hold_up_the_end(cluster5: LocalCluster) -> None:
    submitted = waiting(cluster5)
    os.kill(rank_pids(submitted)[3], signal.SIGSTOP)
    submitted.stop()
    assert submitted.wait_end(bound_s=60).info.status == "STOPPED"
    wait_nothing_left(submitted)


@pytest.mark.timeout(180)
def test_a_killed_rank_ends_the_attempt_with_its_signal(cluster5: LocalCluster) -> None:
    submitted = waiting(cluster5)
    began = time.monotonic()
    os.kill(rank_pids(submitted)[0], signal.SIGKILL)
    end = ended(submitted.wait_end(bound_s=40))
    assert time.monotonic() - began < 30
    assert (end["reason"], end["code"]) == ("trainer_failed", -signal.SIGKILL)
    assert "failed first: signal 9" in end["evidence"][0]
    wait_nothing_left(submitted)


@pytest.mark.timeout(180)
def test_no_line_is_lost_doubled_or_mixed_under_load(cluster5: LocalCluster) -> None:
    submitted = run(cluster5, plan("flood", str(LINES)))
    assert ended(submitted.wait_end(bound_s=150))["reason"] == "succeeded"
    log = submitted.client._get(f"/api/jobs/{submitted.attempt}/logs")["logs"].splitlines()
    found: dict[int, list[int]] = {rank: [] for rank in range(WORLD)}
    for line in log:
        if match := FLOODED.fullmatch(line):
            assert len(match[3]) == int(match[2]) % 100, line
            found[int(match[1])].append(int(match[2]))
    assert all(numbers == list(range(LINES)) for numbers in found.values())
    assert sum("x" * 5 in line for line in log) == WORLD * LINES * 95 // 100  # none hidden in a line of another shape
    wait_nothing_left(submitted)


def ended(result: Result) -> dict:
    assert result.end is not None, str(result)
    return result.end
