"""What composition finds, as findings: ids, severities, places, remedies; and what it leaves alone."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from submitter.arguments.compose import Composition, Problem
from submitter.checks import choices, composition
from submitter.checks.case import Case, NotChecked
from submitter.checks.examine import examine
from submitter.checks.finding import Finding
from submitter.checks.parallel import training
from submitter.checks.settings import Settings
from submitter.job.load import load_job
from submitter.job.model import Job, Trainer
from tests.support.builders import job, number
from tests.support.checks import findings_of
from tests.support.job_files import HOME

ACTOR = "actor_rollout_ref.actor"
ROLLOUT = "actor_rollout_ref.rollout"
TRANSFORMER = f"{ACTOR}.megatron.override_transformer_config"
MINE = tuple(f"NR{number}" for number in range(101, 120))


def findings(made: Job, trees: Path) -> list[Finding]:
    return [one for one in examine(made, trees=trees).findings if one.id in MINE]


def not_composed(made: Job, trees: Path) -> list[NotChecked]:
    return [one for one in examine(made, trees=trees).not_checked if one.id in MINE]


def made_of(*arguments: str, stack: str = "cann-9.0.0", **settings: Any) -> Job:
    """Arguments as a job file's groups would hold them, one line each."""
    words = [argument.partition("=") for argument in (f"{ROLLOUT}.name=vllm", *arguments)]
    from submitter.job.model import RawText

    group = {key: RawText(text) if equals else None for key, equals, text in words}
    return job(groups={"all": group}, stack=stack, **settings)


