"""Token limits: each rule failing, passing and at the border; the model's context from a config.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from submitter.checks.finding import Finding
from submitter.checks.tokens import RULES
from submitter.job.model import Job
from tests.support.builders import job, raw
from tests.support.checks import findings_by, findings_of

ACTOR, REF, ROLLOUT = (f"actor_rollout_ref.{name}" for name in ("actor", "ref", "rollout"))
PROMPT, RESPONSE = "data.max_prompt_length", "data.max_response_length"
CAP, MODEL_LEN = f"{ACTOR}.ppo_max_token_len_per_gpu", f"{ROLLOUT}.max_model_len"
BATCHED, SEQS = f"{ROLLOUT}.max_num_batched_tokens", f"{ROLLOUT}.max_num_seqs"
SEQUENCE = f"{ACTOR}.ulysses_sequence_parallel_size"
CHUNKED = f"{ROLLOUT}.enable_chunked_prefill"
MODEL = "actor_rollout_ref.model.path"
OLD, MID, NEW = "cann-8.5.0", "cann-9.0.0", "cann-9.1.0"
"""verl 0.7.1, 0.8.0 and main of August 2026."""

SANE = {
    "algorithm.adv_estimator": "grpo",
    "trainer.nnodes": "4",
    "trainer.n_gpus_per_node": "16",
    "data.train_batch_size": "64",
    f"{ACTOR}.ppo_mini_batch_size": "64",
    f"{ACTOR}.use_dynamic_bsz": "True",
    f"{ROLLOUT}.n": "8",
    f"{ROLLOUT}.name": "vllm",
    PROMPT: "1024",
    RESPONSE: "3072",
    "data.filter_overlong_prompts": "True",
}
MEGATRON = {
    f"{ACTOR}.strategy": "megatron",
    f"{ACTOR}.megatron.tensor_model_parallel_size": "8",
}
CONTEXT = {**MEGATRON, f"{ACTOR}.megatron.context_parallel_size": "2"}
OFF = {CHUNKED: "False"}
DAPO = {
    "reward.reward_manager.name": "dapo",
    "+reward.reward_kwargs.overlong_buffer_cfg.enable": "True",
    "+reward.reward_kwargs.overlong_buffer_cfg.len": "512",
}
LIMIT = "+reward.reward_kwargs.max_resp_len"
LEGACY = {
    "reward_model.reward_manager": "dapo",
    "+reward_model.reward_kwargs.overlong_buffer_cfg.enable": "True",
    "+reward_model.reward_kwargs.overlong_buffer_cfg.len": "4096",
    "+reward_model.reward_kwargs.max_resp_len": "3072",
}
TEACHERS = "distillation.teacher_models.teacher_model.inference"
TEACHER = {"distillation.enabled": "True"}
CRITIC = {"algorithm.adv_estimator": "gae", "critic.ppo_max_token_len_per_gpu": "2048"}


def made(changes: Mapping[str, str], stack: str = MID) -> Job:
    values = {**SANE, **changes}
    return job(groups={"all": {key: raw(text) for key, text in values.items()}}, stack=stack)


def said(changes: Mapping[str, str], stack: str = MID) -> list[Finding]:
    return findings_by(RULES, made(changes, stack))


def examined(changes: Mapping[str, str]) -> list[Finding]:
    """With all that is gathered: the model's config.json, too."""
    return findings_of(made(changes), *(rule.id for rule in RULES))


def line(changes: Mapping[str, str], key: str) -> int | None:
    keys = list({**SANE, **changes})
    return keys.index(key) + 1 if key in keys else None


