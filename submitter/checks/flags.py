"""Flags that nothing reads, that are read otherwise than they are written, or that come too late."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from runtime_env.flags import KnownFlag, Reader, deprecated, flag, flags, state
from submitter.checks.case import Case, NotChecked
from submitter.checks.engine import ADDITIONAL, sleeps, uses_vllm
from submitter.checks.finding import Finding, Severity
from submitter.checks.parallel import ROLLOUT
from submitter.checks.rule import Rule
from submitter.checks.settings import Settings
from submitter.checks.spelling import meant, unknown_to_vllm
from submitter.gang.secret_like import shown
from submitter.job.model import Flag
from submitter.texts import Phrase

_NZ = "VLLM_ASCEND_ENABLE_NZ"
_COLOCATED = "verl.trainer.main_ppo"
"""The trainer that wakes its rollout in each step; others may have rollouts that never sleep."""

_OFF = frozenset({"", "0", "false"})


def replaced(case: Case) -> list[Finding | NotChecked]:
    """Source: runtime_env/flags.json: readers on every release branch of vllm-ascend, in vLLM, verl and torch_npu."""
    unknown = [one.name for one, known in _of_jobs(case) if case.stack is None and _by_version(known)]
    told: list[Finding | NotChecked] = [*_dead(case, "NR451", lambda known, last: bool(last.until and known.successor))]
    if unknown:
        told.append(NotChecked("NR451", "NR451.unknown", {"names": ", ".join(unknown)}))
    return told


def gone(case: Case) -> list[Finding]:
    """Source: runtime_env/flags.json: readers on every release branch of vllm-ascend, and no successor in any."""
    return _dead(case, "NR452", lambda known, last: bool(last.until) and known.successor is None)


def never_read(case: Case) -> list[Finding]:
    """Source: no reader in vLLM, vllm-ascend, verl, torch_npu and HCCL; vLLM itself tells of unknown VLLM_ names."""
    nobody = [(one, known.successor) for one, known in _of_jobs(case) if not known.readers]
    unknown = [(one, None) for one in case.job.flags if unknown_to_vllm(one.name)]
    return [_finding("NR453", "warning", one, hint=_instead(successor)) for one, successor in (*nobody, *unknown)]


def not_yet(case: Case) -> list[Finding]:
    """Source: runtime_env/flags.json: the first release of vLLM, vllm-ascend, verl or torch_npu that reads the flag."""
    return _dead(case, "NR467", lambda _known, last: not last.until)


def old_name(case: Case) -> list[Finding]:
    """Source: vllm_ascend/ascend_config.py, _get_config_value ("will be removed"); torch_npu OptionsManager.cpp."""
    return [
        _finding("NR454", "hint", one, successor=known.successor, since=_since(known))
        for one, known in _of_jobs(case)
        if deprecated(known, case.stack) and state(one.name, case.stack).answer == "read"
    ]


def unreadable(case: Case) -> list[Finding]:
    """Source: envs.py of vllm-ascend and vLLM: int(os.getenv(…)) raises ValueError, for an empty text too."""
    return [
        _finding("NR455", _certain(case, known), one, reader=_reader(case, known))
        for one, known in _of_jobs(case)
        if known.parse == "int" and not _is_int(one.value) and state(one.name, case.stack).answer != "not read"
    ]


def no_choice(case: Case) -> list[Finding]:
    """Source: torch_npu OptionsManager.cpp (strtol, TORCH_CHECK); comparisons in vllm-ascend, vLLM and verl."""
    return [
        _finding("NR456", _refused(one, known), one, limit=", ".join(known.choices), reader=_reader(case, known))
        for one, known in _of_jobs(case)
        if _outside(one.value, known) and state(one.name, case.stack).answer != "not read"
    ]


def misspelt(case: Case) -> list[Finding]:
    """Source: the names in runtime_env/flags.json and flag_names.json, each seen in a source."""
    return [
        _finding("NR457", "warning", one, nearest=nearest)
        for one in case.job.flags
        if (nearest := meant(one.name)) is not None
    ]


def script_variable(case: Case) -> list[Finding]:
    """Source: verl's example scripts set it for themselves; no reader in verl, vLLM, vllm-ascend and torch_npu."""
    return [_finding("NR458", "hint", one) for one, known in _given(case) if known.at == "script"]


