"""The rollout engine's allocator, graphs and options. F…: reports of the case file."""

from __future__ import annotations

import pytest

from submitter.checks.finding import Finding
from submitter.job.model import Trainer, Value
from tests.support.builders import job, number, raw
from tests.support.checks import findings_of

Arguments = dict[str, Value]

ROLLOUT = "actor_rollout_ref.rollout"
VLLM = f"{ROLLOUT}.engine_kwargs.vllm"
SANE: Arguments = {
    "algorithm.adv_estimator": "grpo",
    f"{ROLLOUT}.name": "vllm",
    f"{ROLLOUT}.n": number("8"),
}
STACK = "cann-9.0.0"
MODEL = "actor_rollout_ref.model.path"
EXPANDABLE = {"PYTORCH_NPU_ALLOC_CONF": "page_size:1g,expandable_segments:True"}
QUEUE_2 = {"TASK_QUEUE_ENABLE": "2"}
BLOCKING = {"ASCEND_LAUNCH_BLOCKING": "1"}
EAGER: Arguments = {f"{ROLLOUT}.enforce_eager": True}
EXTRA = f"+{VLLM}.additional_config"
FALSE = (
    (f"{ROLLOUT}.enable_prefix_caching", "enable-prefix-caching"),
    (f"+{VLLM}.enable_prefix_caching", "enable-prefix-caching"),
    (f"+{VLLM}.enable_chunked_prefill", "enable-chunked-prefill"),
)
COMPILATION = f"+{VLLM}.compilation_config"


def found(
    rule: str, arguments: Arguments | None = None, flags: dict[str, str] | None = None, stack: str | None = STACK
) -> list[Finding]:
    made = job(flags=flags or {}, groups={"sane": SANE, "rollout": arguments or {}}, stack=stack)
    return findings_of(made, rule)


ERRORS = [
    pytest.param("NR301", {}, EXPANDABLE, "cann-8.5.0", "page_size:1g", id="F163"),
    pytest.param("NR301", {f"+{ROLLOUT}.enable_sleep_mode": True}, EXPANDABLE, None, "", id="sleep-mode-said"),
    pytest.param("NR301", {f"{ROLLOUT}.free_cache_engine": False}, EXPANDABLE, STACK, "", id="pool-is-built-anyway"),
    pytest.param("NR302", {}, QUEUE_2, STACK, "verl's default", id="queue-2"),
    pytest.param("NR302", {f"{ROLLOUT}.enforce_eager": False}, QUEUE_2, STACK, "job.yaml:", id="queue-2-said"),
    pytest.param("NR302", {f"{ROLLOUT}.name": "sglang"}, QUEUE_2, STACK, "", id="queue-2-sglang"),
    pytest.param(
        "NR302",
        {"+ray_kwargs.ray_init.runtime_env.env_vars.TASK_QUEUE_ENABLE": number("2")},
        {},
        STACK,
        "TASK_QUEUE_ENABLE=2",
        id="queue-2-in-ray-init",
    ),
    pytest.param("NR303", {}, BLOCKING, STACK, "ACL graph", id="blocking"),
    pytest.param("NR304", {f"{ROLLOUT}.mode": "sync"}, {}, "cann-8.5.0", "sync", id="sync-rollout"),
    pytest.param("NR304", {f"{ROLLOUT}.mode": "spmd"}, {}, STACK, "spmd", id="spmd-rollout"),
    pytest.param("NR304", {f"{ROLLOUT}.name": "hf"}, {}, STACK, "hf", id="hf-rollout"),
    pytest.param("NR304", {f"{ROLLOUT}.name": "trtllm"}, {}, STACK, "vllm, sglang", id="trtllm-rollout"),
    pytest.param(
        "NR305",
        {f"{EXTRA}.enable_sleep_mode_extra_cleanup": True},
        {},
        "cann-9.1.0,vllm_ascend=main",
        "rl_config.sleep_mode_extra_cleanup",
        id="F212",
    ),
    pytest.param(
        "NR305",
        {f"{EXTRA}.rl_config.sleep_mode_extra_clean": True},
        {},
        "cann-9.1.0,vllm_ascend=main",
        "sleep_mode_extra_cleanup",
        id="F212-unknown-rl_config",
    ),
    pytest.param("NR305", {f"{EXTRA}.eplb_config.dynamic_eplp": True}, {}, STACK, "dynamic_eplb", id="eplb-key"),
    pytest.param("NR306", {f"{COMPILATION}.cudagraph_mode": "FULL_DECODE"}, {}, STACK, "FULL_DECODE_ONLY", id="mode"),
    pytest.param("NR306", {COMPILATION: raw('\'{"cudagraph_mode": "GRAPH"}\'')}, {}, STACK, "GRAPH", id="mode-as-json"),
    pytest.param("NR309", {"actor_rollout_ref.model.lora_rank": number("1024")}, {}, "cann-8.5.0", "512", id="lora"),
    pytest.param("NR309", {"actor_rollout_ref.model.lora.rank": number("513")}, {}, STACK, "513", id="lora-new-key"),
]


