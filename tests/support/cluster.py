"""A real local Ray cluster for the tests of one session: 4 nodes of the job's size and a spare."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from submitter.rehearsal.local_cluster import LocalCluster, NodeSpec

A3_LABELS = {"pool": "a3", "ray.io/accelerator-type": "Ascend910_9392"}
A3_NODE = NodeSpec(npus=16, cpus=64, labels=A3_LABELS)


@pytest.fixture(scope="session")
def cluster5(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """Shared: leave it as found. A test that kills or freezes nodes starts its own."""
    with LocalCluster.start([A3_NODE] * 5, base_dir=tmp_path_factory.mktemp("cluster5")) as cluster:
        yield cluster
