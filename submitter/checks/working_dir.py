"""Rules on the folder that travels with a job, each on the one measurement of it."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import nlargest

from submitter.checks.case import Case
from submitter.checks.finding import Finding
from submitter.checks.rule import Rule
from submitter.checks.working_dir_measure import (
    CIRCLE,
    EMPTY_PATTERN,
    MAX_FILES,
    MAX_WORKING_DIR_BYTES,
    MIB,
    NO_FILE,
    Measure,
)
from submitter.errors import Place
from submitter.job.model import Job
from submitter.texts import Phrase

LARGEST_NAMED = 10
_WHY: Mapping[str | None, Phrase] = {
    CIRCLE: Phrase("NR443.circle"),
    NO_FILE: Phrase("NR443.no_file"),
    EMPTY_PATTERN: Phrase("NR444.empty"),
}
"""What is told of in the words of this table; all else in the system's or in Ray's."""


def working_dir_missing(case: Case) -> list[Finding]:
    """Source: Ray packs a local folder only; anything else fails at submission."""
    folder = case.job.runtime_env.working_dir
    if folder is None or case.working_dir is not None:
        return []
    return [Finding("NR441", "error", _place(case.job), value=folder)]


def working_dir_large(case: Case) -> list[Finding]:
    """Source: ray/_private/runtime_env/packaging.py (ignore rules); packages lie in the GCS, which is memory."""
    found = case.working_dir.measure if case.working_dir else None
    if found is None or (found.seen <= MAX_FILES and found.total <= MAX_WORKING_DIR_BYTES):
        return []
    return [_too_large(case.job, found)]


def working_dir_unreadable(case: Case) -> list[Finding]:
    """Source: ray/_private/runtime_env/packaging.py opens every file, pipes and devices too."""
    packed = case.working_dir
    if packed is None or packed.unreadable is None:
        return []
    error = packed.unreadable
    values: dict[str, object] = {
        "path": error.filename or packed.folder,
        "why": _WHY.get(error.strerror, error.strerror or error),
    }
    return [Finding("NR443", "error", _place(case.job), value=packed.folder, values=values)]


def working_dir_rules(case: Case) -> list[Finding]:
    """Source: ray/_private/runtime_env/packaging.py reads .gitignore, .rayignore and excludes with pathspec."""
    packed = case.working_dir
    if packed is None or packed.not_understood is None:
        return []
    return [
        Finding(
            "NR444",
            "error",
            _place(case.job),
            value=packed.folder,
            values={"why": _WHY.get(packed.not_understood, packed.not_understood)},
        )
    ]


def working_dir_hides(case: Case) -> list[Finding]:
    """Source: ray/_private/runtime_env/working_dir.py puts the folder first on PYTHONPATH, of Ray's processes too."""
    found = case.working_dir.measure if case.working_dir else None
    if found is None or working_dir_large(case):
        return []  # a folder that is refused was perhaps not walked to its end
    return [Finding("NR445", "warning", _place(case.job), value=path) for path in sorted(found.shadows)]


RULES = (
    Rule("NR441", ("error",), working_dir_missing, forcible=False),
    Rule("NR442", ("error",), working_dir_large, forcible=False),
    Rule("NR443", ("error",), working_dir_unreadable, forcible=False),
    Rule("NR444", ("error",), working_dir_rules, forcible=False),
    Rule("NR445", ("warning",), working_dir_hides),
)


def _too_large(job: Job, found: Measure) -> Finding:
    largest = nlargest(LARGEST_NAMED, found.sizes.items(), key=lambda entry: entry[1])
    too_many = found.seen > MAX_FILES
    more = "" if found.complete else "> "
    said = {"value": _files(f"{more}{MAX_FILES}"), "limit": _files(str(MAX_FILES))} if too_many else {}
    return Finding(
        "NR442",
        "error",
        _place(job),
        value=more + (f"{MAX_FILES} files" if too_many else _mib(found.total)),
        limit=f"{MAX_FILES} files" if too_many else _mib(MAX_WORKING_DIR_BYTES),
        values={
            **said,
            "folder": job.runtime_env.working_dir,
            "largest": ", ".join(f"{path} ({_mib(size)})" for path, size in largest),
        },
    )


def _files(count: str) -> Phrase:
    return Phrase("NR442.files", {"count": count})


def _mib(size: int) -> str:
    return f"{size / MIB:.1f} MiB"


def _place(job: Job) -> Place:
    return job.place("runtime_env.working_dir")