@pytest.mark.parametrize(("rule", "arguments", "flags", "stack", "words"), ERRORS)
def test_errors(rule: str, arguments: Arguments, flags: dict[str, str], stack: str | None, words: str) -> None:
    (finding,) = found(rule, arguments, flags, stack)
    assert finding.severity == "error"
    assert finding.place.line is not None
    told = f"{finding.message()} {finding.fix()}"
    assert words in told
    assert finding.message("zh") and finding.fix("zh")


WARNINGS = [
    pytest.param(
        "NR305", {f"{EXTRA}.enable_cpu_bindings": True}, STACK, "warning", "enable_cpu_binding", id="misspelt"
    ),
    pytest.param("NR305", {f"{EXTRA}.dynamic_eplb": True}, STACK, "warning", "eplb_config.dynamic_eplb", id="gone"),
    pytest.param("NR305", {f"{EXTRA}.weight_nz_mode": number("0")}, STACK, "warning", "0.20–", id="not-yet"),
    pytest.param(
        "NR305",
        {f"{EXTRA}.enable_sleep_mode_extra_cleanup": True},
        "cann-9.1.0",
        "hint",
        "rl_config",
        id="F212-still-read",
    ),
    pytest.param(
        "NR305", {f"{EXTRA}.enable_sleep_mode_extra_cleanup": True}, None, "warning", "rl_config", id="F212-?"
    ),
    pytest.param("NR305", {f"{EXTRA}.no_such_thing": True}, None, "warning", "no_such_thing", id="in-no-release"),
    pytest.param("NR306", {f"{COMPILATION}.mode": number("2")}, STACK, "warning", "3 (VLLM_COMPILE)", id="mode-2"),
    pytest.param(
        "NR307",
        {f"{COMPILATION}.cudagraph_capture_sizes": raw("[8,64,128]"), f"{ROLLOUT}.max_num_seqs": number("64")},
        STACK,
        "hint",
        "128",
        id="F168",
    ),
    pytest.param(
        "NR307",
        {f"{ROLLOUT}.cudagraph_capture_sizes": raw("[8,65]"), f"{ROLLOUT}.max_num_seqs": number("64")},
        STACK,
        "hint",
        "65",
        id="F168-own-key",
    ),
    pytest.param("NR308", {f"+{VLLM}.max_num_seqs": number("8")}, STACK, "warning", "1024", id="said-twice"),
    *(
        pytest.param("NR235", {key: False}, stack, "warning", f"{VLLM}.no-{flag}=True", id=f"false-{stack}-{key}")
        for stack in ("cann-8.5.0", "cann-9.0.0", "cann-9.1.0", "cann-9.1.0,verl=0.9.0")
        for key, flag in FALSE
    ),
]


@pytest.mark.parametrize(("rule", "arguments", "stack", "severity", "words"), WARNINGS)
def test_warnings_and_hints(rule: str, arguments: Arguments, stack: str | None, severity: str, words: str) -> None:
    (finding,) = found(rule, arguments, None, stack)
    assert finding.severity == severity
    assert words in f"{finding.message()} {finding.fix()}"


