"""Jobs made by hand, for tests that need no job file."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from submitter.errors import Place
from submitter.job.model import (
    Argument,
    Cluster,
    Flag,
    Group,
    Job,
    Number,
    RawText,
    RuntimeEnvSpec,
    Secret,
    Torchrun,
    Trainer,
    Value,
    Variable,
)

FILE = "job.yaml"


def job(
    *,
    flags: Mapping[str, str] | None = None,
    groups: Mapping[str, Mapping[str, Value]] | None = None,
    extra: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
    secrets: Mapping[str, tuple[str, str]] | None = None,
    labels: Mapping[str, str] | None = None,
    working_dir: str | None = None,
    excludes: Sequence[str] = (),
    pip: Sequence[str] = (),
    nodes: int = 4,
    **changes: Any,
) -> Job:
    """A job of 4 x 16 NPUs with launcher ray; `secrets` is {name: (source, target)}. Every value has a line."""
    lines = iter(range(1, 10_000))
    made = Job(
        name="tiny",
        summary="a tiny job",
        stack=None,
        file=FILE,
        cluster=Cluster(nodes=nodes, npus_per_node=16, labels=dict(labels or {})),
        variables={
            name: Variable(name, text, "file", _place(f"variables.{name}", next(lines)))
            for name, text in (variables or {}).items()
        },
        flags=tuple(Flag(name, value, _place(f"env.{name}", next(lines))) for name, value in (flags or {}).items()),
        trainer=Trainer("verl.trainer.main_ppo", "ray"),
        groups=tuple(
            Group(name, tuple(Argument(key, value, _place(key, next(lines))) for key, value in arguments.items()))
            for name, arguments in (groups or {}).items()
        ),
        extra_arguments=tuple(extra),
        runtime_env=RuntimeEnvSpec(working_dir, tuple(excludes), tuple(pip)),
        secrets=tuple(
            Secret(name, source, target, _place(f"secrets.{name}", next(lines)))  # type: ignore[arg-type]
            for name, (source, target) in (secrets or {}).items()
        ),
    )
    return dataclasses.replace(made, **changes)


def torchrun_job(**changes: Any) -> Job:
    trainer = Trainer("verl.trainer.sft_trainer", "torchrun", Torchrun(16, "10.0.0.1", 29500))
    return job(trainer=trainer, **changes)


def raw(text: str) -> RawText:
    return RawText(text)


def number(spelling: str) -> Number:
    return Number(spelling)


def _place(key: str, line: int) -> Place:
    return Place(file=FILE, line=line, key=key)
