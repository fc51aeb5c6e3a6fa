"""Conflicts with verl's own ray.init, held against verl's and Ray's real code."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from runtime_env.build import build
from submitter.checks.finding import Finding
from submitter.checks.verl_ray_init import COPIED, OVERWRITTEN
from submitter.job.model import Job, Trainer
from tests.support.builders import job, number, torchrun_job
from tests.support.checks import findings_of

FILTERED_DEFAULTS = ("NCCL_DEBUG", "TOKENIZERS_PARALLELISM", "VLLM_LOGGING_LEVEL", "HCCL_NPU_SOCKET_PORT_RANGE")


def ids(made: Job) -> list[str]:
    return [finding.id for finding in findings_of(made)]


def only(made: Job) -> Finding:
    (finding,) = findings_of(made)
    return finding


@pytest.fixture
def verl_env(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str]], dict[str, Any]]:
    """The installed verl's get_ppo_ray_runtime_env, without torch: flags of the driver -> runtime_env of ray.init."""
    spec = importlib.util.find_spec("verl")
    assert spec is not None and spec.submodule_search_locations
    source = Path(spec.submodule_search_locations[0], "trainer", "constants_ppo.py")
    stand_ins = {
        "torch": SimpleNamespace(version=SimpleNamespace(hip=None)),
        "verl.utils.device": SimpleNamespace(get_device_capability=lambda: (None, None)),
    }
    for name, module in stand_ins.items():
        monkeypatch.setitem(sys.modules, name, module)  # type: ignore[arg-type]
    constants = ModuleType("constants_ppo")
    exec(compile(source.read_text(), str(source), "exec"), constants.__dict__)

    def run_env(flags: dict[str, str]) -> dict[str, Any]:
        with monkeypatch.context() as patch:
            for name, value in flags.items():
                patch.setenv(name, value)
            made: dict[str, Any] = constants.get_ppo_ray_runtime_env()
            return made

    return run_env


@pytest.mark.parametrize("name", [*COPIED, *FILTERED_DEFAULTS, "VLLM_USE_V1"])
def test_an_error_exactly_when_ray_refuses_the_merge(
    name: str, verl_env: Callable[[dict[str, str]], dict[str, Any]]
) -> None:
    from ray.runtime_env.runtime_env import _merge_runtime_env

    made = job(flags={name: "1"})
    ours = build(made, run="r", attempt=1)
    merged = _merge_runtime_env(ours, verl_env(ours["env_vars"]))  # type: ignore[arg-type]
    assert ("NR401" in ids(made)) is (merged is None)


def test_the_table_is_what_the_installed_verl_sets_behind_its_filter(
    verl_env: Callable[[dict[str, str]], dict[str, Any]],
) -> None:
    flags = dict.fromkeys([*COPIED, *FILTERED_DEFAULTS], "1")
    assert set(verl_env(flags)["env_vars"]) & set(flags) == set(COPIED)
    assert not set(COPIED) & set(os.environ)  # else the test above would prove nothing


def test_the_override_s_value_is_the_user_s_own(verl_env: Callable[[dict[str, str]], dict[str, Any]]) -> None:
    from ray.runtime_env.runtime_env import _merge_runtime_env

    made = job(flags={"PYTHONHASHSEED": "7", "RAY_OVERRIDE_JOB_RUNTIME_ENV": "1"})
    ours = build(made, run="r", attempt=1)
    merged = _merge_runtime_env(ours, verl_env(ours["env_vars"]), override=True)  # type: ignore[arg-type]
    assert merged is not None and merged["env_vars"]["PYTHONHASHSEED"] == "7"
    assert ids(made) == []


@pytest.mark.parametrize("stack", ["cann-8.5.0", "cann-9.0.0"])
def test_verl_before_0_9_copies_none_of_them(stack: str) -> None:
    assert ids(job(stack=stack, flags=dict.fromkeys(COPIED, "1"))) == []


def test_the_finding_says_what_happens_where_and_what_to_do() -> None:
    finding = only(job(stack="cann-9.1.0", flags={"PYTHONHASHSEED": "1"}))
    assert (finding.severity, finding.place.line, finding.limit) == ("error", 1, "verl 0.10.0")
    assert "Failed to merge the Job's runtime env" in finding.message()
    assert "ray.init" in finding.message()
    assert "PYTHONHASHSEED" in finding.fix()


def test_another_trainer_module_may_not_call_verl_s_ray_init() -> None:
    assert only(job(flags={"NCCL_ALGO": "Ring"}, trainer=Trainer("my.main", "ray"))).severity == "warning"


