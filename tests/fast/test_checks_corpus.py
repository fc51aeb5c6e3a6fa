"""Sane jobs of many layouts: a check that calls one of them wrong is wrong itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from jobs import shipped
from submitter.checks.case import Case
from submitter.checks.examine import Report, examine, gather
from submitter.checks.parallel import training
from submitter.job.load import load_job
from submitter.job.model import Job
from tests.support.job_files import HOME
from tests.support.trees import trees

__all__ = ["trees"]

_FOLDER = Path(__file__).parents[1] / "data" / "corpus"
_NAMES = sorted(path.stem for path in _FOLDER.glob("*.yaml"))
_KNOWN_SHAPES = 0.8
"""Share of the corpus whose model is in the table of shapes: else the layout's checks would have nothing to look at."""


@pytest.mark.parametrize("name", _NAMES)
def test_a_sane_job_has_no_error(name: str) -> None:
    assert _spoken(examine(_job(name))) == []


@pytest.mark.parametrize("name", _NAMES)
def test_nor_has_it_one_against_verls_own_configuration(name: str, trees: Path) -> None:
    report = examine(_job(name), trees=trees)
    assert _spoken(report) == []
    assert [one.id for one in report.findings if one.id.startswith("NR10")] == []


@pytest.mark.parametrize("path", shipped(), ids=lambda path: path.stem)
def test_nor_have_the_shipped_jobs(path: Path, trees: Path) -> None:
    assert _spoken(examine(load_job(str(path), environ=HOME), trees=trees)) == []


@pytest.mark.parametrize("name", _NAMES)
def test_each_is_a_model_for_its_users(name: str) -> None:
    """Checkpoints at an absolute path, saved and resumed; nodes as many as the trainer's pools ask for."""
    job, settings = _job(name), _case(name).settings
    assert job.name == name
    assert job.recovery.declared
    assert (settings.integer("trainer.save_freq") or 0) > 0
    assert str(settings.text("trainer.default_local_dir")).startswith("/")
    pools = ["trainer.nnodes", "rollout.nnodes"]
    if settings.truth("reward.reward_model.enable_resource_pool"):
        pools.append("reward.reward_model.nnodes")
    assert job.cluster.nodes == sum(settings.integer(key) or 0 for key in pools)


def test_the_corpus_is_as_wide_as_it_says() -> None:
    assert len(_NAMES) >= 25
    assert _all_of(lambda case: case.stack and case.stack.name) == {"cann-8.5.0", "cann-9.0.0", "cann-9.1.0"}
    assert _all_of(lambda case: case.settings.integer("trainer.nnodes")) == {1, 2, 4, 8, 16}
    assert _all_of(lambda case: case.job.cluster.npus_per_node) == {8, 16}
    assert _all_of(lambda case: (layout := training(case.settings)) and layout.strategy) == {
        *("fsdp", "fsdp2", "megatron", "mindspeed", "veomni")
    }
    assert _all_of(lambda case: case.job.trainer.module.split(".")[-2]) == {
        *("trainer", "one_step_off_policy", "fully_async_policy")
    }
    assert _all_of(lambda case: case.settings.text("algorithm.adv_estimator")) >= {"gae", "grpo", "rloo", "remax"}
    assert _all_of(lambda case: case.settings.text("actor_rollout_ref.rollout.name")) == {"vllm", "sglang"}
    assert _all_of(lambda case: case.settings.truth("actor_rollout_ref.actor.use_dynamic_bsz")) == {True, False}
    assert {_tokens(name) for name in _NAMES} >= {1024, 262144}
    assert any(case.settings.integer("actor_rollout_ref.model.lora_rank") for case in _cases())
    assert any(case.settings.truth("reward.reward_model.enable") for case in _cases())


def test_the_rules_have_something_to_look_at() -> None:
    assert all(case.settings.ppo for case in _cases())
    known = [case for case in _cases() if case.model is not None]
    assert len(known) >= _KNOWN_SHAPES * len(_NAMES)
    experts = {case.model.num_experts for case in known if case.model is not None}
    assert {None, 128, 256, 512} <= experts


@cache
def _job(name: str) -> Job:
    return load_job(str(_FOLDER / f"{name}.yaml"), environ=HOME)


@cache
def _case(name: str) -> Case:
    return gather(_job(name))


def _cases() -> list[Case]:
    return [_case(name) for name in _NAMES]


def _all_of(what: Callable[[Case], object]) -> set[object]:
    return {what(case) for case in _cases()}


def _tokens(name: str) -> int:
    settings = _case(name).settings
    return (settings.integer("data.max_prompt_length") or 0) + (settings.integer("data.max_response_length") or 0)


def _spoken(report: Report) -> list[str]:
    """The errors as people read them, so that a failing test says what the rule believes."""
    return [f"{error.id} {error.place.key}: {error.message()}" for error in report.errors]
