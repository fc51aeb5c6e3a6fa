"""How the trainer cuts the model: each rule failing, passing and at the border."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest

from submitter.checks.examine import gather
from submitter.checks.finding import Finding
from submitter.checks.layout import RULES
from submitter.job.model import Job
from tests.support.builders import job, raw
from tests.support.checks import findings_of, not_checked

ACTOR, REF, ROLLOUT = (f"actor_rollout_ref.{name}" for name in ("actor", "ref", "rollout"))
MEGATRON, REF_MEGATRON, OVERRIDE = (
    f"{ACTOR}.megatron",
    f"{REF}.megatron",
    f"+{ACTOR}.megatron.override_transformer_config",
)
TP, PP, CP, EP, ETP, VPP = (
    f"{MEGATRON}.{name}"
    for name in (
        "tensor_model_parallel_size",
        "pipeline_model_parallel_size",
        "context_parallel_size",
        "expert_model_parallel_size",
        "expert_tensor_parallel_size",
        "virtual_pipeline_model_parallel_size",
    )
)
SP, NODES, NPUS = f"{ACTOR}.ulysses_sequence_parallel_size", "trainer.nnodes", "trainer.n_gpus_per_node"
PATH, PADDING = "actor_rollout_ref.model.path", "actor_rollout_ref.model.use_remove_padding"
FSDP_SIZE, REF_TP = f"{ACTOR}.fsdp_config.fsdp_size", f"{REF_MEGATRON}.tensor_model_parallel_size"
OLD, MID = "cann-8.5.0", "cann-9.0.0"
"""megatron-core 0.12.1 and 0.16.0; verl 0.7.1 and 0.8.0."""

GRPO = {"algorithm.adv_estimator": "grpo"}
"""Without a critic."""

# Qwen3-30B-A3B: 48 layers, 32 heads, 4 key-value heads, 128 experts. World 64 / (2 × 4) = DP 8; 1 × 16 × 4 = 64.
MOE = {
    **GRPO,
    NODES: "4",
    NPUS: "16",
    PATH: "/models/Qwen3-30B-A3B",
    f"{ROLLOUT}.name": "vllm",
    f"{ROLLOUT}.tensor_model_parallel_size": "4",
    "model_engine": "megatron",
    TP: "2",
    PP: "4",
    CP: "1",
    EP: "16",
    ETP: "1",
}
DENSE = {**MOE, PATH: "/models/Qwen2.5-7B-Instruct", EP: "1", f"{ROLLOUT}.tensor_model_parallel_size": "1"}
"""28 layers, 28 heads, 4 key-value heads."""
FSDP = {
    **GRPO,
    NODES: "1",
    NPUS: "8",
    PATH: "/models/Qwen2.5-7B-Instruct",
    f"{ROLLOUT}.name": "vllm",
    f"{ROLLOUT}.tensor_model_parallel_size": "1",
    f"{ACTOR}.strategy": "fsdp2",
    PADDING: "True",
    SP: "4",
}
VEOMNI = {
    **GRPO,
    NODES: "1",
    NPUS: "8",
    PATH: "/models/Qwen3-30B-A3B",
    f"{ROLLOUT}.name": "vllm",
    f"{ROLLOUT}.tensor_model_parallel_size": "4",
    "model_engine": "veomni",
}
TITAN = {**VEOMNI, "model_engine": "torchtitan", f"{ACTOR}.torchtitan.data_parallel_shard_size": "8"}
GAE = {"algorithm.adv_estimator": "gae", "critic.strategy": "megatron"}


def made(changes: Mapping[str, str], base: Mapping[str, str] = MOE, stack: str | None = MID) -> Job:
    return job(groups={"all": {key: raw(text) for key, text in {**base, **changes}.items()}}, stack=stack)


def said(made_job: Job) -> list[Finding]:
    return findings_of(made_job, *(rule.id for rule in RULES))


FAILING = [
    # id, changes, base, severity, key of the place, what the message names
    pytest.param("NR242", {CP: "3"}, MOE, "error", CP, "world 64 / (TP 2 × PP 4 × CP 3)", id="world"),
    pytest.param("NR242", {SP: "3", PADDING: "True"}, FSDP, "error", SP, "world 8 / (SP 3)", id="world-ulysses"),
    pytest.param(
        "NR242", {f"{ACTOR}.torchtitan.tensor_parallel_size": "2"}, TITAN, "error", None, "shard_size 8", id="titan"
    ),
    pytest.param(
        "NR243", {NODES: "1", NPUS: "4", TP: "2", PP: "2", EP: "2", ETP: "2"}, MOE, "error", EP, "= 8", id="F033"
    ),
    pytest.param(
        "NR243", {ETP: "null", EP: "64", PP: "1"}, MOE, "error", EP, "ETP 2 × EP 64 × PP 1 = 128", id="etp-tp"
    ),
    pytest.param("NR244", {TP: "8", PP: "1"}, DENSE, "error", TP, "28 attention heads", id="heads"),
    pytest.param(
        "NR245", {TP: "6", PATH: "Qwen/Qwen3.5-27B", NODES: "3", PP: "1"}, DENSE, "error", TP, "4 key-value", id="kv"
    ),
    pytest.param("NR246", {PP: "8", TP: "1"}, DENSE, "error", PP, "num_layers 28 / PP 8 = 3.50", id="layers"),
    pytest.param(
        "NR246",
        {PP: "4", f"{OVERRIDE}.num_layers_in_first_pipeline_stage": "5"},
        DENSE,
        "error",
        PP,
        "(num_layers 28 - first 5) / 3",
        id="layers-uneven",
    ),
    pytest.param(
        "NR246", {f"{OVERRIDE}.num_layers": "6"}, MOE, "error", PP, "num_layers 6 / PP 4", id="layers-overridden"
    ),
    pytest.param("NR247", {VPP: "2", PP: "1", EP: "64"}, MOE, "error", VPP, "size 2 needs a pipeline", id="virtual"),
    pytest.param("NR248", {VPP: "5"}, MOE, "error", VPP, "num_layers 12 / VPP 5 = 2.40", id="virtual-layers"),
    pytest.param("NR249", {EP: "3", NODES: "3"}, MOE, "error", EP, "128 experts", id="experts"),
    pytest.param(
        "NR249", {f"{ACTOR}.veomni.expert_parallel_size": "3"}, VEOMNI, "warning", None, "EP 3", id="experts-veomni"
    ),
    pytest.param("NR250", {EP: "2"}, DENSE, "error", EP, "EP 2 is set for a model without experts", id="dense"),
    pytest.param(
        "NR250", {f"{ROLLOUT}.expert_parallel_size": "2"}, DENSE, "error", None, "without experts", id="dense-rollout"
    ),
    pytest.param(
        "NR252", {CP: "8", f"{OVERRIDE}.context_parallel_algo": "ulysses_cp_algo"}, DENSE, "error", CP, "= 16", id="cp"
    ),
    pytest.param(
        "NR253", {TP: "1", f"{OVERRIDE}.sequence_parallel": "True"}, MOE, "error", None, "TP 1", id="sequence-parallel"
    ),
    pytest.param(
        "NR270", {f"{MEGATRON}.sequence_parallel": "False"}, MOE, "warning", None, "128 experts", id="no-sequence"
    ),
    pytest.param(
        "NR270", {f"{OVERRIDE}.sequence_parallel": "False"}, MOE, "error", None, "TP 2 without", id="no-sequence-forced"
    ),
    pytest.param("NR254", {NPUS: "1", NODES: "64"}, MOE, "warning", TP, "a node of 1 NPUs", id="tensor-over-nodes"),
    pytest.param(
        "NR255",
        {REF_TP: "4", f"{ACTOR}.use_kl_loss": "True"},
        MOE,
        "warning",
        REF_TP,
        "TP 4, the actor for TP 2",
        id="ref",
    ),
    pytest.param("NR256", {SP: "8"}, FSDP, "error", SP, "28 attention heads", id="ulysses-heads"),
    pytest.param(
        "NR256",
        {f"{ACTOR}.fsdp_config.ulysses_sequence_parallel_size": "8", SP: "1"},
        FSDP,
        "error",
        SP,
        "SP 8",
        id="ulysses-in-fsdp-config",
    ),
    pytest.param("NR257", {SP: "6", PATH: "Qwen3.5-27B", NPUS: "6"}, FSDP, "error", SP, "4 key-value", id="ulysses-kv"),
    pytest.param("NR258", {PADDING: "False"}, FSDP, "error", PADDING, "(SP 4)", id="padding"),
    pytest.param("NR259", {FSDP_SIZE: "3"}, FSDP, "error", FSDP_SIZE, "fsdp_size 3 does not divide 8", id="fsdp-size"),
    pytest.param("NR259", {FSDP_SIZE: "0"}, FSDP, "error", FSDP_SIZE, "fsdp_size 0", id="fsdp-size-zero"),
    pytest.param(
        "NR259",
        {f"{ACTOR}.veomni.fsdp_size": "3", f"{ACTOR}.veomni.ulysses_parallel_size": "2"},
        VEOMNI,
        "error",
        None,
        "divide 4 ranks",
        id="fsdp-size-veomni",
    ),
]


@pytest.mark.parametrize(("rule", "changes", "base", "severity", "key", "message"), FAILING)
def test_failing(
    rule: str, changes: Mapping[str, str], base: Mapping[str, str], severity: str, key: str | None, message: str
) -> None:
    (finding,) = [one for one in said(made(changes, base)) if one.id == rule]
    assert finding.severity == severity
    assert message in finding.message()
    assert finding.place.line is not None
    if key:
        assert finding.place.key == key
    for language in ("en", "zh"):
        assert finding.message(language) and finding.fix(language)


PASSING = [
    pytest.param({}, MOE, id="moe"),
    pytest.param({}, DENSE, id="dense"),
    pytest.param({}, FSDP, id="fsdp"),
    pytest.param({}, VEOMNI, id="veomni"),
    pytest.param({}, TITAN, id="titan"),
    pytest.param({TP: "4", PP: "7", NPUS: "7"}, DENSE, id="all-divides"),
    pytest.param({TP: "8", ETP: "8", EP: "2", PATH: "Qwen/Qwen3-30B-A3B"}, MOE, id="kv-heads-repeated"),
    pytest.param(
        {
            PP: "8",
            PATH: "Qwen3-235B-A22B",
            f"{OVERRIDE}.num_layers_in_first_pipeline_stage": "11",
            f"{OVERRIDE}.num_layers_in_last_pipeline_stage": "11",
            EP: "8",
        },
        MOE,
        id="uneven-ends",
    ),
    pytest.param(
        {PP: "8", PATH: "Qwen3-235B-A22B", EP: "8", f"{OVERRIDE}.pipeline_model_parallel_layout": "Et*11|(tt|)*8L"},
        MOE,
        id="own-layout",
    ),
    pytest.param(
        {PP: "8", PATH: "Qwen3-235B-A22B", EP: "8", f"{OVERRIDE}.num_layer_list": "'11,12,12,12,12,12,12,11'"},
        MOE,
        id="layers-listed",
    ),
    pytest.param(
        {
            PP: "8",
            PATH: "Qwen3-235B-A22B",
            EP: "8",
            f"{OVERRIDE}.account_for_embedding_in_pipeline_split": "True",
            f"{OVERRIDE}.account_for_loss_in_pipeline_split": "True",
        },
        MOE,
        id="ends-counted",
    ),
    pytest.param({VPP: "2"}, MOE, id="virtual"),
    pytest.param({VPP: "null", PP: "1", EP: "64"}, MOE, id="virtual-null"),
    pytest.param({f"{MEGATRON}.sequence_parallel": "True", TP: "1"}, MOE, id="verl-corrects-its-own-key"),
    pytest.param({f"{MEGATRON}.sequence_parallel": "False"}, DENSE, id="dense-without-sequence"),
    pytest.param({f"{MEGATRON}.sequence_parallel": "False", TP: "1"}, MOE, id="experts-without-tensor"),
    pytest.param({REF_TP: "4"}, MOE, id="no-reference-in-use"),
    pytest.param({REF_TP: "2", f"{ACTOR}.use_kl_loss": "True"}, MOE, id="same-reference"),
    pytest.param({TP: "16", NPUS: "16", PP: "1", ETP: "1", EP: "64"}, MOE, id="tensor-of-a-node"),
    pytest.param({PADDING: "False", SP: "1"}, FSDP, id="padding-without-ulysses"),
    pytest.param({FSDP_SIZE: "16"}, FSDP, id="fsdp-size-above-all"),
    pytest.param({FSDP_SIZE: "-1"}, FSDP, id="fsdp-size-default"),
    pytest.param({SP: "4", PATH: "/models/DeepSeek-V3"}, FSDP, id="mla"),
    pytest.param({CP: "2", f"{OVERRIDE}.context_parallel_algo": "ulysses_cp_algo"}, MOE, id="ulysses-context"),
    pytest.param({CP: "8", f"{OVERRIDE}.context_parallel_algo": "kvallgather_cp_algo"}, DENSE, id="gather-context"),
]


@pytest.mark.parametrize(("changes", "base"), PASSING)
def test_passing(changes: Mapping[str, str], base: Mapping[str, str]) -> None:
    assert said(made(changes, base)) == []


@pytest.mark.parametrize(("stack", "etp", "found"), [(OLD, "1", True), (OLD, "2", False), (MID, "1", False)], ids=str)
def test_old_megatron_core(stack: str, etp: str, found: bool) -> None:
    """F035: megatron-core 0.12.1, TP 2, ETP 1, MoE."""
    base = {key: text for key, text in MOE.items() if key != "model_engine"}
    config = {f"{ACTOR}.strategy": "megatron", f"{REF}.strategy": "megatron", EP: "8", ETP: etp}
    findings = said(made(config, base, stack))
    assert [(one.id, one.severity) for one in findings] == ([("NR251", "warning")] if found else [])


def test_no_stack_is_no_old_megatron_core() -> None:
    assert said(made({}, stack=None)) == []


def test_the_reference_model_has_the_actors_overrides() -> None:
    uneven = {f"{OVERRIDE}.num_layers_in_{end}_pipeline_stage": "11" for end in ("first", "last")}
    changes = {PP: "8", PATH: "Qwen3-235B-A22B", EP: "8", REF_TP: "4", f"{ACTOR}.use_kl_loss": "True", **uneven}
    assert [one.id for one in said(made(changes))] == ["NR255"]


def test_a_critic_is_looked_at_where_there_is_one() -> None:
    changes = {**GAE, "critic.megatron.tensor_model_parallel_size": "3"}
    (finding,) = [one for one in said(made(changes)) if one.id == "NR242"]
    assert finding.place.key == "critic.megatron.tensor_model_parallel_size"
    assert said(made({**changes, "algorithm.adv_estimator": "grpo"})) == []


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        (text, keys)
        for text in ("two", "null", "-1", "0", "1.5", "[2]", "{a: 2}", "''", "${nowhere}", "9" * 30, "True")
        for keys in ((TP, PP, CP, EP, ETP, VPP), (NODES, NPUS), (SP, FSDP_SIZE), (PADDING, PATH, "model_engine"))
    ],
)
def test_values_of_a_wrong_kind_are_no_exception(text: str, keys: tuple[str, ...]) -> None:
    for base in (MOE, FSDP, VEOMNI, TITAN):
        for finding in said(made(dict.fromkeys(keys, text), base)):
            assert finding.message() and finding.fix()


def test_an_unknown_model_is_told_once_and_never_judged() -> None:
    changes = {PATH: "/models/mine", TP: "3", PP: "5", NODES: "15", NPUS: "1", EP: "1"}
    told = made(changes)
    assert {one.id for one in said(told)} <= {"NR254"}
    (one,) = not_checked(told, "NR24")
    assert "/models/mine" in one.message() and "/models/mine" in one.message("zh")


def test_a_shape_from_the_table_is_said_so() -> None:
    (finding,) = [one for one in said(made({TP: "8", PP: "1"}, DENSE)) if one.id == "NR244"]
    assert "npurun's table of known shapes, row Qwen2.5-7B" in finding.message()
    assert "已知模型结构表" in finding.message("zh")
    assert "1, 2, 4" in finding.fix()  # 7 and 14 divide the heads, but do not suit 4 key-value heads


def test_the_fix_of_expert_groups_names_what_fits() -> None:
    (finding,) = [one for one in said(made({EP: "64"})) if one.id == "NR243"]
    assert "ETP 1 × PP 4, EP can be one of: 1, 2, 4, 8, 16." in finding.fix()


def test_one_cause_is_told_once() -> None:
    assert [one.id for one in said(made({TP: "3", NODES: "3", PP: "1", EP: "16"}))] == ["NR244"]


def test_other_trainers_are_not_looked_at() -> None:
    other = job()
    other = dataclasses.replace(other, trainer=dataclasses.replace(other.trainer, module="my.sft"))
    assert said(other) == [] and gather(other).model is None and not_checked(other, "NR241") == []


@pytest.mark.parametrize("layers", ["-5", "0"])
def test_a_number_of_layers_that_is_none_is_another_checks(layers: str) -> None:
    assert [one.id for one in said(made({f"{OVERRIDE}.num_layers": layers})) if one.id in ("NR246", "NR248")] == []


@pytest.mark.timeout(10)
def test_a_number_of_any_length_takes_no_longer() -> None:
    (finding,) = said(made({f"{OVERRIDE}.num_layers": "1" + "0" * 30 + "7"}))
    assert finding.id == "NR246"


def test_sizes_offered_are_sizes_that_the_world_has_room_for() -> None:
    """28 heads: 28 divides them, but neither a world of 8 nor a node of 8; nor does 4 a world of 2."""
    for world, sizes in (("8", "one of 1, 2, 4"), ("2", "one of 1, 2")):
        (finding,) = [one for one in said(made({NPUS: world, SP: "8"}, FSDP)) if one.id == "NR256"]
        assert finding.fix().endswith(sizes)


def test_no_size_is_offered_where_none_fits() -> None:
    (finding,) = [one for one in said(made({NPUS: "6", NODES: "1", TP: "2", PP: "4", ETP: "1"})) if one.id == "NR243"]
    assert "no EP fits a world of 6" in finding.fix() and "-" not in finding.fix().split()
