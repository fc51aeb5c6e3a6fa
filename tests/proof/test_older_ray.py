"""The same code on Ray releases that lack label selectors, each in an environment of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from submitter.cluster.client import RayClient
from submitter.gang import compat
from submitter.job.load import load_job
from submitter.ledger import Ledger
from submitter.rehearsal.local_cluster import LocalCluster, NodeSpec
from submitter.render.request import LABEL_SELECTORS_SINCE, OLDEST_RAY
from submitter.supervise.submit import submit
from tests.support.jobs import SIX_FLAGS, Submitted, wait_nothing_left

pytestmark = pytest.mark.proof

OLDEST = "2.41.0"
"""Also the oldest that verl 0.9.1 allows."""
NEWEST_WITHOUT_BUNDLE_LABELS = "2.46.0"

TRAINER = Path(__file__).parent.parent / "data/packages/light_trainer"
"""Travels as a package: raylets of an older Ray on one host share a session folder, and each of them puts the
working_dir there anew, below the feet of who works in it."""
INSTALL_BOUND_S = 150
NODES, NPUS = 2, 2

JOB = f"""\
name: older_ray
summary: a light trainer on an older Ray
cluster: {{nodes: {NODES}, npus_per_node: {NPUS}, place_wait_s: 30}}
env: {{{", ".join(f"{name}: '{value}'" for name, value in SIX_FLAGS.items())}}}
trainer: {{module: light_trainer, launcher: ray}}
arguments:
  data: {{data.size: 1}}
"""


@pytest.fixture(params=[OLDEST, NEWEST_WITHOUT_BUNDLE_LABELS])
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LocalCluster]:
    """As many nodes as the job wants, and a spare."""
    python = python_with_ray(request.param, request.config.cache.mkdir(f"ray-{request.param}"))
    specs = [NodeSpec(npus=NPUS, cpus=16)] * (NODES + 1)
    with LocalCluster.start(specs, base_dir=tmp_path / "nodes", python=python) as cluster:
        yield cluster


def python_with_ray(version: str, folder: Path) -> str:
    """The interpreter of an environment with that Ray; made once per checkout."""
    python = folder / "venv/bin/python"
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder / "venv"], check=True, timeout=60)
        install = [python, "-m", "pip", "install", "--quiet", f"ray[default]=={version}"]
        subprocess.run(install, check=True, timeout=INSTALL_BOUND_S)
        (folder / "ready").touch()
    return str(python)


def test_the_oldest_tested_release_is_the_oldest_accepted() -> None:
    assert compat.parse_version(OLDEST) == OLDEST_RAY
    assert compat.parse_version(NEWEST_WITHOUT_BUNDLE_LABELS) < compat.BUNDLE_LABELS_SINCE < LABEL_SELECTORS_SINCE


@pytest.mark.timeout(300)
def test_submit_place_prove_train_and_clean_up(cluster: LocalCluster, tmp_path: Path) -> None:
    path = tmp_path / "older_ray.yaml"
    path.write_text(JOB)
    client = RayClient(cluster.address)
    with closing(Ledger(tmp_path / "home")) as ledger:
        submission = submit(
            load_job(str(path), environ={}),
            client,
            ledger,
            run=None,
            tell=lambda *_, **__: None,
            extra_packages={TRAINER.name: TRAINER},
        )
    submitted = Submitted(cluster, client, submission.submission_id)
    result = submitted.wait_end()
    assert result.end is not None, str(result)
    assert (result.end["reason"], result.end["code"]) == ("succeeded", 0), str(result)
    assert len(result.end["nodes"]) == NODES
    assert [proof["differs"] for proof in result.proofs] == [{}] * NODES, str(result)
    told = sorted(line for line in result.lines if line.startswith("worker on"))
    assert told == sorted(f"worker on {ip} flag 1 visible None" for ip in result.end["nodes"] * NPUS)
    assert f"Ray {client.version()}, bundles by label: False" in result.lines
    wait_nothing_left(submitted)
