"""The `npurun` command against a real cluster, as a user types it: submit, watch, stop, and what its exit codes say."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from submitter.rehearsal.local_cluster import LocalCluster
from tests.support.cli import COMMAND, Result, environment
from tests.support.processes import wait_for

pytestmark = pytest.mark.real

JOB = """\
name: light
summary: a trainer without a model
cluster: {{nodes: "${{NNODES}}", npus_per_node: 16, labels: {{pool: a3}}, place_wait_s: 4}}
variables: {{NNODES: 4}}
env: {{VLLM_USE_V1: 1}}
trainer: {{module: light, launcher: ray}}
arguments:
  data: {{data.note: "'; touch /tmp/npurun-injected; $(id) \\n end"}}
runtime_env: {{working_dir: {working_dir}}}
recovery: {{max_attempts: 1}}
"""
TRAINER = """\
import os, pathlib, sys, time
print("argument", repr(sys.argv[1]), flush=True)
print("step:1 - reward:0.5", flush=True)
gate = pathlib.Path(os.environ["HOME"], "absent") if "wait=1" in sys.argv else None
end = time.monotonic() + 120
while gate and time.monotonic() < end:
    time.sleep(0.05)
sys.exit(7 if "fail=1" in sys.argv else 0)
"""


class Command:
    def __init__(self, cluster: LocalCluster, folder: Path) -> None:
        working_dir = folder / "it's a; dir"
        working_dir.mkdir()
        (working_dir / "light.py").write_text(TRAINER)
        self.job = str(folder / "light.yaml")
        Path(self.job).write_text(JOB.format(working_dir=json.dumps(str(working_dir))))
        self.address, self.home = cluster.address, folder / "home"

    def __call__(self, *arguments: str) -> Result:
        env = environment(self.home, {"RAY_API_SERVER_ADDRESS": self.address})
        done = subprocess.run([*COMMAND, *arguments], env=env, capture_output=True, text=True, timeout=120)
        return Result(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def npurun(cluster5: LocalCluster, tmp_path: Path) -> Command:
    return Command(cluster5, tmp_path)


@pytest.mark.timeout(180)
def test_a_run_is_followed_to_its_end_and_hostile_arguments_arrive_as_written(npurun: Command) -> None:
    done = npurun("submit", npurun.job, "--run", "light-1", "--json")
    assert done.code == 0, done
    assert (done.document["run"], done.document["state"], done.document["reason"]) == (
        "light-1",
        "SUCCEEDED",
        "succeeded",
    )
    assert "step:1 - reward:0.5" in done.err
    (shown,) = [line for line in done.err.splitlines() if line.startswith("argument ")]
    assert "; touch /tmp/npurun-injected; $(id)" in shown
    assert not Path("/tmp/npurun-injected").exists()
    status = npurun("status", "light-1", "--json").document
    assert (status["state"], status["step"], len(status["attempts"][0]["nodes"])) == ("succeeded", 1, 4)
    assert npurun("status", "light-1", "--json").document == status  # now from the ledger alone
    again = npurun("submit", npurun.job, "--run", "light-1")
    assert again.code == 2, again.err
    assert "light-1" in again.err and len(again.err.splitlines()) == 1


@pytest.mark.timeout(180)
def test_a_failed_trainer_is_exit_code_1_whatever_its_own(npurun: Command) -> None:
    failed = npurun("submit", npurun.job, "--json", "--", "fail=1")
    assert failed.code == 1, failed.err
    end = failed.document["end"]
    assert (end["reason"], end["code"]) == ("trainer_failed", 7)
    assert failed.document["reason"] == "unknown", "its log says nothing of why"


@pytest.mark.timeout(180)
def test_a_detached_run_is_adopted_seen_and_stopped(npurun: Command) -> None:
    submitted = npurun("submit", npurun.job, "--run", "light-2", "--detach", "--json", "--", "wait=1")
    assert submitted.code == 0, submitted.err
    assert submitted.document["adopted"] is False
    again = npurun("submit", npurun.job, "--run", "light-2", "--detach", "--json", "--", "wait=1")
    assert again.document["adopted"] is True
    other = npurun("submit", npurun.job, "--run", "light-2", "--detach", "--", "wait=1", "more=1")
    assert other.code == 2, other.err
    wait_for(lambda: npurun("status", "light-2", "--json").document["step"] == 1, bound_s=60, what="the first step")
    assert "step:1 - reward:0.5" in npurun("logs", "light-2").out
    assert [row["state"] for row in npurun("list", "--json").document if row["run"] == "light-2"] == ["running"]
    stopped = npurun("stop", "light-2", "--json")
    assert (stopped.code, stopped.document["state"]) == (0, "stopped"), stopped.err
    assert npurun("logs", "light-2", "-f").code == 6


@pytest.mark.timeout(120)
def test_more_nodes_than_there_are_is_exit_code_5_with_the_table_of_nodes(npurun: Command) -> None:
    refused = npurun("submit", npurun.job, "--set", "NNODES=6")
    assert refused.code == 5, refused.err
    assert "5 fit, 6 wanted" in refused.out
