"""The derived numbers of a job, spelled out."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest

from submitter.checks.arithmetic import arithmetic
from submitter.checks.examine import gather
from submitter.job.load import load_job
from tests.support.builders import job, raw
from tests.support.job_files import HOME

FSDP = {
    "trainer.nnodes": "1",
    "trainer.n_gpus_per_node": "8",
    "data.train_batch_size": "64",
    "actor_rollout_ref.actor.ppo_mini_batch_size": "32",
    "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": "4",
    "actor_rollout_ref.rollout.n": "2",
    "actor_rollout_ref.rollout.tensor_model_parallel_size": "2",
}


def lines(changes: Mapping[str, str]) -> tuple[str, ...]:
    return arithmetic(gather(job(groups={"all": {key: raw(text) for key, text in {**FSDP, **changes}.items()}})))


def test_the_shipped_job() -> None:
    assert arithmetic(gather(load_job("qwen3_5_122b_a10b_32k", environ=HOME))) == (
        "world 4 × 16 = 64; 64 / (TP 2 × PP 4 × CP 4) = DP 2",
        "EP 16 × ETP 1 × PP 4 = 64; 64 / 64 = EDP 1",
        "train_batch_size 16 × n 5 = 80; 80 / DP 2 = 40; mini-batch 16 × 5 / 2 = 40; 40 / micro-batch 1 = 40",
        "rollout TP 16; 64 / 16 = 4",
    )


def test_a_remainder_is_told() -> None:
    world, batch, rollout = lines({"actor_rollout_ref.actor.ppo_mini_batch_size": "33"})
    assert world == "world 1 × 8 = 8; 8 / 1 = DP 8"
    assert batch.endswith("128 / DP 8 = 16; mini-batch 33 × 2 / 8 = 8.25")
    assert rollout == "rollout TP 2; 8 / 2 = 4"


def test_a_cap_of_tokens_has_no_number_of_micro_batches() -> None:
    assert "micro" not in " ".join(lines({"actor_rollout_ref.actor.use_dynamic_bsz": "True"}))


@pytest.mark.parametrize("text", ["null", "two", "0", "-1", "[1]", "${nowhere}", "1.5", "9" * 30])
@pytest.mark.parametrize("key", FSDP)
def test_what_is_not_known_is_left_out(key: str, text: str) -> None:
    assert all(isinstance(line, str) and "None" not in line for line in lines({key: text}))


def test_other_trainers_have_none() -> None:
    other = job()
    other = dataclasses.replace(other, trainer=dataclasses.replace(other.trainer, module="my.sft"))
    assert arithmetic(gather(other)) == ()
