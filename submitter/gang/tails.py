"""The telling ends of an attempt's log files on one host: Ray workers, the raylet, CANN, the kernel.

Ray passes on what its workers print while their driver lives: what they print last, and what other programs write, is
only here.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from .file_end import COLOUR, read_end

READ_BYTES = 128 * 1024
"""From the end of each file."""
LINES_OF_FILE = 60
LINES_OF_NODE = 400
BYTES_OF_NODE = 64 * 1024
"""Before the driver leaves out what its own log has."""
FILES_READ = 200
FOLDERS_LISTED = 20_000
LINE_SHOWN = 2000

_WORKER = re.compile(r"worker-[0-9a-f]+-(?P<job>[0-9a-f]{8})-(?P<pid>\d+)\.(?:err|out)")
_CORE = re.compile(r"python-core-worker-[0-9a-f]+_(?P<pid>\d+)\.log")
_RAYLET = re.compile(r"raylet\.(?:err|out)")
_PLOG = re.compile(r"plog-(?P<pid>\d+)_\d+\.log")
_PLOG_FOLDERS = ("debug/plog", "run/plog", "plog")
"""CANN 6 and later; before, everything was in one folder."""

_TELLING = re.compile(
    r"Traceback \(most|\b\w*(?:Error|Exception)\b|\b(?:fatal|FATAL|core dumped|panic|Aborted|assert|ASSERT)\b"
    r"|[Oo]ut of memory|\bOOM\b|oom-kill|Killed process|\bSIG(?:SEGV|ABRT|KILL|BUS|TERM)\b|[Ss]egmentation fault"
    r"|\bE[A-Z]\d{4}\b|\b(?:107|207|507)\d{3}\b|\[ERROR\]|\berror code\b|\bFailed to\b"
    r"|No space left|Connection (?:reset|refused|closed)"
)
_RAYS_OWN = re.compile(r"^\[[\d-]+ [\d:,]+ [EFC] |\(E\)|\(F\)|Check failed|\*\*\* SIG|Killing worker|memory usage|OOM")
"""Lines of the raylet and of core workers that count: errors, and who was killed for memory."""
_PLOG_ERROR = re.compile(r"^\[(?:ERROR|CRITICAL|EVENT\] .*fail)")


@dataclass(frozen=True)
class Tail:
    file: str
    """As people find it: relative to Ray's log folder, else the whole path."""
    lines: tuple[str, ...]


Mask = Callable[[str], str]


def tails(
    session_logs: Path | None,
    plog_folders: Sequence[Path],
    jobs: Collection[str],
    pids: Collection[int],
    since: float,
    mask: Mask,
) -> list[Tail]:
    """The newest files first. `jobs`: hex ids of the attempt's Ray jobs; `pids`: of its processes here; `since`: wall
    clock, seconds; files that were not written after that are no part of it."""
    files = [*_ray_files(session_logs, jobs, pids), *_plogs(plog_folders, {*pids, *_pids(session_logs, jobs)})]
    newest = sorted((file for file in files if file.changed >= since), key=lambda file: (file.rank, -file.changed))
    found: list[Tail] = []
    lines = size = 0
    for file in newest[:FILES_READ]:
        told = [mask(line)[:LINE_SHOWN] for line in _telling_end(file.path, file.telling)]
        told = told[: max(0, LINES_OF_NODE - lines)]
        lines += len(told)
        size += sum(len(line) for line in told)
        if told:
            found.append(Tail(file.shown, tuple(told)))
        if size > BYTES_OF_NODE or lines >= LINES_OF_NODE:
            break
    return found


@dataclass(frozen=True)
class _File:
    path: Path
    shown: str
    rank: int
    """What is read first: 0 workers, 1 CANN, 2 Ray itself."""
    changed: float
    telling: re.Pattern[str]


def _ray_files(folder: Path | None, jobs: Collection[str], pids: Collection[int]) -> Iterator[_File]:
    for entry in _entries(folder):
        worker, core = _WORKER.fullmatch(entry.name), _CORE.fullmatch(entry.name)
        if worker and worker["job"] in jobs:
            yield _file(entry, entry.name, 0, _TELLING)
        elif (core and int(core["pid"]) in pids) or _RAYLET.fullmatch(entry.name):
            yield _file(entry, entry.name, 2, _RAYS_OWN)


def _plogs(folders: Iterable[Path], pids: Collection[int]) -> Iterator[_File]:
    for folder in folders:
        for below in _PLOG_FOLDERS:
            for entry in _entries(folder / below):
                plog = _PLOG.fullmatch(entry.name)
                if plog and int(plog["pid"]) in pids:
                    yield _file(entry, entry.path, 1, _PLOG_ERROR)


def _pids(folder: Path | None, jobs: Collection[str]) -> set[int]:
    """Of the jobs' Ray workers, from the names of their logs: they may be dead by now."""
    matches = (_WORKER.fullmatch(entry.name) for entry in _entries(folder))
    return {int(match["pid"]) for match in matches if match and match["job"] in jobs}


def _file(entry: os.DirEntry[str], shown: str, rank: int, telling: re.Pattern[str]) -> _File:
    try:
        changed = entry.stat().st_mtime
    except OSError:  # removed meanwhile
        changed = 0.0
    return _File(Path(entry.path), shown, rank, changed, telling)


def _entries(folder: Path | None) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder or "/nonexistent") as entries:
            return list(islice(entries, FOLDERS_LISTED))
    except OSError:
        return []


def _telling_end(path: Path, telling: re.Pattern[str]) -> list[str]:
    """From the first telling line of the file's end on, the last 60: a traceback stands above its error."""
    kept: deque[str] = deque(maxlen=LINES_OF_FILE)
    for line in _last_lines(path):
        if kept or telling.search(line):
            kept.append(line)
    return list(kept)


def _last_lines(path: Path) -> list[str]:
    text, cut = read_end(path, READ_BYTES)
    lines = [plain for line in text.splitlines() if (plain := COLOUR.sub("", line).rstrip())]
    return lines[1:] if cut else lines
