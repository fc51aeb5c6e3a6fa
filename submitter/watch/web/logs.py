"""Pieces of an attempt's log, as it lies on the cluster: its end, the lines around one, the lines that hold a text.

The log is read as a stream, bounded in time and size: nothing of it is kept here.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from submitter.cluster.client import JobInfo, RayClient
from submitter.gang.secret_like import redacted

TAIL_LINES = 400
AROUND_LINES = 200
"""Before and after the one that is asked for."""
MATCHES_MOST = 200
LINE_CHARS = 2_000
"""Shown of one line."""
READ_S = 20.0
READ_BYTES = 1 << 30
_PIECE_BYTES = 1 << 20
"""Kept of a line that does not end: a progress bar may draw on one for days."""


@dataclass(frozen=True)
class Piece:
    lines: list[tuple[int | None, str]] = field(default_factory=list)
    """(number from 1, text) each; the number is None where the log was not read from its beginning."""
    cut: bool = False
    """More would have been there, but for the bounds."""


def tail(client: RayClient, info: JobInfo, lines: int = TAIL_LINES) -> Piece:
    """Raises `RayError`, as do the others."""
    kept: deque[str] = deque(maxlen=lines)
    for _, text in _numbered(client.log_of(info, lines)):
        kept.append(text)
    return Piece([(None, _shown(text)) for text in kept])


def around(client: RayClient, info: JobInfo, line: int, clock: Callable[[], float] = time.monotonic) -> Piece:
    """The lines from `line` - AROUND_LINES to `line` + AROUND_LINES."""
    found: list[tuple[int | None, str]] = []
    until = clock() + READ_S
    for number, text in _numbered(client.log_of(info, -1)):
        if number > line + AROUND_LINES:
            break
        if number >= line - AROUND_LINES:
            found.append((number, _shown(text)))
        if clock() > until:
            return Piece(found, cut=True)
    return Piece(found)


def find(client: RayClient, info: JobInfo, text: str, clock: Callable[[], float] = time.monotonic) -> Piece:
    """The first lines that hold `text`, in any case of letters."""
    wanted, until = text.casefold(), clock() + READ_S
    found: list[tuple[int | None, str]] = []
    for number, line in _numbered(client.log_of(info, -1)):
        if wanted in line.casefold():
            found.append((number, _shown(line)))
        if len(found) >= MATCHES_MOST or clock() > until:
            return Piece(found, cut=True)
    return Piece(found)


def _numbered(chunks: Iterable[bytes]) -> Iterator[tuple[int, str]]:
    number, rest, size = 0, b"", 0
    for chunk in chunks:
        size += len(chunk)
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            number += 1
            yield number, line.decode("utf-8", "replace")
        rest = rest[:_PIECE_BYTES]
        if size > READ_BYTES:
            return
    if rest:
        yield number + 1, rest.decode("utf-8", "replace")


def _shown(line: str) -> str:
    return redacted(line[:LINE_CHARS].rstrip("\r"))