@pytest.mark.parametrize(
    ("stack", "argument", "found", "severity", "said"),
    [
        pytest.param("cann-9.0.0", f"{ACTOR}.fsdp_config.grad_offload=False", "NR103", "error", "Drop it", id="F001"),
        pytest.param(
            "cann-9.1.0,verl=0.9.1",
            f"{ACTOR}.fsdp_config.grad_offload=False",
            "NR101",
            "error",
            "fsdp_config.grad_offload",
            id="F001-newest",
        ),
        pytest.param(
            "cann-9.0.0", f"{ROLLOUT}.limit_images=4", "NR103", "error", f"Write +{ROLLOUT}.limit_images", id="F003"
        ),
        pytest.param("cann-9.0.0", f"{ROLLOUT}.enable_sleep_mode=True", "NR103", "error", "Write +", id="F003-sleep"),
        pytest.param("cann-9.0.0", f"{ROLLOUT}.repetition_penalty=1.1", "NR103", "error", "Write +", id="F003-penalty"),
        pytest.param(
            "cann-9.0.0", f"+{ACTOR}.use_fused_swiglu=True", "NR110", "error", "override_transformer_config", id="F184"
        ),
        pytest.param("cann-9.0.0", "trainer.nnode=4", "NR101", "error", "trainer.nnodes", id="typo"),
        pytest.param("cann-9.1.0", "trainer.nnode=4", "NR101", "warning", "trainer.nnodes", id="stand-in"),
        pytest.param("cann-9.0.0", "+trainer.nnodes=4", "NR102", "error", "++trainer.nnodes", id="exists"),
        pytest.param("cann-9.0.0", "data.train_batch_size=abc", "NR104", "error", "int", id="type"),
        pytest.param("cann-9.0.0", f"{ACTOR}.use_kl_loss=no", "NR104", "warning", "true", id="truthy"),
        pytest.param("cann-9.0.0", "data.train_batch_size.x=1", "NR101", "error", "Drop it", id="below-a-number"),
        pytest.param("cann-9.0.0", "trainer.use_legacy_worker_impl=x", "NR106", "error", "since 0.8.0", id="gone"),
        pytest.param("cann-8.5.0", f"{ACTOR}.checkpoint.strict=False", "NR106", "error", "new in 0.8.0", id="new"),
        pytest.param(
            "cann-9.0.0", f"{ACTOR}.megatron.param_offload=True", "NR106", "error", "model_engine", id="engine"
        ),
        pytest.param("cann-8.5.0", "model_engine=megatron", "NR108", "error", "ppo_megatron_trainer", id="old-way"),
        pytest.param("cann-9.0.0", "model_engine=nope", "NR108", "error", "megatron", id="choice"),
        pytest.param("cann-9.0.0", "data.x=[", "NR109", "error", "Quote", id="grammar"),
        pytest.param("cann-9.0.0", "data.seed=1,2", "NR109", "error", "--multirun", id="sweep"),
        pytest.param("cann-9.0.0", f"+{ACTOR}.grad_clipp=1", "NR110", "error", "FSDPActorConfig", id="refused"),
        pytest.param("cann-9.0.0", "+critic.nothing=1", "NR110", "warning", "nothing", id="refused-where-used"),
        pytest.param("cann-9.0.0", "~trainer.nothing", "NR111", "error", "does not exist", id="absent"),
        pytest.param("cann-9.0.0", "data.train_files=???", "NR112", "error", "Set data.train_files", id="missing"),
        pytest.param("cann-9.0.0", "data.val_files=${data.no}", "NR113", "error", "data.no", id="nowhere"),
        pytest.param("cann-9.0.0", "data.val_batch_size=abc", "NR104", "error", "int", id="type-of-null"),
        pytest.param(
            "cann-9.0.0", "+data.filter_overlong_prompt=True", "NR115", "warning", "filter_overlong_prompts", id="near"
        ),
        pytest.param("cann-9.0.0", "++trainer.total_epoch=3", "NR115", "warning", "trainer.total_epochs", id="near-2"),
        pytest.param("cann-9.0.0", "+algoritm.gamma=1", "NR115", "warning", "algorithm.gamma", id="near-section"),
        pytest.param(
            "cann-9.0.0", "+ray_init.num_cpus=8", "NR115", "warning", "ray_kwargs.ray_init.num_cpus", id="dead-root"
        ),
        pytest.param("cann-9.0.0", r"data.val_files='\${x}'", "NR114", "warning", "$text", id="escaped"),
    ],
)
def test_found_at_its_line(trees: Path, stack: str, argument: str, found: str, severity: str, said: str) -> None:
    [one] = findings(made_of(argument, stack=stack), trees)
    assert (one.id, one.severity, one.place.line) == (found, severity, 2)
    assert one.place.key == argument.partition("=")[0]
    assert said in f"{one.message()} {one.fix()}"
    assert one.message("zh") != one.message()


@pytest.mark.parametrize(
    "argument",
    [
        f"+{ROLLOUT}.limit_images=4",
        f"++{ROLLOUT}.engine_kwargs.vllm.additional_config.anything=True",
        f"+{ACTOR}.fsdp_config.mixed_precision.param_dtype=bf16",
        "+reward.reward_kwargs.overlong_buffer_cfg.enable=True",  # read as a dict, whatever its class says
        "+trainer.mine=1",
        "+ray_kwargs.ray_init.runtime_env.env_vars.A=1",
        "reward.custom_reward_function.path=/x.py",
        "hydra.run.dir=/tmp/x",
        "data.val_files=${data.train_files}",
        "trainer.experiment_name=${oc.env:NOT_SET_HERE}",
    ],
)
def test_no_alarm(trees: Path, argument: str) -> None:
    assert findings(made_of(argument), trees) == []


def test_the_shipped_job_is_clean_on_its_own_stack(trees: Path) -> None:
    made = load_job("qwen3_5_122b_a10b_32k", environ=HOME)
    assert findings(made, trees) == []
    assert not_composed(made, trees) == []


def test_the_shipped_job_on_the_newest_stack(trees: Path) -> None:
    made = dataclasses.replace(load_job("qwen3_5_122b_a10b_32k", environ=HOME), stack="cann-9.1.0")
    assert findings(made, trees) == []
    [one] = not_composed(made, trees)
    assert "verl 0.9.0 as a stand-in" in one.message()


