"""The algorithm, its rewards and its trackers. F…: reports of the case file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from submitter.arguments.compose import Composition, Problem
from submitter.checks.algorithm import filtering
from submitter.checks.composition import plus_missing
from submitter.checks.finding import Finding
from submitter.job.model import RuntimeEnvSpec, Value
from tests.support.builders import job, number, raw
from tests.support.checks import case_of, findings_of, not_checked

Arguments = dict[str, Value]

A = "actor_rollout_ref.actor"
R = "actor_rollout_ref.rollout"
REF = "actor_rollout_ref.ref"
C = "algorithm.rollout_correction"
NEW, OLD = "reward.custom_reward_function", "custom_reward_function"
REWARD, OLD_ENGINE = "reward.reward_model", "reward_model.rollout.name"
SANE: Arguments = {
    "algorithm.adv_estimator": "grpo",
    f"{R}.name": "vllm",
    f"{R}.n": number("8"),
    "trainer.logger": raw("[console]"),
}
MEGATRON: Arguments = {"model_engine": "megatron"}
GSPO: Arguments = {f"{A}.policy_loss.loss_mode": "gspo"}
STACK = "cann-9.0.0"
OLD_STACK = "cann-8.5.0"
NEW_STACK = "cann-9.1.0,verl=0.9.1"


def found(rule: str, arguments: Arguments, stack: str | None = STACK, **more: object) -> list[Finding]:
    base = {name: value for name, value in SANE.items() if name not in arguments}
    changed = {name: value for name, value in arguments.items() if value != "gone"}
    return findings_of(job(groups={"sane": base, "changed": changed}, stack=stack, **more), rule)  # type: ignore[arg-type]


RULES = [
    pytest.param("NR321", {f"{R}.n": number("1")}, STACK, "warning", "grpo", id="grpo-n-1"),
    pytest.param("NR321", {f"{R}.n": "gone"}, STACK, "warning", "rollout.n is 1", id="grpo-n-default"),
    pytest.param(
        "NR321",
        {"algorithm.adv_estimator": "grpo_passk", f"{R}.n": number("1")},
        STACK,
        "error",
        "at least 2",
        id="pass-at-k",
    ),
    pytest.param(
        "NR322",
        {f"{A}.use_kl_loss": True, "algorithm.use_kl_in_reward": True},
        OLD_STACK,
        "warning",
        "coefficient 0.001",
        id="kl-twice",
    ),
    pytest.param(
        "NR323",
        {f"{A}.use_kl_loss": True, f"{A}.kl_loss_coef": number("0")},
        STACK,
        "warning",
        "use_kl_loss=False",
        id="kl-without-weight",
    ),
    pytest.param(
        "NR323",
        {"algorithm.use_kl_in_reward": True, "algorithm.kl_ctrl.kl_coef": number("-0.1")},
        STACK,
        "warning",
        "-0.1",
        id="kl-negative",
    ),
    pytest.param("NR324", {f"{REF}.fsdp_config.param_offload": True}, STACK, "hint", "1 keys", id="reference-unused"),
    pytest.param("NR325", {"algorithm.adv_estimator": "gae"}, STACK, "error", "deepseek-llm-7b-chat", id="gae"),
    pytest.param("NR325", {"algorithm.adv_estimator": "gone"}, STACK, "error", "adv_estimator gae", id="gae-default"),
    *(
        pytest.param(
            "NR325",
            {"algorithm.adv_estimator": "gae", "critic.model.path": path},
            stack,
            "error",
            "critic.model.path is null",
            id=f"gae-null-{stack}-{path}",
        )
        for stack in (STACK, OLD_STACK, NEW_STACK)
        for path in (None, raw("null"))
    ),
    pytest.param(
        "NR325",
        {"algorithm.adv_estimator": "gae", "critic.enable": False},
        STACK,
        "error",
        "critic.enable is False",
        id="gae-no-critic",
    ),
    pytest.param("NR330", {f"{A}.optim.lr": number("-1e-6")}, STACK, "error", "-1e-06", id="rate-negative"),
    pytest.param("NR330", {f"{A}.optim.lr": number("0.1")}, STACK, "warning", "≤ 0.01", id="rate-high"),
    pytest.param("NR330", {f"{A}.optim.lr": number("0")}, STACK, "warning", "> 0", id="rate-zero"),
    pytest.param("NR330", {f"{A}.clip_ratio_c": number("1.0")}, STACK, "error", "> 1", id="clip-c"),
    pytest.param(
        "NR330",
        {f"{A}.clip_ratio_low": number("0.28"), f"{A}.clip_ratio_high": number("0.2")},
        STACK,
        "warning",
        "clip_ratio_high 0.2",
        id="clip-order",
    ),
    pytest.param("NR330", {f"{R}.temperature": number("0")}, STACK, "error", "temperature=0", id="temperature"),
    pytest.param("NR330", {f"{R}.top_p": number("1.5")}, STACK, "error", "≤ 1", id="top-p"),
    pytest.param("NR330", {f"{R}.val_kwargs.top_p": number("0")}, STACK, "error", "> 0", id="top-p-validation"),
    pytest.param("NR330", {"trainer.total_epochs": number("0")}, STACK, "warning", "≥ 1", id="no-epochs"),
    pytest.param(
        "NR331",
        {**MEGATRON, f"{A}.optim.lr_warmup_steps": number("100"), "trainer.total_training_steps": number("100")},
        STACK,
        "error",
        "warms up for 100",
        id="warm-up-megatron",
    ),
    pytest.param(
        "NR331",
        {f"{A}.optim.lr_warmup_steps": number("200"), "trainer.total_training_steps": number("100")},
        STACK,
        "warning",
        "ends at 100",
        id="warm-up-fsdp",
    ),
    pytest.param("NR331", {f"{A}.optim.lr_warmup_steps_ratio": number("1.0")}, STACK, "warning", "1", id="ratio"),
    pytest.param(
        "NR332",
        {"+algorithm.filter_groups.enable": True},
        STACK,
        "warning",
        "recipe.dapo.main_dapo",
        id="filter-unread",
    ),
    pytest.param(
        "NR332",
        {"algorithm.filter_groups.enable": True},
        "cann-9.1.0,verl=0.9.0",
        "error",
        "filter_groups.metric",
        id="filter-without-metric",
    ),
    pytest.param(
        "NR333", {f"{C}.bypass_mode": True}, STACK, "error", "calculate_log_probs=True", id="bypass-without-log-probs"
    ),
    pytest.param("NR333", {f"{C}.rollout_is": "token"}, STACK, "warning", "calculate_log_probs", id="weights-unseen"),
    pytest.param("NR333", {f"{C}.rollout_is": "tokens"}, NEW_STACK, "error", "token, sequence", id="weights-name"),
    pytest.param("NR333", {f"{C}.rollout_rs": "seq_mean_k1"}, NEW_STACK, "error", "threshold", id="no-threshold"),
    pytest.param("NR333", {f"{C}.rollout_rs": "geometric"}, NEW_STACK, "error", "seq_mean_k1", id="rejection-name"),
    pytest.param(
        "NR334",
        {**MEGATRON, f"{A}.megatron.router_replay.mode": "R2", f"{C}.bypass_mode": True},
        NEW_STACK,
        "error",
        "bypass_mode=False",
        id="r2-bypass",
    ),
    pytest.param(
        "NR334",
        {**MEGATRON, f"{A}.megatron.router_replay.mode": "R3"},
        STACK,
        "error",
        "enable_rollout_routing_replay=True",
        id="r3-without-routes",
    ),
    pytest.param(
        "NR334",
        {
            **MEGATRON,
            f"{A}.megatron.router_replay.mode": "R2",
            f"+{R}.enable_rollout_routing_replay": True,
        },
        STACK,
        "error",
        "enable_rollout_routing_replay=False",
        id="r2-with-routes",
    ),
    pytest.param(
        "NR334", {**MEGATRON, f"{A}.router_replay.mode": "R3"}, STACK, "warning", "megatron.router_replay", id="old-key"
    ),
    pytest.param("NR335", {"algorithm.adv_estimator": "gdpo"}, STACK, "error", "gdpo_reward_keys", id="gdpo-keys"),
    pytest.param(
        "NR335", {f"{A}.policy_loss.loss_mode": "dro"}, NEW_STACK, "error", "policy_loss.dro_beta > 0", id="dro-beta"
    ),
    pytest.param(
        "NR335", {**GSPO, f"{A}.loss_agg_mode": "token-mean"}, STACK, "hint", "seq-mean-token-mean", id="gspo-mean"
    ),
    pytest.param("NR328", {f"{OLD}.path": "pkg://a.b"}, STACK, "error", f"{OLD}.name", id="old-path-without-name"),
    pytest.param(
        "NR328",
        {f"{NEW}.path": "pkg://a.b", f"{OLD}.name": "score"},
        STACK,
        "warning",
        "pkg://a.b",
        id="both-sections",
    ),
    pytest.param("NR329", {"reward.reward_manager.name": "prime"}, OLD_STACK, "error", "naive", id="manager-gone"),
    pytest.param(
        "NR329", {"reward_model.reward_manager": "dappo"}, STACK, "error", "nearest is dapo", id="manager-old"
    ),
    pytest.param("NR336", {"reward.reward_manager.name": "naive"}, STACK, "hint", "naive manager", id="F203"),
    pytest.param("NR336", {f"{NEW}.path": "pkg://a.b"}, STACK, "hint", "pkg://a.b", id="F203-own-function"),
    pytest.param("NR337", {"trainer.logger": raw("['wandb']")}, STACK, "warning", "WANDB_MODE=offline", id="F209"),
    pytest.param("NR337", {"trainer.logger": "gone"}, STACK, "warning", "wandb", id="F209-default"),
    pytest.param("NR337", {"trainer.logger": raw("[console,swanlab]")}, STACK, "warning", "SWANLAB", id="F209-swanlab"),
    pytest.param("NR337", {"trainer.logger": raw("[vemlp_wandb]")}, STACK, "error", "VOLC_ACCESS_KEY_ID", id="vemlp"),
    pytest.param(
        "NR339",
        {"reward.reward_model.enable": True, f"{REWARD}.rollout.name": "vllm"},
        STACK,
        "error",
        "model_path",
        id="reward-model-path",
    ),
    *(
        pytest.param(
            "NR339",
            {"reward.reward_model.enable": True, f"{REWARD}.model_path": "/models/rm", **name},
            stack,
            "error",
            "rollout.name",
            id=f"reward-model-engine-{stack}-{len(name)}",
        )
        for stack in (STACK, OLD_STACK, NEW_STACK)
        for name in ({}, {f"{REWARD}.rollout.name": None}, {f"{REWARD}.rollout.name": None, OLD_ENGINE: None})
    ),
    pytest.param(
        "NR339",
        {
            "reward.reward_model.enable": True,
            "reward.reward_model.model_path": "/models/rm",
            "reward.reward_model.enable_resource_pool": True,
            OLD_ENGINE: "vllm",
        },
        STACK,
        "error",
        "nnodes > 0",
        id="reward-model-nodes",
    ),
]


@pytest.mark.parametrize(("rule", "arguments", "stack", "severity", "words"), RULES)
def test_found(rule: str, arguments: Arguments, stack: str | None, severity: str, words: str) -> None:
    (finding,) = found(rule, arguments, stack)
    assert finding.severity == severity
    assert finding.place.file == "job.yaml"
    assert words in f"{finding.message()} {finding.fix()}"
    assert finding.message("zh") and finding.fix("zh")


PASSES = [
    pytest.param("NR321", {f"{R}.n": number("2")}, STACK, id="n-2"),
    pytest.param("NR321", {"algorithm.adv_estimator": "remax", f"{R}.n": number("1")}, STACK, id="remax"),
    pytest.param("NR321", {f"{R}.n": raw("some")}, STACK, id="n-no-number"),
    pytest.param("NR322", {f"{A}.use_kl_loss": True}, STACK, id="kl-once"),
    pytest.param("NR323", {f"{A}.kl_loss_coef": number("0")}, STACK, id="kl-off"),
    pytest.param("NR324", {f"{REF}.strategy": "fsdp", f"{A}.use_kl_loss": True}, STACK, id="reference-used"),
    pytest.param("NR325", {"algorithm.adv_estimator": "gae", "critic.model.path": "/models/m"}, STACK, id="critic"),
    pytest.param("NR330", {f"{A}.optim.lr": number("1e-6")}, STACK, id="rate"),
    pytest.param("NR325", {"critic.model.path": None}, STACK, id="no-critic-no-path"),
    pytest.param("NR330", {f"{A}.optim.lr": raw("slow")}, STACK, id="rate-no-number"),
    pytest.param(
        "NR330",
        {f"{A}.policy_loss.loss_mode": "cispo", f"{A}.clip_ratio_low": number("10")},
        STACK,
        id="bounds-of-cispo",
    ),
    pytest.param("NR330", {f"{R}.top_p": number("1"), f"{R}.top_k": number("-1")}, STACK, id="sampling-borders"),
    pytest.param(
        "NR331",
        {**MEGATRON, f"{A}.optim.lr_warmup_steps": number("99"), "trainer.total_training_steps": number("100")},
        STACK,
        id="warm-up-border",
    ),
    pytest.param("NR331", {f"{A}.optim.lr_warmup_steps": number("99")}, STACK, id="warm-up-total-unknown"),
    pytest.param(
        "NR332",
        {"algorithm.filter_groups.enable": True, "algorithm.filter_groups.metric": "acc"},
        "cann-9.1.0,verl=0.9.0",
        id="filter",
    ),
    pytest.param("NR333", {f"{C}.bypass_mode": True, f"{R}.calculate_log_probs": True}, OLD_STACK, id="bypass"),
    pytest.param("NR333", {f"{C}.bypass_mode": True}, NEW_STACK, id="log-probs-by-default"),
    pytest.param(
        "NR333",
        {f"{C}.rollout_rs": raw("'token_k1,seq_max_k2'"), f"{C}.rollout_rs_threshold": "2"},
        NEW_STACK,
        id="two",
    ),
    pytest.param(
        "NR334",
        {**MEGATRON, f"{A}.megatron.router_replay.mode": "R3", f"+{R}.enable_rollout_routing_replay": True},
        "cann-9.1.0",
        id="r3",
    ),
    pytest.param("NR335", {**GSPO, f"{A}.loss_agg_mode": "seq-mean-token-mean"}, STACK, id="gspo"),
    pytest.param("NR328", {f"{OLD}.path": "pkg://a.b", f"{OLD}.name": "score"}, STACK, id="old-section-whole"),
    pytest.param("NR329", {"reward.reward_manager.name": "dapo"}, STACK, id="manager"),
    pytest.param("NR336", {}, STACK, id="manager-by-default"),
    pytest.param("NR337", {"trainer.logger": raw("[console,tensorboard,file]")}, STACK, id="loggers-without-login"),
    pytest.param("NR337", {"trainer.logger": number("7")}, STACK, id="logger-no-text"),
    pytest.param("NR339", {}, STACK, id="no-reward-model"),
]


@pytest.mark.parametrize(("rule", "arguments", "stack"), PASSES)
def test_passes(rule: str, arguments: Arguments, stack: str | None) -> None:
    assert found(rule, arguments, stack) == []


def test_a_login_or_an_offline_mode_is_enough() -> None:
    wandb: Arguments = {"trainer.logger": raw("[wandb]")}
    assert found("NR337", wandb, flags={"WANDB_MODE": "offline"}) == []
    assert found("NR337", wandb, secrets={"WANDB_API_KEY": ("file", "/secrets/wandb")}) == []
    assert found("NR337", wandb, flags={"WANDB_MODE": "online"}) != []


def test_a_generation_has_no_algorithm() -> None:
    from submitter.job.model import Trainer

    generation = Trainer("verl.trainer.main_generation_server", "ray")
    for rule in ("NR321", "NR325"):
        assert found(rule, {"algorithm.adv_estimator": "gone", f"{R}.n": "gone"}, trainer=generation) == []


SCORE = "def compute_score(data_source, solution_str, ground_truth, extra_info=None):\n    return 0.0\n"


def reward(folder: Path, text: str | None, *, path: str = "rewards/mine.py", name: str | None = None) -> list[Finding]:
    (folder / "rewards").mkdir()
    if text is not None:
        (folder / "rewards" / "mine.py").write_text(text, encoding="utf-8")
    arguments: Arguments = {f"{NEW}.path": path, **({f"{NEW}.name": name} if name else {})}
    spec = RuntimeEnvSpec(working_dir=str(folder))
    made = job(groups={"sane": SANE, "reward": arguments}, stack=STACK, runtime_env=spec)
    return findings_of(made, "NR326", "NR327", "NR336")


@pytest.mark.parametrize(
    ("text", "name", "rule", "words"),
    [
        pytest.param(None, None, "NR326", "no such file", id="missing-reward-file"),
        pytest.param("def compute_score(:\n", None, "NR326", "invalid syntax", id="does-not-parse"),
        pytest.param(SCORE, "compute_scores", "NR327", "nearest name in it: compute_score", id="no-such-function"),
        pytest.param("x = 1\n", None, "NR327", "defines no compute_score", id="default-name"),
    ],
)
def test_a_reward_file_in_the_working_dir(
    tmp_path: Path, text: str | None, name: str | None, rule: str, words: str
) -> None:
    (finding,) = [one for one in reward(tmp_path, text, name=name) if one.id == rule]
    assert finding.severity == "error"
    assert finding.place.line is not None
    assert words in f"{finding.message()} {finding.fix()}"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("import asyncio\nTIMEOUT_S = 5\n" + SCORE, id="plain"),
        pytest.param("from scores import compute_score  # timeout inside\n", id="imported"),
        pytest.param(
            "try:\n    from a import b as compute_score\nexcept ImportError:\n    pass  # timeout\n", id="tried"
        ),
        pytest.param("from scores import *  # timeout inside\n", id="star"),
        pytest.param("compute_score = make(timeout=3)\n", id="assigned"),
        pytest.param("globals()['compute_score'] = make(timeout=3)\n", id="dynamic"),
    ],
)
def test_a_sound_reward_file(tmp_path: Path, text: str) -> None:
    assert reward(tmp_path, text) == []


def test_a_reward_file_elsewhere() -> None:
    (relative,) = found("NR326", {f"{NEW}.path": "rewards/mine.py"})
    assert relative.severity == "warning"
    made = job(groups={"sane": SANE, "reward": {f"{NEW}.path": "/no/such/place/mine.py"}}, stack=STACK)
    (unseen,) = not_checked(made, "NR326")
    assert "/no/such/place/mine.py" in unseen.message()


def test_a_reward_path_that_is_no_file(tmp_path: Path) -> None:
    (found_,) = [one for one in reward(tmp_path, None, path="rewards") if one.id == "NR326"]
    assert found_.severity == "warning"
    assert found("NR326", {f"{NEW}.path": number("7")}) == []


def test_a_filter_that_nothing_reads_is_told_once_even_where_hydra_refuses_it() -> None:
    """With the plus that Hydra asks for, the key would have no effect: NR332 is the whole answer."""
    key = "algorithm.filter_groups.enable"
    case = case_of(job(groups={"a": {key: True}}, stack=OLD_STACK))
    refused = replace(case, composition=Composition("0.7.1", "ppo_trainer", (Problem("add", 0, key),)))
    (finding,) = [one for rule in (plus_missing, filtering) for one in rule(refused)]
    assert (finding.id, finding.severity) == ("NR332", "error")
    assert "+" not in finding.fix() and "does not read it" in finding.message()


@pytest.mark.parametrize("name", ["gone", None])
def test_the_key_that_is_null_is_named(name: Value) -> None:
    (finding,) = found("NR328", {f"{OLD}.path": "pkg://a.b", f"{OLD}.name": name})
    assert finding.message().startswith(f"{OLD}.name is null")
    assert finding.place.key == (f"{OLD}.path" if name == "gone" else f"{OLD}.name")


def test_no_epoch_is_told_once() -> None:
    said = findings_of(job(groups={"a": {f"{A}.ppo_epochs": number("0")}}, stack=STACK), "NR217", "NR330")
    assert [one.id for one in said] == ["NR217"]
