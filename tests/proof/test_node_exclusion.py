"""One unfit node after the other is left out within one attempt, until there is no spare."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from submitter.gang.probes.wish import Wish
from submitter.rehearsal.local_cluster import LocalCluster, NodeSpec
from tests.support import jobs
from tests.support.cluster import A3_LABELS

pytestmark = pytest.mark.proof

IFNAME = "GLOO_SOCKET_IFNAME"
"""Set on some raylets only, to an interface that no host has: it reaches their workers, as from `ray start`'s shell."""
GOOD = NodeSpec(npus=2, cpus=16, labels=A3_LABELS)
BAD = NodeSpec(npus=2, cpus=16, labels=A3_LABELS, env={IFNAME: "nosuch0"})


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """Two are good, and looked at beside each of the three that are not."""
    with LocalCluster.start([GOOD, BAD, BAD, BAD, GOOD], base_dir=tmp_path_factory.mktemp("mixed")) as cluster:
        yield cluster


@pytest.mark.timeout(240)
def test_three_unfit_nodes_are_left_out_one_after_the_other(mixed: LocalCluster, tmp_path: Path) -> None:
    plan = jobs.plan(jobs.trainer(tmp_path, "print('trained')"), nodes=2, npus_per_node=2, wish=Wish(npus_per_node=2))
    submitted = jobs.submit(mixed, plan, working_dir=tmp_path)
    result = submitted.wait_end()
    assert result.end is not None, str(result)
    good = [mixed.nodes[0].ip, mixed.nodes[4].ip]
    assert (result.end["reason"], result.end["nodes"]) == ("succeeded", good), str(result)
    found = [(one["node"], one["id"], one["value"]) for one in result.end["proposals"]]
    assert found == [(node.ip, "NR521", "nosuch0") for node in mixed.nodes[1:4]]
    # 2: Ray shows what was given back a moment later, and two nodes may be tried that were not before.
    assert sum("is reserved anew" in line for line in result.lines) in (2, 3)
    jobs.wait_nothing_left(submitted)


@pytest.mark.timeout(240)
def test_without_a_spare_it_ends_at_once_and_says_why(mixed: LocalCluster, tmp_path: Path) -> None:
    plan = jobs.plan(["true"], nodes=5, npus_per_node=2, wish=Wish(npus_per_node=2), place_wait_s=600)
    submitted = jobs.submit(mixed, plan)
    result = submitted.wait_end(bound_s=90)
    assert result.end is not None, str(result)
    assert (result.end["reason"], result.end["phase"], result.end["exit"]) == ("node_unfit", "fitness", 1)
    assert result.end["quarantine"] == [node.ip for node in mixed.nodes[1:4]]
    assert result.end_evidence()[-1] == "without them 2 nodes could fit, 5 wanted"
    jobs.wait_nothing_left(submitted)