@pytest.mark.parametrize(
    "argument",
    [
        "ray_kwargs.ray_init.runtime_env.py_executable=python3",
        f"+{ACTOR}.fsdp_config.turbo_config.distributed.fsdp_plan.apply_modules=[]",
    ],
)
def test_a_key_younger_than_the_stand_in_is_no_alarm(trees: Path, argument: str) -> None:
    """The stack's verl is newer than the tree; verl 0.9.1, between the two, has the key."""
    assert findings(made_of(argument, f"{ROLLOUT}.name=vllm", stack="cann-9.1.0"), trees) == []
    assert findings(made_of(argument, f"{ROLLOUT}.name=vllm", stack="cann-9.1.0,verl=0.9.0"), trees)


def test_a_key_that_is_gone_is_named_at_its_line(trees: Path) -> None:
    made = dataclasses.replace(load_job("qwen3_5_122b_a10b_32k", environ=HOME), stack="cann-9.1.0,verl=0.9.1")
    [one] = findings(made, trees)
    assert (one.id, one.severity, one.place.key) == ("NR106", "error", f"{ACTOR}.megatron.grad_offload")
    lines = (Path(__file__).parents[2] / "jobs" / "qwen3_5_122b_a10b_32k.yaml").read_text().splitlines()
    assert one.place.line is not None
    assert "actor.megatron.grad_offload:" in lines[one.place.line - 1]
    assert "gone since 0.9.1" in one.message()


def test_what_was_not_composed_is_said_with_the_remedy(trees: Path, tmp_path: Path) -> None:
    assert "npurun stacks fetch 0.8.0" in not_composed(made_of(), tmp_path)[0].message()
    assert "--stack" in not_composed(made_of(stack=None), trees)[0].message()  # type: ignore[arg-type]
    other = made_of()
    other = dataclasses.replace(other, trainer=dataclasses.replace(other.trainer, module="my.trainer"))
    assert "my.trainer" in not_composed(other, trees)[0].message()
    assert "--config-path" in not_composed(made_of(extra=["--config-dir=x"]), trees)[0].message()


def test_not_asked_for_is_neither_done_nor_told(trees: Path) -> None:
    made = made_of("trainer.nnode=4")
    for report in (examine(made), examine(made, trees=trees, compose=False)):
        assert [one for one in report.findings if one.id == "NR101"] == []
        assert [one for one in report.not_checked if one.id == "NR101"] == []


def test_the_name_of_the_rollout_is_mandatory(trees: Path) -> None:
    [one] = findings(job(stack="cann-9.0.0", groups={"a": {"trainer.nnodes": number("2")}}), trees)
    assert (one.id, one.place.key) == ("NR112", f"{ROLLOUT}.name")


@pytest.mark.parametrize(
    ("first", "second", "extra", "severity"),
    [
        ({"trainer.nnodes": number("2")}, {"trainer.nnodes": number("3")}, [], "warning"),
        ({"trainer.nnodes": number("2")}, {"++trainer.nnodes": number("2")}, [], "hint"),
        ({"trainer.nnodes": number("2")}, {"+trainer.nnodes": number("2")}, [], None),  # refused: NR102
        ({"trainer.nnodes": number("2")}, {"trainer.nnodes": number("3")}, ["trainer.nnodes=4"], None),
        ({"trainer.nnodes": number("2")}, {}, ["trainer.nnodes=4"], None),
        ({"+a.x": number("2")}, {"~a.x": None}, [], None),
    ],
)
def test_set_twice(first: dict[str, Any], second: dict[str, Any], extra: list[str], severity: str | None) -> None:
    made = job(groups={"one": first, "two": second}, extra=extra)
    found = list(composition.set_twice(Case(made, None, Settings(made, None))))
    assert [one.severity for one in found] == ([severity] if severity else [])
    for one in found:
        assert one.place.line == 2
        assert "group one (line 1)" in one.message()


