"""Files as the script sees them: those of this machine, and what the script itself made or removed before."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from submitter.importer.model import Template
from submitter.importer.shell.template import literal, text_of

if TYPE_CHECKING:
    from submitter.importer.shell.state import Shell

MAX_FILE_BYTES = 1_000_000
"""Of a file that a script reads: a neighbour script, a list of arguments."""


def absolute(shell: Shell, path: str) -> str:
    return os.path.normpath(os.path.join(shell.cwd, path))  # noqa: PTH118


def exists(shell: Shell, path: str) -> bool:
    return is_file(shell, path) or is_folder(shell, path) or _real(shell, path, os.path.exists)


def is_file(shell: Shell, path: str) -> bool:
    return absolute(shell, path) in shell.record.files or _real(shell, path, os.path.isfile)


def is_folder(shell: Shell, path: str) -> bool:
    return absolute(shell, path) in shell.record.folders or _real(shell, path, os.path.isdir)


def size_of(shell: Shell, path: str) -> int:
    full = absolute(shell, path)
    if full in shell.record.files:
        content = shell.record.files[full]
        return 1 if content is None else len(text_of(content))
    return Path(full).stat().st_size if _real(shell, path, os.path.isfile) else 0


def content(shell: Shell, path: str) -> Template | None:
    """None: not there, or not a text, or nobody knows what the script wrote there."""
    full = absolute(shell, path)
    if full in shell.record.files:
        return shell.record.files[full]
    if not _real(shell, path, os.path.isfile):
        return None
    try:
        with open(full, "rb") as file:  # noqa: PTH123
            data = file.read(MAX_FILE_BYTES + 1)
        return None if len(data) > MAX_FILE_BYTES or b"\0" in data else literal(data.decode())
    except (OSError, UnicodeDecodeError):
        return None


def make_folder(shell: Shell, path: str) -> None:
    full = absolute(shell, path)
    while full not in shell.record.folders and full != "/":
        shell.record.folders.add(full)
        shell.record.removed.discard(full)
        full = os.path.dirname(full)  # noqa: PTH120


def write(shell: Shell, path: str, text: Template | None, *, append: bool = False) -> None:
    full = absolute(shell, path)
    shell.record.removed.discard(full)
    if append and text is not None:
        before = content(shell, path)
        text = (*before, *text) if before is not None else text if not exists(shell, path) else None
    shell.record.files[full] = text


def remove(shell: Shell, path: str) -> None:
    full = absolute(shell, path)
    shell.record.removed.add(full)
    inside = f"{full}/"
    for made in [made for made in shell.record.files if made == full or made.startswith(inside)]:
        del shell.record.files[made]
    shell.record.folders = {made for made in shell.record.folders if made != full and not made.startswith(inside)}


def _real(shell: Shell, path: str, ask) -> bool:  # type: ignore[no-untyped-def]
    full = absolute(shell, path)
    gone = any(full == removed or full.startswith(f"{removed}/") for removed in shell.record.removed)
    return not gone and "\0" not in full and bool(ask(full))
