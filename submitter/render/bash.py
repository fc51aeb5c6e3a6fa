"""A job as a bash script that a person can read, change and run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence

from submitter.arguments.assemble import argument_text, arguments, argv, flags, is_option, own_arguments
from submitter.job.model import Group, Job, Secret
from submitter.texts import one_line


def bash_script(job: Job) -> str:
    """Exports the job's flags and becomes the trainer: its argv is exactly `assemble.argv(job)`.

    One argument a line, every word quoted for the shell.
    """
    arrays = _arrays(job)
    parts = [
        _header(job),
        *_block("# flags", [f"export {name}={shlex.quote(value)}" for name, value in flags(job).items()]),
        *_block("# secrets, read where this runs", [line for secret in job.secrets for line in _secret(secret)]),
        *(_array(name, comment, words) for name, comment, words in arrays),
        _launch(job, [name for name, _, _ in arrays]),
    ]
    return "\n\n".join(parts) + "\n"


Array = tuple[str, str, list[str]]
"""(bash name, comment, words)."""


def _header(job: Job) -> str:
    about = [f"# {one_line(job.name)}: {one_line(job.summary)}", "# Written by `npurun render --as bash`."]
    if job.trainer.launcher == "ray":
        about.append("# Flags exported here reach Ray's workers only if `ray start` on each node had them too.")
    return "\n".join(["#!/usr/bin/env bash", *about, "set -euo pipefail"])


def _block(comment: str, lines: Sequence[str]) -> Iterable[str]:
    return ["\n".join([comment, *lines])] if lines else []


def _secret(secret: Secret) -> list[str]:
    """Two commands, so that `set -e` sees a file that cannot be read."""
    if secret.source == "file":
        return [f"{secret.name}=$(cat -- {shlex.quote(secret.target)})", f"export {secret.name}"]
    return [f"export {secret.name}=${{{secret.target}:?}}"]


def _arrays(job: Job) -> list[Array]:
    """One array for each group that has arguments (an empty one is an error under `set -u` in bash < 4.4)."""
    options = [argument_text(argument) for argument in own_arguments(job) if is_option(argument)]
    groups = [("hydra", options), *((group.name, _overrides(group)) for group in job.groups)]
    groups.append(("after --", list(job.extra_arguments)))
    filled = [(name, words) for name, words in groups if words]
    names = _unique([_identifier(name) for name, _ in filled], _exported(job))
    return [(bash_name, f"# {one_line(name)}", words) for bash_name, (name, words) in zip(names, filled, strict=True)]


def _overrides(group: Group) -> list[str]:
    return [argument_text(argument) for argument in group.arguments if not is_option(argument)]


def _identifier(group: str) -> str:
    """Ends in ARGS, so that no group can overwrite a variable of bash (PATH, IFS, HOME)."""
    return "_" * group[:1].isdigit() + re.sub(r"[^A-Za-z0-9]+", "_", group).upper().strip("_") + "_ARGS"


def _exported(job: Job) -> set[str]:
    return {flag.name for flag in job.flags} | {secret.name for secret in job.secrets}


def _unique(names: Iterable[str], taken: set[str]) -> list[str]:
    """Each name, with underscores behind it until it differs from all before it and from `taken`."""
    unique: list[str] = []
    for name in names:
        while name in taken or name in unique:
            name += "_"
        unique.append(name)
    return unique


def _array(name: str, comment: str, words: Sequence[str]) -> str:
    return "\n".join([comment, f"{name}=(", *(f"  {shlex.quote(word)}" for word in words), ")"])


def _launch(job: Job, arrays: Sequence[str]) -> str:
    whole = argv(job)
    start = whole[: len(whole) - len(arguments(job))]
    return " \\\n  ".join([f"exec {shlex.join(start)}", *(f'"${{{name}[@]}}"' for name in arrays)])
