"""Turns a job into one that the real verl trainer can run on CPUs, by the rules of `overlay.yaml`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from string import Template
from typing import Any

import yaml

from submitter.arguments.values import value_text
from submitter.errors import Place, UsageError
from submitter.job.model import Argument, Flag, Group, Job, Number, RawText, Value

OVERLAY = Path(__file__).with_name("overlay.yaml")
PLACE = Place(file=OVERLAY.name)
MODULE = "verl.trainer.main_ppo"
GROUP = "rehearsal"
"""Group of the arguments that the job does not have."""
PLACE_WAIT_S = 120
"""The rehearsal's nodes are empty and there before the job is submitted: waiting longer would tell nothing."""


@dataclass(frozen=True)
class Change:
    """One argument or flag that differs from the job's. `before` None: added; `after` None: dropped."""

    key: str
    before: str | None
    after: str | None
    because: str
    """The text `rehearsal.because.<because>` says why."""

    def __str__(self) -> str:
        if self.before is None:
            return f"+ {self.key}={self.after}"
        if self.after is None:
            return f"- {self.key}={self.before}"
        return f"  {self.key}: {self.before} -> {self.after}"


@dataclass(frozen=True)
class Refusal:
    key: str
    because: str
    default: str | None = None
    values: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()

    def refuses(self, value: str) -> bool:
        return value in self.values or bool(self.unless and value not in self.unless)


@dataclass(frozen=True)
class Setting:
    """An argument that the rehearsal needs, under its bare key."""

    key: str
    """With Hydra's prefix."""
    value: Any
    because: str


@dataclass(frozen=True)
class Overlay:
    ranks_per_node: int
    prompts_per_rank: int
    refusals: tuple[Refusal, ...]
    settings: Mapping[str, Setting]
    """By bare key."""
    drops: tuple[tuple[str, str], ...]
    """(pattern, because)."""
    env: Mapping[str, str]

    def dropped_because(self, key: str) -> str | None:
        return next((because for pattern, because in self.drops if fnmatchcase(key, pattern)), None)


def load_overlay(path: Path = OVERLAY) -> Overlay:
    """The rules as data."""
    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    settings = {
        bare(key): Setting(key, value, entry["because"])
        for entry in raw["set"]
        for key, value in entry["arguments"].items()
    }
    return Overlay(
        ranks_per_node=raw["ranks_per_node"],
        prompts_per_rank=raw["prompts_per_rank"],
        refusals=tuple(
            Refusal(**{**entry, **{name: tuple(entry.get(name, ())) for name in ("values", "unless")}})
            for entry in raw["refuse"]
        ),
        settings=settings,
        drops=tuple((pattern, entry["because"]) for entry in raw["drop"] for pattern in entry["keys"]),
        env={name: _flag_text(value) for name, value in raw["env"].items()},
    )


def apply_overlay(
    job: Job, workdir: Path, *, nodes: int | None = None, overlay: Overlay | None = None
) -> tuple[Job, list[Change]]:
    """The job as it is rehearsed on `nodes` nodes (None: the job's own number), and what differs, in the job's order.

    Raises UsageError for what cannot be rehearsed.
    """
    rules = overlay or load_overlay()
    refuse(job, rules)
    count = nodes or job.cluster.nodes
    words = {
        "workdir": str(workdir),
        "assets": str(workdir / "assets"),
        "nodes": str(count),
        "ranks_per_node": str(rules.ranks_per_node),
        "prompts": str(rules.prompts_per_rank * rules.ranks_per_node * count),
    }
    wanted = {key: Argument(rule.key, _value(rule.value, words), PLACE) for key, rule in rules.settings.items()}
    groups, extra, changes = _arguments(job, rules, wanted)
    flags, flag_changes = _flags(job, rules, words)
    rehearsed = replace(
        job,
        cluster=replace(job.cluster, nodes=count, place_wait_s=min(job.cluster.place_wait_s, PLACE_WAIT_S)),
        groups=groups,
        extra_arguments=extra,
        flags=flags,
        secrets=(),
        runtime_env=replace(job.runtime_env, pip=()),
    )
    return rehearsed, [*changes, *flag_changes, *_left_out(job)]


def refuse(job: Job, rules: Overlay) -> None:
    """Raises UsageError, in words, for a job that no overlay can make rehearsable."""
    if job.trainer.launcher != "ray" or job.trainer.module != MODULE:
        raise UsageError("rehearsal.refused.module", Place(file=job.file), module=job.trainer.target, limit=MODULE)
    last = {bare(key): (key, value, place) for key, value, place in _all_arguments(job)}
    for refusal in rules.refusals:
        key, value, place = last.get(refusal.key, (refusal.key, refusal.default, Place(file=job.file)))
        if value is not None and refusal.refuses(value.strip("'\"").lower()):
            raise UsageError(f"rehearsal.refused.{refusal.because}", place, key=key, value=value)
    _refuse_parallel_rollout(rules)