BAD = [
    pytest.param(
        {MODEL_LEN: "2048"}, MID, "NR221", "warning", MODEL_LEN, ["1024 + response 3072 = 4096"], id="model-len"
    ),
    pytest.param({MODEL_LEN: "1024"}, OLD, "NR221", "error", MODEL_LEN, ["4096"], id="no-room-for-a-token"),
    pytest.param(
        {f"+{ROLLOUT}.engine_kwargs.vllm.max_model_len": "2048", MODEL_LEN: "4096"},
        MID,
        "NR221",
        "warning",
        f"+{ROLLOUT}.engine_kwargs.vllm.max_model_len",
        ["4096"],
        id="model-len-of-the-engine",
    ),
    pytest.param(
        {**OFF, PROMPT: "1024", RESPONSE: "8192", BATCHED: "8192"},
        MID,
        "NR224",
        "warning",
        CHUNKED,
        ["8192 < prompt 1024 + response 8192 = 9216", "9216 or more"],
        id="F023",
    ),
    pytest.param(
        {**OFF, MODEL_LEN: "9216"}, NEW, "NR224", "warning", CHUNKED, ["8192 < max_model_len 9216"], id="F023-len"
    ),
    pytest.param(
        {**OFF, PROMPT: "1024", RESPONSE: "8192"},
        "cann-9.1.0,verl=0.9.1",
        "NR224",
        "warning",
        CHUNKED,
        ["raises the budget"],
        id="F023-0.9.1",
    ),
    pytest.param(OFF, OLD, "NR224", "hint", CHUNKED, ["8192 >= prompt"], id="chunked-does-nothing"),
    pytest.param({BATCHED: "512"}, MID, "NR225", "error", BATCHED, ["512", "1024"], id="batched-under-sequences"),
    pytest.param(
        {f"+{ROLLOUT}.engine_kwargs.vllm.max_num_seqs": "10000"},
        NEW,
        "NR225",
        "error",
        f"+{ROLLOUT}.engine_kwargs.vllm.max_num_seqs",
        ["8192", "10000"],
        id="engine-sequences",
    ),
    pytest.param(
        {CAP: "16384", PROMPT: "8192", RESPONSE: "32768"},
        MID,
        "NR226",
        "error",
        CAP,
        ["16384 < prompt 8192 + response 32768 = 40960", "40960 or more"],
        id="F026",
    ),
    pytest.param({CAP: "4095"}, OLD, "NR226", "error", CAP, ["4095 < prompt 1024 + response 3072 = 4096"], id="F028"),
    pytest.param(
        {CAP: "2000", SEQUENCE: "2"}, NEW, "NR226", "error", CAP, ["2000 × SP 2 = 4000", "2048 or more"], id="F026-sp"
    ),
    pytest.param(
        {**CONTEXT, CAP: "1024"}, MID, "NR226", "error", CAP, ["1024 × CP 2 = 2048", "2048 or more"], id="F026-cp"
    ),
    pytest.param(
        {f"{ROLLOUT}.log_prob_max_token_len_per_gpu": "4000"},
        MID,
        "NR226",
        "error",
        f"{ROLLOUT}.log_prob_max_token_len_per_gpu",
        ["4000"],
        id="F026-log-prob",
    ),
    pytest.param(
        {f"{REF}.log_prob_max_token_len_per_gpu": "4000", f"{ACTOR}.use_kl_loss": "True"},
        MID,
        "NR226",
        "error",
        f"{REF}.log_prob_max_token_len_per_gpu",
        ["4000"],
        id="F026-ref",
    ),
    pytest.param(CRITIC, OLD, "NR226", "error", "critic.ppo_max_token_len_per_gpu", ["2048"], id="F026-critic"),
    pytest.param(
        {**CRITIC, RESPONSE: "32768", CAP: "65536"}, NEW, "NR226", "error", RESPONSE, ["32768"], id="F026-critic-main"
    ),
    pytest.param(
        {**CONTEXT, CAP: "16384"},
        MID,
        "NR227",
        "hint",
        CAP,
        ["16384 × CP 2 = 32768", "longest sequence is prompt 1024 + response 3072 = 4096"],
        id="F029",
    ),
    pytest.param({CAP: "16384", SEQUENCE: "4"}, NEW, "NR227", "hint", CAP, ["16384 × SP 4 = 65536"], id="F029-sp"),
    pytest.param(
        {**MEGATRON, PROMPT: "514", RESPONSE: "512"},
        MID,
        "NR228",
        "hint",
        PROMPT,
        ["1026 % (TP 8) = 2", "1032"],
        id="F032",
    ),
    pytest.param(
        {**CONTEXT, RESPONSE: "3080"}, OLD, "NR228", "hint", PROMPT, ["TP 8 × CP 2 × 2 = 32) = 8"], id="F032-cp"
    ),
    pytest.param(DAPO, MID, "NR229", "error", None, ["max_resp_len"], id="overlong-without-length"),
    pytest.param({**DAPO, LIMIT: "256"}, NEW, "NR229", "error", LIMIT, ["256", "512"], id="overlong-buffer-larger"),
    pytest.param({**DAPO, LIMIT: "2048"}, NEW, "NR229", "warning", LIMIT, ["2048", "3072"], id="overlong-elsewhere"),
    pytest.param(LEGACY, OLD, "NR229", "error", None, ["4096"], id="overlong-legacy-names"),
    pytest.param(
        {**DAPO, "reward.reward_manager.name": "naive", "reward_model.reward_manager": "dapo"},
        OLD,
        "NR229",
        "error",
        None,
        ["512"],
        id="overlong-old-name-new-values",
    ),
    pytest.param(
        {"data.filter_overlong_prompts": "False", "data.truncation": "error"},
        MID,
        "NR230",
        "hint",
        "data.filter_overlong_prompts",
        ["1024"],
        id="unfiltered",
    ),
    pytest.param(
        {f"{ROLLOUT}.prompt_length": "512"},
        MID,
        "NR231",
        "warning",
        f"{ROLLOUT}.prompt_length",
        ["512", "1024"],
        id="own",
    ),
    pytest.param(
        {f"{ROLLOUT}.ignore_eos": "True"}, NEW, "NR232", "warning", f"{ROLLOUT}.ignore_eos", ["3072"], id="eos"
    ),
    pytest.param(
        {**TEACHER, f"{TEACHERS}.max_model_len": "4096"},
        MID,
        "NR234",
        "error",
        f"{TEACHERS}.max_model_len",
        ["1024 + response 3072 + 1 = 4097"],
        id="teacher",
    ),
    pytest.param({SEQS: "4"}, MID, "NR233", "hint", SEQS, ["4", "8"], id="few-sequences"),
]


