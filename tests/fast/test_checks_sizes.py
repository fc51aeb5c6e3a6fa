"""Counts below one, and parts of the configuration that do not go together: failing, passing, borderline."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest

from submitter.checks.sizes import RULES
from submitter.job.model import Job, Trainer
from tests.support.builders import job, raw
from tests.support.checks import findings_of

A, R, RM = "actor_rollout_ref.actor", "actor_rollout_ref.rollout", "reward.reward_model"
HYBRID, STRATEGY = "actor_rollout_ref.hybrid_engine", f"{A}.strategy"
IDS = tuple(rule.id for rule in RULES)
OLD, MID, NEW = "cann-8.5.0", "cann-9.0.0", "cann-9.1.0"
POOL = {
    f"{RM}.enable": "True",
    f"{RM}.enable_resource_pool": "True",
    f"{RM}.nnodes": "1",
    f"{RM}.n_gpus_per_node": "8",
    f"{RM}.rollout.tensor_model_parallel_size": "4",
}
MEGATRON = {"model_engine": "megatron"}


def made(values: Mapping[str, str], stack: str = MID, module: str = "verl.trainer.main_ppo") -> Job:
    built = job(groups={"a": {f"{R}.name": raw("vllm"), **{key: raw(value) for key, value in values.items()}}})
    return dataclasses.replace(built, stack=stack, trainer=Trainer(module, "ray"))


def found(built: Job) -> list[tuple[str, str, str | None]]:
    return [(one.id, one.severity, one.place.key) for one in findings_of(built, *IDS)]


BELOW = [
    ("trainer.nnodes", {}),
    ("trainer.n_gpus_per_node", {}),
    ("data.max_prompt_length", {}),
    (f"{R}.tensor_model_parallel_size", {}),
    (f"{R}.max_num_seqs", {}),
    ("reward.num_workers", {}),
    (f"{A}.ulysses_sequence_parallel_size", {}),
    (f"{A}.megatron.context_parallel_size", MEGATRON),
    ("actor_rollout_ref.ref.megatron.pipeline_model_parallel_size", MEGATRON),
]


@pytest.mark.parametrize(("key", "more"), BELOW, ids=[key for key, _ in BELOW])
def test_a_count_below_one(key: str, more: Mapping[str, str]) -> None:
    for value in ("0", "-1"):
        built = made({**more, key: value})
        assert found(built) == [("NR271", "error", key)]
        (finding,) = findings_of(built, *IDS)
        assert finding.place.line == 2 + len(more)
        assert f"{key} is {value}" in finding.message()
    assert found(made({**more, key: "1"})) == []


@pytest.mark.parametrize("value", ["null", "one", "${nowhere}", "[0]", "", "true", "0.5"])
def test_what_is_no_count_is_another_checks(value: str) -> None:
    assert found(made({"trainer.nnodes": value, f"{A}.ulysses_sequence_parallel_size": value})) == []


def test_sizes_of_an_engine_that_the_job_does_not_use_do_not_matter() -> None:
    assert found(made({f"{A}.ulysses_sequence_parallel_size": "0", **MEGATRON})) == []


def test_the_rollouts_own_nodes_count_where_it_has_them() -> None:
    own = {"rollout.nnodes": "0"}
    asynchronous = "verl.experimental.fully_async_policy.fully_async_main"
    assert found(made(own, module=asynchronous)) == [("NR271", "error", "rollout.nnodes")]
    assert found(made(own)) == []


@pytest.mark.parametrize(
    ("values", "stack", "wrong"),
    [
        ({STRATEGY: "megatron"}, MID, True),
        ({STRATEGY: "megatron"}, OLD, True),
        ({STRATEGY: "fsdp2", **MEGATRON}, MID, True),
        ({STRATEGY: "veomni"}, NEW, True),
        ({STRATEGY: "megatron", f"{A}.megatron.tensor_model_parallel_size": "2"}, MID, True),
        ({STRATEGY: "megatron", **MEGATRON}, MID, False),
        ({STRATEGY: "fsdp2"}, MID, False),
        ({STRATEGY: "fsdp"}, NEW, False),
        ({STRATEGY: "veomni", "model_engine": "veomni"}, NEW, False),
        ({STRATEGY: "fsdp_turbo"}, NEW, False),
        ({STRATEGY: "megatron", "actor@actor_rollout_ref.actor": "megatron_actor"}, OLD, False),
    ],
)
def test_a_strategy_needs_its_engine(values: Mapping[str, str], stack: str, wrong: bool) -> None:
    assert found(made(values, stack)) == ([("NR272", "error", STRATEGY)] if wrong else [])


def test_megatron_of_0_7_1_is_a_configuration_of_its_own() -> None:
    built = made({STRATEGY: "megatron"}, OLD)
    named = dataclasses.replace(built, extra_arguments=("--config-name=ppo_megatron_trainer",))
    assert found(named) == []


def test_a_trainer_or_configuration_of_the_users_own_is_not_known_to_fail() -> None:
    assert found(made({STRATEGY: "megatron"}, module="my.trainer")) == [("NR272", "warning", STRATEGY)]
    assert found(made({HYBRID: "False"}, module="my.trainer")) == []


@pytest.mark.parametrize(
    ("stack", "module", "value", "wrong"),
    [
        (OLD, "verl.trainer.main_ppo", "False", True),
        (MID, "verl.trainer.main_ppo", "False", True),
        (NEW, "verl.trainer.main_ppo", "False", False),
        (NEW, "verl.trainer.main_ppo_v0", "False", True),
        (MID, "verl.trainer.main_ppo", "True", False),
        (MID, "verl.experimental.one_step_off_policy.main_ppo", "False", False),
        (MID, "verl.experimental.fully_async_policy.fully_async_main", "False", False),
    ],
)
def test_the_classic_trainer_has_the_rollout_beside_it(stack: str, module: str, value: str, wrong: bool) -> None:
    assert found(made({HYBRID: value}, stack, module)) == ([("NR273", "error", HYBRID)] if wrong else [])


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({f"{RM}.rollout.tensor_model_parallel_size": "3"}, True),
        ({f"{RM}.n_gpus_per_node": "6"}, True),
        ({f"{RM}.rollout.data_parallel_size": "4"}, True),
        ({f"{RM}.rollout.tensor_model_parallel_size": "16"}, True),
        ({}, False),
        ({f"{RM}.rollout.tensor_model_parallel_size": "8"}, False),
        ({f"{RM}.nnodes": "3", f"{RM}.rollout.tensor_model_parallel_size": "12"}, False),
        ({f"{RM}.enable_resource_pool": "False", f"{RM}.rollout.tensor_model_parallel_size": "3"}, False),
        ({f"{RM}.enable": "False", f"{RM}.rollout.tensor_model_parallel_size": "3"}, False),
        ({f"{RM}.n_gpus_per_node": "many", f"{RM}.rollout.tensor_model_parallel_size": "3"}, False),
    ],
)
def test_a_reward_pool_is_cut_without_a_rest(changes: Mapping[str, str], wrong: bool) -> None:
    findings = findings_of(made({**POOL, **changes}), "NR274")
    assert [one.severity for one in findings] == (["error"] if wrong else [])
    for one in findings:
        assert f"{one.limit} % {one.value} = " in one.message()
        assert "1, 2" in one.fix()
