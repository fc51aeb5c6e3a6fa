"""The folders that a script may write to: read on the machine, bounded, and laid out again in the sandbox's memory."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

MAX_FILE_BYTES = 1_000_000
"""As much as the import itself reads of a file. What is larger gets its size alone, without content."""
MAX_BYTES = 64_000_000
MAX_ENTRIES = 10_000
"""A repository of launch scripts has some thousand; the nearest ones are taken first."""
_LEFT_OUT = frozenset({".git", "__pycache__"})
"""Folders that stay empty: no script reads them, and the first is often larger than all the rest."""


@dataclass(frozen=True)
class Entry:
    path: str
    """Relative to the folder."""
    mode: int
    content: bytes = b""
    link: str | None = None
    size: int = 0
    """Of a file without its content."""


@dataclass
class Folder:
    path: str
    entries: list[Entry] = field(default_factory=list)
    left_out: int = 0
    """Files without their content, and what lies beyond the limits."""
    _bytes: int = 0

    def take(self, path: str, found: os.DirEntry[str]) -> bool:
        """True: a folder, to be looked into."""
        mode = found.stat(follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            self.entries.append(Entry(path, mode, link=str(Path(found.path).readlink())))
        elif stat.S_ISREG(mode):
            self.entries.append(self._file(path, found.path, mode))
        elif stat.S_ISDIR(mode):
            self.entries.append(Entry(path, mode))
            return found.name not in _LEFT_OUT
        return False

    def _file(self, path: str, full: str, mode: int) -> Entry:
        descriptor = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            size = os.fstat(descriptor).st_size
            if size > MAX_FILE_BYTES or self._bytes + size > MAX_BYTES:
                self.left_out += 1
                return Entry(path, mode, size=size)
            content = file.read(MAX_FILE_BYTES)
        self._bytes += len(content)
        return Entry(path, mode, content)


def read(path: str, *, deep: bool) -> Folder:
    """What is in a folder. Not `deep`: only the files in it that are not hidden, since it holds more than a project."""
    folder = Folder(path)
    level = [""]
    while level:
        level = list(_one_level(folder, level, deep))
    return folder


def _one_level(folder: Folder, level: list[str], deep: bool) -> Iterator[str]:
    """Takes what is in the folders of `level`; the folders among it."""
    for inner, found in _listed(folder, level):
        if not deep and (found.name.startswith(".") or not found.is_file(follow_symlinks=False)):
            continue
        if len(folder.entries) >= MAX_ENTRIES:
            folder.left_out += 1
            return
        try:
            if folder.take(inner, found):
                yield inner
        except OSError:  # not readable, or gone: the script cannot read it either
            folder.left_out += 1


def _listed(folder: Folder, level: list[str]) -> Iterator[tuple[str, os.DirEntry[str]]]:
    for above in level:
        try:
            with os.scandir(f"{folder.path}/{above}") as found:
                yield from ((f"{above}/{one.name}" if above else one.name, one) for one in found)
        except OSError:
            folder.left_out += 1


def lay_out(folder: Folder, root: Path) -> None:
    """Into `root`, an own folder. Of two folders one may be in the other: what is there already is the same."""
    for entry in folder.entries:
        target = root / entry.path
        if stat.S_ISDIR(entry.mode):
            target.mkdir(exist_ok=True)
            continue
        with suppress(FileExistsError):
            if entry.link is not None:
                target.symlink_to(entry.link)
            else:
                _write(entry, target)


def _write(entry: Entry, target: Path) -> None:
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, entry.mode & 0o777 | 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(entry.content)
        if entry.size:
            file.truncate(entry.size)
