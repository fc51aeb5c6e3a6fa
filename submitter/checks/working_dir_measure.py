"""The folder that travels with a job: measured as Ray would pack it, before a byte of it is read."""

from __future__ import annotations

import errno
import logging
import os
import stat
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from submitter.job.model import Job

MIB = 1024 * 1024
MAX_WORKING_DIR_BYTES = 100 * MIB
"""Ray keeps packages in the head's memory and every node unpacks its own copy (Ray's own cap is 512 MiB)."""

SMALL_FILE_BYTES = MIB
"""Smaller files count for their folder: a thousand of them are named once."""

FILES_MEASURED = 20_000
"""Above the size limit the walk ends here: a home directory by mistake is refused within seconds."""
EMPTY_PATTERN = 'a pattern is empty, such as "!" alone'
CIRCLE = "a link to a folder that holds it: Ray would pack that again and again"
NO_FILE = "a pipe or a device, not a file"

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
    modules: set[str] = field(default_factory=set)
    """Every Python file, as the module that it is: `recipe.dapo.main_dapo`, `verl` for `verl/__init__.py`."""

    def add(self, path: str, size: int) -> None:
        self.files += 1
        self.total += size
        key = path if size >= SMALL_FILE_BYTES else str(Path(path).parent / "*")
        self.sizes[key] = self.sizes.get(key, 0) + size
        module = module_of(path)
        if module is not None:
            self.modules.add(module)
        if module in SHADOWED:
            self.shadows.append(path)

    @property
    def hopeless(self) -> bool:
        return self.seen > MAX_FILES or (self.total > MAX_WORKING_DIR_BYTES and self.seen > FILES_MEASURED)


def module_of(path: str) -> str | None:
    """The module that the file `path` is: `json` for `json.py` and for `json/__init__.py`; None: no Python file."""
    return path.removesuffix("/__init__.py").removesuffix(".py").replace("/", ".") if path.endswith(".py") else None


class _EnoughError(Exception):
    """The folder is refused whatever else is in it."""


@dataclass(frozen=True)
class Packed:
    """What came of measuring: exactly one of the three is set."""

    folder: str
    measure: Measure | None = None
    unreadable: OSError | None = None
    not_understood: str | None = None
    """Why Ray does not understand an ignore file or pattern."""


def packed(job: Job) -> Packed | None:
    """None: the job has no working_dir, or it is no folder."""
    folder = job.runtime_env.working_dir
    if folder is None or not Path(folder).is_dir():
        return None
    try:
        return Packed(folder, measure(Path(folder).absolute(), job.runtime_env.excludes))
    except OSError as error:
        return Packed(folder, unreadable=error)
    except ValueError as error:
        return Packed(folder, not_understood=str(error))
    except IndexError:  # pathspec's, for a pattern without a name in it
        return Packed(folder, not_understood=EMPTY_PATTERN)


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


def _check_kind(path: Path) -> None:
    """Ray follows links, and opens whatever is no folder: a pipe without a writer, /dev/zero without an end."""
    if path.is_symlink() and path.is_dir() and path.parent.resolve().is_relative_to(path.resolve()):
        raise OSError(errno.ELOOP, CIRCLE, str(path))
    mode = path.stat().st_mode
    if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise OSError(errno.EINVAL, NO_FILE, str(path))
