"""The answers' sources, where the data files can be read here: verl's own reward functions know some of them."""

from __future__ import annotations

from runtime_env.verl_defaults import version_key
from submitter.checks.algorithm import trains
from submitter.checks.case import Case
from submitter.checks.data import own_agent_loop, rewards_read_columns, scored_files
from submitter.checks.finding import Finding, Severity
from submitter.checks.rule import Rule

NAMED = 4
"""Sources in one message."""

KNOWN = frozenset(
    {"openai/gsm8k", "lighteval/MATH", "DigitalLearningGmbH/MATH-lighteval", "HuggingFaceH4/MATH-500"}
    | {"math_dapo", "math", "math_dapo_reasoning", "hiyouga/geometry3k"}
    | {"numina_aops_forum", "numina_synthetic_math", "numina_amc_aime", "numina_synthetic_amc", "numina_cn_k12"}
    | {"numina_olympiads", "codecontests", "apps", "codeforces", "taco"}
    | {"searchR1_nq", "searchR1_triviaqa", "searchR1_popqa", "searchR1_hotpotqa", "searchR1_2wikimultihopqa"}
    | {"searchR1_musique", "searchR1_bamboogle"}
)
"""verl/utils/reward_score/__init__.py, default_compute_score: the same in 0.7.1, 0.8.0, 0.9.0, 0.9.1 and main."""
STARTS = "aime"
"""So does every source that begins like this."""
_FIRST, _LAST = (0, 7), (0, 10)
"""The releases that were read."""
_PATCHES = "VERL_USE_EXTERNAL_MODULES"
"""Code of the user's that verl imports, and that may put a function of its own in the place of verl's."""


def unknown_source(case: Case) -> list[Finding]:
    """Source: verl/utils/reward_score/__init__.py, default_compute_score: NotImplementedError (0.7.1 to main)."""
    if not trains(case) or not _scored_by_verl(case):
        return []
    return [
        Finding("NR338", _severity(case), case.settings.place(one.key), one.path, None, {"sources": _named(unknown)})
        for one in scored_files(case)
        if (unknown := [source for source in one.sources if source not in KNOWN and not source.startswith(STARTS)])
    ]


RULES = (Rule("NR338", ("error", "warning"), unknown_source, ppo=True),)


def _scored_by_verl(case: Case) -> bool:
    settings = case.settings
    function = any(settings.value(f"{key}custom_reward_function.path") is not None for key in ("reward.", ""))
    model = any(settings.truth(f"{key}reward_model.enable") for key in ("reward.", ""))
    remote = "remote" in (settings.text("reward.reward_manager.name"), settings.text("reward_model.reward_manager"))
    return rewards_read_columns(settings) and not function and not model and not remote


def _severity(case: Case) -> Severity:
    """Certain with verl's own code alone."""
    release = version_key(case.verl_release)[:2]
    found = case.working_dir.measure if case.working_dir else None
    patched = any(flag.name == _PATCHES for flag in case.job.flags) or own_agent_loop(case.settings) is not None
    brought = any("verl" in one.lower() for one in case.job.runtime_env.pip) or bool(
        found and any(module.partition(".")[0] == "verl" for module in found.modules)
    )
    return "error" if _FIRST <= release <= _LAST and not patched and not brought else "warning"


def _named(sources: list[str]) -> str:
    more = f" (+{len(sources) - NAMED})" if len(sources) > NAMED else ""
    return ", ".join(sources[:NAMED]) + more
