"""What the sandbox recorded, and which of it is a launch. The bytes are a stranger's: nothing is taken on trust."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from submitter.importer.verify.commands import Normalised, normalised
from submitter.importer.verify.inside.places import STUBS

Ended = Literal["exited", "timeout", "memory"]

_BASH_OWN = frozenset({"_", "SHLVL", "PWD", "OLDPWD"})
_FUNCTION = re.compile(r"BASH_FUNC_.*%%", re.DOTALL)
_OVERRIDE = re.compile(r"[+~]{0,2}[A-Za-z_][^=\s]*\.[^=\s]*=.*", re.DOTALL)


@dataclass(frozen=True)
class Recorded:
    """One call of a command that is not run. Bytes that are no UTF-8 are as os.fsdecode gives them."""

    argv: tuple[str, ...]
    environ: Mapping[str, str]
    cwd: str


@dataclass(frozen=True)
class Recording:
    commands: tuple[Recorded, ...]
    """In the order of their calls."""
    exit_code: int | None
    """Of the script; negative: a signal ended it. None: it did not end by itself."""
    ended: Ended
    stderr_tail: str
    handed: Mapping[str, str]
    """The environment that the script got."""
    complete: bool
    """False: there were more calls than can be recorded."""
    left_out: int
    """Files of the script's folders that were too large, or too many, to be laid out in the sandbox."""


def parsed(record: bytes) -> Recorded | None:
    """cwd, number of arguments, command, arguments, environment, each ended by NUL. None: it is not that."""
    fields = record.split(b"\0")
    if len(fields) < 4 or fields.pop() != b"" or re.fullmatch(rb"[0-9]{1,7}", fields[1]) is None:
        return None
    end = 3 + int(fields[1])
    if end > len(fields):
        return None
    texts = [_text(field) for field in fields]
    pairs = [pair.partition("=") for pair in texts[end:]]
    environ = {name: value for name, equals, value in reversed(pairs) if equals and name}  # bash takes the first
    return Recorded((_name(texts[2]), *texts[3:end]), environ, texts[0])


def _text(field: bytes) -> str:
    """Without the folder that was put at the front of PATH."""
    return field.decode(errors="surrogateescape").replace(f"{STUBS}:", "")


def _name(command: str) -> str:
    return command.removeprefix(f"{STUBS}/")


def launches(recording: Recording) -> tuple[Recorded, ...]:
    """The commands that start something with an override of its configuration; where there are none, all that do."""
    starting = [(one, found) for one in recording.commands if (found := normalised(one.argv)).target is not None]
    with_overrides = [one for one, found in starting if _has_override(found)]
    return tuple(with_overrides or (one for one, _ in starting))


def _has_override(found: Normalised) -> bool:
    return any(_OVERRIDE.fullmatch(argument) for argument in found.arguments)


def exported(recording: Recording, launch: Recorded) -> dict[str, str]:
    """What the script put into the launch's environment."""
    return {
        name: value
        for name, value in launch.environ.items()
        if name not in _BASH_OWN and _FUNCTION.fullmatch(name) is None and recording.handed.get(name) != value
    }


def submitted(launch: Recorded) -> dict[str, str] | None:
    """env_vars of a `ray job submit --runtime-env-json`, which the trainer gets. None: the launch has none."""
    document = _runtime_env(launch.argv)
    found = document.get("env_vars") if isinstance(document, dict) else None
    return {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else None


def _runtime_env(argv: Sequence[str]) -> Any:
    option = "--runtime-env-json"
    for word, behind in zip(argv, (*argv[1:], ""), strict=True):
        if word == "--":
            return None
        if word == option or word.startswith(f"{option}="):
            return _json(behind if word == option else word.partition("=")[2])
    return None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
