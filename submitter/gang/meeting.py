"""What nodes can only find out from each other: who reaches whom, how fast, and which folders are one."""

from __future__ import annotations

import glob
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

CONNECT_S = 3.0
"""A connection on a cluster's network takes a millisecond; a dropped packet is sent again after 1 s."""
PEERS_AT_ONCE = 64
BACKLOG = 1024
"""All peers may knock in the same millisecond."""
TOKEN_PREFIX = ".npurun-shared-"


class Meeting:
    """One node's side: a listening socket for the peers, and a token in each folder that should be shared."""

    def __init__(self, attempt: str, name: str, folders: Sequence[str]) -> None:
        """`name`: this node's, unique in the gang."""
        self._prefix = f"{TOKEN_PREFIX}{attempt}-"
        self._name = name
        self._folders = tuple(folders)
        self._socket = socket.create_server(("", 0), backlog=BACKLOG)
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True, name="meeting").start()
        for folder in self._folders:
            with suppress(OSError):  # not writable: another probe says so
                self._token(folder).write_text(name)

    def meet(self, peers: Mapping[str, int]) -> dict[str, Any]:
        """`{"reach": {ip: {"rtt_ms"} | {"why"}}, "tokens": {folder: [names seen]}}`.

        The peers' tokens are all written by now: each wrote its own before it told its port.
        """
        with ThreadPoolExecutor(min(PEERS_AT_ONCE, max(1, len(peers)))) as pool:
            reach = dict(zip(peers, pool.map(_reach, peers.items()), strict=True))
        return {"reach": reach, "tokens": {folder: self._seen(folder) for folder in self._folders}}

    def close(self) -> None:
        self._socket.close()
        for folder in self._folders:
            with suppress(OSError):
                self._token(folder).unlink()

    def _token(self, folder: str) -> Path:
        return Path(folder, f"{self._prefix}{self._name}")

    def _seen(self, folder: str) -> list[str]:
        try:
            found = list(Path(folder).glob(f"{glob.escape(self._prefix)}*"))
        except OSError:
            return []
        return sorted(path.name[len(self._prefix) :] for path in found)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:  # closed
                return
            connection.close()


def _reach(peer: tuple[str, int]) -> dict[str, Any]:
    began = time.monotonic()
    try:
        socket.create_connection(peer, timeout=CONNECT_S).close()
    except OSError as error:
        return {"why": error.strerror or str(error) or type(error).__name__}
    return {"rtt_ms": round((time.monotonic() - began) * 1000, 2)}
