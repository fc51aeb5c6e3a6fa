"""What the plan says of a job's checkpoints and of the time that its steps may take."""

from __future__ import annotations

from typing import Any

import pytest

from submitter.gang.checkpoint.plan import CheckpointPlan
from submitter.gang.plan import HangPlan, Plan
from submitter.job.model import Number, Recovery, Torchrun, Trainer, Value
from submitter.render.checkpoint import checkpoint_plan, hang_plan
from submitter.render.plan import plan
from tests.support.builders import job

BASE: dict[str, Value] = {
    "algorithm.adv_estimator": "grpo",
    "trainer.default_local_dir": "/ckpt",
    "trainer.nnodes": Number("4"),
    "trainer.n_gpus_per_node": Number("16"),
    "trainer.save_freq": Number("10"),
}
MEGATRON: dict[str, Value] = {"model_engine": "megatron", "actor_rollout_ref.actor.strategy": "megatron"}


def found(arguments: dict[str, Value] | None = None, **changes: Any) -> CheckpointPlan | None:
    return checkpoint_plan(job(groups={"trainer": {**BASE, **(arguments or {})}}, **changes))


def test_a_job_of_fsdp() -> None:
    assert found() == CheckpointPlan("/ckpt", "fsdp", 64)
    changed = found(
        {
            "trainer.resume_mode": "resume_path",
            "algorithm.adv_estimator": "gae",
            "actor_rollout_ref.actor.checkpoint.load_contents": ["model"],
        },
        recovery=Recovery(from_start=True),
    )
    assert changed == CheckpointPlan(
        "/ckpt", "fsdp", 64, contents=("model",), critic=True, from_start=True, mode="resume_path"
    )


@pytest.mark.parametrize(
    ("arguments", "recovery"), [({"trainer.resume_mode": "disable"}, Recovery()), ({}, Recovery(resume=False))]
)
def test_a_job_that_does_not_resume(arguments: dict[str, Value], recovery: Recovery) -> None:
    made = found(arguments, recovery=recovery)
    assert made is not None and not made.resume


def test_a_job_that_saves_nothing() -> None:
    made = found({"trainer.save_freq": Number("-1")})
    assert made is not None and not made.saves


@pytest.mark.parametrize(
    ("stack", "arguments", "new", "dist"),
    [
        ("cann-9.0.0", {}, False, False),
        ("cann-9.0.0,verl=0.9.1", {}, True, False),
        ("cann-9.0.0,verl=0.9.1", {"actor_rollout_ref.actor.megatron.use_dist_checkpointing": True}, True, True),
        ("cann-9.0.0", {"actor_rollout_ref.actor.megatron.use_mbridge": True}, False, False),
        ("cann-9.0.0", {"actor_rollout_ref.actor.megatron.use_mbridge": False}, False, True),
        ("cann-9.0.0,verl=0.9.1", {"actor_rollout_ref.model.lora_rank": Number("8")}, True, None),
        (None, {}, None, False),
    ],
)
def test_layouts_of_megatron(
    stack: str | None, arguments: dict[str, Value], new: bool | None, dist: bool | None
) -> None:
    made = found({**MEGATRON, **arguments}, stack=stack)
    assert made is not None
    assert (made.engine, made.new_layout, made.dist_model) == ("megatron", new, dist)


@pytest.mark.parametrize(
    "arguments",
    [{"actor_rollout_ref.actor.strategy": "torchtitan"}, {"trainer.default_local_dir": "hdfs://x/y"}],
)
def test_checkpoints_that_are_not_known(arguments: dict[str, Value]) -> None:
    assert found(arguments) is None


def test_other_trainers() -> None:
    assert found(trainer=Trainer("mine.train", "ray")) is None
    tuning = found(trainer=Trainer("verl.trainer.sft_trainer", "torchrun", Torchrun(8)))
    assert tuning == CheckpointPlan("/ckpt", "fsdp", 32, roles=False)
    assert hang_plan(job(trainer=Trainer("mine.train", "ray"))) is None


def test_how_long_steps_may_take() -> None:
    made = hang_plan(job(groups={"trainer": {**BASE, "trainer.test_freq": Number("5")}}))
    assert made == HangPlan(test_freq=5, save_freq=10, val_before_train=True)
    own = job(
        groups={"trainer": {**BASE, "trainer.val_before_train": False}},
        recovery=Recovery(hang_min=0.5, first_step_min=240),
    )
    assert hang_plan(own) == HangPlan(step_min=0.5, first_step_min=240, save_freq=10)
    silent = job(groups={"trainer": {**BASE, "trainer.logger": ["wandb"]}})
    assert hang_plan(silent) is None, "no step is printed"


def test_the_plan_travels_whole() -> None:
    made = plan(job(groups={"trainer": BASE}))
    assert made.checkpoint is not None and made.hang is not None
    assert Plan.from_json(made.to_json()) == made
