"""The server in a thread of its own: whatever becomes of it, the process goes on with what it is there for."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from submitter.errors import Place, UsageError
from submitter.texts import Tell

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

BACKLOG = 128
CONNECTIONS_MOST = 256
IDLE_S = 15
"""A kept connection that asks for nothing."""
PING_S = 20.0
MESSAGE_BYTES = 16 * 1024
"""From a page."""
HEADER_BYTES = 32 * 1024
END_S = 5.0


def bind(host: str, port: int) -> socket.socket:
    """Listening soon. UsageError: the port is taken, or the name is none of this host's."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError("web.port", Place(key="--port"), host=host, port=port, reason=reason) from error
    bound.listen(BACKLOG)
    return bound


@contextmanager
def serving(app: ASGIApp, bound: socket.socket, say: Tell) -> Iterator[None]:
    """While the block runs; at its end the pages are gone within END_S."""
    server = _server(app)
    thread = threading.Thread(target=_run, args=(server, bound, say), name="web", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = server.force_exit = True
        thread.join(END_S)
        bound.close()


def _server(app: ASGIApp) -> uvicorn.Server:
    import uvicorn

    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        http="h11",
        ws="websockets-sansio",
        ws_max_size=MESSAGE_BYTES,
        ws_ping_interval=PING_S,
        ws_ping_timeout=PING_S,
        timeout_keep_alive=IDLE_S,
        h11_max_incomplete_event_size=HEADER_BYTES,
        limit_concurrency=CONNECTIONS_MOST,
        proxy_headers=False,
        server_header=False,
    )
    return uvicorn.Server(config)


def _run(server: uvicorn.Server, bound: socket.socket, say: Tell) -> None:
    try:
        server.run(sockets=[bound])
    except BaseException as error:  # the runs are cared for without it
        say("web.ended", error=f"{type(error).__name__}: {error}")
