"""What no job file can say, found before one is written: UsageError with the script's line."""

from __future__ import annotations

import re
from collections.abc import Iterable

from submitter.errors import Place, UsageError
from submitter.importer.grouping import Word
from submitter.importer.model import Exported, Launch
from submitter.importer.shell.template import text_of
from submitter.job.document import parse
from submitter.job.nesting import check_key_nesting, check_nesting
from submitter.job.sections import SCRIPT
from submitter.job.source import MAX_JOB_BYTES
from submitter.job.variables import NAME, check_text

_MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*", re.ASCII)
_SCRIPT = re.compile(SCRIPT)


def check_launch(launch: Launch, exported: Iterable[Exported], words: Iterable[Word]) -> None:
    _check_target(launch)
    for one in exported:
        place = Place(launch.file, one.line)
        if NAME.fullmatch(one.name) is None:
            raise UsageError("job.env_name", place, name=one.name)
        check_text(one.value.text, place)
    for word in words:
        _check_word(word, Place(launch.file, word.argument.line))


def check_document(text: str, launch: Launch) -> None:
    """That the file is not too long for a job file."""
    place = Place(launch.file, launch.line)
    size = len(text.encode())
    if size > MAX_JOB_BYTES:
        raise UsageError("job.too_large", place, size=size, limit=MAX_JOB_BYTES)
    try:
        parse(text, launch.file)
    except UsageError as error:
        raise UsageError(error.text_id, place, **error.values) from None


def _check_target(launch: Launch) -> None:
    place, target = Place(launch.file, launch.line), launch.target.text
    check_text(target, place)
    if not launch.is_module and _SCRIPT.fullmatch(target) is None:
        raise UsageError("importer_write.script", place, value=target or "''")
    if launch.is_module and _MODULE.fullmatch(target) is None:
        raise UsageError("importer_write.module", place, value=target or "''")


def _check_word(word: Word, place: Place) -> None:
    check_text(word.argument.value.text, place)
    if word.key is not None:
        check_key_nesting(word.key, place)
    check_nesting(word.argument.value.text if word.value is None else text_of(word.value), place)
