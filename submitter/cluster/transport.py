"""HTTP to one Ray cluster, from the standard library: bounded in time and size, careful with the token.

Proxies of the environment (HTTP_PROXY …) are never used: on many Ascend sites they are set for the internet and break
cluster addresses. A connection serves one call, so that a POST never meets one that the server is closing.
"""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from submitter.cluster.address import Address, parse_address
from submitter.cluster.auth import Token
from submitter.cluster.errors import RayError, cause, failure, of_exception
from submitter.errors import UsageError

BODY_LIMIT_BYTES = 64 << 20
"""A list of thousands of jobs with their runtime environments stays far below."""
MAX_REDIRECTS = 3
USER_AGENT = {"User-Agent": "npurun"}
"""Ray 2.41.0 and 2.46.0 read this header without asking whether it is there: HTTP 500 if it is not."""
_CHUNK_BYTES = 64 << 10
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes


class Transport:
    """Raises `RayError` for everything that is no answer; statuses are the caller's, through `json_of` or its own."""

    def __init__(self, address: Address, token: Token | None, context: Callable[[], ssl.SSLContext]) -> None:
        self.address = address
        self.token = token
        self._context = context
        """Made only for https: loading the system's certificates costs 20 ms."""

    def call(
        self, method: str, path: str, *, body: bytes | None = None, kind: str = "application/json", timeout_s: float
    ) -> Answer:
        """`path` is Ray's own, quoted. Redirects are followed for GET only, at most `MAX_REDIRECTS`."""
        where, target = self.address, self.address.prefix + path
        headers = {} if body is None else {"Content-Type": kind}
        for _ in range(MAX_REDIRECTS + 1):
            answer, location = self._once(where, method, target, body, headers, timeout_s)
            if location is None:
                return answer
            where, target = self._redirected(method, where, target, location)
        raise failure("cluster.redirects", str(self.address), limit=MAX_REDIRECTS)

    def stream(self, path: str, *, timeout_s: float) -> Iterator[bytes]:
        """The body of a GET in pieces, never held whole. `timeout_s` bounds each wait, not the whole."""
        connection = self._connect(self.address, timeout_s)
        try:
            with _Told(str(self.address), timeout_s) as told:
                connection.connect()
                told.sent = True
                connection.request("GET", self.address.prefix + path, headers=self.headers())
                response = connection.getresponse()
                if response.status != http.client.OK:
                    raise self.refusal(Answer(response.status, response.read(_CHUNK_BYTES)))
                while chunk := response.read1(_CHUNK_BYTES):
                    yield chunk
                _check_whole(response)
        finally:
            connection.close()

    def headers(self) -> dict[str, str]:
        return {**USER_AGENT, **({"Authorization": f"Bearer {self.token.value}"} if self.token else {})}

    def tls(self) -> ssl.SSLContext | None:
        return self._context() if self.address.scheme == "https" else None

    def json_of(self, answer: Answer) -> Any:
        """The JSON of a successful answer; `RayError` for any other status, HTML, or JSON cut short."""
        if answer.status != http.client.OK:
            raise self.refusal(answer)
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError) as error:  # RecursionError: nested deeper than Python follows
            raise failure("cluster.not_json", str(self.address), in_doubt=True) from error

    def refusal(self, answer: Answer) -> RayError:
        """The error for a status other than 200."""
        status, shown = answer.status, str(self.address)
        said = cause(answer.body, self.token.value if self.token else None)
        if status in (401, 403):
            text_id = "cluster.token_refused" if self.token else "cluster.token_wanted"
            source = self.token.source if self.token else ""
            return failure(text_id, shown, status=status, code=status, source=source)
        if status == http.client.NOT_FOUND:
            return failure("cluster.no_route", shown, status=status, cause=said)
        if status == http.client.TOO_MANY_REQUESTS:
            return failure("cluster.busy", shown, status=status, cause=said)
        if status >= http.client.INTERNAL_SERVER_ERROR:
            return failure("cluster.server_error", shown, in_doubt=True, status=status, code=status, cause=said)
        return failure("cluster.refused", shown, status=status, code=status, cause=said)

    def _once(
        self, where: Address, method: str, target: str, body: bytes | None, headers: dict[str, str], timeout_s: float
    ) -> tuple[Answer, str | None]:
        """One request: the answer, and where it redirects to."""
        connection = self._connect(where, timeout_s)
        # A redirect elsewhere never sees the token.
        allowed = self.headers() if where.origin == self.address.origin else USER_AGENT
        with _Told(str(self.address), timeout_s) as told:
            try:
                connection.connect()
                told.sent = True
                connection.request(method, target, body=body, headers={**headers, **allowed})
                response = connection.getresponse()
                answer = Answer(response.status, _read(response, time.monotonic() + timeout_s, str(where)))
            finally:
                connection.close()
        location = response.headers.get("Location") if response.status in _REDIRECTS else None
        return answer, location

    def _connect(self, where: Address, timeout_s: float) -> http.client.HTTPConnection:
        if where.scheme == "https":
            return http.client.HTTPSConnection(where.host, where.port, timeout=timeout_s, context=self._context())
        return http.client.HTTPConnection(where.host, where.port, timeout=timeout_s)

    def _redirected(self, method: str, where: Address, target: str, location: str) -> tuple[Address, str]:
        origin = Address(where.scheme, where.host, where.port, "")
        url = urljoin(f"{origin}{target}", location)
        if method != "GET":
            raise failure("cluster.redirect_refused", str(self.address), method=method, target=url)
        try:
            parts = urlsplit(url)
            there = parse_address(f"{parts.scheme}://{parts.netloc}")
        except (ValueError, UsageError) as error:
            raise failure("cluster.redirect_refused", str(self.address), method=method, target=url) from error
        return there, parts.path + (f"?{parts.query}" if parts.query else "")


class _Told:
    """Turns what sockets, TLS and HTTP raise into a `RayError`. `sent`: from here on the request is on its way."""

    def __init__(self, address: str, timeout_s: float) -> None:
        self.sent = False
        self._address = address
        self._timeout_s = timeout_s

    def __enter__(self) -> _Told:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, OSError | http.client.HTTPException | UnicodeError):
            raise of_exception(error, self._address, sent=self.sent, timeout_s=self._timeout_s) from error


def _read(response: http.client.HTTPResponse, deadline: float, address: str) -> bytes:
    """The whole body; a server that trickles it is cut off at `deadline` (time.monotonic)."""
    pieces: list[bytes] = []
    size = 0
    while piece := response.read1(_CHUNK_BYTES):
        pieces.append(piece)
        size += len(piece)
        if size > BODY_LIMIT_BYTES:
            raise failure("cluster.too_large", address, limit=f"{BODY_LIMIT_BYTES >> 20} MiB")
        if time.monotonic() > deadline:
            raise TimeoutError
    _check_whole(response)
    return b"".join(pieces)


def _check_whole(response: http.client.HTTPResponse) -> None:
    """`read1` ends quietly when the connection does."""
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)
