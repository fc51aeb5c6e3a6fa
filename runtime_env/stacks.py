"""Named sets of versions on a cluster: they decide which flags and keys are alive."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from submitter.errors import Place, UsageError
from submitter.job.nearest import nearest

if TYPE_CHECKING:
    from submitter.job.model import Job

Release = tuple[int, int]
"""(major, minor)."""


@dataclass(frozen=True)
class Stack:
    """One version set, as published: text, not comparable numbers (`a pinned commit` is one of them)."""

    name: str
    cann: str
    hdk: str
    python: str
    torch: str
    torch_npu: str
    vllm: str
    vllm_ascend: str
    verl: str
    verl_release: str
    """The verl release whose behaviour counts."""
    verl_tree: str
    """The verl release whose configuration composes: a stand-in where it is not `verl_release`."""
    megatron_core: str
    mindspeed: str
    transformers: str
    notes: str

    @property
    def verl_minor(self) -> Release:
        major, minor = re.findall(r"\d+", self.verl_release)[:2]
        return int(major), int(minor)


SEPARATOR = ","
"""`cann-9.1.0,verl=0.9.1`: a stack, then the versions that replace its own."""

COMPONENTS = tuple(
    field.name for field in fields(Stack) if field.name not in ("name", "notes", "verl_release", "verl_tree")
)
"""What a stack has a version of, and what can be replaced."""

_VERSION = re.compile(r"[0-9][A-Za-z0-9._+-]*|main|[0-9a-f]{7,40}|core_[rv]?[0-9][A-Za-z0-9._+-]*", re.ASCII)
"""A number, a commit, `main`; Megatron-Core and MindSpeed name their branches and tags `core_…`."""
_VERL_VERSION = re.compile(r"\d{1,6}\.\d{1,6}([._+-][A-Za-z0-9._+-]*)?", re.ASCII)
"""Rules compare verl's releases: a branch's name says nothing to them."""


@cache
def stacks() -> Mapping[str, Stack]:
    """Every known stack by name."""
    import yaml

    text = (Path(__file__).parent / "stacks.yaml").read_text(encoding="utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's takes 1 ms, Python's 10
    table = yaml.load(text, Loader=loader)
    return {name: Stack(name=name, **versions) for name, versions in table.items()}


def stack(name: str, place: Place | None = None) -> Stack:
    """The stack of that name; UsageError that names the nearest one at `place` when there is none."""
    known = stacks()
    if name in known:
        return known[name]
    raise UsageError("stack.unknown", place, name=name, nearest=nearest(name, known), known=", ".join(known))


def parse_stack(text: str, place: Place | None = None) -> Stack:
    """`NAME[,COMPONENT=VERSION]…`: the stack of that name with some versions replaced, and a name that shows them.

    UsageError at `place` for an unknown stack or component, a component given twice, or what is no version.
    """
    name, *changes = (part.strip() for part in text.split(SEPARATOR))
    base = stack(name, place)
    versions: dict[str, str] = {}
    for change in changes:
        component, version = _change(change, place)
        if component in versions:
            raise UsageError("stack.twice", place, component=component)
        versions[component] = version
    return _replaced(base, versions)


def override(own: str | None, given: str, place: Place | None = None) -> str:
    """The stack that `given` asks for: a whole one, or (`verl=0.9.1`) versions that replace those of the job's `own`.

    UsageError as `parse_stack`, and where there is nothing to replace versions of.
    """
    first, *_ = given.split(SEPARATOR)
    if "=" not in first:
        return parse_stack(given, place).name
    if own is None:
        raise UsageError("stack.nothing", place, changes=given)
    changes = parse_stack(SEPARATOR.join([_base(own), given]), place).name.split(SEPARATOR)[1:]
    replaced = {change.partition("=")[0] for change in changes}
    kept = [one for one in parse_stack(own).name.split(SEPARATOR)[1:] if one.partition("=")[0] not in replaced]
    return SEPARATOR.join([_base(own), *kept, *changes])


def stack_of(job: Job) -> Stack | None:
    """The job's stack, or None when it names none; UsageError as `parse_stack`."""
    if job.stack is None:
        return None
    return parse_stack(job.stack, job.place("stack"))


def _base(text: str) -> str:
    return text.partition(SEPARATOR)[0].strip()


def _change(text: str, place: Place | None) -> tuple[str, str]:
    name, equals, version = (part.strip() for part in text.partition("="))
    if not equals:
        raise UsageError("stack.form", place, part=text)
    component = name.replace("-", "_").lower()
    if component not in COMPONENTS:
        known = ", ".join(COMPONENTS)
        raise UsageError("stack.component", place, name=name, nearest=nearest(component, COMPONENTS), known=known)
    pattern = _VERL_VERSION if component == "verl" else _VERSION
    if pattern.fullmatch(version) is None:
        wrong = "stack.verl_version" if component == "verl" else "stack.version"
        raise UsageError(wrong, place, component=component, version=version)
    return component, version


def _replaced(base: Stack, versions: Mapping[str, str]) -> Stack:
    if not versions:
        return base
    name = SEPARATOR.join([base.name, *(f"{component}={version}" for component, version in versions.items())])
    changed = replace(base, name=name, **versions)
    if "verl" not in versions:
        return changed
    return replace(changed, verl_release=versions["verl"], verl_tree=versions["verl"])
