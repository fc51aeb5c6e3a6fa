"""Attempts that go on from a checkpoint, and attempts that hang, with the stand-in trainer on a small cluster."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from submitter.gang.checkpoint.plan import CheckpointPlan
from submitter.gang.plan import HangPlan, Plan
from submitter.gang.record import parse_resume
from submitter.rehearsal.local_cluster import LocalCluster, NodeSpec
from tests.support import jobs
from tests.support.checkpoints import cut
from tests.support.cluster import A3_LABELS
from tests.support.processes import carrying, command_line, wait_for

pytestmark = pytest.mark.proof

STANDIN = Path(__file__).parents[1] / "standin"
HANG_S = 6.0
ENDED_BOUND_S = 60.0
"""From the limit on: evidence, SIGTERM, SIGKILL, the nodes' logs, and what is left is ended."""


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    node = NodeSpec(npus=1, cpus=16, labels=A3_LABELS)
    with LocalCluster.start([node] * 2, base_dir=tmp_path_factory.mktemp("pair")) as cluster:
        yield cluster


@dataclasses.dataclass
class Run:
    """Attempts of one run over one folder."""

    cluster: LocalCluster
    folder: Path
    run: str
    attempts: int = 0

    def submit(self, *arguments: str, trained: str | None = None, changes: str = "[]", **plan: Any) -> jobs.Submitted:
        self.attempts += 1
        env = {"NPURUN_CHANGES": changes, **({"NPURUN_TRAINED": trained} if trained is not None else {})}
        wanted = self.plan(arguments, **plan)
        return jobs.submit(self.cluster, wanted, working_dir=STANDIN, run=self.run, attempt=self.attempts, env=env)

    def plan(self, arguments: tuple[str, ...], **changes: Any) -> Plan:
        checkpoint = CheckpointPlan(str(self.folder / "checkpoints"), "fsdp", 2)
        settings = {
            "trainer.default_local_dir": checkpoint.folder,
            "trainer.total_training_steps": "8",
            "trainer.save_freq": "2",
            "+standin.step_s": "0.1",
            "+standin.ledger": str(self.folder / "trained.jsonl"),
        }
        command = ["python3", "-m", "verl.trainer.main_ppo", *(f"{key}={value}" for key, value in settings.items())]
        values = {"nodes": 2, "npus_per_node": 1, "checkpoint": checkpoint, "hang": HangPlan(), **changes}
        return jobs.plan([*command, *arguments], **values)

    def trained(self) -> list[tuple[str, int]]:
        lines = (self.folder / "trained.jsonl").read_text().splitlines()
        return [(one["attempt"].rpartition("-")[2], one["step"]) for one in map(json.loads, lines)]

    def step(self, number: int) -> Path:
        return self.folder / "checkpoints" / f"global_step_{number}"


@pytest.fixture
def run(pair: LocalCluster, tmp_path: Path) -> Run:
    return Run(pair, tmp_path, f"t-{tmp_path.name.lower().replace('_', '-')[:30]}-{os.getpid()}")


def resumes(result: jobs.Result, attempt: str) -> list[dict[str, Any]]:
    return [one for line in result.lines if (one := parse_resume(line, attempt))]


