"""Named sets of versions on a cluster: they decide which flags and keys are alive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
    megatron_core: str
    mindspeed: str
    transformers: str
    notes: str

    @property
    def verl_minor(self) -> Release:
        major, minor = self.verl_release.split(".")[:2]
        return int(major), int(minor)


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


def stack_of(job: Job) -> Stack | None:
    """The job's stack, or None when it names none; UsageError for a name that does not exist."""
    if job.stack is None:
        return None
    return stack(job.stack, Place(file=job.file, key="stack"))
