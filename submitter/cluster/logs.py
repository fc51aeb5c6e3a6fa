"""A job's log as lines: each exactly once, whatever happens to connections, the dashboard or the network.

Ray's stream always starts at the first byte and can end at any moment, so what was delivered is counted and skipped
when it starts again. It also has holes (Ray 2.60): it ends without a word, and without the lines before, at a byte that
is no UTF-8, at a line of more than 4 MiB, and behind a proxy that knows no websockets. The log is then read whole from
time to time, as bytes. The State API's own stream is not used: a follower that leaves keeps one of its hundred places
occupied until the dashboard restarts.

The log never decides a run's outcome.
"""

from __future__ import annotations

import codecs
import io
import random
import time
from collections.abc import Callable, Iterator

from submitter.cluster.client import RayClient
from submitter.cluster.errors import RayError
from submitter.cluster.stream import LogStream
from submitter.texts import Tell

RETRY_FIRST_S = 0.5
RETRY_MAX_S = 15.0
"""A dashboard takes about ten seconds to start."""
STALL_S = 60.0
"""A stream that is silent for so long is compared with the file: a proxy may have dropped it without a word."""
BARREN_LIMIT = 2
"""Streams in a row that ended without anything new, until the log is read whole instead."""
WHOLE_EVERY_S = 5.0
WHOLE_SHARE = 0.1
"""Of the time, at most, that reading the whole log again may take."""
DRAIN_S = 6.0
"""Ray ends the stream within three seconds of the job's end."""
EXACT_CHARS = 32 << 20
"""Up to here the log is read once more at the end (about a second); beyond, only its end is compared."""
TAIL_LINES = 20
TAIL_CHARS = 8192
"""Kept of what was delivered, to compare with the file's end."""


class Cursor:
    """How far the log was delivered, and how far a replay of it is still behind that.

    Counted in characters other than newlines, and in the newlines after the last of them: Ray translates `\\r\\n`, and
    where the file ended for a moment between the two it makes two newlines of it, in the next replay one.
    """

    def __init__(self) -> None:
        self.chars = 0
        """Delivered."""
        self._breaks = 0
        self._skip_chars = 0
        self._skip_breaks = 0

    def restart(self) -> None:
        """What is handed to `new` next is the log from its beginning."""
        self._skip_chars, self._skip_breaks = self.chars, self._breaks

    def new(self, text: str) -> str:
        """The part of `text` that was not delivered yet; it counts as delivered from now on."""
        start = _after_chars(text, self._skip_chars)
        self._skip_chars -= start - text.count("\n", 0, start)
        if self._skip_chars:
            return ""
        while self._skip_breaks and text.startswith("\n", start):
            start += 1
            self._skip_breaks -= 1
        fresh = text[start:]
        if fresh:
            self._skip_breaks = 0
            self._count(fresh)
        return fresh

    def _count(self, fresh: str) -> None:
        breaks = len(fresh) - len(fresh.rstrip("\n"))
        self._breaks = breaks if breaks < len(fresh) else self._breaks + breaks
        self.chars += len(fresh) - fresh.count("\n")


