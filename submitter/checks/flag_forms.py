"""Flags whose value has a form of its own: what their reader refuses, or takes for something else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from submitter.checks.case import Case
from submitter.checks.finding import Finding, Severity
from submitter.checks.rule import Rule
from submitter.gang.secret_like import shown
from submitter.texts import Phrase

LEVELS = ("CRITICAL", "FATAL", "ERROR", "WARNING", "WARN", "INFO", "DEBUG", "NOTSET")
"""Of Python's logging; capitals count, and a number in the environment is text, which is no level either."""

_DIGITS = re.compile(r"[0-9]{1,9}", re.ASCII)
_FRACTION = re.compile(r"[0-9]*\.?[0-9]+|[0-9]+\.", re.ASCII)
_THREADS = re.compile(r"\s*[1-9][0-9]{0,8}(\s*,\s*[1-9][0-9]{0,8})*\s*", re.ASCII)
"""One number a nesting level, as OpenMP defines it."""
_CORES = re.compile(r"[0-9]{1,9}(-[0-9]{1,9})?", re.ASCII)
_OUTSIDE_BRACKETS = re.compile(r",(?![^\[]*\])")
_MIN_SPLIT_MB, _MAX_ALIGN_KB, _SEGMENT_MB = 20, 16, (20, 512)


def _is_bool(text: str) -> bool:
    return text in ("True", "False")


def _between(low: int, high: int | None = None) -> Callable[[str], bool]:
    return lambda text: bool(_DIGITS.fullmatch(text)) and low <= int(text) and (high is None or int(text) <= high)


def _is_threshold(text: str) -> bool:
    return bool(_FRACTION.fullmatch(text)) and 0 < float(text) < 1


def _is_share(text: str) -> bool:
    return bool(_FRACTION.fullmatch(text)) and 0 <= float(text) <= 1


@dataclass(frozen=True)
class _Option:
    """What an option of the allocator takes; `wanted` says it."""

    wanted: str
    holds: Callable[[str], bool]


_BOOL = _Option("True, False", _is_bool)
_ANY = _Option("", lambda _text: True)
ALLOCATOR: Mapping[str, _Option] = {
    # NPUAllocatorConfig.cpp of torch_npu 2.8 to 2.10, and c10/core/AllocatorConfig.h of torch 2.10
    "expandable_segments": _BOOL,
    "max_split_size_mb": _Option(f"≥ {_MIN_SPLIT_MB}", _between(_MIN_SPLIT_MB)),
    "garbage_collection_threshold": _Option("0 < x < 1", _is_threshold),
    "base_addr_aligned_kb": _Option(f"0–{_MAX_ALIGN_KB}", _between(0, _MAX_ALIGN_KB)),
    "page_size": _Option("1g", lambda text: text == "1g"),
    "segment_size_mb": _Option(f"{_SEGMENT_MB[0]}–{_SEGMENT_MB[1]}", _between(*_SEGMENT_MB)),
    "pin_memory_expandable_segments": _BOOL,
    "pinned_mem_register": _BOOL,
    "multi_stream_lazy_reclaim": _BOOL,
    "release_lock_on_npumalloc": _BOOL,
    "per_process_memory_fraction": _Option("0 ≤ x ≤ 1", _is_share),
    "pinned_reserve_segment_size_mb": _Option("≥ 0", _between(0)),
    "large_segment_size_mb": _ANY,
    "max_non_split_rounding_mb": _ANY,
    "pinned_use_background_threads": _BOOL,
    "roundup_power2_divisions": _ANY,
}
"""The options of the caching allocator, of any version that was read."""
_AFFINITY: Mapping[str, Callable[[str], bool]] = {
    "mode": _between(0, 2),
    **dict.fromkeys(("npu_affine", "lazy_bind", "force", "bind_irq"), _between(0, 1)),
}


def form(case: Case) -> list[Finding]:
    """Source: torch_npu NPUAllocatorConfig.cpp and NPUAffinityController.cpp; logging.setLevel; OpenMP's reader."""
    return [
        Finding(
            "NR469",
            _severity(case, flag.name),
            flag.place,
            shown(flag.name, flag.value),
            None,
            {"name": flag.name, "why": why, "do": _FORMS[flag.name].do},
        )
        for flag in case.job.flags
        if flag.name in _FORMS and (why := next(_FORMS[flag.name].look(flag.value), None)) is not None
    ]


RULES = (Rule("NR469", ("error", "warning"), form),)


def _severity(case: Case, name: str) -> Severity:
    """Refused by who certainly reads it; OpenMP and the binding of cores only leave it aside."""
    if name == "VERL_LOGGING_LEVEL":
        return "error" if case.job.trainer.module.startswith("verl.") else "warning"
    return "error" if name == "PYTORCH_NPU_ALLOC_CONF" else "warning"


def _allocator(text: str) -> Iterator[Phrase]:
    parts = _OUTSIDE_BRACKETS.split("".join(text.split()))
    if parts[-1] == "":
        parts.pop()  # the end of the text, or a comma at the end: both are taken
    for part in parts:
        name, colon, value = part.partition(":")
        option = ALLOCATOR.get(name)
        if option is None:
            yield Phrase("NR469.option", {"option": name or "''"})
        elif not colon or not value:
            yield Phrase("NR469.no_value", {"option": name})
        elif not option.holds(value):
            yield Phrase("NR469.bad_value", {"option": name, "wanted": option.wanted, "given": value})


def _affinity(text: str) -> Iterator[Phrase]:
    for part in text.split(",") if text else ():
        name, colon, value = part.partition(":")
        if not colon:
            name, value = "mode", part
        if re.fullmatch(r"npu[0-9]{1,4}", name):
            if not _CORES.fullmatch(value):
                yield Phrase("NR469.bad_value", {"option": name, "wanted": "0-23", "given": value})
        elif name not in _AFFINITY:
            yield Phrase("NR469.option", {"option": name or "''"})
        elif not _AFFINITY[name](value):
            wanted = "0, 1, 2" if name == "mode" else "0, 1"
            yield Phrase("NR469.bad_value", {"option": name, "wanted": wanted, "given": value})


def _threads(text: str) -> Iterator[Phrase]:
    if not _THREADS.fullmatch(text):
        yield Phrase("NR469.threads")


def _level(text: str) -> Iterator[Phrase]:
    if text not in LEVELS:
        yield Phrase("NR469.level")


@dataclass(frozen=True)
class _Form:
    look: Callable[[str], Iterator[Phrase]]
    do: Phrase


_ALLOCATOR_FORM = _Form(_allocator, Phrase("NR469.do_allocator", {"known": ", ".join(ALLOCATOR)}))
_FORMS: Mapping[str, _Form] = {
    "PYTORCH_NPU_ALLOC_CONF": _ALLOCATOR_FORM,
    "PYTORCH_ALLOC_CONF": _ALLOCATOR_FORM,
    "CPU_AFFINITY_CONF": _Form(_affinity, Phrase("NR469.do_affinity")),
    "OMP_NUM_THREADS": _Form(_threads, Phrase("NR469.do_threads")),
    "VERL_LOGGING_LEVEL": _Form(_level, Phrase("NR469.do_level", {"known": ", ".join(LEVELS)})),
}
