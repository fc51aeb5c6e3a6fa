"""The nodes of a live cluster, as Ray itself tells them, against a job."""

from __future__ import annotations

import dataclasses

import pytest

from submitter.checks.examine import examine
from submitter.cluster.client import RayClient
from submitter.cluster.shape import cluster_nodes
from submitter.job.model import Cluster
from submitter.rehearsal.local_cluster import LocalCluster
from tests.support.builders import job
from tests.support.cluster import A3_LABELS, A3_NODE

pytestmark = pytest.mark.real


@pytest.mark.timeout(120)
def test_rays_own_rows_hold_npus_cpus_and_labels(cluster5: LocalCluster) -> None:
    nodes = cluster_nodes(RayClient(cluster5.address))
    assert {(one.npus, one.cpus, one.gpus, one.accelerator_type) for one in nodes} == {
        (A3_NODE.npus, float(A3_NODE.cpus), 0, A3_LABELS["ray.io/accelerator-type"])
    }
    assert sorted(one.ip for one in nodes) == sorted(one.ip for one in cluster5.nodes)
    assert all(A3_LABELS.items() <= one.labels.items() for one in nodes)

    def said(count: int, **labels: str) -> list[str]:
        made = dataclasses.replace(job(nodes=count), cluster=Cluster(count, A3_NODE.npus, labels))
        live = ("NR394", "NR395", "NR396", "NR397", "NR398")
        return [one.id for one in examine(made, cluster=nodes).findings if one.id in live]

    assert said(5, pool="a3") == []
    assert said(6) == ["NR396"]
    assert said(5, pool="a2") == ["NR395"]
