"""What nodes can only find out from each other: who reaches whom, how fast, and which folders are one."""

from __future__ import annotations

import errno
import queue
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

CONNECT_S = 3.0
"""A connection on a cluster's network takes a millisecond; a dropped packet is sent again after 1 s."""
PEERS_AT_ONCE = 256
"""All at once, up to this: a firewall that swallows everything must not cost CONNECT_S per peer."""
BACKLOG = 1024
"""All peers may knock in the same millisecond."""
NAMES_S = 3.0
"""A name server that is down keeps a look-up for 5 s and more."""
NAMES_AT_ONCE = 16
TOKEN_PREFIX = ".npurun-shared-"
TOKEN_STALE_S = 3600.0
"""A meeting takes seconds: what is older was left by a worker that was killed."""

_RESET_AT_CLOSE = struct.pack("ii", 1, 0)
"""SO_LINGER: neither side keeps the port in TIME_WAIT, where a trainer could not bind it for a minute."""
_ACCEPT_AGAIN_S = 0.05
_BACK = frozenset({errno.ECONNREFUSED, errno.ECONNRESET})
"""The peer's kernel answered: the way there and back is open, though nobody listens."""


class Meeting:
    """One node's side: a listening socket for the peers, and a token in each folder that should be shared."""

    def __init__(self, attempt: str, name: str, folders: Sequence[str]) -> None:
        """`name`: this node's, unique in the gang: its IP."""
        self._prefix = f"{TOKEN_PREFIX}{attempt}-"
        self._name = name
        self._folders = {folder: existing(Path(folder)) for folder in folders}
        self._closed = threading.Event()
        self._socket = _listening()
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True, name="meeting").start()
        for place in self._folders.values():
            with suppress(OSError):  # not writable: another probe says so
                self._token(place, name).write_text(name)

    def meet(self, peers: Mapping[str, Sequence[int]], names: Mapping[str, str] | None = None) -> dict[str, Any]:
        """`peers`: IP -> the port of its meeting, then ports that the job will need there and nobody listens on.
        `names`: IP -> host name.

        `{"reach": {ip: {"rtt_ms"} | {"why", "port"?}}, "from": [own addresses that led there], "tokens": {folder:
        [IPs whose token is seen]}, "names": {host name: why it does not lead to its node}}`.

        The peers' tokens are all written by now: each wrote its own before it told its port. They are looked up by
        name, since NFS may answer a listing from its cache.
        """
        strange = _resolving(names or {})
        with ThreadPoolExecutor(min(PEERS_AT_ONCE, max(1, len(peers)))) as pool:
            answers = dict(zip(peers, pool.map(_reach, peers.items()), strict=True))
        return {
            "reach": {ip: answer for ip, (answer, _) in answers.items()},
            "from": sorted({own for _, own in answers.values() if own}),
            "tokens": {folder: self._seen(place, peers) for folder, place in self._folders.items()},
            "names": strange(),
        }

    def close(self) -> None:
        """Nobody may knock any more; own tokens go, and those that killed workers left."""
        self._closed.set()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # close alone does not wake a thread in accept
        self._socket.close()
        for place in set(self._folders.values()):
            with suppress(OSError):
                _sweep(place, self._token(place, self._name))

    def _token(self, place: Path, name: str) -> Path:
        return place / f"{self._prefix}{name}"

    def _seen(self, place: Path, peers: Mapping[str, object]) -> list[str]:
        return sorted(ip for ip in {*peers, self._name} if _is_there(self._token(place, ip)))

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:  # closed; or no file descriptor is left for a moment
                self._closed.wait(_ACCEPT_AGAIN_S)
                continue
            connection.close()


def existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists: the trainer makes what is below."""
    return next(one for one in (folder, *folder.parents) if one == one.parent or _is_there(one))


def _is_there(path: Path) -> bool:
    try:
        path.stat()
    except OSError:
        return False
    return True


def _listening() -> socket.socket:
    if socket.has_dualstack_ipv6():
        return socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True, backlog=BACKLOG)
    return socket.create_server(("", 0), backlog=BACKLOG)


def _reach(peer: tuple[str, Sequence[int]]) -> tuple[dict[str, Any], str | None]:
    """(answer, own address): the meeting's port first; where that fails the others are not tried."""
    ip, (port, *others) = peer
    began = time.monotonic()
    try:
        own = _knock(ip, port)
    except OSError as error:
        return {"why": _why(error)}, None
    answer: dict[str, Any] = {"rtt_ms": round((time.monotonic() - began) * 1000, 2)}
    for other in others:
        try:
            _knock(ip, other)
        except OSError as error:
            if error.errno not in _BACK:
                return {**answer, "why": _why(error), "port": other}, own
    return answer, own


def _knock(ip: str, port: int) -> str:
    """The own address that led there."""
    with socket.create_connection((ip, port), timeout=CONNECT_S) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_AT_CLOSE)
        return str(connection.getsockname()[0])


def _why(error: OSError) -> str:
    return error.strerror or str(error) or type(error).__name__


def _resolving(names: Mapping[str, str]) -> Callable[[], dict[str, str]]:
    """Starts to look up those that are not empty; the result, when called, tells which do not lead to their node's IP.

    Daemons: a look-up has no time limit of its own. A name without an answer within NAMES_S is told as such.
    """
    found: dict[str, str | None] = {}
    todo: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
    names = {ip: name for ip, name in names.items() if name}
    for ip, name in names.items():
        todo.put((ip, name))

    def work() -> None:
        with suppress(queue.Empty):
            while True:
                ip, name = todo.get_nowait()
                found[name] = _astray(ip, name)

    threads = [threading.Thread(target=work, daemon=True, name="names") for _ in range(min(NAMES_AT_ONCE, len(names)))]
    deadline = time.monotonic() + NAMES_S
    for thread in threads:
        thread.start()

    def result() -> dict[str, str]:
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        late = dict.fromkeys(names.values(), f"no answer within {NAMES_S:g} s")
        return {name: why for name, why in {**late, **found}.items() if why}

    return result


def _astray(ip: str, name: str) -> str | None:
    try:
        addresses = sorted({str(info[4][0]) for info in socket.getaddrinfo(name, None)})
    except (OSError, UnicodeError) as error:
        return _why(error) if isinstance(error, OSError) else str(error)
    return None if ip in addresses else f"leads to {', '.join(addresses)}"


def _sweep(place: Path, own: Path) -> None:
    """The age counts from the own token, which the same file server dated."""
    now = own.stat().st_mtime
    own.unlink()
    for old in place.glob(f"{TOKEN_PREFIX}*"):
        with suppress(OSError):
            if now - old.stat().st_mtime > TOKEN_STALE_S:
                old.unlink()
