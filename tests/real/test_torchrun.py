"""Launcher torchrun on a real cluster: 4 nodes x 2 ranks meet, fail and are stopped."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from submitter.rehearsal.local_cluster import LocalCluster
from tests.support.jobs import Result, wait_nothing_left
from tests.support.torchrun import RANKS_PER_NODE, WORLD, plan, run, wait_all_ranks

pytestmark = pytest.mark.real

HOSTILE = ["a b", "'; echo x", "\\", 'q"q', "$HOME $$ ${local_rank}", "`id`", ""]
MET = re.compile(
    r"rank (?P<rank>\d+) of (?P<world>\d+) node_rank (?P<node_rank>\d+) local (?P<local>\d+) raylet (?P<raylet>\d+) "
    r"master (?P<master>\S+) sum (?P<sum>\d+) flag (?P<flag>\S+) npus (?P<npus>\S+)"
)


def lines_of_ranks(result: Result) -> list[re.Match[str]]:
    return [match for line in result.lines if (match := MET.fullmatch(line))]


@pytest.mark.timeout(180)
def test_all_ranks_meet_with_explicit_ranks_below_the_given_master(cluster5: LocalCluster, tmp_path: Path) -> None:
    master = cluster5.nodes[2]
    key = tmp_path / "key"
    key.write_text("s3cret-of-wandb\n")
    secrets = {"WANDB_API_KEY": {"file": str(key)}}
    submitted = run(cluster5, plan("sum", *HOSTILE, master_addr=master.ip, secrets=secrets))
    result = submitted.wait_end()
    assert result.end is not None, str(result)
    assert (result.end["reason"], result.end["code"], result.end["exit"]) == ("succeeded", 0, 0), str(result)
    met = sorted(lines_of_ranks(result), key=lambda match: int(match["rank"]))
    assert [int(match["rank"]) for match in met] == list(range(WORLD)), str(result)  # whole lines, no prefix
    for rank, match in enumerate(met):
        assert (int(match["node_rank"]), int(match["local"])) == divmod(rank, RANKS_PER_NODE)
        assert (match["world"], match["sum"]) == (str(WORLD), str(sum(range(WORLD))))
        assert (match["master"], match["flag"], match["npus"]) == (master.ip, "1", "None")
    assert f"words {HOSTILE!a}" in result.lines
    assert f"secret of {len('s3cret-of-wandb')} characters" in result.lines
    assert "s3cret-of-wandb" not in str(result)
    raylets = [int(match["raylet"]) for match in met]
    assert raylets[:RANKS_PER_NODE] == [master.raylet_pid] * RANKS_PER_NODE
    assert len(set(raylets)) == 4
    wait_nothing_left(submitted)


@pytest.mark.timeout(180)
def test_the_first_failing_ranks_code_and_output_count(cluster5: LocalCluster) -> None:
    submitted = run(cluster5, plan("fail", "5", "7"))
    result = submitted.wait_end()
    assert result.end is not None, str(result)
    assert (result.end["reason"], result.end["code"], result.end["exit"]) == ("trainer_failed", 7, 1), str(result)
    assert result.end["node"] == result.end["nodes"][2]
    assert re.match(r"rank 5 \(local rank 1\) on node \S+ failed first: exit code 7", result.end["evidence"][0])
    assert "rank 5 gives up with 7" in result.end["evidence"]
    assert "rank 5 gives up with 7" in result.lines
    assert not [line for line in result.lines if "SignalException" in line], str(result)
    assert "-m gloo_program FAILED" in result.lines  # torchrun's own report
    wait_nothing_left(submitted)


@pytest.mark.timeout(180)
def test_a_stop_ends_every_rank(cluster5: LocalCluster) -> None:
    submitted = run(cluster5, plan("wait"))
    wait_all_ranks(submitted)
    submitted.stop()
    began = time.monotonic()
    result = submitted.wait_end(bound_s=30)
    assert time.monotonic() - began < 20
    assert result.info.status == "STOPPED"
    assert result.end is None or result.end["reason"] == "stopped"
    wait_nothing_left(submitted)


@pytest.mark.timeout(120)
def test_a_master_outside_the_gang_is_refused(cluster5: LocalCluster) -> None:
    result = run(cluster5, plan("sum", master_addr="192.0.2.1")).wait_end()
    assert result.end is not None, str(result)
    assert (result.end["reason"], result.end["code"]) == ("launch_failed", None), str(result)
    assert "192.0.2.1 is none of the nodes that were reserved" in result.end["evidence"][0]
