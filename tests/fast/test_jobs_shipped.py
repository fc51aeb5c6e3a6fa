"""The job files that ship: each loads, passes its checks on its stack, and is one that a failure does not end."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import pytest
import yaml

import jobs
from runtime_env.stacks import stack_of, stacks
from submitter.arguments.assemble import argv, flags
from submitter.checks.examine import examine
from submitter.checks.recipe import Recipe, recipe
from submitter.checks.settings import Settings
from submitter.job.load import load_job
from submitter.job.model import Job
from tests.support.cli import MAIN_JOB, npurun
from tests.support.trees import trees

__all__ = ["trees"]

_HOME = {"HOME": "/nowhere", "USER": "me"}
"""No folder of this machine: whether a model lies there is no matter of the job's."""
_NAMES = [path.stem for path in jobs.shipped()]
_OTHERS = [name for name in _NAMES if name != MAIN_JOB]
"""The main job is verl's to the byte, with what its checks say of it (README)."""
_TRUE = {"NR235", "NR268"}
"""Warnings that stay: a False that this verl keeps to itself, engines that are larger than a node."""


@pytest.mark.parametrize("name", _NAMES)
def test_each_says_what_it_is(name: str) -> None:
    job = _job(name)
    assert (job.name, job.file) == (name, f"{name}.yaml")
    assert job.summary and job.stack in stacks() and job.recovery.declared


@pytest.mark.parametrize("name", _NAMES)
def test_no_check_finds_an_error_on_its_stack(name: str, trees: Path) -> None:
    report = examine(_job(name), trees=trees)
    assert [one.message() for one in report.errors] == []
    warnings = {one.id for one in report.findings if one.severity == "warning"}
    assert name == MAIN_JOB or warnings <= _TRUE
    assert not any(one.id.startswith("NR10") for one in report.not_checked), "the arguments were composed"


@pytest.mark.parametrize("name", _NAMES)
def test_safe_dump_changes_no_argument_and_no_flag(name: str, tmp_path: Path) -> None:
    dumped = tmp_path / "dumped.yaml"
    dumped.write_text(yaml.safe_dump(yaml.safe_load(jobs.find(name).read_text()), sort_keys=False))
    again = load_job(str(dumped), environ=_HOME)
    assert (argv(again), flags(again), again.cluster) == (argv(_job(name)), flags(_job(name)), _job(name).cluster)


@pytest.mark.parametrize("name", _OTHERS)
def test_each_variable_changes_what_is_run(name: str) -> None:
    job = _job(name)
    unchanged = (argv(job), flags(job), job.cluster)
    for variable, value in job.variables.items():
        other = str(2 * int(value.text)) if value.text.isdecimal() and value.text != "0" else "7"
        changed = load_job(name, environ=_HOME, sets=[f"{variable}={other}"])
        assert (argv(changed), flags(changed), changed.cluster) != unchanged, variable


@pytest.mark.parametrize("name", _OTHERS)
def test_a_further_attempt_has_something_to_resume(name: str) -> None:
    job = _job(name)
    settings = _settings(job)
    assert (settings.integer("trainer.save_freq") or 0) > 0
    assert str(settings.text("trainer.default_local_dir")).startswith("/")
    assert job.recovery.max_attempts > 1


def test_every_algorithm_and_engine_that_verl_publishes_has_one() -> None:
    found = [_recipe(name) for name in _NAMES]
    assert {one.algorithm for one in found} == {
        *("grpo", "gspo", "dapo", "ppo", "rloo", "remax", "reinforce++", "gpg", "cispo", "sapo", "gmpo", "dppo"),
        *("gdpo", "otb", "distillation", "sft"),
    }
    assert {one.engine for one in found} == {"fsdp", "fsdp2", "megatron", "veomni"}
    assert {one.rollout for one in found} == {"vllm", "sglang", None}
    assert {one.nodes for one in found} == {1, 2, 4, 8, 16}


@pytest.mark.parametrize("name", _NAMES)
def test_the_table_knows_each(name: str) -> None:
    found = _recipe(name)
    generates = found.algorithm != "sft"
    assert found.model and found.engine
    assert bool(found.rollout) is generates and (found.max_response_length is not None) is generates
    assert found.nodes * found.npus_per_node >= 2


def test_the_table_is_quick(tmp_path: Path) -> None:
    npurun("jobs", home=tmp_path)
    began = time.process_time()
    assert npurun("jobs", home=tmp_path).code == 0
    assert time.process_time() - began < 0.5


@cache
def _job(name: str) -> Job:
    return load_job(name, environ=_HOME)


@cache
def _recipe(name: str) -> Recipe:
    return recipe(_job(name))


def _settings(job: Job) -> Settings:
    stack = stack_of(job)
    return Settings(job, stack.verl_release if stack else None)
