"""The real trainer in care: its rollout server killed, a rank stopped, a reward that raises, a bad argument."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from submitter.cluster.client import RayClient
from submitter.rehearsal.local_cluster import LocalCluster, NodeSpec
from tests.support.processes import wait_gone
from tests.support.supervised import Supervised, real_verl

pytestmark = [pytest.mark.proof, pytest.mark.timeout(900)]

STEPS, SAVE_EVERY = 9, 4
STEP_BOUND_S = 240.0
END_BOUND_S = 300.0
HANG_MIN = 0.5
"""Many times a step's time."""
RAISES = """
def compute_score(data_source, solution_str, ground_truth, extra_info=None, **_):
    raise KeyError(f"no answer in {ground_truth!r}")
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    nodes = [NodeSpec(npus=1, cpus=16)] * 2
    with LocalCluster.start(nodes, base_dir=tmp_path_factory.mktemp("two")) as started:
        yield started


@contextmanager
def supervised(
    cluster: LocalCluster, folder: Path, name: str, arguments: tuple[str, ...], **recovery: Any
) -> Iterator[Supervised]:
    run = Supervised.start(cluster, folder, real_verl(folder, nodes=2, arguments=arguments, **recovery), name)
    try:
        yield run
    finally:
        run.end()
    wait_gone(f"NPURUN_RUN={name}", bound_s=60)


def posted_once(run: Supervised) -> None:
    known = [job.submission_id for job in RayClient(run.cluster.address).jobs()]
    assert sorted(one for one in known if one.startswith(f"{run.name}-a")) == [
        one.submission_id for one in run.attempts
    ]


def test_a_rollout_server_is_killed_then_a_rank_stopped_and_every_step_is_trained(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    arguments = (f"trainer.total_training_steps={STEPS}", f"trainer.save_freq={SAVE_EVERY}")
    with supervised(cluster, tmp_path, "faults", arguments, hang_min=HANG_MIN) as run:
        run.wait_step(1, SAVE_EVERY + 1, bound_s=STEP_BOUND_S)
        os.kill(run.processes(1, "ray::HfCpuServer")[0], signal.SIGKILL)
        run.wait_step(2, SAVE_EVERY + 2, bound_s=STEP_BOUND_S)
        os.kill(run.processes(2, "ray::WorkerDict")[1], signal.SIGSTOP)
        ended = run.wait_end(bound_s=STEP_BOUND_S + END_BOUND_S)
        assert (ended.state, ended.reason) == ("succeeded", "succeeded"), run.story()
        killed, hung, last = run.attempts
        assert killed.reason in ("rollout_engine_died", "actor_died"), run.story()
        assert hung.reason == "hung", run.story()
        assert [hung.resumed_from, last.resumed_from] == [SAVE_EVERY, SAVE_EVERY], run.story()
        assert run.trained_after_resume() == list(range(1, STEPS + 1)), run.story()
        posted_once(run)


def test_a_reward_function_that_raises_ends_the_run_with_its_own_words(cluster: LocalCluster, tmp_path: Path) -> None:
    (tmp_path / "my_reward.py").write_text(RAISES)
    path = f"reward.custom_reward_function.path={tmp_path / 'my_reward.py'}"
    with supervised(cluster, tmp_path, "reward", (path,)) as run:
        ended = run.wait_end(bound_s=STEP_BOUND_S)
        assert (ended.state, ended.reason) == ("failed", "reward_error"), run.story()
        (attempt,) = run.attempts
        assert any("no answer in" in line["text"] for line in (attempt.diagnosis or {})["evidence"]), run.story()
        posted_once(run)


def test_a_bad_argument_ends_the_run(cluster: LocalCluster, tmp_path: Path) -> None:
    with supervised(cluster, tmp_path, "argument", ("trainer.total_trainin_steps=5",)) as run:
        ended = run.wait_end(bound_s=STEP_BOUND_S)
        assert (ended.state, ended.reason) == ("failed", "config_unknown_key"), run.story()
        assert len(run.attempts) == 1
        posted_once(run)
