"""One node's part of launcher torchrun: the actor that holds its NPUs, the guard's input and the ranks' output."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import secrets
from .guard import REMOVE
from .torchrun_agent import DEATHS, RANK_DIR, RANK_SCRIPT, Death, parse_deaths

MAX_CHUNK_BYTES = 512 * 1024
"""Of output in one answer: a few milliseconds of a network, and far below the object store's size."""
MAX_LINE_BYTES = 1024 * 1024
"""A longer line is passed on in pieces, so that memory stays bounded."""
PIPE_READ_BYTES = 64 * 1024  # Linux's default pipe size
GATHER_S = 0.05
"""After the first byte: one answer for what is printed together."""
SLICE_S = 0.1
"""How late the end of a rank or of the guard may be noticed."""
TAIL_LINES = 20
TAIL_LINE_CHARACTERS = 500

AGENT = -1
"""Stands for torchrun's own output among the local ranks."""


@dataclass(frozen=True)
class Chunk:
    """What has happened on a node since the last one."""

    data: bytes
    """Whole lines (or pieces that end in a carriage return), each rank's in its order."""
    deaths: tuple[Death, ...]
    code: int | None
    """The guard's exit code once every process of the node has ended and all output has been read."""
    tail: tuple[str, ...]
    """With `code`: the last lines of the rank that failed first, or of torchrun itself."""
    received: float
    sent: float
    """This node's clock (seconds since the epoch) when it was asked, and when it answered."""


class TorchrunNode:
    """Methods run side by side (`max_concurrency`): `end` while `read` waits."""

    def __init__(self) -> None:
        self._port: socket.socket | None = None
        self._tree: Tree | None = None
        self._asked_to_end: float | None = None
        """Grace (seconds) of a request that came before the start."""
        self._starting = threading.Lock()

    def prepare(self, port: int | None) -> int:
        """Hold `port`, or any free one, for torchrun's store until the actor ends. OSError when it is in use."""
        self._port = hold_port(port or 0)
        return int(self._port.getsockname()[1])

    def start(self, options: Sequence[str], command: Sequence[str], references: secrets.References) -> None:
        """Start torchrun with `options` and the ranks with `command`. SecretMissingError names what is missing."""
        environ = rank_environ(os.environ, references)
        with self._starting:
            self._tree = Tree(agent_argv(options, command), rank_count(options), environ)
            if self._asked_to_end is not None:
                self._tree.end(self._asked_to_end)

    def read(self, wait_s: float) -> Chunk:
        """Output, ended ranks or the end, as soon as there is one; an empty chunk after `wait_s`."""
        if self._tree is None:
            raise RuntimeError("read before start")
        return self._tree.read(wait_s)

    def end(self, grace_s: float) -> None:
        """SIGTERM to torchrun now, SIGKILL to all that is left after `grace_s`; a later call may shorten it."""
        with self._starting:
            self._asked_to_end = grace_s
            if self._tree is not None:
                self._tree.end(grace_s)