@pytest.mark.parametrize(
    ("release", "arguments", "severity"),
    [
        ("0.8.0", {"algorithm.adv_estimator": "grpoo"}, "error"),
        ("0.8.0", {"algorithm.adv_estimator": "grpo"}, None),
        ("0.8.0", {f"{ACTOR}.loss_agg_mode": "token-sum"}, "error"),
        ("0.9.0", {f"{ACTOR}.loss_agg_mode": "token-sum"}, None),
        ("0.8.0", {f"{ACTOR}.policy_loss.loss_mode": "dro"}, "error"),
        ("0.9.1", {f"{ACTOR}.policy_loss.loss_mode": "dro"}, None),
        ("0.8.0", {f"{ACTOR}.kl_loss_type": "kl2", f"{ACTOR}.use_kl_loss": True}, "error"),
        ("0.8.0", {f"{ACTOR}.kl_loss_type": "kl2"}, None),  # not read
        ("0.8.0", {f"{ACTOR}.kl_loss_type": "low_var_kl+", f"{ACTOR}.use_kl_loss": True}, None),
        ("0.8.0", {"algorithm.kl_penalty": "klx", "algorithm.use_kl_in_reward": True}, "error"),
        ("0.8.0", {"algorithm.kl_ctrl.type": "none", "algorithm.use_kl_in_reward": True}, "error"),
        ("0.8.0", {f"{ROLLOUT}.name": "hf"}, None),  # told by NR304
        ("0.8.0", {f"{ACTOR}.strategy": "mine", "actor_rollout_ref.model.external_lib": "my.lib"}, "warning"),
        ("0.8.0", {f"{ACTOR}.strategy": "fsdp3"}, "error"),
        ("0.8.0", {f"{ACTOR}.strategy": "fsdp_turbo"}, "error"),
        ("0.9.1", {f"{ACTOR}.strategy": "fsdp_turbo"}, None),
        ("0.8.0", {"trainer.logger": ["console", "wandbb"]}, "error"),
        ("0.8.0", {"trainer.logger": "console"}, None),
        ("0.8.0", {"data.truncation": "cut"}, "warning"),
        ("0.8.0", {f"{ACTOR}.router_replay.mode": "R4"}, "error"),
        ("0.8.0", {f"{ACTOR}.optim.lr_scheduler_type": "linear"}, "error"),
        ("0.8.0", {f"{ACTOR}.optim.lr_scheduler_type": "linear", "model_engine": "megatron"}, None),
        ("0.8.0", {f"{ROLLOUT}.dtype": "bf16", f"{ROLLOUT}.name": "vllm"}, "error"),
        ("0.8.0", {f"{ROLLOUT}.dtype": "bfloat16", f"{ROLLOUT}.name": "vllm"}, None),
        ("0.8.0", {f"{ROLLOUT}.dtype": "bf16", f"{ROLLOUT}.name": "trtllm"}, None),
        ("0.8.0", {f"{ROLLOUT}.load_format": "safetensor", f"{ROLLOUT}.name": "vllm"}, "error"),
        ("0.8.0", {f"{ROLLOUT}.load_format": "rfork", f"{ROLLOUT}.name": "vllm"}, None),
        ("0.8.0", {f"{ACTOR}.fsdp_config.model_dtype": "bfloat"}, "error"),
        ("0.8.0", {f"{ACTOR}.fsdp_config.model_dtype": "bf16"}, None),
        ("0.8.0", {f"{ACTOR}.fsdp_config.model_dtype": number("16")}, None),
        ("0.8.0", {f"+{ACTOR}.fsdp_config.mixed_precision.param_dtype": "half"}, "error"),
        ("0.8.0", {f"+{ACTOR}.fsdp_config.mixed_precision": {"reduce_dtype": "fp33"}}, "error"),
        ("0.8.0", {f"{ROLLOUT}.checkpoint_engine.backend": "hccl"}, "error"),
        ("0.8.0", {f"{ROLLOUT}.checkpoint_engine.backend": "nccl"}, None),
        ("0.8.0", {f"{ROLLOUT}.checkpoint_engine.backend": "delta_sharded"}, "error"),
        ("0.9.0", {f"{ROLLOUT}.checkpoint_engine.backend": "delta_sharded"}, None),
        (
            "0.8.0",
            {f"{ROLLOUT}.checkpoint_engine": {"backend": "mine", "custom_backend_module": "my.module"}},
            "warning",
        ),
        ("0.8.0", {f"{ACTOR}.checkpoint.save_contents": ["model", "optimiser"]}, "warning"),
        ("0.8.0", {f"{ACTOR}.checkpoint.load_contents": ["models"]}, "warning"),
        ("0.8.0", {f"{ACTOR}.checkpoint.save_contents": ["model", "optimizer", "extra", "hf_model"]}, None),
        ("0.8.0", {f"+{TRANSFORMER}.attention_backend": "flsh", "model_engine": "megatron"}, "error"),
        ("0.8.0", {f"+{TRANSFORMER}.attention_backend": "auto", "model_engine": "megatron"}, None),
        ("0.8.0", {f"+{TRANSFORMER}.moe_token_dispatcher_type": "all2all", "model_engine": "megatron"}, "error"),
        ("0.8.0", {f"+{TRANSFORMER}.moe_token_dispatcher_type": "alltoall_seq", "model_engine": "megatron"}, None),
        ("0.8.0", {"algorithm.adv_estimator": None}, None),
        ("0.8.0", {"algorithm.adv_estimator": number("1"), "trainer.logger": None, f"{ACTOR}.strategy": []}, None),
    ],
)
def test_choices(release: str, arguments: dict[str, Any], severity: str | None) -> None:
    made = job(groups={"all": arguments})
    found = list(choices.outside(Case(made, None, Settings(made, release))))
    assert [one.severity for one in found] == ([severity] if severity else [])
    for one in found:
        assert one.place.line == 1
        assert one.limit is not None
        assert one.limit in one.message()