@pytest.mark.parametrize(("changes", "stack", "rule", "severity", "key", "words"), BAD)
def test_it_is_found(
    changes: dict[str, str], stack: str, rule: str, severity: str, key: str | None, words: list[str]
) -> None:
    found = [finding for finding in said(changes, stack) if finding.id == rule]
    assert found, [finding.message() for finding in said(changes, stack)]
    finding = found[0]
    assert finding.severity == severity
    if key is not None:
        assert finding.place.line == line(changes, key)
    whole = f"{finding.message()} {finding.fix()}"
    assert [word for word in words if word not in whole] == [], whole
    assert finding.message("zh") != finding.message()


GOOD = [
    pytest.param({}, OLD, id="sane-0.7.1"),
    pytest.param({}, MID, id="sane-0.8.0"),
    pytest.param({}, NEW, id="sane-main"),
    pytest.param({MODEL_LEN: "4096"}, MID, id="model-len-border"),
    pytest.param({CAP: "4096"}, MID, id="cap-border"),
    pytest.param({CAP: "2048", SEQUENCE: "2"}, MID, id="cap-times-sp-border"),
    pytest.param({CAP: "100", f"{ACTOR}.use_dynamic_bsz": "False"}, MID, id="no-dynamic-no-cap"),
    pytest.param({BATCHED: "1024"}, MID, id="as-many-tokens-as-sequences"),
    pytest.param({BATCHED: "512"}, NEW, id="fewer-sequences-since-0.9.0"),
    pytest.param({BATCHED: "512", f"{ROLLOUT}.name": "sglang"}, MID, id="another-engine"),
    pytest.param({**OFF, f"{ROLLOUT}.name": "sglang", BATCHED: "512"}, MID, id="another-engine-unchunked"),
    pytest.param(OFF, "cann-9.1.0,verl=0.9.1", id="handed-on-and-enough"),
    pytest.param({**MEGATRON, CAP: "16384"}, MID, id="megatron-aligned"),
    pytest.param({**DAPO, LIMIT: "3072"}, NEW, id="overlong"),
    pytest.param({**DAPO, "+reward.reward_kwargs.overlong_buffer_cfg.enable": "False"}, NEW, id="overlong-off"),
    pytest.param({**DAPO, "reward_model.reward_manager": "naive"}, OLD, id="overlong-of-another-manager"),
    pytest.param({**TEACHER, f"{TEACHERS}.max_model_len": "4097"}, MID, id="teacher-border"),
    pytest.param({f"{TEACHERS}.max_model_len": "4"}, NEW, id="no-teacher"),
    pytest.param({SEQS: "8"}, MID, id="sequences-border"),
    pytest.param(
        {f"{ROLLOUT}.log_prob_max_token_len_per_gpu": "9", "algorithm.rollout_correction.bypass_mode": "True"},
        MID,
        id="bypassed",
    ),
    pytest.param({**CRITIC, "critic.ppo_max_token_len_per_gpu": "4096"}, MID, id="critic-border"),
    pytest.param({MODEL_LEN: "${oc.env:LENGTH}"}, MID, id="unknown"),
]


