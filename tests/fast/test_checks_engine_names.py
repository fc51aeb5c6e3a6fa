"""Names that vLLM or Megatron would refuse or never read; the names of published jobs are nobody's mistake."""

from __future__ import annotations

import pytest

from submitter.arguments.misspelt import misspelt
from submitter.checks.engine_names import RULES
from submitter.job.model import Value
from tests.support.builders import job, number, raw
from tests.support.checks import findings_by

ROLLOUT = "actor_rollout_ref.rollout"
VLLM = f"+{ROLLOUT}.engine_kwargs.vllm"
TRANSFORMER = "+actor_rollout_ref.actor.megatron.override_transformer_config"
OPTIMIZER = "+actor_rollout_ref.actor.optim.override_optimizer_config"


def told(arguments: dict[str, Value], stack: str | None = "cann-9.0.0") -> list[tuple[str, str, int | None]]:
    group: dict[str, Value] = {f"{ROLLOUT}.name": "vllm", "model_engine": "megatron", **arguments}
    found = findings_by(RULES, job(groups={"all": group}, stack=stack))
    assert all(one.message("zh") and one.fix("zh") for one in found)
    return [(one.id, one.severity, one.place.line) for one in found]


@pytest.mark.parametrize(
    ("name", "value", "severity"),
    [
        ("max_nun_seqs", number("8"), "error"),
        ("gpu_memory_utilisation", number("0.5"), "error"),
        ("enable_expert_paralel", True, "error"),
        ("compilation_config.cudagraph_capture_size", raw("[1,2]"), "error"),
        ("compilation_config.cudagraf_mode", "FULL", "error"),
        ("compilation_config", raw("{cudagraph_mod: FULL}"), "error"),
        ("something_of_ours", number("1"), "warning"),
        ("disable_mm_preprocessor_cache", True, "warning"),
        ("disable_log_requests", True, "warning"),
    ],
)
def test_a_name_that_vllm_does_not_take(name: str, value: Value, severity: str) -> None:
    assert told({f"{VLLM}.{name}": value}) == [("NR116", severity, 3)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_model_len", number("1024")),
        ("max-model-len", number("1024")),
        ("max_num_seq", number("8")),  # argparse takes the beginning of a name
        ("no_enable_prefix_caching", True),
        ("enable_expert_paralel", False),  # verl leaves it out
        ("enable_expert_paralel", None),
        ("additional_config.enable_cpu_binding", True),
        ("async_scheduling", True),
        ("mm_processor_cache_gb", number("0")),
        ("kv_cache_dtype", "fp8"),
        ("compilation_config.cudagraph_mode", "FULL_DECODE_ONLY"),
        ("compilation_config.pass_config.fuse_norm_quant", True),
        ("hf_overrides.architectures", raw("[A]")),
    ],
)
@pytest.mark.parametrize("stack", ["cann-8.5.0", "cann-9.0.0", "cann-9.1.0", None])
def test_a_name_that_vllm_takes(stack: str | None, name: str, value: Value) -> None:
    assert told({f"{VLLM}.{name}": value}, stack) == []


def test_a_name_is_looked_up_in_the_version_of_the_stack() -> None:
    assert told({f"{VLLM}.disable_log_requests": True}, "cann-8.5.0") == []
    assert told({f"{VLLM}.moe_backend": "auto"}, "cann-8.5.0") == [("NR116", "warning", 3)]
    assert told({f"{VLLM}.moe_backend": "auto"}, "cann-9.1.0") == []
    assert told({f"{VLLM}.moe_backend": "auto"}, "cann-9.0.0,vllm=0.20.1") == []  # not read: nothing sure


def test_another_engine_has_names_of_its_own() -> None:
    assert told({f"{ROLLOUT}.name": "sglang", f"{VLLM}.nothing": number("1")}) == []


@pytest.mark.parametrize(
    ("key", "found"),
    [
        (f"{TRANSFORMER}.moe_token_dispatcher_typ", True),
        (f"{TRANSFORMER}.recompute_granularty", True),
        (f"{TRANSFORMER}.use_flash_atn", True),
        (f"{OPTIMIZER}.optimizer_cpu_ofload", True),
        (f"{TRANSFORMER}.num_layers_in_last_pipeline_stage", False),
        (f"{TRANSFORMER}.use_fused_swiglu", False),
        (f"{TRANSFORMER}.our_own_switch", False),
        (f"{TRANSFORMER}.fp8", False),
        (f"{OPTIMIZER}.overlap_cpu_optimizer_d2h_h2d", False),
        (f"{OPTIMIZER}.offload_fraction", False),
    ],
)
def test_a_mistyped_name_for_megatron(key: str, found: bool) -> None:
    assert told({key: number("1")}) == ([("NR117", "warning", 3)] if found else [])


def test_names_for_megatron_do_not_count_without_it() -> None:
    assert told({"model_engine": "dp", f"{TRANSFORMER}.use_flash_atn": True}) == []


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("max_prompt_lenght", ["max_prompt_length"], "max_prompt_length"),
        ("maxprompt_length", ["max_prompt_length"], "max_prompt_length"),
        ("n_env_gpus_per_node", ["n_gpus_per_node"], None),
        ("num_layers_in_first_stage", ["num_layers_in_last_stage"], None),
        ("fp8_recipe", ["fp4_recipe"], None),
        ("gen_batch_size", ["train_batch_size", "val_batch_size"], None),
        ("same", ["same"], None),
        ("a", ["b"], None),
        ("x" * 9000, ["x" * 99], None),
        ("", [""], None),
    ],
)
def test_what_is_a_mistyped_name(name: str, known: list[str], meant: str | None) -> None:
    assert misspelt(name, known) == meant


def test_an_option_of_old_scripts_has_a_successor() -> None:
    group: dict[str, Value] = {f"{ROLLOUT}.name": "vllm", f"{VLLM}.disable_mm_preprocessor_cache": True}
    [one] = findings_by(RULES, job(groups={"all": group}, stack="cann-9.0.0"))
    assert "mm_processor_cache_gb=0" in one.fix()
