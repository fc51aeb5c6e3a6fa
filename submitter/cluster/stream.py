"""One websocket to Ray's stream of a job's log (`/api/jobs/<id>/logs/tail`)."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import TYPE_CHECKING, Any

from submitter.cluster.errors import RayError, failure, of_exception
from submitter.cluster.transport import Answer, Transport

if TYPE_CHECKING:
    from aiohttp import ClientSession, ClientWebSocketResponse

# The head never reads from this socket, so it answers no websocket ping: a peer that vanished is noticed by TCP.
_KEEPALIVE = (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))


class LogStream:
    """Text from the log's first byte on, in pieces of any size. Not for several threads.

    Ray reads the file as text: `\\r` and `\\r\\n` arrive as `\\n`.
    """

    def __init__(self, transport: Transport, submission_id: str, *, timeout_s: float) -> None:
        """Connects; raises `RayError`."""
        self._loop = asyncio.new_event_loop()
        # Ctrl-C inside a task ends up here as well; asyncio would print its traceback besides.
        self._loop.set_exception_handler(lambda _loop, _context: None)
        self._session: ClientSession | None = None
        self._pending: asyncio.Task[Any] | None = None
        try:
            self._socket = self._loop.run_until_complete(
                asyncio.wait_for(self._connect(transport, submission_id, timeout_s), timeout_s)
            )
        except (OSError, asyncio.TimeoutError) as error:
            self.close()
            cause = TimeoutError() if isinstance(error, asyncio.TimeoutError) else error
            raise of_exception(cause, str(transport.address), sent=True, timeout_s=timeout_s) from error
        except BaseException:  # Ctrl-C too: nobody else has the object yet
            self.close()
            raise

    def read(self, wait_s: float) -> str | None:
        """What came within `wait_s` ("" if nothing did), or None when the stream has ended."""
        import aiohttp

        if self._pending is None:
            self._pending = self._loop.create_task(self._socket.receive())
        # Not cancelled on a timeout: the same receive goes on in the next call, nothing is lost.
        done, _ = self._loop.run_until_complete(asyncio.wait({self._pending}, timeout=wait_s))
        if not done:
            return ""
        message, self._pending = self._pending.result(), None
        return message.data if message.type is aiohttp.WSMsgType.TEXT else None

    def close(self) -> None:
        if self._loop.is_closed():
            return
        if self._pending is not None:
            self._pending.cancel()
        if self._session is not None:
            # A broken connection is closed all the same; there is nobody to tell.
            with contextlib.suppress(OSError, asyncio.CancelledError):
                self._loop.run_until_complete(self._session.close())
        self._loop.close()

    async def _connect(
        self, transport: Transport, submission_id: str, timeout_s: float
    ) -> ClientWebSocketResponse[bool]:
        import aiohttp

        # trust_env stays False: no proxies. No limit on a message: Ray sends a line as one message, however long.
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None, sock_connect=timeout_s))
        url = f"{transport.address}/api/jobs/{submission_id}/logs/tail"
        try:
            opened = await self._session.ws_connect(
                url, headers=transport.headers(), ssl=transport.tls() or True, max_msg_size=0
            )
        except aiohttp.WSServerHandshakeError as error:
            raise transport.refusal(Answer(error.status, b"")) from error
        except aiohttp.ClientConnectorError as error:
            raise of_exception(_reason(error), str(transport.address), sent=False, timeout_s=timeout_s) from error
        except (aiohttp.ClientError, ValueError) as error:
            raise _dropped(transport) from error
        _keep_alive(opened)
        return opened


def _reason(error: Any) -> Exception:
    """What is beneath aiohttp's own error: the certificate's, the resolver's or the socket's."""
    beneath: Exception = getattr(error, "certificate_error", None) or error.os_error
    return beneath


def _dropped(transport: Transport) -> RayError:
    return failure("cluster.dropped", str(transport.address))


def _keep_alive(opened: ClientWebSocketResponse[bool]) -> None:
    raw = opened.get_extra_info("socket")
    if raw is None:
        return
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE:
        if hasattr(socket, name):  # not on macOS
            raw.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