def contradiction(case: Case) -> list[Finding]:
    """Source: torch_npu OptionsManager.cpp and NPUAllocatorConfig.cpp; HCCL's documentation; vllm_ascend/envs.py."""
    values = {one.name: one for one in case.job.flags}
    return [
        _finding("NR459", "warning", values[pair.name], other=shown(pair.other, values[pair.other].value))
        for pair in _CONTRADICTIONS
        if pair.name in values
        and pair.other in values
        and pair.applies(values[pair.name].value, values[pair.other].value)
    ]


def allocator(case: Case) -> list[Finding]:
    """Source: torch_npu NPUAllocatorConfig.cpp: TORCH_CHECK that neither is enabled with expandable_segments."""
    return [
        _finding("NR460", "error", one, limit=", ".join(refused))
        for one in case.job.flags
        if one.name in ("PYTORCH_NPU_ALLOC_CONF", "PYTORCH_ALLOC_CONF") and (refused := _with_segments(one.value))
    ]


def too_late(case: Case) -> list[Finding]:
    """Source: Ray 2.60.0: read by the raylets and the head, which run before any job."""
    return [_finding("NR461", "warning", one) for one, known in _given(case) if known.at == "start"]


def build_time(case: Case) -> list[Finding]:
    """Source: setup.py and envs.py of vLLM and vllm-ascend ("Installation Time")."""
    return [_finding("NR462", "hint", one) for one, known in _given(case) if known.at == "build"]


def nz_weights(case: Case) -> list[Finding]:
    """Source: vllm_ascend/worker/worker.py, wake_up (0.11 to 0.26, main): ValueError with any FRACTAL_NZ mode."""
    if not _wakes(case.settings) or _nz_decided_elsewhere(case.settings):
        return []
    together = case.settings.truth("actor_rollout_ref.hybrid_engine") is not False
    severity: Severity = "error" if together and case.job.trainer.module == _COLOCATED else "warning"
    return [
        _finding("NR468", severity, one)
        for one in case.job.flags
        if one.name == _NZ and _is_int(one.value) and int(one.value) != 0
        if state(_NZ, case.stack).answer != "not read"
    ]


RULES = (
    Rule("NR451", ("warning",), replaced),
    Rule("NR452", ("warning",), gone),
    Rule("NR453", ("warning",), never_read),
    Rule("NR454", ("hint",), old_name),
    Rule("NR455", ("error", "warning"), unreadable),
    Rule("NR456", ("error", "warning"), no_choice),
    Rule("NR457", ("warning",), misspelt),
    Rule("NR458", ("hint",), script_variable),
    Rule("NR459", ("warning",), contradiction),
    Rule("NR460", ("error",), allocator),
    Rule("NR461", ("warning",), too_late),
    Rule("NR462", ("hint",), build_time),
    Rule("NR467", ("warning",), not_yet),
    Rule("NR468", ("error", "warning"), nz_weights, ppo=True),
)


@dataclass(frozen=True)
class _Contradiction:
    name: str
    other: str
    applies: Callable[[str, str], bool]


def _both_on(first: str, second: str) -> bool:
    return first.strip().lower() not in _OFF and second.strip().lower() not in _OFF


