"""Flags that name what a later attempt would write over: the same for the client, which sends them, and the driver,
which proves that they arrived. Standard library only.

Verl's file logger opens its file with "wb" (verl/utils/tracking.py, 0.7.1 to 0.9.1): VERL_FILE_LOGGER_PATH as it is, or
`<VERL_FILE_LOGGER_ROOT or .>/<project>/<experiment>.jsonl`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

LOGGER_PATH, LOGGER_ROOT = "VERL_FILE_LOGGER_PATH", "VERL_FILE_LOGGER_ROOT"
FIRST = 1
"""The attempt that has the job's own values."""
_NO_FILES = "/dev/"
"""`/dev/null` and `/dev/stdout` lose nothing, and have no room beside them."""


def attempt_safe(flags: Mapping[str, str], attempt: int) -> dict[str, str]:
    """The job's flags as attempt number `attempt` has them: `x.jsonl` becomes `x.a2.jsonl`, a root gets a folder."""
    return _each(flags, _WITH, attempt)


def as_in_job(flags: Mapping[str, str], attempt: int) -> dict[str, str]:
    """The way back: the job's flags from those of attempt number `attempt`."""
    return _each(flags, _WITHOUT, attempt)


def left_to_process(environ: Mapping[str, str], attempt: int) -> dict[str, str]:
    """What a process of the attempt has to set itself: the job does not name it, so that the request could not.

    It is the node's own environment that names the file, or nobody: verl then writes below the trainer's own folder.
    """
    named = {name: environ[name] for name in _WITH if name in environ} or {LOGGER_ROOT: ""}
    done = attempt == FIRST or as_in_job(named, attempt) != named
    return {} if done else attempt_safe(named, attempt)


def number_of(attempt: str) -> int:
    """The number in a submission id; that of the first attempt where there is none."""
    number = attempt.rpartition("-a")[2]
    return int(number) if number.isdecimal() else FIRST


def _each(flags: Mapping[str, str], change: Mapping[str, Callable[[str, str], str]], attempt: int) -> dict[str, str]:
    if attempt == FIRST:
        return dict(flags)
    return {name: change[name](value, f"a{attempt}") if name in change else value for name, value in flags.items()}


def _path_with(path: str, mark: str) -> str:
    folder, slash, name = path.rpartition("/")
    if not name or path.startswith(_NO_FILES):
        return path
    stem, dot, ending = name.rpartition(".")
    return f"{folder}{slash}{stem}.{mark}{dot}{ending}" if stem else f"{path}.{mark}"


def _path_without(path: str, mark: str) -> str:
    folder, slash, name = path.rpartition("/")
    if path.startswith(_NO_FILES):
        return path
    stem, dot, ending = name.rpartition(".")
    if stem.endswith(f".{mark}"):
        return f"{folder}{slash}{stem.removesuffix(f'.{mark}')}{dot}{ending}"
    return path.removesuffix(f".{mark}")


def _root_with(root: str, mark: str) -> str:
    return f"{root}/{mark}" if root else mark


def _root_without(root: str, mark: str) -> str:
    return "" if root == mark else root.removesuffix(f"/{mark}")


_WITH = {LOGGER_PATH: _path_with, LOGGER_ROOT: _root_with}
_WITHOUT = {LOGGER_PATH: _path_without, LOGGER_ROOT: _root_without}
