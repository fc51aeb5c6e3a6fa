"""The end of an attempt's log, read again and again: what is new in it, and how far it has come. And its beginning."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from submitter.cluster.client import JobInfo, RayClient

FIRST_LINES = 200
MORE = 16
"""So many times more lines are asked for, when the last ones do not reach back to what was read before."""
MOST_LINES = 50_000
MOST_BYTES = 16 << 20
"""Of one reading; older lines are left out."""
LINE_BYTES = 1 << 20
"""Kept of a line that has not ended, its beginning: a progress bar may draw on one for days."""
HEAD_BYTES = 1 << 20
"""The nodes' verdicts and proofs, and from where it resumed, stand in the log's beginning."""
MARK_BYTES = 4096
"""Kept of what was read, to find it again."""


@dataclass(frozen=True)
class Piece:
    data: bytes
    whole: bool
    """It begins with the log's first byte."""


@dataclass(frozen=True)
class Fresh:
    lines: list[str]
    """New and complete; some are missing where the log grew by more than is read at once."""
    grown: bool
    position: int | None
    """Bytes from the log's beginning; None: not known."""


def last_lines(client: RayClient, info: JobInfo, lines: int, most_bytes: int = MOST_BYTES) -> Piece:
    """Raises `RayError`. Holds at most `most_bytes` (and one piece of the answer)."""
    data, cut = bounded(client.log_of(info, lines), most_bytes)
    return Piece(data, whole=not cut and data.count(b"\n") < lines)


def head_of(chunks: Iterable[bytes]) -> bytes:
    """`HEAD_BYTES` from the log's first byte on, and the rest of the piece that they end in."""
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= HEAD_BYTES:
            break
    return head


def bounded(chunks: Iterable[bytes], most_bytes: int) -> tuple[bytes, bool]:
    """The last bytes of `chunks`, and whether any were left out."""
    kept: deque[bytes] = deque()
    size, cut = 0, False
    for chunk in chunks:
        kept.append(chunk)
        size += len(chunk)
        while size - len(kept[0]) >= most_bytes:
            size -= len(kept.popleft())
            cut = True
    return b"".join(kept), cut


class LogEnd:
    def __init__(self) -> None:
        self._mark = b""
        self._position: int | None = None
        self._partial = b""

    def read(self, client: RayClient, info: JobInfo) -> Fresh:
        """Raises `RayError`; then nothing has changed."""
        lines = FIRST_LINES
        while True:
            piece = last_lines(client, info, lines)
            if piece.whole or lines >= MOST_LINES or self._found(piece.data) >= 0:
                return self.take(piece)
            lines = min(lines * MORE, MOST_LINES)

    def take(self, piece: Piece) -> Fresh:
        start = self._start(piece)
        after = piece.data[start or 0 :]
        if start is None:
            self._partial = b""
        if piece.whole:
            self._position = len(piece.data)
        elif self._position is not None:
            sure = start is not None and self._mark not in after
            self._position = self._position + len(after) if sure else None
        if after:
            self._mark = piece.data[-MARK_BYTES:]
        *whole, rest = (self._partial + after).split(b"\n")
        self._partial = rest[:LINE_BYTES]
        return Fresh([line.decode("utf-8", "replace") for line in whole], bool(after), self._position)

    def _start(self, piece: Piece) -> int | None:
        """Where what is new begins; None: nothing of what was read before is in the piece."""
        if piece.whole:
            return self._position if self._position is not None else self._after_mark(piece.data)
        return self._after_mark(piece.data)

    def _after_mark(self, data: bytes) -> int | None:
        found = self._found(data)
        return None if found < 0 else found + len(self._mark)

    def _found(self, data: bytes) -> int:
        """Of a short mark nothing can be told: it may stand anywhere. Then the whole log is short as well.

        The first place: a log that says the same thing again and again has the mark in many, and counts as grown.
        """
        return data.find(self._mark) if len(self._mark) == MARK_BYTES else -1