_CONTRADICTIONS = (
    _Contradiction("TASK_QUEUE_ENABLE", "ASCEND_LAUNCH_BLOCKING", _both_on),
    _Contradiction("HCCL_INTRA_PCIE_ENABLE", "HCCL_INTRA_ROCE_ENABLE", _both_on),
    _Contradiction("VLLM_ASCEND_ENABLE_FUSED_MC2", "DYNAMIC_EPLB", _both_on),
    _Contradiction("PYTORCH_NPU_ALLOC_CONF", "PYTORCH_ALLOC_CONF", lambda _first, _second: True),
)


def _wakes(settings: Settings) -> bool:
    """verl puts its rollout to sleep, and wakes it, only where it frees its cache."""
    return uses_vllm(settings) and sleeps(settings) and settings.truth(f"{ROLLOUT}.free_cache_engine") is not False


def _nz_decided_elsewhere(settings: Settings) -> bool:
    """From 0.20.2 on additional_config comes before the variable; earlier nothing reads it there."""
    return settings.is_set(f"{ADDITIONAL}.weight_nz_mode") or settings.truth(f"{ADDITIONAL}.rl_config.enabled") is True


def _given(case: Case) -> Iterator[tuple[Flag, KnownFlag]]:
    for one in case.job.flags:
        known = flag(one.name)
        if known is not None:
            yield one, known


def _of_jobs(case: Case) -> Iterator[tuple[Flag, KnownFlag]]:
    return ((one, known) for one, known in _given(case) if known.at == "job")


def _dead(case: Case, rule: str, applies: Callable[[KnownFlag, Reader], bool]) -> list[Finding]:
    return [
        _finding(rule, "warning", one, limit=f"{_shown_name(last.component)} {found.version}", **_past(known, last))
        for one, known in _of_jobs(case)
        if (found := state(one.name, case.stack)).answer == "not read"
        and (last := found.reader) is not None
        and applies(known, last)
    ]


def _instead(successor: str | None) -> Phrase:
    return Phrase("NR453.use", {"successor": successor}) if successor else Phrase("NR453.drop")


def _past(known: KnownFlag, reader: Reader) -> dict[str, object]:
    ends = {"since": reader.since, "until": reader.until, "gone": reader.gone}
    return {"reader": _shown_name(reader.component), "successor": known.successor, **ends}


def _by_version(known: KnownFlag) -> bool:
    """Only a stack tells whether it is read."""
    return state(known.name, None).answer == "unknown"


def _since(known: KnownFlag) -> str:
    component, version = known.deprecated or ("", "")
    return f"{_shown_name(component)} {version}".strip()


def _certain(case: Case, known: KnownFlag) -> Severity:
    """What has no description may be read for another device only."""
    described = known.name in flags()
    return "error" if described and state(known.name, case.stack).answer == "read" else "warning"


def _reader(case: Case, known: KnownFlag) -> str:
    reader = state(known.name, case.stack).reader
    return _shown_name(reader.component if reader is not None else known.owner)


def _shown_name(component: str) -> str:
    return component.replace("_", "-")


def _is_int(text: str) -> bool:
    try:
        int(text)
    except ValueError:
        return False
    return True


def _outside(text: str, known: KnownFlag) -> bool:
    if not known.choices or (known.parse == "int" and not _is_int(text)):
        return False
    value = str(int(text)) if known.parse != "text" and _is_int(text) else text.strip().lower()
    return value not in {choice.lower() for choice in known.choices}


def _refused(one: Flag, known: KnownFlag) -> Severity:
    """What is no number is 0 to strtol, which is taken without a word."""
    return "error" if known.strict and _is_int(one.value) else "warning"


def _with_segments(text: str) -> list[str]:
    options = dict(part.strip().partition(":")[::2] for part in text.split(","))
    if options.get("expandable_segments", "").strip() != "True":
        return []
    return [name for name in ("max_split_size_mb", "garbage_collection_threshold") if name in options]


def _finding(rule: str, severity: Severity, one: Flag, limit: str | None = None, **values: object) -> Finding:
    return Finding(rule, severity, one.place, shown(one.name, one.value), limit, {"name": one.name, **values})
