"""Readings of scripts for tests, built by hand, and what the job files from them come to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from submitter.arguments.assemble import arguments
from submitter.importer.model import (
    Argument,
    Decided,
    Defined,
    Definition,
    Exported,
    Input,
    Launch,
    Lit,
    Part,
    Reading,
    Template,
    Value,
)
from submitter.importer.write import JobFile, job_file
from submitter.job.model import Job
from tests.support.job_files import HOME, load_text

PPO = "verl.trainer.main_ppo"


def typed(*parts: str | Part) -> Template:
    return tuple(Lit(part) if isinstance(part, str) else part for part in parts)


def text_of(template: Template) -> str:
    return "".join(part.text for part in template)


def put(name: str, default: str | Template | None = None, given: str = "") -> Input:
    """`${name:-default}`, where the environment has `given`."""
    template = typed(default) if isinstance(default, str) else default
    return Input(name, given or text_of(template or ()), template)


def own(name: str, *parts: str | Part, line: int = 1, comments: Sequence[str] = (), note: str | None = None) -> Defined:
    definition = Definition(name, typed(*parts), line, tuple(comments), note)
    return Defined(definition, text_of(definition.template))


def again(one: Defined) -> Defined:
    return Defined(one.definition, one.text)


def word(*parts: str | Part, group: str | None = None, line: int = 50, comments: Sequence[str] = ()) -> Argument:
    return Argument(Value(typed(*parts)), line, group, tuple(comments))


def launch(
    *words: Argument,
    exported: Sequence[Exported] = (),
    target: Sequence[str | Part] = (PPO,),
    is_module: bool = True,
    torchrun: Mapping[str, Value] | None = None,
    working_dir: Value | None = None,
) -> Launch:
    return Launch(
        line=40,
        file="run.sh",
        launcher="ray" if torchrun is None else "torchrun",
        runner=("python3",),
        target=Value(typed(*target)),
        is_module=is_module,
        arguments=words,
        exported=tuple(exported),
        torchrun=torchrun or {},
        working_dir=working_dir,
    )


def flag(name: str, *parts: str | Part, line: int = 3) -> Exported:
    return Exported(name, Value(typed(*parts)), line)


def reading(
    decided: Sequence[Decided] = (),
    unquoted: Sequence[str] = (),
    comments: Sequence[str] = (),
    fixed: Sequence[Defined] = (),
) -> Reading:
    return Reading(
        "run.sh",
        (),
        (),
        {one.name: one for one in decided},
        frozenset(unquoted),
        tuple(comments),
        frozenset(one.definition for one in fixed),
    )


def write(one: Launch, about: Reading | None = None, **keywords: str) -> JobFile:
    return job_file(about or reading(), one, **{"name": "run.sh", **keywords})


def section(text: str, name: str) -> str:
    """Its lines, without the header."""
    found = re.search(rf"^{name}:\n((?:  .*\n|\n)*)", text, re.MULTILINE)
    return found[1].rstrip("\n") if found else ""


class Written:
    """A job file with what it comes to in an environment."""

    def __init__(self, folder: Path, one: Launch, about: Reading | None = None) -> None:
        self.folder = folder
        self.file = write(one, about)
        self.text = self.file.text
        self.data = yaml.safe_load(self.text)

    def job(self, **environ: str) -> Job:
        return load_text(self.text, self.folder, environ={**HOME, **environ})

    def words(self, **environ: str) -> list[str]:
        return arguments(self.job(**environ))
