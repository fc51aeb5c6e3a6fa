"""Flags that nothing reads, that no reader can parse, that are misspelt, contradict each other or come too late."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from submitter.checks.finding import Finding
from submitter.checks.spelling import meant, unknown_to_vllm
from submitter.job.load import load_job
from submitter.job.model import Job, Value
from tests.support.builders import job, number
from tests.support.checks import findings_of, not_checked
from tests.support.job_files import HOME

NEW, MIDDLE, OLD = "cann-9.1.0", "cann-9.0.0", "cann-8.5.0"
FLAGS = ("NR45", "NR46")


def found(flags: Mapping[str, str], stack: str | None = MIDDLE) -> list[Finding]:
    return findings_of(job(flags=flags, stack=stack), *FLAGS)


def said(flags: Mapping[str, str], stack: str | None = MIDDLE) -> list[tuple[str, str]]:
    return [(one.id, one.severity) for one in found(flags, stack)]


def with_arguments(stack: str, arguments: Mapping[str, Value]) -> Job:
    return job(stack=stack, groups={"rollout": {"actor_rollout_ref.rollout.name": "vllm", **arguments}})


def test_the_shipped_job_has_four_dead_flags_and_two_that_live() -> None:
    made = load_job("qwen3_5_122b_a10b_32k", environ=HOME)
    told = {one.values["name"]: (one.id, one.severity, one.place.line) for one in findings_of(made, *FLAGS)}
    lines = {flag.name: flag.place.line for flag in made.flags}
    assert told == {
        "VLLM_USE_V1": ("NR452", "warning", lines["VLLM_USE_V1"]),
        "VLLM_ALLREDUCE_USE_SYMM_MEM": ("NR453", "warning", lines["VLLM_ALLREDUCE_USE_SYMM_MEM"]),
        "VLLM_ASCEND_ENABLE_PREFETCH_MLP": ("NR451", "warning", lines["VLLM_ASCEND_ENABLE_PREFETCH_MLP"]),
        "VLLM_ASCEND_ENABLE_TOPK_OPTIMIZE": ("NR452", "warning", lines["VLLM_ASCEND_ENABLE_TOPK_OPTIMIZE"]),
    }


@pytest.mark.parametrize(
    ("name", "stack", "ids"),
    [
        pytest.param("VLLM_ASCEND_ENABLE_FLASHCOMM1", f"{NEW},vllm-ascend=0.27.0", ["NR451"], id="F186-main"),
        pytest.param("VLLM_ASCEND_ENABLE_FLASHCOMM1", NEW, ["NR454"], id="F186-deprecated"),
        pytest.param("VLLM_ASCEND_ENABLE_FLASHCOMM1", MIDDLE, [], id="F186-alive"),
        ("VLLM_ASCEND_ENABLE_PREFETCH_MLP", OLD, []),
        ("VLLM_ASCEND_ENABLE_PREFETCH_MLP", f"{MIDDLE},vllm-ascend=0.17.0rc1", []),
        ("VLLM_ASCEND_ENABLE_DBO", MIDDLE, ["NR452"]),
        ("VLLM_ATTENTION_BACKEND", NEW, ["NR451"]),
        ("VLLM_TORCH_PROFILER_DIR", MIDDLE, ["NR451"]),
        ("VLLM_TORCH_PROFILER_USE_GZIP", MIDDLE, ["NR452"]),
        ("VERL_PLATFORM", MIDDLE, ["NR467"]),
        ("VERL_PLATFORM", NEW, []),
        ("HCCL_ASYNC_ERROR_HANDLING", MIDDLE, ["NR454"]),
        ("HCCL_DEBUG", MIDDLE, ["NR453"]),
        ("VLLM_ENABLE_GRAPH_MODE", MIDDLE, ["NR453"]),
        ("CPU_AFFINITY_CONF", MIDDLE, []),
        pytest.param("NCCL_DEBUG", MIDDLE, [], id="F087-alone"),
        ("VLLM_CACHE_ROOT", MIDDLE, []),
        ("MY_OWN_FLAG", MIDDLE, []),
    ],
)
def test_flags_that_nothing_reads(name: str, stack: str, ids: list[str]) -> None:
    assert [one.id for one in found({name: "1"}, stack)] == ids


def test_a_dead_flag_is_told_with_versions_and_successor() -> None:
    (one,) = found({"VLLM_ASCEND_ENABLE_PREFETCH_MLP": "1"})
    assert "vllm-ascend 0.18.0" in one.message()
    assert "vllm-ascend 0.17.0 was the last" in one.message()
    assert "gone from 0.18.0" in one.message()
    assert "additional_config.weight_prefetch_config" in one.fix()
    assert "additional_config.weight_prefetch_config" in one.fix("zh")


def test_without_a_stack_it_is_not_checked_in_one_line() -> None:
    made = job(flags={"VLLM_USE_V1": "1", "VLLM_ASCEND_ENABLE_NZ": "0", "HCCL_BUFFSIZE": "300"})
    assert findings_of(made, *FLAGS) == []
    (one,) = not_checked(made, "NR451")
    assert "VLLM_USE_V1, VLLM_ASCEND_ENABLE_NZ;" in one.message()
    assert not_checked(job(flags={"HCCL_BUFFSIZE": "300"}), "NR45") == []


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("VLLM_ASCEND_ENABLE_NZ", "true", [("NR455", "error")]),
        ("VLLM_ASCEND_ENABLE_NZ", "", [("NR455", "error")]),
        ("VLLM_ASCEND_ENABLE_NZ", "0", []),
        ("VLLM_ASCEND_ENABLE_NZ", "3", [("NR456", "warning")]),
        ("VLLM_ASCEND_ENABLE_FLASHCOMM1", "True", [("NR455", "error")]),
        ("VLLM_WORKER_MULTIPROC_METHOD", "thread", [("NR456", "warning")]),
        ("VLLM_ASCEND_ENABLE_FLASHCOMM1", " 1 ", []),
        ("VLLM_ASCEND_ENABLE_PREFETCH_MLP", "on", [("NR451", "warning")]),  # nothing reads it here
        ("VLLM_LOG_BATCHSIZE_INTERVAL", "x", []),
        ("VLLM_MQ_MAX_CHUNK_BYTES_MB", "sixteen", [("NR455", "warning")]),
        ("TASK_QUEUE_ENABLE", "3", [("NR456", "error")]),
        ("TASK_QUEUE_ENABLE", "true", [("NR456", "warning")]),  # strtol: 0, which is off
        ("TASK_QUEUE_ENABLE", "2", []),
        ("MULTI_STREAM_MEMORY_REUSE", "4", [("NR456", "error")]),
        ("ASCEND_LAUNCH_BLOCKING", "true", [("NR456", "warning")]),
        ("VLLM_USE_MODELSCOPE", "1", [("NR456", "warning")]),  # "1" is not "true"
        ("VLLM_USE_MODELSCOPE", "True", []),
        ("VLLM_LOGGING_LEVEL", "debug", []),
        ("HCCL_OP_EXPANSION_MODE", "AIC", [("NR456", "warning")]),
        ("HCCL_OP_EXPANSION_MODE", "AIV", []),
    ],
)
def test_values_that_their_reader_does_not_take(name: str, value: str, wanted: list[tuple[str, str]]) -> None:
    assert said({name: value}) == wanted


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("VLLM_ASCEND_ENABLE_FLASHCOM1", "VLLM_ASCEND_ENABLE_FLASHCOMM1"),
        ("HCCL_CONECT_TIMEOUT", "HCCL_CONNECT_TIMEOUT"),
        ("HCCL_BUFFERSIZE", "HCCL_BUFFSIZE"),
        ("PYTORCH_NPU_ALLOC_CONFIG", "PYTORCH_NPU_ALLOC_CONF"),
        ("TASK_QUEUE_ENABLED", "TASK_QUEUE_ENABLE"),
        ("CPU_AFFINITY_CONFIG", "CPU_AFFINITY_CONF"),
        ("RAY_memory_usage_treshold", "RAY_memory_usage_threshold"),
        ("VERL_LOGING_LEVEL", "VERL_LOGGING_LEVEL"),
        ("VLLM_LOGGING_LEVL", "VLLM_LOGGING_LEVEL"),
    ],
)
def test_misspelt_names(name: str, nearest: str) -> None:
    (one,) = found({name: "1"})
    assert (one.id, one.severity, one.values["nearest"]) == ("NR457", "warning", nearest)


OWN_OR_REAL = """
MY_MASTER_ADDR MODEL_DIR HF_TOKEN WANDB_MODE REWARD_SERVER MASTER_PORT TMPDIR NPU_COUNT NCCL_IB_DISABLE SWANLAB_MODE
VLLM_CACHE_ROOT RAY_gcs_server_request_timeout_seconds RAY_CGRAPH_get_timeout VERL_SFT_LOGGING_LEVEL
HCCL_ALGO TORCH_NPU_LOGS ASCEND_PROCESS_LOG_PATH
"""


@pytest.mark.parametrize("name", [*OWN_OR_REAL.split(), "A" * 4000])
def test_real_names_and_names_of_one_s_own_are_no_mistakes(name: str) -> None:
    assert meant(name) is None
    assert [one.id for one in found({name: "1"})] == []


def test_an_unknown_vllm_name_has_no_effect() -> None:
    assert unknown_to_vllm("VLLM_ASCEND_TURBO_BUTTON")
    assert said({"VLLM_ASCEND_TURBO_BUTTON": "1"}) == [("NR453", "warning")]
    assert not unknown_to_vllm("TURBO_BUTTON")


@pytest.mark.parametrize("name", ["MODEL_PATH", "ROLLOUT_TP", "VERL_USE_UV"])
def test_variables_of_scripts(name: str) -> None:
    assert said({name: "1"}) == [("NR458", "hint")]


@pytest.mark.parametrize(
    ("flags", "ids"),
    [
        ({"ASCEND_LAUNCH_BLOCKING": "1", "TASK_QUEUE_ENABLE": "1"}, ["NR459"]),
        ({"ASCEND_LAUNCH_BLOCKING": "1", "TASK_QUEUE_ENABLE": "0"}, []),
        ({"ASCEND_LAUNCH_BLOCKING": "0", "TASK_QUEUE_ENABLE": "1"}, []),
        ({"ASCEND_LAUNCH_BLOCKING": "1"}, []),
        ({"HCCL_INTRA_PCIE_ENABLE": "1", "HCCL_INTRA_ROCE_ENABLE": "1"}, ["NR459"]),
        ({"HCCL_INTRA_PCIE_ENABLE": "0", "HCCL_INTRA_ROCE_ENABLE": "1"}, []),
        ({"PYTORCH_NPU_ALLOC_CONF": "page_size:1g", "PYTORCH_ALLOC_CONF": "page_size:1g"}, ["NR459"]),
        ({"PYTORCH_NPU_ALLOC_CONF": "expandable_segments:True,max_split_size_mb:256"}, ["NR460"]),
        ({"PYTORCH_NPU_ALLOC_CONF": "garbage_collection_threshold:0.8, expandable_segments:True"}, ["NR460"]),
        ({"PYTORCH_NPU_ALLOC_CONF": "expandable_segments:False,max_split_size_mb:256"}, []),
        ({"PYTORCH_NPU_ALLOC_CONF": ""}, []),
    ],
)
def test_flags_that_exclude_each_other(flags: Mapping[str, str], ids: list[str]) -> None:
    assert [one.id for one in found(flags)] == ids


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("RAY_memory_usage_threshold", ["NR461"]),
        ("RAY_TMPDIR", ["NR461"]),
        ("RAY_OVERRIDE_LABELS", ["NR461"]),
        ("RAY_DEDUP_LOGS", []),
        ("RAY_JOB_STOP_WAIT_TIME_S", []),
        ("MAX_JOBS", ["NR462"]),
        ("SOC_VERSION", ["NR462"]),
    ],
)
def test_what_only_matters_before_the_job(name: str, ids: list[str]) -> None:
    assert [one.id for one in found({name: "70"})] == ids


PARALLEL = {
    "actor_rollout_ref.rollout.data_parallel_size": number("2"),
    "actor_rollout_ref.rollout.expert_parallel_size": number("4"),
}


@pytest.mark.parametrize(
    ("stack", "arguments", "ids"),
    [
        pytest.param(f"{OLD},vllm-ascend=0.8.4rc2", {}, ["NR463"], id="F164"),
        pytest.param(
            f"{OLD},vllm-ascend=0.8.4rc2",
            {"actor_rollout_ref.rollout.free_cache_engine": False},
            [],
            id="F164-awake",
        ),
        pytest.param(f"{OLD},vllm-ascend=0.11.0rc2", PARALLEL, ["NR464"], id="F183"),
        pytest.param(f"{OLD},vllm-ascend=0.11.0rc2", {}, [], id="F183-one-of-two"),
        pytest.param(f"{OLD},vllm-ascend=0.11.0", PARALLEL, [], id="F183-mended"),
        pytest.param(f"{OLD},vllm-ascend=0.8.5rc1", {}, [], id="F164-mended"),
        pytest.param(f"{OLD},vllm-ascend=main", PARALLEL, [], id="F183-unknown"),
        pytest.param(f"{OLD},vllm=0.7.3", {"actor_rollout_ref.rollout.n": number("5")}, ["NR465"], id="F193"),
        pytest.param(f"{OLD},vllm=0.7.3", {"actor_rollout_ref.rollout.n": number("1")}, [], id="F193-n1"),
        pytest.param(f"{OLD},vllm=0.8.5", {"actor_rollout_ref.rollout.n": number("5")}, [], id="F193-mended"),
    ],
)
def test_versions_with_known_faults(stack: str, arguments: Mapping[str, Value], ids: list[str]) -> None:
    told = findings_of(with_arguments(stack, arguments), "NR463", "NR464", "NR465")
    assert [one.id for one in told] == ids
    assert all(one.severity == "warning" for one in told)


@pytest.mark.parametrize(
    ("version", "value", "ids"),
    [
        pytest.param("0.8.5rc1", "1", ["NR466"], id="F185"),
        pytest.param("0.8.5rc1", "0", [], id="F185-not-asked"),
        pytest.param("0.9.1", "1", [], id="F185-later"),
    ],
)
def test_the_v1_engine_before_it_was_there(version: str, value: str, ids: list[str]) -> None:
    made = job(flags={"VLLM_USE_V1": value}, stack=f"{OLD},vllm-ascend={version},vllm={version[:5]}")
    assert [one.id for one in findings_of(made, "NR466")] == ids
    assert findings_of(made, "NR451", "NR452", "NR453") == []


@pytest.mark.parametrize(
    ("stack", "value", "arguments", "severities"),
    [
        (MIDDLE, "1", {}, ["error"]),
        (NEW, "2", {}, ["error"]),
        (None, "1", {}, ["error"]),
        (MIDDLE, "0", {}, []),
        (MIDDLE, "true", {}, []),  # NR455
        (MIDDLE, "1", {"actor_rollout_ref.rollout.free_cache_engine": False}, []),
        (MIDDLE, "1", {"actor_rollout_ref.hybrid_engine": False}, ["warning"]),
        (MIDDLE, "1", {"actor_rollout_ref.rollout.name": "sglang"}, []),
        (NEW, "1", {"+actor_rollout_ref.rollout.engine_kwargs.vllm.additional_config.rl_config.enabled": True}, []),
        (f"{OLD},vllm-ascend=0.9.1", "1", {}, []),  # not read yet
    ],
)
def test_nz_weights_of_a_rollout_that_sleeps(
    stack: str | None, value: str, arguments: Mapping[str, Value], severities: list[str]
) -> None:
    groups = {"rollout": {"actor_rollout_ref.rollout.name": "vllm", **arguments}}
    made = job(flags={"VLLM_ASCEND_ENABLE_NZ": value}, stack=stack, groups=groups)
    assert [one.severity for one in findings_of(made, "NR468")] == severities


@pytest.mark.parametrize(
    "arguments",
    [{"actor_rollout_ref.rollout.n": "many"}, {"actor_rollout_ref.rollout.data_parallel_size": [number("2")]}],
)
def test_values_of_another_type_are_not_told_here(arguments: Mapping[str, Value]) -> None:
    assert findings_of(with_arguments(f"{OLD},vllm=0.7.3,vllm-ascend=0.11.0", arguments), "NR46") == []


@pytest.mark.parametrize("value", ["", " ", "\n", "'", "$HOME", "a;b", "é" * 50, "9" * 400, "-1", "1e3", "0x10"])
def test_hostile_values_end_in_findings(value: str) -> None:
    names = ["TASK_QUEUE_ENABLE", "VLLM_ASCEND_ENABLE_NZ", "PYTORCH_NPU_ALLOC_CONF", "VLLM_MQ_MAX_CHUNK_BYTES_MB"]
    for one in found(dict.fromkeys(names, value)):
        assert "\n" not in one.message() + one.fix("zh")