@pytest.mark.timeout(400)
def test_a_failed_attempt_is_gone_on_from_its_newest_whole_checkpoint(run: Run) -> None:
    first = run.submit("standin.raise_at=6")
    failed = first.wait_end()
    assert failed.end is not None and failed.end["reason"] == "trainer_failed", failed
    assert [one["why"] for one in resumes(failed, first.attempt)] == ["first"]
    assert "cannot read the answer of step 6" in "\n".join(failed.lines)

    cut(run.step(4) / "actor" / "optim_world_size_2_rank_1.pt")
    second = run.submit(trained="5")
    done = second.wait_end()
    assert done.end is not None and done.end["reason"] == "succeeded", done
    (resume,) = resumes(done, second.attempt)
    assert (resume["step"], resume["path"], resume["why"]) == (2, str(run.step(2)), "older")
    (skipped,) = resume["skipped"]
    assert (skipped["step"], skipped["why"]) == (4, "unreadable")
    assert "optim_world_size_2_rank_1.pt" in skipped["value"]
    assert skipped["node"] in done.end["nodes"]
    assert "[npurun] checkpoint: going on from step 2" in "\n".join(done.lines)
    assert [step for attempt, step in run.trained() if attempt == "a2"] == [3, 4, 5, 6, 7, 8]

    shutil.rmtree(run.folder / "checkpoints")
    third = run.submit(trained="8").wait_end()
    assert third.end is not None
    assert (third.end["phase"], third.end["reason"]) == ("checkpoint", "no_checkpoint"), third
    assert str(run.folder / "checkpoints") in third.end["evidence"][0]
    assert not [attempt for attempt, _ in run.trained() if attempt == "a3"]

    checkpoint = dataclasses.replace(run.plan(()).checkpoint or pytest.fail(), from_start=True)
    fourth = run.submit(trained="8", checkpoint=checkpoint, changes='["trainer.total_training_steps=3"]').wait_end()
    assert fourth.end is not None and fourth.end["reason"] == "succeeded", fourth
    assert [step for attempt, step in run.trained() if attempt == "a4"] == [1, 2, 3]
    assert "[npurun] with a change that the job's policy allows: trainer.total_training_steps=3" in fourth.lines


@pytest.mark.timeout(240)
def test_a_stopped_rank_ends_the_attempt_with_stacks_and_is_gone(run: Run) -> None:
    plan = HangPlan(step_min=HANG_S / 60, first_step_min=2, validation_min=0)
    hung = run.submit("standin.step_s=0.5", "trainer.total_training_steps=1000", "trainer.save_freq=-1", hang=plan)
    hung.wait_line("step:4 - ")
    ranks = [
        pid for pid in carrying(f"NPURUN_ATTEMPT={hung.attempt}") if command_line(pid).startswith("ray::WorkerDict")
    ]
    assert len(ranks) == 2
    began = time.monotonic()
    os.kill(ranks[1], signal.SIGSTOP)
    result = hung.wait_end(bound_s=HANG_S + ENDED_BOUND_S)
    print(f"ended {time.monotonic() - began:.1f} s after the stop")
    assert result.end is not None, result
    assert result.end["reason"] == "hung", result
    assert result.end["node"] in result.end["nodes"], result
    assert "no new step for" in result.end["evidence"][0]
    log = "\n".join(result.lines)
    assert f"pid {ranks[1]} T" in log
    assert "placement groups of the gang: 2 CREATED" in log
    assert "pending demand: none" in log
    wait_for(
        lambda: not set(ranks) & set(carrying(f"NPURUN_ATTEMPT={hung.attempt}")), bound_s=5, what="both ranks gone"
    )
    jobs.wait_nothing_left(hung)


TELLS_CANN = """
    import os, pathlib, sys, time
    folder = pathlib.Path(os.environ["ASCEND_PROCESS_LOG_PATH"], "debug/plog")
    folder.mkdir(parents=True, exist_ok=True)
    print("step:1 - a:1", flush=True)
    time.sleep(8)
    log = folder / f"plog-{os.getpid()}_20261130.log"
    log.write_text("[INFO] well\\n[ERROR] HCCL: socket times out, HF_TOKEN=hf_" + "x" * 30 + "\\n")
    sys.exit(3)
"""


@pytest.mark.timeout(240)
def test_what_only_a_node_knows_of_a_failure_is_in_the_drivers_log_masked(pair: LocalCluster, tmp_path: Path) -> None:
    command = jobs.trainer(tmp_path / "wd", TELLS_CANN)
    plan = jobs.plan(command, nodes=2, npus_per_node=1)
    env = {"ASCEND_PROCESS_LOG_PATH": str(tmp_path / "plogs")}
    result = jobs.submit(pair, plan, working_dir=tmp_path / "wd", env=env).wait_end()
    assert result.end is not None and (result.end["reason"], result.end["code"]) == ("trainer_failed", 3), result
    told = [line for line in result.lines if line.startswith("[npurun] from ") and "plog" in line]
    assert told and told[0].endswith("[ERROR] HCCL: socket times out, HF_TOKEN=***"), result
    assert "hf_x" not in str(result)
    assert "hang: not measured: this trainer's steps are not in its log" in str(result)
