"""Arguments that verl's own configuration does not take, each at its line (see `submitter.arguments.compose`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from runtime_env.verl_defaults import DEFAULT_CONFIG, configs, defaults, keys, releases, version_key
from submitter.arguments.compose import Problem
from submitter.checks.algorithm import FILTER, filters_nothing
from submitter.checks.case import Case, NotChecked
from submitter.checks.finding import Finding, Severity
from submitter.checks.rule import Rule
from submitter.checks.spelled import Spelled, spelled
from submitter.errors import Place
from submitter.job.nearest import NONE
from submitter.texts import Phrase

ROLLOUT_NAME = "actor_rollout_ref.rollout.name"

_MADE = ("actor_rollout_ref.actor.", "actor_rollout_ref.rollout.", "actor_rollout_ref.model.")
"""Nodes that verl makes an object of in every PPO run."""
_MADE_WHERE_USED = ("actor_rollout_ref.ref.", "critic.", "distillation.")
_MADE_BY_SFT = ("model.", "engine.", "optim.", "checkpoint.", "profiler.")
_SFT = "verl.trainer.sft_trainer"

_WHY = {
    "no_stack": "NR101.no_stack",
    "no_tree": "NR101.no_tree",
    "damaged": "NR101.damaged",
    "module": "NR101.module",
    "config_folder": "NR101.config_folder",
    "engine": "NR101.engine",
    "group": "NR101.group",
}


def unknown(case: Case) -> Iterator[Finding | NotChecked]:
    """Source: Hydra's compose over verl/trainer/config of the stack's verl: "Could not override"."""
    yield from _not_composed(case)
    for problem, place in _problems(case, "unknown"):
        if _elsewhere(case, problem.key) is None:
            yield Finding("NR101", _certain(case), place, problem.key, values=_named(case, problem))


def exists(case: Case) -> Iterator[Finding]:
    """Source: hydra/_internal/config_loader_impl.py: "Could not append to config. An item is already at …"."""
    for problem, place in _problems(case, "exists"):
        yield Finding("NR102", _certain(case), place, problem.key)


def plus_missing(case: Case) -> Iterator[Finding]:
    """Source: Hydra composes in struct mode; the key is a field of verl/workers/config/*.py, or of a free dict."""
    for problem, place in _problems(case, "add"):
        if problem.key.lstrip("+").startswith(f"{FILTER}.") and filters_nothing(case):
            continue  # NR332 says so: with a plus nothing would read it
        hint = "NR103.drop" if problem.key.endswith(_READ_BY_NOBODY) else "NR103.plus"
        values: dict[str, object] = {"hint": Phrase(hint, {"value": problem.key})}
        yield Finding("NR103", _certain(case), place, problem.key, values=values)


_READ_BY_NOBODY = tuple(f".{section}.grad_offload" for section in ("fsdp_config", "fsdp", "veomni", "torchtitan"))
"""verl/workers/config/engine.py: a field of every engine's class, but only the Megatron engine reads it."""

_TYPE_SEVERITY: dict[str, Severity] = {"fails": "error", "fraction": "error", "truthy": "warning", "odd": "warning"}
_TYPE_HOW = {
    "fails": "NR104.fails",
    "fraction": "NR104.fraction",
    "truthy": "NR104.truthy",
    "odd": "NR104.odd",
}


def wrong_type(case: Case) -> Iterator[Finding]:
    """Source: the annotation in verl/workers/config/*.py, else the type of the default in verl's YAML."""
    for problem, place in _problems(case, "type", "unfit"):
        how = problem.values.get("how", "fails")
        values: dict[str, object] = {
            "expected": problem.values.get("expected", "-"),
            "how": Phrase(_TYPE_HOW[how]) if problem.kind == "type" else problem.values["reason"],
        }
        yield Finding("NR104", _TYPE_SEVERITY[how], place, problem.values.get("value", problem.key), values=values)


def other_release(case: Case) -> Iterator[Finding]:
    """Source: the keys of every verl release that was read (runtime_env/verl)."""
    by_section: dict[str, list[_Elsewhere]] = {}
    for problem, place in _problems(case, "unknown"):
        phrase = _elsewhere(case, problem.key)
        if phrase is not None and not _came_after_stand_in(case, problem.key):
            section = _section(problem) if phrase.id in _ONE_CAUSE else problem.key
            by_section.setdefault(section, []).append(_Elsewhere(place, problem.key, phrase))
    for section, found in by_section.items():
        for one in _folded(section, found):
            values = {"when": one.phrase, "hint": _drop_or_choose(one.phrase), **_release(case)}
            yield Finding("NR106", _certain(case), one.place, one.key, values=values)


@dataclass(frozen=True)
class _Elsewhere:
    place: Place
    key: str
    phrase: Phrase


_ONE_CAUSE = {"NR106.engine": (3, "NR106.engine.section"), "NR106.trainer": (1, "NR106.trainer.section")}
"""Many keys of one section that another engine, or another trainer, has: so many are told one by one."""


def group_choice(case: Case) -> Iterator[Finding]:
    """Source: the config groups of verl/trainer/config; Hydra: "Could not find …"."""
    for problem, place in _problems(case, "group", "config_name"):
        choice = problem.values.get("choice") or problem.values.get("name", "")
        values = {"choices": problem.values["choices"] or NONE, "way": _way(problem), **_release(case)}
        yield Finding("NR108", _certain(case), place, choice, values=values)
    yield from _gone_engine(case)


_NO_GRAMMAR = {"sweep": "NR109.sweep", "option": "NR109.option", "between": "NR109.between"}


def grammar(case: Case) -> Iterator[Finding]:
    """Source: Hydra's override grammar (hydra/grammar), and its command line options."""
    for problem, place in _problems(case, "grammar", "sweep", "option", "between"):
        reason = problem.values.get("reason") or Phrase(_NO_GRAMMAR[problem.kind])
        yield Finding("NR109", "error", place, problem.key, values={"reason": reason})


def refused_field(case: Case) -> Iterator[Finding]:
    """Source: verl/utils/config.py, omega_conf_to_dataclass: the class is called with the node's keys (TypeError)."""
    for problem, place in _problems(case, "refused_field"):
        sft = case.job.trainer.module.startswith(_SFT)
        if _came_after_stand_in(case, _up_to(problem.key, problem.values["field"])):
            continue
        if problem.key.startswith(_MADE_BY_SFT if sft else _MADE):
            yield Finding("NR110", _certain(case), place, problem.key, values=dict(problem.values))
        elif not sft and problem.key.startswith(_MADE_WHERE_USED):
            yield Finding("NR110", "warning", place, problem.key, values=dict(problem.values))


def nothing_to_delete(case: Case) -> Iterator[Finding]:
    """Source: hydra/_internal/config_loader_impl.py: "Could not delete from config"."""
    for problem, place in _problems(case, "absent"):
        yield Finding("NR111", _certain(case), place, problem.key, values=dict(problem.values))


def missing(case: Case) -> Iterator[Finding]:
    """Source: `???` in verl/trainer/config/**; OmegaConf raises MissingMandatoryValue where it is read."""
    for problem, place in _problems(case, "missing"):
        needed = problem.index is not None or (problem.key == ROLLOUT_NAME and case.settings.ppo)
        if needed:
            yield Finding("NR112", "error", place, problem.key)


def leads_nowhere(case: Case) -> Iterator[Finding]:
    """Source: verl/trainer/main_ppo.py calls OmegaConf.to_container(config, resolve=True) first of all."""
    for problem, place in _problems(case, "interpolation"):
        yield Finding("NR113", "error", place, problem.values["text"], values={"reason": problem.values["reason"]})


def escaped(case: Case) -> Iterator[Finding]:
    """Source: verl/trainer/main_ppo.py calls OmegaConf.resolve(config), which takes the escape away."""
    for problem, place in _problems(case, "escaped"):
        yield Finding("NR114", "warning", place, problem.values["text"])


def set_twice(case: Case) -> Iterator[Finding]:
    """Source: Hydra applies arguments in their order; the last one counts."""
    seen: dict[str, tuple[str, Spelled]] = {}
    refused = {problem.key for problem, _ in _problems(case, "exists")}  # NR102 tells of these
    for group, argument in _grouped(case):
        first = seen.get(argument.key)
        seen[argument.key] = group, argument
        if first is None or argument.key in refused or _adds(argument) or _replaced(case, argument.key):
            continue
        same = first[1].text == argument.text
        values: dict[str, object] = {"first": first[1].text, "line": first[1].place.line}
        values |= {"group": first[0], "other": group}
        yield Finding("NR107", "hint" if same else "warning", argument.place, argument.text, values=values)


def added_beside(case: Case) -> Iterator[Finding]:
    """Source: the keys of the section in verl/trainer/config/**: Hydra adds any other, and nothing reads it."""
    for problem, place in _problems(case, "new"):
        if not _came_after_stand_in(case, problem.key) and _elsewhere(case, problem.key) is None:
            yield Finding("NR115", "warning", place, problem.key, values={**problem.values, **_release(case)})


RULES = (
    Rule("NR101", ("error", "warning"), unknown),
    Rule("NR102", ("error", "warning"), exists),
    Rule("NR103", ("error", "warning"), plus_missing),
    Rule("NR104", ("error", "warning"), wrong_type),
    Rule("NR106", ("error", "warning"), other_release),
    Rule("NR107", ("warning", "hint"), set_twice),
    Rule("NR108", ("error", "warning"), group_choice),
    Rule("NR109", ("error",), grammar),
    Rule("NR110", ("error", "warning"), refused_field),
    Rule("NR111", ("error", "warning"), nothing_to_delete),
    Rule("NR112", ("error",), missing),
    Rule("NR113", ("error",), leads_nowhere),
    Rule("NR114", ("warning",), escaped),
    Rule("NR115", ("warning",), added_beside),
)


def _problems(case: Case, *kinds: str) -> Iterator[tuple[Problem, Place]]:
    if case.composition is None or not any(one.kind in kinds for one in case.composition.problems):
        return
    places = [argument.place for argument in spelled(case.job)]
    replaced = _replaced_sections(case.composition.problems)
    for problem in case.composition.problems:
        if problem.kind in kinds and not problem.key.startswith(replaced):
            alone = Place(file=case.job.file, key=problem.key)
            yield problem, alone if problem.index is None else places[problem.index]


def _replaced_sections(problems: Sequence[Problem]) -> tuple[str, ...]:
    """Sections that the job sets to something else, which is told: what it sets below them has no other cause."""
    return tuple(f"{one.key}." for one in problems if one.kind == "type" and one.values.get("expected") == "dict")


def _not_composed(case: Case) -> Iterator[NotChecked]:
    composition, stack = case.composition, case.stack
    if composition is None:
        return
    values: dict[str, object] = {"release": composition.release, "module": case.job.trainer.target}
    if composition.reason:
        yield NotChecked("NR101", _WHY[composition.reason], values)
    elif stack is not None and _is_stand_in(case):
        names = {"stack": stack.name, "verl": stack.verl}
        yield NotChecked("NR101", "NR101.stand_in", {**values, **names})


def _is_stand_in(case: Case) -> bool:
    return case.stack is not None and case.stack.verl_tree != case.stack.verl_release


def _came_after_stand_in(case: Case, key: str) -> bool:
    """The stack's verl is newer than the tree, and a release between the two brought the key."""
    if case.stack is None or case.stack.verl_release is None or case.composition is None or not _is_stand_in(case):
        return False
    tree, own = version_key(case.composition.release), version_key(case.stack.verl_release)
    return any(tree < version_key(release) <= own and _has(release, key) for release in releases())


def _up_to(key: str, field: str) -> str:
    """`a.b.c`, `b` → `a.b`."""
    names = key.split(".")
    return ".".join(names[: names.index(field) + 1]) if field in names else key


def _certain(case: Case) -> Severity:
    """A stand-in's keys are nearly those of the stack's verl, not all."""
    return "warning" if _is_stand_in(case) else "error"


def _release(case: Case) -> dict[str, object]:
    return {"release": case.composition.release if case.composition else NONE}


def _named(case: Case, problem: Problem) -> dict[str, object]:
    nearest = problem.values.get("nearest", NONE)
    hint = Phrase("NR101.drop") if nearest == NONE else Phrase("NR101.write", {"nearest": nearest})
    return {"nearest": nearest, "hint": hint, **_release(case)}


def _elsewhere(case: Case, key: str) -> Phrase | None:
    """In which other release, or with which other engine of this one, the key exists."""
    if case.composition is None:
        return None
    own = case.composition.release
    having = [release for release in releases() if _has(release, key)]
    if own in having:
        if not case.settings.ppo:
            return Phrase("NR106.trainer")
        return Phrase("NR106.engine", {"way": _engine_with(own, case.settings.config, key)})
    older = [release for release in having if version_key(release) < version_key(own)]
    newer = [release for release in having if version_key(release) > version_key(own)]
    if older:
        after = [release for release in releases() if version_key(release) > version_key(older[-1])]
        return Phrase("NR106.gone", {"since": after[0] if after else own, "last": older[-1]})
    return Phrase("NR106.new", {"since": newer[0]}) if newer else None


def _section(problem: Problem) -> str:
    """`actor_rollout_ref.actor.megatron.x` → `actor_rollout_ref.actor.megatron`, where the job has no such section;
    else `data.*`, keys of a section that is there."""
    parent = problem.values["parent"]
    depth = parent.count(".") + 1 if parent else 0
    missing = ".".join(problem.key.split(".")[: depth + 1])
    return f"{parent}.*".lstrip(".") if missing == problem.key else missing


def _folded(section: str, found: list[_Elsewhere]) -> list[_Elsewhere]:
    """Many keys of one section have one cause: they are told at the first of them."""
    first = found[0]
    most, folded = _ONE_CAUSE.get(first.phrase.id, (len(found), ""))
    if len(found) <= most:
        return found
    values = {**first.phrase.values, "count": len(found)}
    return [_Elsewhere(first.place, section, Phrase(folded, values))]


def _drop_or_choose(phrase: Phrase) -> Phrase:
    """Each remedy once: that a key is gone is a reason to drop it, no matter which stack."""
    return Phrase("NR106.drop" if phrase.id == "NR106.gone" else "NR106.choose")


def _gone_engine(case: Case) -> Iterator[Finding]:
    """An engine of the stand-in that the releases between it and the stack's verl have dropped."""
    engine, config = case.settings.text("model_engine"), case.settings.config
    if engine is None or case.composition is None or case.stack is None or not _is_stand_in(case):
        return
    tree, own = (version_key(release or "") for release in (case.composition.release, case.stack.verl_release))
    later = [release for release in releases() if tree < version_key(release) <= own]
    if not later or engine not in configs(case.composition.release).get(config, ()):
        return
    left = configs(later[-1]).get(config, (engine,))
    if engine not in left:
        choices = ", ".join(name for name in left if name)
        values = {"choices": choices, "release": later[-1], "way": Phrase("NR108.choose")}
        yield Finding("NR108", "warning", case.settings.place("model_engine"), engine, values=values)


def _engine_with(release: str, config: str, key: str) -> str:
    """The argument that chooses a configuration with this key; the job's own config comes first."""
    known = configs(release)
    for name in sorted(known, key=lambda other: (other != config, other != DEFAULT_CONFIG)):
        for engine in known[name]:
            values = defaults(release, name, engine).values
            if key in values or any(other.startswith(f"{key}.") for other in values):
                return f"model_engine={engine}" if engine and name == config else f"--config-name={name}"
    return NONE


def _has(release: str, key: str) -> bool:
    return key in _keys(release)


@cache
def _keys(release: str) -> frozenset[str]:
    """Those of dicts too."""
    found = set(keys(release))
    for key in list(found):
        while "." in key:
            key = key.rpartition(".")[0]
            found.add(key)
    return frozenset(found)


def _way(problem: Problem) -> Phrase:
    if problem.key == "model_engine" and problem.values.get("choice") == "megatron":
        return Phrase("NR108.megatron")
    return Phrase("NR108.choose")


def _grouped(case: Case) -> Iterator[tuple[str, Spelled]]:
    """Arguments of the file; what stands after `--` is no concern here."""
    groups = {argument.place: group.name for group in case.job.groups for argument in group.arguments}
    for argument in spelled(case.job):
        if argument.place in groups:
            yield groups[argument.place], argument


def _adds(argument: Spelled) -> bool:
    """`+key` on a key that is there is refused (NR102); deletions are meant."""
    return argument.word.startswith("~") or (argument.word.startswith("+") and not argument.word.startswith("++"))


def _replaced(case: Case, key: str) -> bool:
    return any(word.partition("=")[0].lstrip("+") == key for word in case.job.extra_arguments)