def test_the_choices_of_another_trainer_are_its_own() -> None:
    made = job(
        groups={"all": {"trainer.logger": "mine", f"{ROLLOUT}.name": "hf"}},
        trainer=Trainer("verl.experimental.vla.main_ppo", "ray"),
    )
    assert [one.severity for one in choices.outside(Case(made, None, Settings(made, "0.8.0")))] == ["warning"]
    assert findings_of(made, "NR304") == []


MEGATRON_SIZES = ("tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size")


def test_keys_of_an_engine_that_was_not_chosen_are_one_finding(trees: Path) -> None:
    keys = [*MEGATRON_SIZES, "param_offload", "override_transformer_config.recompute_method"]
    found = findings(made_of(*(f"{ACTOR}.megatron.{key}=1" for key in keys), "trainer.nope=1"), trees)
    [folded] = [one for one in found if one.id == "NR106"]
    assert [one.id for one in found] == ["NR106", "NR101"]
    assert (folded.value, folded.severity, folded.place.line) == (f"{ACTOR}.megatron", "error", 2)
    assert "5 keys" in folded.message() and "model_engine=megatron" in folded.message()
    assert "5 个键" in folded.message("zh")


def test_up_to_three_keys_of_another_engine_are_named_one_by_one(trees: Path) -> None:
    found = findings(made_of(*(f"{ACTOR}.megatron.{key}=1" for key in MEGATRON_SIZES)), trees)
    assert [(one.id, one.place.line) for one in found] == [("NR106", 2), ("NR106", 3), ("NR106", 4)]


def test_an_engine_that_only_a_stand_in_has(trees: Path) -> None:
    """verl main has none of mindspeed.yaml, which 0.9.0 has; of what main may have more, nothing sure is said."""
    for engine in ("mindspeed", "mlite"):
        [one] = findings(made_of(f"model_engine={engine}", stack="cann-9.1.0"), trees)
        assert (one.id, one.severity, one.place.line, one.value) == ("NR108", "warning", 2, engine)
    assert findings(made_of("model_engine=mindspeed", stack="cann-9.0.0"), trees) == []
    assert findings(made_of("model_engine=veomni", stack="cann-9.1.0"), trees) == []