PASSES = [
    pytest.param("NR301", {}, {"PYTORCH_NPU_ALLOC_CONF": "expandable_segments:False"}, STACK, id="segments-off"),
    pytest.param("NR301", {f"+{ROLLOUT}.enable_sleep_mode": False}, EXPANDABLE, STACK, id="sleep-mode-off"),
    pytest.param("NR301", {f"{ROLLOUT}.name": "sglang"}, EXPANDABLE, STACK, id="segments-sglang"),
    pytest.param("NR301", {f"{EXTRA}.rl_config.enabled": True}, EXPANDABLE, STACK, id="rl-config"),
    pytest.param("NR302", EAGER, QUEUE_2, STACK, id="queue-2-eager"),
    pytest.param("NR302", {}, {"TASK_QUEUE_ENABLE": "1"}, STACK, id="queue-1"),
    pytest.param("NR302", {f"{COMPILATION}.cudagraph_mode": "NONE"}, QUEUE_2, STACK, id="queue-2-no-graphs"),
    pytest.param("NR302", {f"+{VLLM}.enforce_eager": True}, QUEUE_2, STACK, id="queue-2-engine-eager"),
    pytest.param("NR302", {f"{ROLLOUT}.enforce_eager": raw("maybe")}, QUEUE_2, STACK, id="queue-2-cannot-be-told"),
    pytest.param("NR303", EAGER, BLOCKING, STACK, id="blocking-eager"),
    pytest.param("NR303", {}, {"ASCEND_LAUNCH_BLOCKING": "0"}, STACK, id="blocking-off"),
    pytest.param("NR304", {f"{ROLLOUT}.mode": "async"}, {}, STACK, id="async"),
    pytest.param("NR304", {f"{ROLLOUT}.name": "mine"}, {"VERL_USE_EXTERNAL_MODULES": "mine"}, STACK, id="own-rollout"),
    pytest.param("NR305", {f"{EXTRA}.enable_cpu_binding": True}, {}, STACK, id="known-key"),
    pytest.param("NR305", {f"{EXTRA}.rl_config.anything": True}, {}, None, id="stack-unknown"),
    pytest.param("NR306", {f"{COMPILATION}.cudagraph_mode": "full_decode_only"}, {}, STACK, id="mode-lower-case"),
    pytest.param("NR306", {f"{COMPILATION}.mode": number("3")}, {}, STACK, id="mode-3"),
    pytest.param("NR306", {f"{COMPILATION}.mode": [number("1")]}, {}, STACK, id="mode-a-list"),
    pytest.param("NR306", {COMPILATION: raw("[")}, {}, STACK, id="mode-unreadable"),
    pytest.param("NR307", {f"{COMPILATION}.cudagraph_capture_sizes": raw("[8,1024]")}, {}, STACK, id="sizes-border"),
    pytest.param("NR307", {f"{COMPILATION}.cudagraph_capture_sizes": raw("many")}, {}, STACK, id="sizes-no-list"),
    pytest.param("NR308", {f"+{VLLM}.max_num_seqs": number("1024")}, {}, STACK, id="said-twice-alike"),
    pytest.param("NR309", {"actor_rollout_ref.model.lora_rank": number("512")}, {}, STACK, id="lora-border"),
    *(
        pytest.param("NR235", arguments, {}, stack, id=f"false-{number_}")
        for number_, (arguments, stack) in enumerate(
            (
                ({f"{ROLLOUT}.enable_prefix_caching": False}, "cann-9.1.0,verl=0.9.1"),
                ({f"{ROLLOUT}.enable_prefix_caching": False}, None),
                ({f"{ROLLOUT}.enable_prefix_caching": True}, STACK),
                ({f"{ROLLOUT}.enable_prefix_caching": raw("maybe")}, STACK),
                ({f"{ROLLOUT}.enable_prefix_caching": False, f"{ROLLOUT}.name": "sglang"}, STACK),
                ({f"{ROLLOUT}.enable_prefix_caching": False, MODEL: "Qwen/Qwen3.5-27B"}, STACK),
                ({f"{ROLLOUT}.enforce_eager": False, f"+{ROLLOUT}.enable_sleep_mode": False}, STACK),
            )
        )
    ),
    pytest.param("NR309", {"actor_rollout_ref.model.lora_rank": raw("big")}, {}, STACK, id="lora-no-number"),
    pytest.param(
        "NR309",
        {"actor_rollout_ref.model.lora.rank": number("1024"), "actor_rollout_ref.model.lora.merge": True},
        {},
        STACK,
        id="lora-merged",
    ),
]


@pytest.mark.parametrize(("rule", "arguments", "flags", "stack"), PASSES)
def test_passes(rule: str, arguments: Arguments, flags: dict[str, str], stack: str | None) -> None:
    assert found(rule, arguments, flags, stack) == []


@pytest.mark.parametrize(
    ("module", "value", "severity"),
    [
        ("verl.experimental.one_step_off_policy.main_ppo", True, "warning"),
        ("verl.experimental.one_step_off_policy.main_ppo", False, None),
        ("verl.experimental.one_step_off_policy.main_ppo", None, None),
        ("verl.trainer.main_ppo", True, None),
    ],
)
@pytest.mark.parametrize("stack", ["cann-8.5.0", "cann-9.0.0", "cann-9.1.0"])
def test_a_cache_that_is_freed_on_nodes_of_its_own(
    module: str, value: bool | None, severity: str | None, stack: str
) -> None:
    arguments: Arguments = {} if value is None else {f"{ROLLOUT}.free_cache_engine": value}
    made = job(groups={"sane": SANE, "rollout": arguments}, stack=stack, trainer=Trainer(module, "ray"))
    assert [(one.severity, one.place.line) for one in findings_of(made, "NR320")] == (
        [(severity, 4)] if severity else []
    )
