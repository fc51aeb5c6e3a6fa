"""Devices seen from a task that holds the reserved NPUs, on real raylets; torch_npu itself is a stand-in."""

from __future__ import annotations

from pathlib import Path

import pytest

from submitter.gang.probes.wish import Wish
from submitter.gang.record import parse_fitness
from submitter.rehearsal.local_cluster import LocalCluster
from tests.support import jobs

pytestmark = pytest.mark.real

TORCH_NPU = """
import os


class npu:
    @staticmethod
    def get_soc_version():
        return 250
"""
TORCH = """
class npu:
    @staticmethod
    def device_count():
        return 16
"""


@pytest.mark.timeout(240)
def test_torch_npu_is_loaded_where_the_ranks_will_be(cluster5: LocalCluster, tmp_path: Path) -> None:
    package = tmp_path / "torch_npu-2.9.0.post2.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: torch-npu\nVersion: 2.9.0.post2\n")
    (tmp_path / "torch_npu.py").write_text(TORCH_NPU)
    (tmp_path / "torch.py").write_text(TORCH)
    plan = jobs.plan(jobs.trainer(tmp_path, "print('trained')"), wish=Wish(npus_per_node=16))
    submitted = jobs.submit(cluster5, plan, working_dir=tmp_path)
    result = submitted.wait_end()
    assert result.end is not None and result.end["reason"] == "succeeded", str(result)
    records = [found for line in result.lines if (found := parse_fitness(line, submitted.attempt))]
    assert [record["ip"] for record in records] == [node.ip for node in cluster5.nodes[:4]]
    for record in records:
        facts = record["measured"]["inside"]["facts"]
        assert (facts["error"], facts["count"], facts["soc"]) == (None, 16, 250), record
        assert facts["noset"] and len(facts["given"]) == 1 and int(facts["given"][0]) in range(16)
        assert facts["acl"].startswith("ModuleNotFoundError")
        assert record["measured"]["versions"]["facts"]["torch_npu"] == "2.9.0.post2"
    jobs.wait_nothing_left(submitted)