def test_torchrun_has_no_ray_init() -> None:
    arguments = {"x": {"+ray_kwargs.ray_init.runtime_env.env_vars.A": "1"}}
    assert ids(torchrun_job(flags={"A": "1", "NCCL_ALGO": "Ring"}, groups=arguments)) == []


@pytest.mark.parametrize(
    ("name", "key", "value", "other"),
    [
        ("TRANSFER_QUEUE_ENABLE", "transfer_queue.enable", True, False),
        ("NVTX_INJECTION64_PATH", "global_profiler.tool", "torch", "npu"),
    ],
)
def test_names_that_verl_overwrites_under_a_condition(name: str, key: str, value: Any, other: Any) -> None:
    assert name in OVERWRITTEN
    assert ids(job(flags={name: "1"}, groups={"x": {key: value}})) == ["NR402"]
    assert ids(job(flags={name: "1"}, groups={"x": {key: other}})) == []
    assert ids(job(flags={name: "1"})) == []
    assert ids(job(flags={name: "1"}, groups={"x": {key: value}}, extra=[f"{key}={other}"])) == []  # the last counts
    assert ids(job(flags={name: "1"}, extra=[f"++{key}={value}"])) == ["NR402"]


def test_nvtx_injection_may_be_kept() -> None:
    flags = {"NVTX_INJECTION64_PATH": "/x.so", "VERL_KEEP_NVTX_INJECTION": "1"}
    assert ids(job(flags=flags, groups={"x": {"global_profiler.tool": "torch"}})) == []


_ENV = "ray_kwargs.ray_init.runtime_env.env_vars"


@pytest.mark.parametrize(
    "groups",
    [
        {f"++{_ENV}.VLLM_USE_V1": number("1")},
        {f"+{_ENV}": {"VLLM_USE_V1": number("1")}},
        {"+ray_kwargs.ray_init.runtime_env": {"env_vars": {"VLLM_USE_V1": number("1")}}},
        {"++ray_kwargs": {"ray_init": {"runtime_env": {"env_vars": {"VLLM_USE_V1": "0", "OTHER": "1"}}}}},
    ],
)
def test_an_argument_that_repeats_a_flag(groups: dict[str, Any]) -> None:
    finding = only(job(flags={"VLLM_USE_V1": "1"}, groups={"extra": groups}))
    assert (finding.id, finding.severity) == ("NR403", "error")
    assert finding.place.line == 2
    assert "VLLM_USE_V1" in finding.message()


@pytest.mark.parametrize(
    "word",
    [
        f"++{_ENV}.VLLM_USE_V1=0",
        f"+{_ENV}={{VLLM_USE_V1:0}}",
        f"{_ENV}.NPURUN_RUN=x",
        f"{_ENV}.VERL_USE_EXTERNAL_MODULES=m",
    ],
)
def test_a_trailing_argument_that_repeats_one(word: str) -> None:
    assert ids(job(flags={"VLLM_USE_V1": "1"}, extra=[word])) == ["NR403"]


@pytest.mark.parametrize(
    "word",
    [
        f"++{_ENV}.OTHER=0",
        f"~{_ENV}.VLLM_USE_V1",
        "ray_kwargs.ray_init.num_cpus=4",
        "ray_kwargsx.a=1",
        "broken={{",
        "x",
    ],
)
def test_arguments_that_repeat_nothing(word: str) -> None:
    assert ids(job(flags={"VLLM_USE_V1": "1"}, extra=[word])) == []


def test_with_the_override_only_npurun_s_own_variables_are_protected() -> None:
    flags = {"A": "1", "RAY_OVERRIDE_JOB_RUNTIME_ENV": "1"}
    assert ids(job(flags=flags, extra=[f"+{_ENV}.A=2"])) == []
    assert ids(job(flags=flags, extra=[f"+{_ENV}.NPURUN_RUN=2"])) == ["NR403"]


@pytest.mark.parametrize(
    ("field", "changes", "expected"),
    [
        ("py_modules=[/x]", {}, ["NR404"]),
        ("pip=[a]", {"pip": ["b"]}, ["NR404"]),
        ("pip=[a]", {}, []),
        ("working_dir=/x", {"working_dir": "."}, ["NR404"]),
        ("working_dir=/x", {}, []),
    ],
)
def test_fields_that_the_submission_has_already(field: str, changes: dict[str, Any], expected: list[str]) -> None:
    made = job(extra=[f"+ray_kwargs.ray_init.runtime_env.{field}"], **changes)
    assert [rule for rule in ids(made) if rule == "NR404"] == expected