class JobLog:
    """The lines of one submission's log, read by a caller that also does other things. Never raises `RayError`."""

    def __init__(
        self,
        client: RayClient,
        submission_id: str,
        *,
        tell: Tell,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._client = client
        self._id = submission_id
        self._tell = tell
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter
        self._cursor = Cursor()
        self._partial: list[str] = []
        self._tail = ""
        self._stream: LogStream | None = None
        self._fruitful = False
        self._barren = 0
        self._failures = 0
        self._told_away = False
        self._next_at = 0.0
        self._heard_at = 0.0
        self._whole = False

    @property
    def connected(self) -> bool:
        return self._stream is not None

    def read(self, wait_s: float) -> list[str]:
        """The lines that came within about `wait_s`, without their newlines. A line is held until it is whole."""
        if self._whole:
            return self._read_whole(wait_s)
        if self._stream is None and not self._open(wait_s):
            return []
        return self._read_stream(wait_s)

    def finish(self) -> list[str]:
        """The rest, once the job has ended: bounded, and complete as far as the cluster can be reached."""
        lines: list[str] = []
        until = self._clock() + DRAIN_S
        while self.connected and self._clock() < until:
            lines += self.read(1.0)
        self.close()
        try:
            if self._cursor.chars < EXACT_CHARS or not self._has_tail():
                lines += self._catch_up(final=True)
        except RayError as error:
            self._tell("cluster.log_away", submission=self._id, error=error)
        last, self._partial = "".join(self._partial), []
        return [*lines, last] if last else lines

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _open(self, wait_s: float) -> bool:
        pause = self._next_at - self._clock()
        if pause > 0:
            self._sleep(min(pause, wait_s))
            return False
        try:
            self._stream = LogStream(self._client.transport, self._id, timeout_s=self._client.timeout_s)
        except RayError as error:
            self._failed(error)
            return False
        self._cursor.restart()
        self._fruitful = False
        self._heard_at = self._clock()
        return True

    def _failed(self, error: RayError) -> None:
        if not self._told_away:
            self._told_away = True
            self._tell("cluster.log_away", submission=self._id, error=error)
        self._later()
        if error.status not in (None, 401, 403):  # it answered, but not with a websocket
            self._ended_barren()

    def _later(self) -> None:
        pause = min(RETRY_FIRST_S * 2 ** min(self._failures, 10), RETRY_MAX_S)
        self._failures += 1
        self._next_at = self._clock() + pause * (0.5 + self._jitter() / 2)

    def _read_stream(self, wait_s: float) -> list[str]:
        assert self._stream is not None  # opened by the caller
        text = self._stream.read(wait_s)
        if text is None:
            self._ended()
            return []
        if text == "":
            self._check_stall()
            return []
        self._heard_at = self._clock()
        fresh = self._cursor.new(text)
        if fresh:
            self._fruitful = True
            self._told_away = False
            self._barren = self._failures = 0
        return self._lines(fresh)

    def _ended(self) -> None:
        self.close()
        self._later()
        if not self._fruitful:
            self._ended_barren()

    def _ended_barren(self) -> None:
        self._barren += 1
        if self._barren < BARREN_LIMIT:
            return
        try:
            # A quiet log needs no other way of reading it.
            self._whole = not self._has_tail()
        except RayError:
            return
        if self._whole:
            self._tell("cluster.log_unstreamable", submission=self._id, seconds=f"{WHOLE_EVERY_S:g}")

    def _check_stall(self) -> None:
        if self._clock() - self._heard_at < STALL_S:
            return
        self._heard_at = self._clock()
        try:
            alive = self._has_tail()
        except RayError:
            alive = False
        if not alive:
            self.close()

    def _read_whole(self, wait_s: float) -> list[str]:
        pause = self._next_at - self._clock()
        if pause > 0:
            self._sleep(min(pause, wait_s))
            return []
        started = self._clock()
        try:
            lines = self._catch_up(final=False)
        except RayError as error:
            self._failed(error)
            return []
        self._failures = 0
        took = self._clock() - started
        self._next_at = self._clock() + max(WHOLE_EVERY_S, took / WHOLE_SHARE)
        return lines

    def _catch_up(self, *, final: bool) -> list[str]:
        """Reads the whole log once, as Ray's stream would give it; the lines that are new."""
        self._cursor.restart()
        lines: list[str] = []
        for text in as_ray_reads(self._client.whole_log(self._id), final=final):
            lines += self._lines(self._cursor.new(text))
        return lines

    def _has_tail(self) -> bool:
        """Whether what was delivered ends as the file does."""
        end = self._client.log_tail(self._id, TAIL_LINES)
        return self._tail.endswith(end.replace("\r", "").replace("\n", "")[-TAIL_CHARS:])

    def _lines(self, fresh: str) -> list[str]:
        self._tail = (self._tail + fresh[-2 * TAIL_CHARS :].replace("\n", ""))[-TAIL_CHARS:]
        *whole, rest = fresh.split("\n")
        if whole:
            whole[0] = "".join((*self._partial, whole[0]))
            self._partial = []
        if rest:
            self._partial.append(rest)
        return whole


def as_ray_reads(chunks: Iterator[bytes], *, final: bool = True) -> Iterator[str]:
    """UTF-8, `\\r\\n` and `\\r` as `\\n`, as in Ray's stream; bytes that are no UTF-8 as U+FFFD.

    Not `final`: the log goes on, so a character or `\\r\\n` that is cut at its end is left out.
    """
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8")("replace"), translate=True)
    for chunk in chunks:
        yield decoder.decode(chunk)
    if final:
        yield decoder.decode(b"", final=True)


def _after_chars(text: str, count: int) -> int:
    """The index behind the first `count` characters other than newlines, or the text's end."""
    if count == 0:
        return 0
    if len(text) - text.count("\n") <= count:
        return len(text.rstrip("\n")) if len(text) - text.count("\n") == count else len(text)
    index = 0
    while True:
        newline = text.find("\n", index)
        end = index + count if newline < 0 else min(newline, index + count)
        count -= end - index
        if count == 0:
            return end
        index = end + 1