def bare(key: str) -> str:
    """`key` without Hydra's `+`, `++`, `~`."""
    return key.lstrip("+~")


def _refuse_parallel_rollout(rules: Overlay) -> None:
    """For a changed overlay: its rollout has one process per rank and cannot be split."""
    key = "actor_rollout_ref.rollout.tensor_model_parallel_size"
    if (setting := rules.settings.get(key)) is not None and setting.value != 1:
        raise UsageError("rehearsal.refused.parallel", PLACE, key=key, value=setting.value)


def _all_arguments(job: Job) -> Iterator[tuple[str, str, Place]]:
    """(key, value as text, place) in the order in which they are passed."""
    for group in job.groups:
        for argument in group.arguments:
            yield argument.key, value_text(argument.value), argument.place
    for text in job.extra_arguments:
        key, _, value = text.partition("=")
        yield key, value, Place(key=key)


def _arguments(
    job: Job, rules: Overlay, wanted: Mapping[str, Argument]
) -> tuple[tuple[Group, ...], tuple[str, ...], list[Change]]:
    changes: list[Change] = []
    last = {bare(key): value for key, value, _ in _all_arguments(job)}
    placed: set[str] = set()
    groups = []
    for group in job.groups:
        kept = []
        for argument in group.arguments:
            key = bare(argument.key)
            if key not in wanted:
                kept += _unless_dropped(argument, rules, changes)
            elif key not in placed:
                placed.add(key)
                kept.append(wanted[key])
                changes += _replaced(rules.settings[key], last[key], wanted[key])
        groups.append(Group(group.name, tuple(kept)))
    added = tuple(argument for key, argument in wanted.items() if key not in placed)
    extra = tuple(_extra(job.extra_arguments, rules, wanted, changes))
    for argument in added:
        key = bare(argument.key)
        changes += _replaced(rules.settings[key], last.get(key), argument)
    return (*groups, Group(GROUP, added)), extra, changes


def _unless_dropped(argument: Argument, rules: Overlay, changes: list[Change]) -> list[Argument]:
    because = rules.dropped_because(bare(argument.key))
    if because is None:
        return [argument]
    changes.append(Change(argument.key, value_text(argument.value), None, because))
    return []


def _extra(
    arguments: Iterable[str], rules: Overlay, wanted: Mapping[str, Argument], changes: list[Change]
) -> Iterator[str]:
    """What stood after `--`, without what the overlay sets (told there) or drops."""
    for text in arguments:
        key, _, value = text.partition("=")
        if bare(key) in wanted:
            continue
        because = rules.dropped_because(bare(key))
        if because is None:
            yield text
        else:
            changes.append(Change(key, value, None, because))


def _replaced(setting: Setting, before: str | None, argument: Argument) -> list[Change]:
    after = value_text(argument.value)
    return [] if before == after else [Change(argument.key, before, after, setting.because)]


def _flags(job: Job, rules: Overlay, words: Mapping[str, str]) -> tuple[tuple[Flag, ...], list[Change]]:
    before = {flag.name: flag.value for flag in job.flags}
    kept = tuple(flag for flag in job.flags if flag.name not in rules.env)
    added = tuple(Flag(name, Template(value).substitute(words), PLACE) for name, value in rules.env.items())
    changes = [
        Change(flag.name, before.get(flag.name), flag.value, "flag")
        for flag in added
        if before.get(flag.name) != flag.value
    ]
    return kept + added, changes


def _left_out(job: Job) -> list[Change]:
    """What of the job besides arguments and flags has no use on this machine."""
    secrets = [
        Change(f"secrets.{secret.name}", f"{secret.source}:{secret.target}", None, "outside") for secret in job.secrets
    ]
    pip = [Change("runtime_env.pip", " ".join(job.runtime_env.pip), None, "outside")] if job.runtime_env.pip else []
    return secrets + pip


def _value(raw: Any, words: Mapping[str, str]) -> Value:
    if isinstance(raw, dict) and set(raw) == {"$text"}:
        return RawText(Template(raw["$text"]).substitute(words))
    if isinstance(raw, dict):
        return {name: _value(value, words) for name, value in raw.items()}
    if isinstance(raw, list):
        return [_value(value, words) for value in raw]
    if raw is None or isinstance(raw, bool):
        return raw
    if isinstance(raw, int | float):
        return Number(str(raw))
    text = Template(raw).substitute(words)
    return Number(text) if text != raw and text.isdigit() else text


def _flag_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