@pytest.mark.parametrize(("changes", "stack"), GOOD)
def test_nothing_is_said(changes: dict[str, str], stack: str) -> None:
    assert [finding.message() for finding in said(changes, stack)] == []


def model(folder: Path, positions: int) -> dict[str, str]:
    sizes = {"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "max_position_embeddings": positions}
    (folder / "config.json").write_text(json.dumps({"model_type": "qwen2", **sizes}), encoding="utf-8")
    return {MODEL: str(folder)}


@pytest.mark.parametrize(
    ("changes", "rule", "severity", "words"),
    [
        pytest.param(
            {RESPONSE: "4000"}, "NR223", "warning", ["1024 + response 4000 = 5024", "4096", "3072"], id="F024"
        ),
        pytest.param({PROMPT: "4096"}, "NR223", "error", ["only 0 tokens"], id="F024-no-room"),
        pytest.param({MODEL_LEN: "4097"}, "NR222", "error", ["4097", "4096"], id="F024-model-len"),
    ],
)
def test_the_context_of_the_model(
    tmp_path: Path, changes: dict[str, str], rule: str, severity: str, words: list[str]
) -> None:
    found = [finding for finding in examined({**model(tmp_path, 4096), **changes}) if finding.id == rule]
    assert [finding.severity for finding in found] == [severity]
    whole = f"{found[0].message()} {found[0].fix()}"
    assert [word for word in words if word not in whole] == [], whole
    assert "config.json" in whole


@pytest.mark.parametrize("changes", [{}, {MODEL_LEN: "4096"}, {RESPONSE: "3000"}])
def test_a_context_that_is_enough(tmp_path: Path, changes: dict[str, str]) -> None:
    assert examined({**model(tmp_path, 4096), **changes}) == []


def test_an_override_of_the_context_counts(tmp_path: Path) -> None:
    longer = {"+actor_rollout_ref.model.override_config.max_position_embeddings": "32768", RESPONSE: "8192"}
    assert examined({**model(tmp_path, 4096), **longer}) == []


@pytest.mark.parametrize("text", ["yes", "[1]", "{a: 1}", "1.5", "-3", "null", "''", "1e3", "'8'", "9" * 30])
@pytest.mark.parametrize("stack", [OLD, MID, NEW])
def test_values_of_a_wrong_kind_end_in_no_exception(text: str, stack: str) -> None:
    for key in (*SANE, CAP, MODEL_LEN, BATCHED, SEQS, CHUNKED, SEQUENCE, LIMIT, *DAPO):
        for finding in said({**DAPO, **CRITIC, key: text}, stack):
            assert finding.message() and finding.fix("zh")
