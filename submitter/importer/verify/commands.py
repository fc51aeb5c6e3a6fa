"""A recorded command → how it runs Python, what it runs, and with which arguments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_PYTHON = re.compile(r"python(?:\d+(?:\.\d+)?)?")
_MODULE = re.compile(r"-[A-Za-z]*m")
_PYTHON_VALUES = frozenset({"-X", "-W", "--check-hash-based-pycs"})
_TORCHRUN_MODULES = frozenset({"torch.distributed.run", "torch.distributed.launch"})
_TORCHRUN_SWITCHES = frozenset({"--standalone", "--no-python", "--no_python", "--run-path", "--run_path"})
_RAY_SWITCHES = frozenset({"--no-wait", "--verify", "--delete-working-dir"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_WRAPPERS = frozenset(
    {"uv", "nsys", "ncu", "msprof", "numactl", "taskset", "nohup", "env", "sudo", "srun", "mpirun", "mpiexec", "conda"}
    | {"poetry", "pixi", "rye", "pdm", "time", "timeout", "nice", "stdbuf", "setsid", "exec", "accelerate", "deepspeed"}
)
"""They run what stands behind their own options; what these are is not looked at."""
_STARTING = _WRAPPERS | {"torchrun", "ray"}


@dataclass(frozen=True)
class Normalised:
    runner: tuple[str, ...]
    """All words before the target, `-m` aside."""
    target: str | None
    """A module, or the path of a Python file. None: the command starts neither."""
    arguments: tuple[str, ...] = ()
    is_module: bool = False


def normalised(argv: Sequence[str]) -> Normalised:
    return _found((), tuple(argv))


Words = tuple[str, ...]


def _found(before: Words, words: Words) -> Normalised:
    name = words[0].rpartition("/")[2] if words else ""
    if _PYTHON.fullmatch(name):
        return _python(before, words)
    if name == "torchrun":
        return _torchrun((*before, words[0]), words[1:])
    if words[1:3] == ("job", "submit") and name == "ray":
        return _ray((*before, *words[:3]), words[3:])
    if name in _WRAPPERS:
        return _wrapped(before, words)
    return Normalised((*before, *words), None)


def _python(before: Words, words: Words) -> Normalised:
    at = 1
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        if _MODULE.fullmatch(words[at]):
            return _module((*before, *words[:at]), words[at + 1 :])
        if words[at] == "-c":
            return Normalised((*before, *words), None)
        at += 2 if words[at] in _PYTHON_VALUES else 1
    return _file((*before, *words[:at]), words[at:])


def _module(runner: Words, words: Words) -> Normalised:
    if words and words[0] in _TORCHRUN_MODULES:
        return _torchrun((*runner, "-m", words[0]), words[1:])
    return Normalised(runner, words[0], words[1:], is_module=True) if words else Normalised(runner, None)


def _file(runner: Words, words: Words) -> Normalised:
    if not words or words[0] == "-":
        return Normalised((*runner, *words), None)
    return Normalised(runner, words[0], words[1:])


def _torchrun(runner: Words, words: Words) -> Normalised:
    """https://docs.pytorch.org/docs/stable/elastic/run.html: all its options but the switches take a value."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        name, equals, _ = words[at].partition("=")
        if name in ("-m", "--module"):
            return _behind_module(runner, words, at)
        at += 1 if equals or name in _TORCHRUN_SWITCHES else 2
    return _file((*runner, *words[:at]), words[at:])


def _behind_module(runner: Words, words: Words, at: int) -> Normalised:
    """`-m` is a switch there: further options may stand between it and the module."""
    found = _torchrun((*runner, *words[:at]), words[at + 1 :])
    return Normalised(found.runner, found.target, found.arguments, is_module=found.target is not None)


def _ray(runner: Words, words: Words) -> Normalised:
    at = 0
    while at < len(words) and words[at].startswith("--") and words[at] != "--":
        at += 1 if "=" in words[at] or words[at] in _RAY_SWITCHES else 2
    at += words[at : at + 1] == ("--",)
    return _found((*runner, *words[:at]), words[at:])


def _wrapped(before: Words, words: Words) -> Normalised:
    """The first word from which on it is a command that starts something."""
    for at in range(1, len(words)):
        name = words[at].rpartition("/")[2]
        if _PYTHON.fullmatch(name) or name in _STARTING:
            found = _found((*before, *words[:at]), words[at:])
            if found.target is not None:
                return found
        if name.endswith(".py") and not _ASSIGNMENT.fullmatch(words[at]):
            return _file((*before, *words[:at]), words[at:])
    return Normalised((*before, *words), None)
