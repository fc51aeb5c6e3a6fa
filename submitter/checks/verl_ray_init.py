"""Flags and arguments that verl's own `ray.init` would repeat: Ray refuses to merge the two runtime_envs.

Source: ray/_private/worker.py and ray/runtime_env/runtime_env.py (`_merge_runtime_env`, Ray 2.60): any field, and any
name in env_vars, that is in both the job's runtime_env and that of `ray.init` raises "Failed to merge the Job's runtime
env". With RAY_OVERRIDE_JOB_RUNTIME_ENV=1 the value of `ray.init` wins instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from runtime_env.build import build
from runtime_env.stacks import Release
from submitter.checks.case import Case
from submitter.checks.finding import Finding, Severity
from submitter.checks.rule import Rule
from submitter.checks.spelled import Spelled, last_text, spelled
from submitter.errors import Place
from submitter.gang.secret_like import shown
from submitter.job.model import Job

OVERRIDE_FLAG = "RAY_OVERRIDE_JOB_RUNTIME_ENV"
_RUNTIME_ENV = "ray_kwargs.ray_init.runtime_env"


@dataclass(frozen=True)
class Condition:
    """A verl release that sets a name, and the argument that makes it do so (None: it always does)."""

    since: Release
    argument: str | None = None
    value: str = ""
    kept_by: str | None = None
    """A flag that, as "1", keeps verl from setting the name."""


_V09 = Condition(since=(0, 9))
_ANY = (0, 0)

COPIED: Mapping[str, Condition] = {
    # verl/trainer/constants_ppo.py of 0.9.0 and 0.9.1, get_ppo_ray_runtime_env(): set from the driver's environment
    # after the filter that drops inherited names. 0.7.1 and 0.8.0 have only the filtered defaults.
    "VERL_FULL_DETERMINISM": _V09,
    "VLLM_BATCH_INVARIANT": _V09,
    "VERL_RL_INSIGHT_ENABLE": _V09,
    "PYTHONHASHSEED": _V09,
    "CUBLAS_WORKSPACE_CONFIG": _V09,
    "FLASH_ATTENTION_DETERMINISTIC": _V09,
    "NCCL_DETERMINISTIC": _V09,
    "NCCL_ALGO": _V09,
}
"""verl hands on the value that it finds in the environment."""

OVERWRITTEN: Mapping[str, Condition] = {
    # verl/trainer/main_ppo.py, run_ppo(), in 0.7.1, 0.8.0, 0.9.0 and 0.9.1.
    "TRANSFER_QUEUE_ENABLE": Condition(_ANY, "transfer_queue.enable", "true"),
    # verl/trainer/constants_ppo.py of 0.9.1.
    "NVTX_INJECTION64_PATH": Condition((0, 9), "global_profiler.tool", "torch", kept_by="VERL_KEEP_NVTX_INJECTION"),
}
"""verl sets a value of its own."""


def copied_flag(case: Case) -> list[Finding]:
    """Source: verl/trainer/constants_ppo.py passes these on (0.9.0, 0.9.1); Ray's _merge_runtime_env refuses that."""
    return _conflicts(case, "NR401", COPIED)


def overwritten_flag(case: Case) -> list[Finding]:
    """Source: verl/trainer/main_ppo.py and constants_ppo.py set these; Ray's _merge_runtime_env refuses that."""
    return _conflicts(case, "NR402", OVERWRITTEN)


def repeated_variable(case: Case) -> list[Finding]:
    """Source: ray/runtime_env/runtime_env.py, _merge_runtime_env: no variable may come from both sides."""
    job = case.job
    if job.trainer.launcher != "ray":
        return []
    names = set(build(job, run="any", attempt=1)["env_vars"])
    if _overrides(job):
        names -= {flag.name for flag in job.flags}
    return [
        Finding("NR403", "error", place, values={"name": name})
        for path, place in _ray_init(job)
        if (name := path.removeprefix("env_vars.")) != path and name in names
    ]


def repeated_field(case: Case) -> list[Finding]:
    """Source: ray/runtime_env/runtime_env.py, _merge_runtime_env: no field may come from both sides."""
    job = case.job
    if job.trainer.launcher != "ray":
        return []
    fields = {"py_modules"}  # npurun's own package: it may not be overridden either
    fields |= {"working_dir"} if job.runtime_env.working_dir is not None else set()
    fields |= {"pip"} if job.runtime_env.pip else set()
    return [
        Finding("NR404", "error", place, values={"name": name})
        for path, place in _ray_init(job)
        if (name := path.split(".", 1)[0]) in fields
    ]


RULES = (
    Rule("NR401", ("error", "warning"), copied_flag),
    Rule("NR402", ("error", "warning"), overwritten_flag),
    Rule("NR403", ("error",), repeated_variable),
    Rule("NR404", ("error",), repeated_field),
)


def _conflicts(case: Case, rule: str, table: Mapping[str, Condition]) -> list[Finding]:
    job, stack = case.job, case.stack
    if job.trainer.launcher != "ray" or _overrides(job):
        return []
    # Another module may call verl's main_ppo or not: then it is a warning.
    severity: Severity = "error" if job.trainer.module.split(".")[0] == "verl" else "warning"
    release = None if stack is None else stack.verl_minor
    limit = "verl" if stack is None else f"verl {stack.verl_release}"
    return [
        Finding(rule, severity, flag.place, shown(flag.name, flag.value), limit, {"name": flag.name})
        for flag in job.flags
        if flag.name in table and _applies(job, table[flag.name], release)
    ]


def _applies(job: Job, condition: Condition, release: Release | None) -> bool:
    """An unknown verl counts as the newest."""
    if release is not None and release < condition.since:
        return False
    if condition.kept_by is not None and _is_on(job, condition.kept_by):
        return False
    if condition.argument is None:
        return True
    return (last_text(job, condition.argument) or "").strip("'\"").lower() == condition.value


def _overrides(job: Job) -> bool:
    return _is_on(job, OVERRIDE_FLAG)


def _is_on(job: Job, name: str) -> bool:
    flag = job.flag(name)
    return flag is not None and flag.value == "1"


def _ray_init(job: Job) -> Iterator[tuple[str, Place]]:
    """(path below the runtime_env of verl's ray.init, place) for each value that an argument sets there."""
    for argument in spelled(job):
        if not (argument.key + ".").startswith("ray_kwargs.") or argument.word.startswith("~"):
            continue
        for path in _leaves(argument):
            if path.startswith(_RUNTIME_ENV + "."):
                yield path[len(_RUNTIME_ENV) + 1 :], argument.place


def _leaves(argument: Spelled) -> Iterator[str]:
    """The full keys of all values that one argument sets; just its own key when the value is no dict."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    try:
        value = OverridesParser.create().parse_override(argument.word).value()
    except HydraException:  # Hydra itself refuses this argument, with its own words
        value = None
    yield from _paths(argument.key, value)


def _paths(key: str, value: object) -> Iterator[str]:
    if not isinstance(value, dict) or not value:
        yield key
        return
    for name, inner in value.items():
        yield from _paths(f"{key}.{name}", inner)
