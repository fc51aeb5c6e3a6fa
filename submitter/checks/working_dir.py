"""The folder that travels with a job: measured as Ray would pack it, before a byte of it is read."""

from __future__ import annotations

import errno
import logging
import os
import stat
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import nlargest
from pathlib import Path

from submitter.checks.case import Case
from submitter.checks.finding import Finding
from submitter.checks.rule import Rule
from submitter.errors import Place
from submitter.job.model import Job

MIB = 1024 * 1024
MAX_WORKING_DIR_BYTES = 100 * MIB
"""Ray keeps packages in the head's memory and every node unpacks its own copy (Ray's own cap is 512 MiB)."""

LARGEST_NAMED = 10
SMALL_FILE_BYTES = MIB
"""Smaller files count for their folder: a thousand of them are named once."""

FILES_MEASURED = 20_000
"""Above the size limit the walk ends here: a home directory by mistake is refused within seconds."""
MAX_FILES = 50_000
"""Files and folders, however small: Ray stats each several times, and every node unpacks all of them."""

_RAY_IMPORTS = frozenset(
    {"aiohttp", "attr", "click", "colorama", "filelock", "google", "jsonschema", "msgpack", "numpy", "packaging"}
    | {"psutil", "pydantic", "ray", "referencing", "requests", "typing_extensions", "urllib3", "yaml", "yarl"}
)
SHADOWED = (sys.stdlib_module_names | _RAY_IMPORTS) - set(sys.builtin_module_names)
"""The working_dir comes first on the import path of Ray's own processes too; built-in modules cannot be hidden."""


@dataclass
class Measure:
    """Sizes in bytes by path below the folder; small files under `folder/*`."""

    total: int = 0
    files: int = 0
    seen: int = 0
    """Files and folders."""
    complete: bool = True
    sizes: dict[str, int] = field(default_factory=dict)
    shadows: list[str] = field(default_factory=list)
    """Top-level modules that hide one of `SHADOWED`."""

    def add(self, path: str, size: int) -> None:
        self.files += 1
        self.total += size
        key = path if size >= SMALL_FILE_BYTES else str(Path(path).parent / "*")
        self.sizes[key] = self.sizes.get(key, 0) + size
        if _module(path) in SHADOWED:
            self.shadows.append(path)

    @property
    def hopeless(self) -> bool:
        return self.seen > MAX_FILES or (self.total > MAX_WORKING_DIR_BYTES and self.seen > FILES_MEASURED)


class _EnoughError(Exception):
    """The folder is refused whatever else is in it."""


def measure(folder: Path, excludes: Iterable[str]) -> Measure:
    """What Ray would pack of `folder`, by its own ignore rules.

    OSError: something cannot be read. ValueError, IndexError: Ray does not understand an ignore file or pattern.
    """
    from ray._private.runtime_env.packaging import _dir_travel, _get_excludes

    found = Measure()

    def visit(path: Path) -> None:
        found.seen += 1
        if path.is_file():
            found.add(str(path.relative_to(folder)), path.stat().st_size)
        elif path.exists():
            _check_kind(path)
        if found.hopeless:
            raise _EnoughError

    try:
        rules = [_get_excludes(folder, ray_excludes(excludes))]
        _dir_travel(folder, rules, visit, include_gitignore=respects_gitignore(), logger=silent_logger())
    except _EnoughError:
        found.complete = False
    return found


def ray_excludes(excludes: Iterable[str]) -> list[str]:
    """The job's excludes behind those that Ray always applies to a working_dir."""
    from ray._private.ray_constants import get_runtime_env_default_excludes

    return [*get_runtime_env_default_excludes(), *excludes]


def respects_gitignore() -> bool:
    """As Ray's own submission client decides it."""
    return os.environ.get("RAY_RUNTIME_ENV_IGNORE_GITIGNORE", "0") != "1"


def silent_logger() -> logging.Logger:
    """Ray's packaging logs a line per ignore file and large file; here the findings say it."""
    logger = logging.getLogger("npurun.packaging")
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    return logger


def working_dir_missing(case: Case) -> list[Finding]:
    """Source: Ray packs a local folder only; anything else fails at submission."""
    job = case.job
    folder = job.runtime_env.working_dir
    if folder is None or Path(folder).is_dir():
        return []
    return [Finding("NR441", "error", _place(job), value=folder)]


def working_dir_packed(case: Case) -> list[Finding]:
    """What Ray would pack: its size, and modules in it that keep Ray's supervisor of the job from starting.

    Source: ray/_private/runtime_env/packaging.py (ignore rules, storage in the GCS) and working_dir.py (PYTHONPATH).
    """
    job = case.job
    folder = job.runtime_env.working_dir
    if folder is None or not Path(folder).is_dir():
        return []
    try:
        found = measure(Path(folder).absolute(), job.runtime_env.excludes)
    except OSError as error:
        values: dict[str, object] = {"path": error.filename or folder, "why": error.strerror or error}
        return [Finding("NR443", "error", _place(job), value=folder, values=values)]
    except (ValueError, IndexError) as error:  # IndexError: pathspec's, for a pattern without a name in it
        why = str(error) if isinstance(error, ValueError) else 'a pattern is empty, such as "!" alone'
        return [Finding("NR444", "error", _place(job), value=folder, values={"why": why})]
    if found.seen > MAX_FILES or found.total > MAX_WORKING_DIR_BYTES:
        return [_too_large(job, folder, found)]
    return [Finding("NR445", "warning", _place(job), value=path) for path in sorted(found.shadows)]


RULES = (Rule("NR441", ("error",), working_dir_missing), Rule("NR442", ("error", "warning"), working_dir_packed))


def _module(path: str) -> str | None:
    """The top-level module that `path` is: `json.py` or `json/__init__.py`; a bare folder hides none."""
    return path.removesuffix("/__init__.py").removesuffix(".py") if path.endswith(".py") else None


def _check_kind(path: Path) -> None:
    """Ray follows links, and opens whatever is no folder: a pipe without a writer, /dev/zero without an end."""
    if path.is_symlink() and path.is_dir() and path.parent.resolve().is_relative_to(path.resolve()):
        raise OSError(errno.ELOOP, "a link to a folder that holds it: Ray would pack that again and again", str(path))
    mode = path.stat().st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise OSError(errno.EINVAL, "a pipe or a device, not a file", str(path))


def _too_large(job: Job, folder: str, found: Measure) -> Finding:
    largest = nlargest(LARGEST_NAMED, found.sizes.items(), key=lambda entry: entry[1])
    too_many = found.seen > MAX_FILES
    return Finding(
        "NR442",
        "error",
        _place(job),
        value=("" if found.complete else "> ") + (f"{MAX_FILES} files" if too_many else _mib(found.total)),
        limit=f"{MAX_FILES} files" if too_many else _mib(MAX_WORKING_DIR_BYTES),
        values={"folder": folder, "largest": ", ".join(f"{path} ({_mib(size)})" for path, size in largest)},
    )


def _mib(size: int) -> str:
    return f"{size / MIB:.1f} MiB"


def _place(job: Job) -> Place:
    return Place(file=job.file, key="runtime_env.working_dir")
