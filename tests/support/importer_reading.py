"""A script through real bash and through the import, and how the two are held against each other."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from submitter.arguments.assemble import arguments, flags
from submitter.importer.importing import Imported, Request, import_script
from submitter.importer.verify import Recorded, normalised, submitted
from submitter.job.load import load_job
from submitter.job.model import Job
from tests.support.bash_scripts import Launched, run_in_bash

HOME = {"HOME": "/home/me", "USER": "me", "LC_ALL": "C.UTF-8"}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)


@dataclass(frozen=True)
class Said:
    """What a trainer is started with."""

    target: str
    words: list[str]
    environ: dict[str, str]


@dataclass(frozen=True)
class Scene:
    """A script, and the folder that it is run and imported in; it lies above that, as `script.sh`."""

    script: str
    folder: Path
    arguments: tuple[str, ...] = ()

    def bash(self, environ: Mapping[str, str]) -> list[Said]:
        """The trainings that bash starts, in their order."""
        found = run_in_bash(self.script, self.folder, environ, self.arguments)
        return [said for one in found if (said := _said(one)) is not None]

    def imported(
        self, environ: Mapping[str, str], *, sets: Mapping[str, str] | None = None, launch: int | None = None
    ) -> Imported:
        path = self.folder.parent / "script.sh"
        path.write_text(self.script)
        own = {**environ, "PATH": "/usr/bin:/bin"}
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            return import_script(Request(path, own, sets or {}, self.arguments, launch, "script"))
        finally:
            os.chdir(before)

    def loaded(self, text: str, environ: Mapping[str, str]) -> Job:
        path = self.folder.parent / "job.yaml"
        path.write_text(text)
        return load_job(str(path), environ=environ)


def scene(script: str, parent: Path, *words: str) -> Scene:
    folder = parent / "work"
    folder.mkdir(exist_ok=True)
    return Scene(script, folder, words)


def held(text: str, environ: Mapping[str, str]) -> dict[str, str]:
    """What a job file means where its inputs are not given: the values that decided what the script runs."""
    decided = yaml.safe_load(text).get("imported", {}).get("decided") or {}
    texts = {name: value["$text"] if isinstance(value, dict) else value for name, value in decided.items()}
    return {name: str(text) for name, text in texts.items() if text is not None and not environ.get(name)}


def differences(bash: Said, job: Job, environ: Mapping[str, str], *, handed: Collection[str] = ()) -> list[str]:
    """Item by item. `handed`: names that an environment exported, here or where the job was imported.

    Of these a flag may be missing on either side: bash hands a variable on as the script leaves it, exported or not,
    and what the script's own environment was then the job file does not know.
    """
    words, own = arguments(job), flags(job)
    pairs = enumerate(zip(bash.words, words, strict=False))
    found = [f"word {at}: bash {wanted!r}, job {got!r}" for at, (wanted, got) in pairs if wanted != got]
    if len(bash.words) != len(words):
        found.append(
            f"{len(bash.words)} words, job {len(words)}: {bash.words[len(words) :] or words[len(bash.words) :]}"
        )
    for name in sorted({*bash.environ, *own}):
        if name in handed and not (name in bash.environ and name in own):
            continue
        a, b = bash.environ.get(name), own.get(name, environ.get(name))
        if a != b:
            found.append(f"{name}: bash {a!r}, job {b!r}")
    return found


def _said(one: Launched) -> Said | None:
    argv = (os.path.basename(one.arguments[0]), *one.arguments[1:])  # noqa: PTH119
    command = normalised(argv)
    if command.target is None or not any("=" in word for word in command.arguments):
        return None
    environ = {**one.environ, **(submitted(Recorded(argv, one.environ, "")) or {})}
    if "--" in command.runner:  # `ray job submit … -- env A=b python3`
        inner = command.runner[command.runner.index("--") + 1 :]
        environ.update(
            {word.partition("=")[0]: word.partition("=")[2] for word in inner if _ASSIGNMENT.fullmatch(word)}
        )
    return Said(command.target, list(command.arguments), environ)
