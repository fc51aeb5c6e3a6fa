"""The main job, rehearsed whole: 4 nodes of 16 NPUs, the real verl trainer, by the command that users type."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from submitter.gang.record import END_PREFIX
from tests.support.jobs import SIX_FLAGS
from tests.support.rehearsal import Rehearsal, rehearsal

pytestmark = pytest.mark.proof

RUN_BOUND_S = 300.0
STEP = re.compile(r"step:(\d+) - .*critic/rewards/mean:([0-9.]+)")
FLAG_LINE = re.compile(r"\[npurun\]\s+(\w+)\s+(\S+)\s*$", re.MULTILINE)


@pytest.mark.timeout(400)
def test_the_main_job_is_rehearsed_on_four_nodes(tmp_path: Path) -> None:
    with rehearsal(tmp_path) as run:
        code = run.wait(bound_s=RUN_BOUND_S)
        assert code == 0, run.err[-3000:] + run.out[-3000:]
        assert_four_nodes(run)
        assert_flags(run)
        assert_steps(run)
        assert_changes_are_told(run)
        assert re.search(r"checkpoint of step 6: 4 ranks, [\d.]+ MiB, complete", run.err)
        run.assert_nothing_left()


def assert_four_nodes(run: Rehearsal) -> None:
    ends = [line for line in run.out.splitlines() if line.startswith(END_PREFIX)]
    end = json.loads(ends[-1].removeprefix(END_PREFIX))
    assert end["reason"] == "succeeded" and len(set(end["nodes"])) == 4
    assert "4 nodes x 16 NPU" in run.out


def assert_flags(run: Rehearsal) -> None:
    """One value for all four nodes: the table's only column is `1-4`."""
    assert re.search(r"flag seen by node\s+1-4\s*$", run.out, re.MULTILINE)
    assert SIX_FLAGS.items() <= dict(FLAG_LINE.findall(run.out)).items()


def assert_steps(run: Rehearsal) -> None:
    rewards = {int(step): float(reward) for step, reward in STEP.findall(run.out)}
    assert sorted(rewards) == [1, 2, 3, 4, 5, 6]
    assert all(0 < reward < 2 for reward in rewards.values())


def assert_changes_are_told(run: Rehearsal) -> None:
    assert "- actor_rollout_ref.actor.megatron.use_mbridge=True" in run.err
    assert "trainer.total_training_steps: 100 -> 6" in run.err
