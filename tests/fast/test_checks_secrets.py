"""Secrets: refused wherever they could travel, shown nowhere."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.checks.finding import Finding
from submitter.gang.secret_like import MASK, holds_secret, redacted, shown
from submitter.job.model import Job
from tests.support.builders import job, raw
from tests.support.checks import findings_of

WANDB = "0123456789abcdef0123456789abcdef01234567"
HUGGING_FACE = "hf_" + "AbCdEfGh12" * 3
OPENAI = "sk-" + "proj-AbCd1234" * 3


def refused(made: Job, secret: str) -> list[Finding]:
    """The NR431 findings, after a look for `secret` in all that anybody could print of them."""
    findings = [finding for finding in findings_of(made) if finding.id == "NR431"]
    for finding in findings_of(made):
        told = json.dumps([finding.as_json("en"), finding.as_json("zh")]) + repr(finding) + str(finding.place)
        assert secret not in told
    for finding in findings:
        assert (finding.severity, finding.value) == ("error", MASK)
    return findings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("WANDB_API_KEY", WANDB),
        ("SWANLAB_API_KEY", "abc"),
        ("HF_TOKEN", "anything"),
        ("AWS_SECRET_ACCESS_KEY", "x/y+z"),
        ("DB_PASSWORD", "123456"),
        ("MY_SECRET", "Zq"),
        ("HARMLESS", HUGGING_FACE),
        ("HARMLESS", OPENAI),
        ("HTTPS_PROXY", "http://me:pass@proxy:8080"),
        ("NOTE", f"key is {HUGGING_FACE}, keep it"),
        ("OPTIONS", f"WANDB_API_KEY={WANDB}"),
        ("DB_PASS", "hunter2"),
        ("MYSQL_PWD", "Zq9!xx"),
        ("SWANLAB_KEY", "Zq9bW3kLm5Rt7Yp1Sd2Fg"),
        ("OPTIONS", "a=1 SWANLAB_KEY=Zq9bW3kLm5Rt7Yp1Sd2Fg"),
        ("http_proxy", "bob:pass@host:8080"),
        ("PEM", "-----BEGIN RSA PRIVATE KEY-----\nMIIE"),
    ],
)
def test_a_flag_with_a_literal_secret_is_refused_and_never_shown(name: str, value: str) -> None:
    secret = "pass" if "pass@" in value else value
    (finding,) = refused(job(flags={name: value}), secret)
    assert name in finding.message()
    assert finding.place.line == 1
    assert "secrets" in finding.fix()


@pytest.mark.parametrize(
    "changes",
    [
        {"groups": {"x": {"+trainer.wandb_api_key": WANDB}}},
        {"groups": {"x": {"+trainer.wandb_api_key": raw(WANDB)}}},
        {"groups": {"x": {"+env": {"WANDB_API_KEY": WANDB}}}},
        {"groups": {"x": {"+a.list": ["one", {"api_key": WANDB}]}}},
        {"groups": {"x": {"+a.text": raw(f"{{api_key:{WANDB}}}")}}},
        {"extra": [f"++trainer.wandb_api_key={WANDB}"]},
        {"extra": [f"+a={{password: '{WANDB}'}}"]},
        {"variables": {"WANDB_API_KEY": WANDB}},
        {"extra": [f"+a.headers={{Authorization: 'Bearer {WANDB}'}}"]},
        {"groups": {"x": {"+a.text": f"Bearer {WANDB}"}}},
        {"groups": {"x": {"+a.clients": {"api-key": [WANDB, WANDB]}}}},
        {"labels": {"api-key": WANDB}},
        {"pip": [f"--extra-index-url=https://me:{WANDB}@host/simple"]},
        {"pip": [f"lib @ git+https://{WANDB}@host/team/lib.git"]},
        {"extra": ["WANDB_API_KEY", WANDB]},
        {"extra": ["--wandb-api-key", WANDB]},
        {"secrets": {"WANDB_API_KEY": ("env", "a" + WANDB)}},
        {"secrets": {"a" + WANDB: ("file", "/etc/keys/wandb")}},
        {"secrets": {"a" + WANDB: ("env", "b" + WANDB)}},
    ],
)
def test_the_same_in_arguments_variables_labels_and_requirements(changes: dict[str, Any]) -> None:
    assert refused(job(**changes), WANDB)


@pytest.mark.parametrize(
    "changes",
    [
        {"extra": [HUGGING_FACE]},
        {"extra": [f"+{HUGGING_FACE}=1", f"+a={HUGGING_FACE}"]},
        {"labels": {"pool": HUGGING_FACE}},
        {"secrets": {"HF_TOKEN": ("file", HUGGING_FACE)}},
        {"flags": {"RANK": HUGGING_FACE}},
        {"name": HUGGING_FACE},
    ],
)
def test_a_key_pasted_where_no_value_belongs(changes: dict[str, Any]) -> None:
    for finding in refused(job(**changes), HUGGING_FACE) or pytest.fail("it was let through"):
        assert "the value of  " not in finding.message()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1"),
        ("WANDB_API_KEY", ""),
        ("HF_TOKEN", "null"),
        ("HF_TOKEN_PATH", "/etc/keys/hf"),
        ("VLLM_MAX_TOKENS", "32768"),
        ("TOKENIZERS_PARALLELISM", "true"),
        ("MODEL", "/models/hf_checkpoints/task-oriented-and-long-name-of-a-model"),
        ("URL", "http://host:8080/path@v1"),
        ("URL", "http://me:${PASSWORD}@host"),
        ("COMMIT", WANDB),
        ("SORT_KEY", "global_step"),
        ("SORT_KEY", "global_step_100_of_metrics"),
        ("PARTITION_KEY", "12345678901234567890"),
        ("SWANLAB_KEY", ""),
        ("SSH_KEY", "/root/.ssh/id_ed25519_for_the_nodes"),
        ("SWANLAB_KEY", "${oc.env:SWANLAB_KEY}"),
        ("PWD", "/home/me2"),
        ("OLD_PWD", "/home/me2"),
        ("FUSION_PASS", "2"),
        ("DB_PASS", ""),
        ("IMAGE", "verl:v1@sha256:0123456789abcdef"),
        ("IMAGE", "host:5000/verl:v1"),
        ("http_proxy", "host:8080"),
        ("MAIL", "mailto:bob@example.com"),
        ("REPO", "git+ssh://git@github.com/team/lib.git"),
        ("REPO", "https://bob@host/team/lib.git"),
        ("REPO", f"git+https://github.com/team/lib.git@{WANDB}"),
    ],
)
def test_what_only_resembles_a_secret_is_let_through(name: str, value: str) -> None:
    assert not [one for one in findings_of(job(flags={name: value})) if one.id.startswith("NR43")]


@pytest.mark.parametrize(
    "word",
    [
        "data.prompt_key=prompt",
        "reward.reward_fn_key=data_source_2_of_the_set",
        "+a.forward_pass=level2",
        "~trainer.token",
        "actor_rollout_ref.rollout.max_num_batched_tokens=8192",
        "algorithm.loss_per_token=True",
        "+tokenizer.eos_token='<|im_end|>'",
        "+tokenizer.eos_token=151645",
        "+tokenizer.image_token=IMG",
        "+a.api_key=${oc.env:MY_API_KEY}",
        "+a.api_key=null",
        "trainer.logger=['console','wandb']",
        "reward.custom_reward_function.path=/x/secret/reward.py",
    ],
)
def test_arguments_of_the_field_are_no_secrets(word: str) -> None:
    assert findings_of(job(extra=[word])) == []


def test_a_name_may_not_be_secret_and_flag() -> None:
    made = job(flags={"WANDB_MODE": "online"}, secrets={"WANDB_MODE": ("env", "MODE")})
    (finding,) = findings_of(made)
    assert (finding.id, finding.severity, finding.place.line) == ("NR432", "error", 1)


def test_references_are_no_finding() -> None:
    secrets = {"WANDB_API_KEY": ("file", "/etc/keys/wandb"), "HF_TOKEN": ("env", "NODE_HF_TOKEN")}
    assert findings_of(job(secrets=secrets)) == []


@given(
    st.text(alphabet="abcXYZ0189+/=_-.", min_size=1).filter(lambda v: v.strip("'\"").lower() not in {"null", "none"})
)
def test_any_literal_under_a_name_for_keys_is_a_secret(value: str) -> None:
    assert holds_secret("WANDB_API_KEY", value)
    assert shown("WANDB_API_KEY", value) == MASK


@given(st.text(), st.text())
def test_any_text_can_be_looked_at(name: str, text: str) -> None:
    holds_secret(name, text)
    assert redacted(redacted(text)) == redacted(text)


@given(st.text(), st.text())
def test_what_is_redacted_holds_no_shape_any_more(before: str, after: str) -> None:
    assert HUGGING_FACE not in redacted(f"{before} {HUGGING_FACE} {after}")


def test_names() -> None:
    for name in ("api_key", "OPENAI_API_KEY", "a.b.password", "db-password", "TOKEN", "apiKey"):
        assert holds_secret(name, "Zq9")
    for name in ("key", "reward_fn_key", "MAX_TOKENS", "TOKEN_LEN", "SECRETARY", "x.tokenizer"):
        assert not holds_secret(name, "Zq9")


def test_trailing_words_of_the_field_are_no_secrets() -> None:
    assert findings_of(job(extra=["--eos-token", "<|im_end|>", "data.x=1", "--token", "--verbose", "token"])) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("the key WANDB_API_KEY=Zq9; did you mean x?", "the key WANDB_API_KEY=***; did you mean x?"),
        ("未知的键 WANDB_API_KEY=Zq9；是否应为 x？", "未知的键 WANDB_API_KEY=***；是否应为 x？"),
        (f"unknown key X={WANDB}", "unknown key X=***"),
        ("http://h:8265?token=Zq9 is no address", "http://h:8265?token=*** is no address"),
        ("https://u:Zq9@host/x is no folder", "https://***@host/x is no folder"),
    ],
)
def test_a_sentence_is_told_without_the_secrets_in_it(text: str, told: str) -> None:
    assert redacted(text) == told


@pytest.mark.parametrize(
    "text",
    [
        "job.yaml:3: secrets.HF_TOKEN: it wants NAME=VALUE",
        f"the package of commit {WANDB} is at /models/x",
        "run=qwen3_5_122b_a10b_32k VLLM_MAX_TOKENS=32768 data.prompt_key=prompt",
        "HF_TOKEN= is empty",
    ],
)
def test_a_sentence_without_a_secret_is_told_as_it_is(text: str) -> None:
    assert redacted(text) == text
