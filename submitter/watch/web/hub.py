"""One WebSocket for each page: what it watches is pushed to it. A page that does not keep up is dropped."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect

from submitter.watch.web.subjects import Message, Subject

CLIENTS_MOST = 100
WATCHED_MOST = 8
"""By one page."""
WAITING_MOST = 64
"""Messages of one page; more, and it is dropped: it reads on anew when it comes back."""
ASKED_CHARS = 2_000
TRY_AGAIN = 1013
REFUSED = 1008


@dataclass(eq=False)
class _Client:
    waiting: asyncio.Queue[str] = field(default_factory=lambda: asyncio.Queue(WAITING_MOST))
    keys: set[str] = field(default_factory=set)
    lost: asyncio.Event = field(default_factory=asyncio.Event)

    def put(self, text: str) -> None:
        try:
            self.waiting.put_nowait(text)
        except asyncio.QueueFull:
            self.lost.set()


@dataclass(eq=False)
class _Watched:
    subject: Subject
    clients: set[_Client] = field(default_factory=set)
    task: asyncio.Task[None] | None = None


class Hub:
    """For one event loop; what is read is read in threads."""

    def __init__(self, make: Callable[[list[object], str], Subject | None]) -> None:
        """`make`: the subject that a page asks for, in its language; None: there is no such."""
        self._make = make
        self._watched: dict[str, _Watched] = {}
        self._clients: set[_Client] = set()

    async def serve(self, socket: WebSocket, language: str, is_open: Callable[[], bool]) -> None:
        """Until the page goes, or its session is no longer open, which is looked at before each message."""
        await socket.accept()
        if len(self._clients) >= CLIENTS_MOST:
            await socket.close(TRY_AGAIN)
            return
        client = _Client()
        self._clients.add(client)
        sending = asyncio.create_task(self._send(socket, client, is_open))
        try:
            await self._receive(socket, client, language)
        finally:
            self._clients.discard(client)
            for key in client.keys:
                self._leave(key, client)
            sending.cancel()
            with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
                await sending

    async def _receive(self, socket: WebSocket, client: _Client, language: str) -> None:
        while not client.lost.is_set():
            try:
                text = await socket.receive_text()
            except (WebSocketDisconnect, RuntimeError, KeyError):  # gone, or a binary message
                return
            key = _asked(text)
            if key is not None and len(client.keys) < WATCHED_MOST:
                await self._watch(key, client, language)

    async def _send(self, socket: WebSocket, client: _Client, is_open: Callable[[], bool]) -> None:
        while not client.lost.is_set():
            text = await client.waiting.get()
            if not is_open():
                break
            await socket.send_text(text)
        await socket.close(REFUSED)

    async def _watch(self, key: list[object], client: _Client, language: str) -> None:
        name = json.dumps([*key, language])
        watched = self._watched.get(name)
        if watched is None:
            subject = self._make(key, language)
            if subject is None:
                return
            watched = self._watched[name] = _Watched(subject)
            watched.task = asyncio.create_task(self._poll(watched))
            watched.clients.add(client)
            client.keys.add(name)
            return
        watched.clients.add(client)  # before anything is waited for: who else leaves must not end it meanwhile
        client.keys.add(name)
        _put(client, await run_in_threadpool(watched.subject.first))

    async def _poll(self, watched: _Watched) -> None:
        while True:  # until nobody looks any more
            try:
                message = await run_in_threadpool(watched.subject.read)
            except Exception:  # a ledger that is away for a moment: asked again; the server's log has nothing of it
                message = None
            for client in [*watched.clients]:
                _put(client, message)
            await asyncio.sleep(watched.subject.every_s)

    def _leave(self, name: str, client: _Client) -> None:
        watched = self._watched[name]
        watched.clients.discard(client)
        if not watched.clients and watched.task is not None:
            watched.task.cancel()
            del self._watched[name]


def _put(client: _Client, message: Message | None) -> None:
    if message is not None:
        client.put(json.dumps(message, ensure_ascii=False))


def _asked(text: str) -> list[object] | None:
    """`{"watch": [...]}`."""
    if len(text) > ASKED_CHARS:
        return None
    try:
        found = json.loads(text)["watch"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return found if isinstance(found, list) and len(found) <= 3 else None
