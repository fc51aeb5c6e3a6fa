"""What commands print: data to stdout, people's text to stderr, one JSON document with `--json`."""

from __future__ import annotations

import errno
import json
import os
import sys
from contextlib import suppress
from typing import Any, TextIO

from submitter.cli.language import language, say
from submitter.errors import NpurunError
from submitter.exit_codes import ExitCode
from submitter.gang.secret_like import redacted
from submitter.texts import one_line

_STANDARD_STREAMS = 3


class OutputLostError(Exception):
    """stdout cannot be written: its reader has gone, or a disk is full."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.reader_left = error.errno == errno.EPIPE
        self.reason = error.strerror


def prepare_streams() -> None:
    """No character can fail to print, and a closed stream's number never goes to a socket or a database."""
    while (fd := os.open(os.devnull, os.O_RDWR)) < _STANDARD_STREAMS:
        pass
    os.close(fd)
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def emit(line: str, *, at_once: bool = False) -> None:
    """A line of data on stdout; raises `OutputLostError`."""
    try:
        print(line, flush=at_once)
    except OSError as error:
        raise OutputLostError(error) from error


def emit_bytes(data: bytes) -> None:
    """Data that a program reads, byte for byte, whatever the terminal's encoding."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
    except OSError as error:
        raise OutputLostError(error) from error


def finish() -> None:
    try:
        sys.stdout.flush()
    except OSError as error:
        raise OutputLostError(error) from error


def silence(stream: TextIO) -> None:
    """Python flushes what is left when it ends, and would complain again."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def tell(text_id: str, /, **values: object) -> None:
    """One line of progress for people."""
    tell_line(say(text_id, **values))


def tell_line(line: str) -> None:
    """All that people are told passes here, and no secret that a value or a place quotes."""
    try:
        print(redacted(line), file=sys.stderr, flush=True)
    except OSError:  # nobody reads it: no reason to end what is told about
        silence(sys.stderr)


def print_json(document: Any) -> None:
    text = json.dumps(document, ensure_ascii=False, indent=2)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(document, indent=2)
    emit(text)


def report_error(error: NpurunError, as_json: bool, **more: Any) -> ExitCode:
    where = error.place.as_json() if error.place else None
    message = say(error.text_id, **error.values) if as_json else error.render(language())
    report(message, where, as_json, **more)
    return error.exit_code


def report(message: str, where: Any, as_json: bool, hint: str | None = None, **more: Any) -> None:
    """`more`: further fields of the JSON error."""
    if as_json:
        document = without_secrets({"error": {"message": one_line(message), "where": where, **more}})
        try:
            print_json(document)
            finish()
        except OutputLostError:  # the exit code still says it
            silence(sys.stdout)
        return
    tell_line(f"npurun: {one_line(message)}")
    if hint:
        tell_line(hint)


def without_secrets(value: Any) -> Any:
    """A JSON document, with every text in it as people would be shown it."""
    if isinstance(value, dict):
        return {key: without_secrets(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_secrets(item) for item in value]
    return redacted(value) if isinstance(value, str) else value
