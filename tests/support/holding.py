"""A TCP proxy before Ray's Jobs API that keeps submissions from it while it is told to."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from urllib.parse import urlsplit

SUBMISSION = b"POST /api/jobs/ "


class HoldingProxy:
    """What has been held never arrives, though whoever sent it waits for an answer."""

    def __init__(self, address: str) -> None:
        target = urlsplit(address)
        self._target = (target.hostname or "", target.port or 0)
        self._server = socket.create_server(("127.0.0.1", 0))
        self.holding = False
        self.held = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.getsockname()[1]}"

    def close(self) -> None:
        self._server.close()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                near, _ = self._server.accept()
                far = socket.create_connection(self._target, timeout=10)
                far.settimeout(None)
                threading.Thread(target=self._pump, args=(near, far), daemon=True).start()
                threading.Thread(target=self._pump, args=(far, near), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if self.holding and data.startswith(SUBMISSION):
                    self.held.set()
                    return
                sink.sendall(data)
        for one in (source, sink):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