class Tree:
    """A command below a guard, and the output of its ranks: each may write to `<local rank>.out` in `RANK_DIR`."""

    def __init__(self, argv: Sequence[str], ranks: int, environ: Mapping[str, str]) -> None:
        folder = Path(tempfile.mkdtemp(prefix="npurun-ranks-"))  # the guard removes it
        self._deaths_file = (folder / DEATHS).open("a+")
        self._deaths: list[Death] = []
        self._streams: dict[int, Stream] = {}
        self._selector = selectors.DefaultSelector()
        for local_rank in range(ranks):
            self._listen_to(local_rank, open_fifo(folder / f"{local_rank}.out"))
        reading, writing = os.pipe()  # both ends stay open here, as with a FIFO: no pipe reports an end that is none
        self._listen_to(AGENT, reading)
        self._guard = subprocess.Popen(
            [sys.executable, "-m", f"{__package__}.guard", REMOVE, str(folder), *argv],
            stdin=subprocess.PIPE,
            stdout=writing,
            stderr=writing,
            env={**environ, RANK_DIR: str(folder)},
        )

    def read(self, wait_s: float) -> Chunk:
        received = time.time()
        pieces: list[bytes] = []
        code = self._gather(pieces, time.monotonic() + wait_s)
        deaths = self._new_deaths()
        if code is not None:
            pieces += [stream.rest() for stream in self._streams.values()]
        tail = self._tail() if code is not None else ()
        return Chunk(b"".join(pieces), deaths, code, tail, received, time.time())

    def end(self, grace_s: float) -> None:
        if self._guard.stdin is None:
            return
        with contextlib.suppress(BrokenPipeError):  # the guard has ended
            self._guard.stdin.write(f"{grace_s}\n".encode())
            self._guard.stdin.flush()

    def _listen_to(self, local_rank: int, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._streams[local_rank] = stream = Stream(descriptor)
        self._selector.register(descriptor, selectors.EVENT_READ, stream)

    def _gather(self, pieces: list[bytes], deadline: float) -> int | None:
        """Fill `pieces` with output; the guard's exit code when it has ended and its pipes are empty."""
        while True:
            code = self._guard.poll()
            slice_s = 0.0 if code is not None else min(SLICE_S, max(0.0, deadline - time.monotonic()))
            took = self._take(pieces, slice_s)
            if code is not None and not took:
                return code
            now = time.monotonic()
            if took:
                deadline = min(deadline, now + GATHER_S)
            if now >= deadline or sum(map(len, pieces)) >= MAX_CHUNK_BYTES:
                return None
            if not took and (pieces or self._death_is_new()):
                return None

    def _take(self, pieces: list[bytes], wait_s: float) -> bool:
        """One round over the pipes that have something; False when none has after `wait_s`."""
        ready = self._selector.select(wait_s)
        for key, _ in ready:
            pieces.append(key.data.read())
        return bool(ready)

    def _death_is_new(self) -> bool:
        return len(self._all_deaths()) > len(self._deaths)

    def _new_deaths(self) -> tuple[Death, ...]:
        known, self._deaths = len(self._deaths), self._all_deaths()
        return tuple(self._deaths[known:])

    def _all_deaths(self) -> list[Death]:
        self._deaths_file.seek(0)
        text = self._deaths_file.read()
        return parse_deaths(text[: text.rfind("\n") + 1])  # a line may be half written

    def _tail(self) -> tuple[str, ...]:
        failed = [death for death in self._deaths if death.code]
        first = min(failed, key=lambda death: death.time).local_rank if failed else AGENT
        return self._streams[first].tail() or self._streams[AGENT].tail()


class Stream:
    """One pipe: bytes in, whole lines out."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._begun = b""
        self._lines: deque[bytes] = deque(maxlen=TAIL_LINES)

    def read(self) -> bytes:
        """What is complete by now; may be empty."""
        whole, self._begun = split(self._begun + os.read(self._descriptor, PIPE_READ_BYTES))
        self._lines.extend(whole.splitlines()[-TAIL_LINES:])
        return whole

    def rest(self) -> bytes:
        """A last line without an end gets one: the next line is another process's."""
        rest, self._begun = self._begun, b""
        self._lines.extend(rest.splitlines()[-TAIL_LINES:])
        return rest + b"\n" if rest else b""

    def tail(self) -> tuple[str, ...]:
        lines = (line.decode(errors="replace").strip()[:TAIL_LINE_CHARACTERS] for line in self._lines)
        return tuple(line for line in lines if line)


def split(data: bytes) -> tuple[bytes, bytes]:
    """(complete pieces, what has only begun). Nothing is added, dropped or changed.

    A carriage return ends a piece too, since a progress bar must not wait for its newline; not as the last byte, for a
    newline may follow.
    """
    end = max(data.rfind(b"\n"), data.rfind(b"\r", 0, max(len(data) - 1, 0))) + 1
    if len(data) - end >= MAX_LINE_BYTES:
        end = len(data)
    return data[:end], data[end:]


def agent_argv(options: Sequence[str], command: Sequence[str]) -> list[str]:
    """torchrun with `options`, each rank started as torchrun itself would: `python -u COMMAND`."""
    python = os.environ.get("PYTHON_EXEC", sys.executable)  # torchrun's own variable
    rank = ["-c", RANK_SCRIPT, "rank", python, "-u", *command]
    escaped = [argument.replace("$", "$$") for argument in rank]  # torchrun puts them through string.Template
    return [sys.executable, "-m", f"{__package__}.torchrun_agent", *options, "--no_python", "sh", *escaped]


def rank_count(options: Sequence[str]) -> int:
    return int(options[list(options).index("--nproc_per_node") + 1])


def rank_environ(environ: Mapping[str, str], references: secrets.References) -> dict[str, str]:
    """What the ranks see: the worker's environment with secrets, without Ray's own OMP_NUM_THREADS.

    Ray sets that to the CPUs of the whole node for this one worker; torchrun's default for each rank is 1.
    """
    own = {**environ, **secrets.resolve(references, environ)}
    if "OMP_NUM_THREADS" not in started_with():
        own.pop("OMP_NUM_THREADS", None)
    return own


def started_with() -> set[str]:
    """Names in the environment that this process was started with."""
    entries = Path("/proc/self/environ").read_bytes().split(b"\0")
    return {entry.partition(b"=")[0].decode(errors="replace") for entry in entries}


def hold_port(port: int) -> socket.socket:
    """A bound socket that does not listen: keeps other programs away, while torch's store (SO_REUSEADDR) gets in."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        holder.bind(("", port))
    except OSError:
        holder.close()
        raise
    return holder


def open_fifo(path: Path) -> int:
    os.mkfifo(path, 0o600)
    return os.open(path, os.O_RDWR | os.O_NONBLOCK)
