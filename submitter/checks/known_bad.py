"""Versions with a known fault, where the job does what sets it off."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from runtime_env.flags import version_of
from runtime_env.verl_defaults import version_key
from submitter.checks.case import Case
from submitter.checks.engine import uses_vllm
from submitter.checks.finding import Finding
from submitter.checks.parallel import ROLLOUT
from submitter.checks.rule import Rule


@dataclass(frozen=True)
class _Fault:
    rule: str
    component: str
    first_good: str
    key: str
    """Of the argument to point at."""
    applies: Callable[[Case], bool]


def sleep_keeps_memory(case: Case) -> list[Finding]:
    """Source: vllm-ascend issue 977: sleep in 0.8.4rc2 leaves the memory of the rollout taken."""
    return _faults(case, _SLEEP)


def expert_and_data_parallel(case: Case) -> list[Finding]:
    """Source: vllm-ascend issue 4718: verl with DP and EP fails on 0.11.0rc2; resolved in a later release."""
    return _faults(case, _DP_EP)


def host_memory_climbs(case: Case) -> list[Finding]:
    """Source: verl issues 429 and 630: vLLM 0.7 leaks host memory in each generation with n > 1."""
    return _faults(case, _LEAK)


def falls_back_to_v0(case: Case) -> list[Finding]:
    """Source: vllm-ascend issue 1305: vLLM 0.8 calls V1 on NPUs experimental and takes V0."""
    asked = [flag for flag in case.job.flags if flag.name == "VLLM_USE_V1" and flag.value.strip() == "1"]
    version = version_of(case.stack, "vllm_ascend")
    if not _older(version, _V1_SINCE):
        return []
    return [
        Finding("NR466", "warning", flag.place, flag.value, _V1_SINCE, {"name": flag.name, "version": version})
        for flag in asked
    ]


RULES = (
    Rule("NR463", ("warning",), sleep_keeps_memory, ppo=True),
    Rule("NR464", ("warning",), expert_and_data_parallel, ppo=True),
    Rule("NR465", ("warning",), host_memory_climbs, ppo=True),
    Rule("NR466", ("warning",), falls_back_to_v0),
)

_V1_SINCE = "0.9.1"
_RELEASED = 10_000
"""Above the number of any release candidate."""


def _sleeps(case: Case) -> bool:
    return uses_vllm(case.settings) and case.settings.truth(f"{ROLLOUT}.free_cache_engine") is True


def _data_and_expert_parallel(case: Case) -> bool:
    sizes = [case.settings.integer(f"{ROLLOUT}.{name}_parallel_size") for name in ("data", "expert")]
    return uses_vllm(case.settings) and all(size is not None and size > 1 for size in sizes)


def _several_answers(case: Case) -> bool:
    answers = case.settings.integer(f"{ROLLOUT}.n")
    return uses_vllm(case.settings) and answers is not None and answers > 1


_SLEEP = _Fault("NR463", "vllm_ascend", "0.8.5rc1", f"{ROLLOUT}.free_cache_engine", _sleeps)
_DP_EP = _Fault("NR464", "vllm_ascend", "0.11.0", f"{ROLLOUT}.data_parallel_size", _data_and_expert_parallel)
_LEAK = _Fault("NR465", "vllm", "0.8.0", f"{ROLLOUT}.n", _several_answers)


def _faults(case: Case, fault: _Fault) -> list[Finding]:
    version = version_of(case.stack, fault.component)
    if not _older(version, fault.first_good) or not fault.applies(case):
        return []
    place = case.settings.place(fault.key, f"{ROLLOUT}.name")
    component = fault.component.replace("_", "-")
    value = str(case.settings.value(fault.key))
    return [
        Finding(fault.rule, "warning", place, value, fault.first_good, {"component": component, "version": version})
    ]


def _older(version: str, first_good: str) -> bool:
    """An unknown version is not called bad; a release candidate is older than its release."""
    return bool(version_key(version)) and _key(version) < _key(first_good)


def _key(version: str) -> tuple[tuple[int, ...], int]:
    candidate = re.search(r"rc([0-9]{1,4})", version)
    return version_key(version), int(candidate[1]) if candidate else _RELEASED
