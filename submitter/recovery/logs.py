"""Logs from anywhere as blocks of whole lines: plain or compressed, files, folders, standard input; any bytes."""

from __future__ import annotations

import bz2
import codecs
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Protocol

from submitter.errors import Place, UsageError

STDIN = "-"
BLOCK_BYTES = 1 << 18
"""The automaton and a block of this size stay in a core's cache; 4 MB are scanned at a third of the speed."""
LINE_BYTES = 1 << 20
"""A longer line is looked at in pieces."""
OVERLAP_BYTES = 512
"""Of two pieces, so that a core at the seam is seen."""
FOLDER_FILES = 4000
FOLDER_DEPTH = 8
_LOG_SUFFIXES = frozenset({"", ".log", ".txt", ".out", ".err", ".gz", ".xz", ".bz2", ".zst", ".stdout", ".stderr"})
_LOG_WORDS = ("log", "stdout", "stderr", "console")


@dataclass(frozen=True)
class Source:
    """`open()` gives the bytes from their start, in chunks of any size; each call anew where that is possible."""

    name: str
    open: Callable[[], Iterable[bytes]]


@dataclass(frozen=True)
class Block:
    """Whole lines, or a piece of one that is too long."""

    data: bytes
    line: int
    """Number of the first line in it, from 1, as editors count."""


class DamagedError(Exception):
    """Compressed data ends early or is broken; all that came before it was yielded."""


def sources(names: Sequence[str]) -> list[Source]:
    """Of files, folders and `-` (standard input), in this order. UsageError for what cannot be read."""
    found = [source for name in names for source in ([_stdin()] if name == STDIN else _at(name))]
    return list({source.name: source for source in found}.values())


def from_text(name: str, text: str) -> Source:
    data = text.encode("utf-8", "replace")
    return Source(name, lambda: (data,))


def _stdin() -> Source:
    return Source(STDIN, lambda: _chunks(sys.stdin.buffer))


def _at(name: str) -> list[Source]:
    try:
        kind = os.stat(name).st_mode  # noqa: PTH116  (a Path makes the current folder of an empty name)
        if stat.S_ISDIR(kind):
            return _in_folder(Path(name))
        if stat.S_ISREG(kind):
            Path(name).open("rb").close()  # a pipe can be opened once
        return [_file(Path(name))]
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise UsageError("diagnose.unreadable", Place(file=name), reason=_why(error)) from error


def _in_folder(folder: Path) -> list[Source]:
    files = sorted(_log_files(folder))[:FOLDER_FILES]
    if not files:
        raise UsageError("diagnose.no_logs", Place(file=str(folder)))
    return [_file(path) for path in files if os.access(path, os.R_OK)]


def _log_files(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        if len(Path(parent).relative_to(folder).parts) >= FOLDER_DEPTH:
            folders.clear()
        yield from (Path(parent, name) for name in names if _looks_like_log(Path(parent, name)))


def _looks_like_log(path: Path) -> bool:
    name = path.name.lower()
    named = any(word in name for word in _LOG_WORDS) and path.suffix not in (".py", ".pyc", ".json", ".yaml", ".yml")
    return (named or path.suffix.lower() in _LOG_SUFFIXES) and not name.startswith(".") and path.is_file()


def _file(path: Path) -> Source:
    def read() -> Iterator[bytes]:
        try:
            with path.open("rb") as stream:
                yield from _chunks(stream)
        except OSError as error:
            raise UsageError("diagnose.unreadable", Place(file=str(path)), reason=_why(error)) from error

    return Source(str(path), read)


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    while chunk := stream.read(BLOCK_BYTES):
        yield chunk


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def blocks(source: Source) -> Iterator[Block]:
    """Raises DamagedError at the end of what can be read of a damaged archive, UsageError when the file cannot be."""
    rest, line = b"", 1
    for chunk in _utf8(_plain(iter(source.open()))):
        data = rest + chunk if rest else chunk
        end = data.rfind(b"\n") + 1
        if not end and len(data) < LINE_BYTES:
            rest = data
            continue
        whole, rest = (data[:end], data[end:]) if end else (data, data[-OVERLAP_BYTES:])
        yield Block(whole, line)
        line += whole.count(b"\n")
    if rest:
        yield Block(rest, line)


def _utf8(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """UTF-16, as Windows' shells write it, is told by its mark alone."""
    first = next(chunks, b"")
    if first[:2] not in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        yield first
        yield from chunks
        return
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    yield decoder.decode(first).encode("utf-8", "replace")
    for chunk in chunks:
        yield decoder.decode(chunk).encode("utf-8", "replace")


class _Decompressor(Protocol):
    eof: bool
    unused_data: bytes

    def decompress(self, data: bytes, max_length: int = ..., /) -> bytes: ...


_MAGIC: tuple[tuple[bytes, Callable[[], Any]], ...] = (
    (b"\x1f\x8b", lambda: zlib.decompressobj(wbits=31)),
    (b"BZh", bz2.BZ2Decompressor),
    (b"\xfd7zXZ\x00", lzma.LZMADecompressor),
    (b"\x28\xb5\x2f\xfd", lambda: _zstd()),
)
_MAGIC_BYTES = 6


def _zstd() -> Any:
    try:
        return import_module("compression.zstd").ZstdDecompressor()  # Python 3.14
    except ImportError as error:
        raise UsageError("diagnose.zstd") from error


def _plain(chunks: Iterator[bytes]) -> Iterator[bytes]:
    head = b""
    while len(head) < _MAGIC_BYTES and (chunk := next(chunks, None)) is not None:
        head += chunk
    opener = next((opener for magic, opener in _MAGIC if head.startswith(magic)), None)
    whole = _with_head(head, chunks)
    yield from whole if opener is None else _decompressed(opener, whole)


def _with_head(head: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from chunks


def _decompressed(opener: Callable[[], Any], chunks: Iterator[bytes]) -> Iterator[bytes]:
    """All members or streams, one after the other. What follows a whole one and is none (padding) is left out."""
    member, complete = opener(), False
    for chunk in chunks:
        while chunk:
            if member.eof:
                member, complete = opener(), True
            try:
                yield from _pieces(member, chunk)
            except (zlib.error, lzma.LZMAError, OSError, ValueError, EOFError) as error:
                if complete:
                    return
                raise DamagedError from error
            chunk = member.unused_data if member.eof else b""
    if not member.eof:
        raise DamagedError


def _pieces(member: _Decompressor, data: bytes) -> Iterator[bytes]:
    """Bounded: a few kilobytes may become gigabytes."""
    while True:
        piece = member.decompress(data, BLOCK_BYTES)
        if piece:
            yield piece
        data = getattr(member, "unconsumed_tail", b"")
        if member.eof or not (data or len(piece) == BLOCK_BYTES):
            return
