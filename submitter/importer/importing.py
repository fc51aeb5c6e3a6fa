"""A script → the text of a job file, proved: what it renders is, word by word, what the script runs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from submitter.arguments.assemble import arguments, flags
from submitter.errors import Place, UsageError
from submitter.importer.model import Argument, Launch, Note, Reading
from submitter.importer.reading import read_script
from submitter.importer.shell.template import leaves
from submitter.importer.write import JobFile, job_file
from submitter.job.load import load_text
from submitter.job.model import Job

_SHOWN_LINES = 8


@dataclass(frozen=True)
class Imported:
    text: str
    launch: Launch
    job: Job
    """As it loads with the import's own environment."""
    notes: tuple[Note, ...]
    """By line."""


@dataclass(frozen=True)
class Request:
    script: Path
    environ: Mapping[str, str]
    sets: Mapping[str, str]
    """Variables that win over the environment and become the job file's defaults."""
    arguments: tuple[str, ...]
    """The script's own."""
    launch: int | None
    """Which of several, from 1."""
    name: str
    """The job's, or a file's that it is made from."""
    language: str = "en"


def import_script(request: Request) -> Imported:
    """UsageError, with the script's line: it cannot be read, starts nothing, or no job file can say what it does."""
    try:
        return _imported(request)
    except RecursionError:
        raise UsageError("importer.too_deep", Place(str(request.script))) from None


def _imported(request: Request) -> Imported:
    shown = str(request.script)
    reading = read_script(
        request.script,
        shown=shown,
        environ=request.environ,
        sets=request.sets,
        arguments=request.arguments,
        cwd=os.getcwd(),  # noqa: PTH109  # a text: bash keeps links in it too
    )
    launch, several = _chosen(reading, request.launch)
    written = job_file(reading, launch, name=request.name, language=request.language)
    job = _proved(written, launch, shown, request)
    notes = (*reading.notes, *written.notes, *several)
    return Imported(written.text, launch, job, tuple(sorted(notes, key=lambda note: (note.file != shown, note.line))))


def _chosen(reading: Reading, number: int | None) -> tuple[Launch, list[Note]]:
    """The launch, with a warning where there are others that nobody chose."""
    count = len(reading.launches)
    lines = ", ".join(str(launch.line) for launch in reading.launches[:_SHOWN_LINES])
    if number is not None and not 1 <= number <= count:
        raise UsageError("importer.no_such_launch", Place(reading.file, key="--launch"), count=count, lines=lines)
    launch = reading.launches[(number or 1) - 1]
    if number is not None or count == 1:
        return launch, []
    values = {"count": count, "lines": lines}
    return launch, [Note("importer.several", "warning", launch.file, launch.line, values)]


def _proved(written: JobFile, launch: Launch, shown: str, request: Request) -> Job:
    """The written job renders the script's own words, or the import fails: never something else in silence."""
    withheld = {str(note.values.get("name")) for note in written.notes}
    try:
        environ = {name: value for name, value in request.environ.items() if name not in request.sets}
        job = load_text(written.text, shown, environ=environ)
    except UsageError as error:
        raise UsageError("importer.not_a_job", Place(launch.file, launch.line), reason=error) from None
    _check_words([one.value.text for one in launch.arguments], arguments(job), launch, withheld)
    wanted = {one.name: one.value.text for one in launch.exported}
    got = flags(job)
    for name in sorted({*wanted, *got}):
        if wanted.get(name) != got.get(name) and name not in withheld:
            line = next((one.line for one in launch.exported if one.name == name), launch.line)
            raise UsageError("importer.unequal", Place(launch.file, line), what=name)
    return job


def _check_words(wanted: Sequence[str], got: Sequence[str], launch: Launch, withheld: set[str]) -> None:
    for position, argument in enumerate(launch.arguments):
        if position >= len(got) or wanted[position] != got[position]:
            key = wanted[position].partition("=")[0]
            if position and wanted[position - 1] in withheld:
                continue
            if key not in withheld and not withheld & {key.lstrip("+~"), *_names(argument)}:
                raise UsageError("importer.unequal", Place(launch.file, argument.line), what=key[:80])
    if len(got) > len(wanted):
        raise UsageError("importer.unequal", Place(launch.file, launch.line), what=got[len(wanted)][:80])


def _names(argument: Argument) -> set[str]:
    return {one.name for one in leaves(argument.value.template)}
