"""The file of a custom reward function, as far as it can be read here: what it defines, without importing it."""

from __future__ import annotations

import ast
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from submitter.checks.settings import Settings
from submitter.job.model import Job
from submitter.texts import Phrase

NEW, OLD = "reward.custom_reward_function", "custom_reward_function"
"""verl's key, and the one that it moves over it: `migrate_legacy_reward_impl` (0.7.1 to 0.9.1)."""
FILE_BYTES = 4 << 20
"""A source file above this is no source file."""

State = Literal["read", "absent", "lost", "unreadable", "syntax", "elsewhere"]
"""`lost`: only its folder is here; `absent`: not on this machine; `elsewhere`: a package, or relative to a node."""


@dataclass(frozen=True)
class RewardFile:
    key: str
    """`reward.custom_reward_function` or `custom_reward_function`."""
    path: str
    name: str | None
    state: State
    why: Phrase | str = ""
    defines: frozenset[str] | None = None
    """None: it cannot be told, as with `from x import *`."""
    limits_time: bool = False
    """Its text speaks of a time-out or an alarm."""


def reward_file(job: Job, settings: Settings) -> RewardFile | None:
    """None: the job has no custom reward function. Reads at most one file."""
    key = OLD if any(settings.value(f"{OLD}.{name}") is not None for name in ("path", "name")) else NEW
    path, name = settings.text(f"{key}.path"), settings.text(f"{key}.name")
    if not path:
        return None
    file = _on_this_machine(path, job)
    if file is None:
        return RewardFile(key, path, name, "elsewhere")
    state, text = _text(file)
    return RewardFile(key, path, name, state, text) if state != "read" else _parsed(key, path, name, str(text))


def _on_this_machine(path: str, job: Job) -> Path | None:
    """A relative path counts from the job's working_dir, where Ray starts the trainer; without one, from a node's."""
    path = path.removeprefix("file://")
    if path.startswith("pkg://") or "\0" in path:
        return None
    if path.startswith("/"):
        return Path(path)
    folder = job.runtime_env.working_dir
    return None if folder is None or "://" in folder or path.startswith("~") else Path(folder) / path


def _text(file: Path) -> tuple[State, Phrase | str]:
    """The state, and the file's text or the system's words for why there is none."""
    try:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > FILE_BYTES:
            return "unreadable", Phrase("NR326.no_source")
        return "read", file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ("lost" if file.parent.is_dir() else "absent"), ""
    except (OSError, ValueError) as error:
        return "unreadable", getattr(error, "strerror", None) or str(error)


def _parsed(key: str, path: str, name: str | None, text: str) -> RewardFile:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        return RewardFile(key, path, name, "syntax", str(error))
    lower = text.lower()
    limits = "timeout" in lower or "time_limit" in lower or "alarm(" in lower or "wait_for" in lower
    return RewardFile(key, path, name, "read", defines=_defined(tree), limits_time=limits)


def _defined(tree: ast.Module) -> frozenset[str] | None:
    """Names that the module binds anywhere outside functions and classes; None when others may join them."""
    names: set[str] = set()
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            if node.name == "__getattr__":
                return None
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        if isinstance(node, ast.Name) and node.id in ("globals", "setattr", "exec"):
            return None
        pending.extend(ast.iter_child_nodes(node))
    return None if "*" in names else frozenset(names)
