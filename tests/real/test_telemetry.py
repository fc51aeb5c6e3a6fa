"""Steps and samples of a training leave the cluster: through the telemetry file, and through Ray's own metrics."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from submitter.gang.plan import HangPlan
from submitter.rehearsal.local_cluster import LocalCluster, NodeSpec
from submitter.supervise.telemetry import Telemetry
from tests.support import jobs
from tests.support.processes import wait_for

pytestmark = pytest.mark.real

A3 = Path(__file__).parents[1] / "data/npu_smi/a3_idle.txt"
MEASURED_BOUND_S = 60.0
HTTP_S = 5.0

TRAINER = """
    import json, os, ray, sys, time
    ray.init(logging_level="warning", log_to_driver=False)
    ports = [f"{node['NodeManagerAddress']}:{node['MetricsExportPort']}" for node in ray.nodes()]
    print("metrics " + json.dumps(ports), flush=True)
    print("Total training steps: 9", flush=True)
    print("step:3 - critic/rewards/mean:0.5 - timing_s/gen:2.5 - timing_s/step:4.0", flush=True)
    end = time.monotonic() + 120
    while time.monotonic() < end and not os.path.exists(sys.argv[1]):
        time.sleep(0.1)
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[LocalCluster]:
    """Two nodes with a stand-in for npu-smi, whose Ray publishes metrics every second."""
    tool = tmp_path / "bin/npu-smi"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\nexec cat {A3}\n")
    tool.chmod(0o755)
    env = {
        "PATH": f"{Path(sys.executable).parent}:{tool.parent}:{os.environ['PATH']}",
        "RAY_enable_metrics_collection": "true",
        "RAY_metrics_report_interval_ms": "1000",
    }
    specs = [NodeSpec(npus=16, cpus=64, labels={"pool": "a3"}, env=env)] * 2
    with LocalCluster.start(specs, base_dir=tmp_path / "nodes") as cluster:
        yield cluster


def published(targets: list[str]) -> dict[tuple[str, ...], float]:
    """npurun's gauges of all agents: (name, node, npu, phase) -> value."""
    found = {}
    for target in targets:
        with urlopen(f"http://{target}/metrics", timeout=HTTP_S) as answer:
            text = answer.read().decode()
        for family in text_string_to_metric_families(text):
            for one in family.samples:
                if one.name.startswith("ray_npurun_"):
                    label = one.labels
                    key = (one.name, label.get("node", ""), label.get("npu", ""), label.get("phase", ""))
                    found[tuple(part for part in key if part)] = one.value
    return found


@pytest.mark.timeout(240)
def test_samples_and_steps_reach_whoever_looks(cluster: LocalCluster, tmp_path: Path) -> None:
    go = tmp_path / "go"
    plan = jobs.plan([*jobs.trainer(tmp_path / "wd", TRAINER), str(go)], nodes=2, hang=HangPlan())
    submitted = jobs.submit(cluster, plan, working_dir=tmp_path / "wd")
    targets = json.loads(submitted.wait_line("metrics [").partition("metrics ")[2])
    assert len(targets) == 2

    telemetry, samples = Telemetry(submitted.attempt, time.monotonic), []

    def measured() -> bool:
        telemetry._due_s = 0.0
        samples.extend(telemetry.read(submitted.client, submitted.info()))
        return {one["node"] for one in samples if one["devices"]} == {node.ip for node in cluster.nodes}

    wait_for(measured, bound_s=MEASURED_BOUND_S, what="samples of both nodes")
    for one in samples:
        assert 0 < one["memory_used_mb"] < one["memory_total_mb"] and one["load"] is not None
    devices = next(one["devices"] for one in samples if one["devices"])
    assert len(devices) == 16 and devices[1]["hbm_used_mb"] == 2880 and devices[1]["power_w"] is None
    assert all(one["tool_s"] is not None for one in samples if one["devices"])

    head = cluster.nodes[0].ip
    wanted = {
        ("ray_npurun_step",): 3.0,
        ("ray_npurun_total_steps",): 9.0,
        ("ray_npurun_reward",): 0.5,
        ("ray_npurun_phase_seconds", "gen"): 2.5,
        ("ray_npurun_npu_use_percent", head, "0"): 0.0,
        ("ray_npurun_npu_hbm_used_mb", head, "1"): 2880.0,
        ("ray_npurun_npu_healthy", head, "15"): 1.0,
    }
    wait_for(lambda: wanted.items() <= published(targets).items(), bound_s=MEASURED_BOUND_S, what=f"{wanted} published")
    assert ("ray_npurun_npu_power_watts", head, "1") not in published(targets), "not measured is no 0"

    go.touch()
    assert submitted.wait_end().info.status == "SUCCEEDED"
    assert "warning: telemetry" not in submitted.log() and "warning: metrics" not in submitted.log()
    jobs.wait_nothing_left(submitted)
