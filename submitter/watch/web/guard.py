"""What every request has to pass before anything is looked up: its host, who sends it, and from where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from submitter.watch.web.hosts import Hosts
from submitter.watch.web.keys import Keys
from submitter.watch.web.sessions import Sessions

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "npurun-session"
OPEN = ("/login", "/static/")
"""Paths that need no session: nothing of the ledger is in them."""
BODY_LIMIT = 64 * 1024
"""Bytes; a form has a few hundred."""
_UNSAFE = frozenset({"POST", "PUT", "PATCH", "DELETE"})
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
        " font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""No style stands in the markup; what scripts set on elements, as the charts do, is not held up by this."""


@dataclass(frozen=True)
class Guard:
    app: ASGIApp
    keys: Keys
    sessions: Sessions
    hosts: Hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return
        call = HTTPConnection(scope)
        refusal = self._refusal(call, scope)
        if refusal is None:
            await self.app(scope, _bounded(receive), _with_headers(send, scope["path"]))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await refusal(scope, receive, _with_headers(send, scope["path"]))

    def _refusal(self, call: HTTPConnection, scope: Scope) -> Response | None:
        host, origin = call.headers.get("host", ""), call.headers.get("origin")
        if not self.hosts.allows(host):
            return PlainTextResponse("not served by this name; see npurun serve --allow-host", 421)
        is_socket = scope["type"] == "websocket"
        unsafe = is_socket or scope["method"] in _UNSAFE
        bearer = bearer_of(call)
        if unsafe and not (self.hosts.same(origin or "", host) or (bearer and origin is None)):
            return PlainTextResponse("of another origin", 403)
        if int(_length(call)) > BODY_LIMIT:
            return PlainTextResponse("too large", 413)
        path = scope["path"]
        if not is_socket and any(path == one or (one.endswith("/") and path.startswith(one)) for one in OPEN):
            return None
        if self._is_known(call, bearer):
            return None
        if is_socket or path.startswith(("/api/", "/metrics")):
            return JSONResponse({"error": "a token is needed"}, 401, {"www-authenticate": "Bearer"})
        return RedirectResponse("/login", 303)

    def _is_known(self, call: HTTPConnection, bearer: str | None) -> bool:
        if bearer is not None:
            return self.keys.is_token(bearer)
        return self.sessions.is_open(call.cookies.get(COOKIE, ""))


def bearer_of(call: HTTPConnection) -> str | None:
    scheme, _, token = call.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _length(call: HTTPConnection) -> str:
    text = call.headers.get("content-length", "0")
    return text if text.isdecimal() and len(text) < 16 else str(BODY_LIMIT + 1)


def _bounded(receive: Receive) -> Receive:
    """A body without a length is cut off at the same bound: then no form is whole."""
    size = 0

    async def next_message() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if message["type"] == "http.request" and size > BODY_LIMIT:
            return {"type": "http.disconnect"}
        return message

    return next_message


def _with_headers(send: Send, path: str) -> Send:
    kept = "no-cache" if path.startswith("/static/") else "no-store"
    added = [(name.encode(), value.encode()) for name, value in {**HEADERS, "cache-control": kept}.items()]

    async def send_on(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *added]}
        await send(message)

    return send_on