def test_every_kind_of_problem_has_a_rule() -> None:
    kinds = ["grammar", "sweep", "option", "group", "config_name", "unknown", "add", "exists", "absent", "unfit"]
    kinds += ["refused_field", "type", "missing", "interpolation", "escaped", "new"]
    values = dict.fromkeys(["nearest", "parent", "reason", "choices", "choice", "field", "target", "text"], "x")
    made = job(groups={"a": {f"{ACTOR}.x": number("1")}})
    for kind in kinds:
        problem = Problem(kind, 0, f"{ACTOR}.x", {**values, **({"how": "odd"} if kind == "type" else {})})
        case = Case(made, None, Settings(made, None), composition=Composition("0.8.0", "ppo_trainer", (problem,)))
        said = [one for rule in composition.RULES for one in rule.check(case)]
        assert len(said) == 1, kind
        assert isinstance(said[0], Finding)
        assert said[0].place.line == 1
        assert said[0].message() and said[0].fix("zh")


def test_a_section_set_to_a_number_is_one_finding(trees: Path) -> None:
    keys = ("optim.lr=1e-6", "ppo_mini_batch_size=64", "fsdp_config.param_offload=True")
    found = findings(made_of(f"{ACTOR}=3", *(f"{ACTOR}.{key}" for key in keys), "trainer.nope=1"), trees)
    assert [(one.id, one.place.line) for one in found] == [("NR104", 2), ("NR101", 6)]


def test_keys_of_ppo_in_a_job_of_another_trainer_are_one_finding_a_section(trees: Path) -> None:
    keys = ("algorithm.adv_estimator=grpo", "algorithm.gamma=1", f"{ACTOR}.optim.lr=1e-6", f"{ROLLOUT}.n=5")
    made = made_of(*keys, "data.max_prompt_length=5", trainer=Trainer("verl.trainer.sft_trainer", "torchrun"))
    everything = [one for one in examine(made, trees=trees).findings if one.severity == "error"]
    told = [(one.id, one.value, one.place.line) for one in everything]
    assert told == [
        ("NR106", "actor_rollout_ref", 1),
        ("NR106", "algorithm", 2),
        ("NR106", "data.max_prompt_length", 6),
    ]
    assert "3 such keys" in everything[0].message()
    assert all("verl.trainer.main_ppo" in one.message() for one in everything)


def test_a_second_key_that_hydra_refuses_is_not_told_as_set_twice_as_well(trees: Path) -> None:
    made = job(groups={"x": {"+trainer.nnodes": number("4")}, "y": {"trainer.nnodes": number("4")}}, stack="cann-9.0.0")
    assert [one.id for one in findings(made, trees) if one.place.line is not None] == ["NR102"]


def test_an_engine_that_the_release_lacks_has_no_layout_of_another_one(trees: Path) -> None:
    """0.7.1 has Megatron by another config, whose layout counts; of `nope` there is none at all."""
    megatron = made_of("model_engine=megatron", f"{ACTOR}.megatron.tensor_model_parallel_size=2", stack="cann-8.5.0")
    layout = training(Settings(megatron, "0.7.1"))
    assert layout is not None and (layout.strategy, layout.tensor) == ("megatron", 2)
    unknown = made_of("model_engine=nope", "data.train_batch_size=7", stack="cann-8.5.0")
    assert training(Settings(unknown, "0.7.1")) is None
    assert [one.id for one in findings(unknown, trees)] == ["NR108"]
    assert findings_of(unknown, "NR206") == []
    assert findings_of(made_of("data.train_batch_size=7", stack="cann-8.5.0"), "NR206") != []


def test_a_key_that_is_gone_is_told_to_be_dropped_once(trees: Path) -> None:
    [one] = findings(made_of("trainer.use_legacy_worker_impl=x"), trees)
    assert (one.message() + one.fix()).lower().count("drop it") == 1
