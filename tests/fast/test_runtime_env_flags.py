"""The catalogue of environment variables: complete rows, and who reads what on which stack."""

import subprocess
import sys

import pytest

from runtime_env.flags import KnownFlag, Reader, deprecated, flag, flags, names, state, version_of
from runtime_env.stacks import COMPONENTS, parse_stack, stack, stacks
from runtime_env.verl_defaults import version_key
from submitter.job.load import load_job
from tests.support.job_files import HOME

ROWS = list(flags().values())
LOAD_S = 0.005


def known(name: str) -> KnownFlag:
    found = flag(name)
    assert found is not None, name
    return found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row.name))
def test_every_row_is_complete(row: KnownFlag) -> None:
    assert row.evidence.strip()
    assert len(row.what) == 2
    assert all(text.strip() for text in row.what)
    assert row.what[0].isascii()
    assert not row.what[1].isascii()
    assert row.values
    assert row.default
    assert row.parse in ("text", "int", "strtol")
    assert row.at in ("job", "start", "build", "script")
    assert all(other in flags() for other in row.conflicts)
    assert all(reader.component in (*COMPONENTS, "ray", "system") for reader in row.readers)
    assert not row.strict or row.choices
    assert row.deprecated is None or row.successor


def test_the_versions_of_readers_are_in_order() -> None:
    for row in ROWS:
        for reader in row.readers:
            ends = [version_key(end) for end in (reader.absent, reader.since, reader.until, reader.gone) if end]
            assert ends == sorted(ends), row.name
            assert all(ends), row.name
            assert bool(reader.until) == bool(reader.gone), row.name


def test_names_stand_once() -> None:
    every = list(names())
    assert len(every) == len(set(every))
    assert len(every) > 1000
    assert {row.name for row in ROWS} <= set(every)


def test_the_shipped_job_s_flags_are_described() -> None:
    job = load_job("qwen3_5_122b_a10b_32k", environ=HOME)
    assert [one.name for one in job.flags if one.name not in flags()] == []


@pytest.mark.parametrize(
    ("name", "cann_8_5", "cann_9_0", "cann_9_1"),
    [
        ("VLLM_USE_V1", "not read", "not read", "not read"),
        ("VLLM_ALLREDUCE_USE_SYMM_MEM", "not read", "not read", "not read"),
        ("VLLM_ASCEND_ENABLE_PREFETCH_MLP", "read", "not read", "not read"),
        ("VLLM_ASCEND_ENABLE_TOPK_OPTIMIZE", "not read", "not read", "not read"),
        ("VLLM_ASCEND_ENABLE_FLASHCOMM1", "read", "read", "read"),
        ("CPU_AFFINITY_CONF", "read", "read", "read"),
        ("VLLM_ASCEND_ENABLE_FLASHCOMM", "read", "read", "not read"),  # read outside envs.py until 0.19
        ("VLLM_ASCEND_TASK_QUEUE_ENABLE", "not read", "not read", "read"),  # verl's, since 0.9.0
        ("VLLM_ATTENTION_BACKEND", "read", "not read", "not read"),
        ("VLLM_TORCH_PROFILER_USE_GZIP", "read", "not read", "not read"),  # without a description
        ("RAY_memory_usage_threshold", "read", "read", "read"),
        ("MY_OWN_FLAG", "unknown", "unknown", "unknown"),
    ],
)
def test_who_is_alive_on_which_stack(name: str, cann_8_5: str, cann_9_0: str, cann_9_1: str) -> None:
    assert [state(name, each).answer for each in stacks().values()] == [cann_8_5, cann_9_0, cann_9_1]


def test_a_replaced_version_counts() -> None:
    assert state("VLLM_ASCEND_ENABLE_FLASHCOMM1", parse_stack("cann-9.1.0,vllm-ascend=0.27.0")).answer == "not read"
    assert state("VERL_PLATFORM", parse_stack("cann-9.1.0,verl=0.8.0")).answer == "not read"
    assert state("VLLM_ASCEND_ENABLE_NZ", parse_stack("cann-9.1.0,vllm-ascend=main")).answer == "unknown"
    assert (
        state("VLLM_RPC_TIMEOUT", parse_stack("cann-9.1.0,vllm=0.20.0")).answer == "unknown"
    )  # between two that were read


def test_a_dead_flag_names_its_last_reader_and_its_successor() -> None:
    dead = state("VLLM_ASCEND_ENABLE_PREFETCH_MLP", stack("cann-9.0.0"))
    assert dead.reader == Reader("vllm_ascend", "0.11.0", "0.17.0", "0.18.0", "0.9.1")
    assert (dead.reader.span, dead.version) == ("0.11.0 - 0.17.0", "0.18.0")
    assert "weight_prefetch_config" in str(dead.successor)


def test_without_a_stack_only_what_holds_for_all_versions_is_told() -> None:
    assert state("VLLM_USE_V1", None).answer == "unknown"
    assert state("HCCL_DEBUG", None).answer == "not read"
    assert state("HCCL_BUFFSIZE", None).answer == "read"


def test_deprecation_begins_with_the_successor() -> None:
    name = "VLLM_ASCEND_ENABLE_FLASHCOMM1"
    assert [deprecated(known(name), each) for each in stacks().values()] == [False, False, True]
    assert deprecated(known("HCCL_ASYNC_ERROR_HANDLING"), None)
    assert not deprecated(known("HCCL_BUFFSIZE"), stack("cann-9.1.0"))


def test_names_without_a_description_have_their_readers() -> None:
    assert flag("MY_OWN_FLAG") is None
    assert known("VLLM_CACHE_ROOT").owner == "vllm"
    assert known("VERL_SFT_LOGGING_LEVEL").readers == (Reader("verl"),)
    assert known("RAY_gcs_server_request_timeout_seconds").evidence


def test_the_verl_of_a_stack_is_the_release_that_counts() -> None:
    assert version_of(stack("cann-9.1.0"), "verl") == "0.10.0"
    assert version_of(stack("cann-9.1.0"), "system") == ""
    assert version_of(None, "verl") == ""


def test_the_catalogue_is_read_fast() -> None:
    code = (
        "import json, time, yaml\n"
        "from runtime_env import flags\n"
        "t = time.process_time(); flags.flags(); flags.flag('X'); print(time.process_time() - t)\n"
    )
    times = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout) for _ in range(3)
    ]
    assert min(times) < LOAD_S
