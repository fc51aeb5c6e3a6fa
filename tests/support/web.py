"""The pages' server on a free port, over a ledger, and a client that speaks plain HTTP to it."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from submitter.cluster.client import RayClient
from submitter.ledger import Ledger
from submitter.watch.web.app import make_app
from submitter.watch.web.guard import COOKIE
from submitter.watch.web.hosts import Hosts
from submitter.watch.web.keys import Keys
from submitter.watch.web.server import bind, serving
from submitter.watch.web.site import Site

TOKEN = "a-token-for-the-tests-of-the-pages"
HTTP_S = 20.0
HOST = "127.0.0.1"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Web:
    port: int
    keys: Keys
    told: list[str] = field(default_factory=list)

    @property
    def origin(self) -> str:
        return f"http://{HOST}:{self.port}"

    def ask(
        self, path: str, method: str = "GET", headers: Mapping[str, str | None] | None = None, body: bytes = b""
    ) -> Answer:
        """With nothing but these headers; a `Host` of None is left out."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=HTTP_S)
        given = {"Host": f"{HOST}:{self.port}", **(headers or {})}
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in given.items():
            if value is not None:
                connection.putheader(name, value)
        if body or method == "POST":
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        found = Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        connection.close()
        return found

    def session(self, now_s: float | None = None) -> str:
        import time

        return self.keys.new_session(time.time() if now_s is None else now_s)

    def known(self, path: str, **headers: str) -> Answer:
        """With a session."""
        return self.ask(path, headers={"Cookie": f"{COOKIE}={self.session()}", **headers})

    def post(self, path: str, form: Mapping[str, str], *, session: str | None = None, **headers: str | None) -> Answer:
        """As a form of a page of that session sends it."""
        session = session or self.session()
        body = urlencode({"csrf": self.keys.form_token(session), **form}).encode()
        kind = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        return self.ask(path, "POST", {"Cookie": f"{COOKIE}={session}", "Origin": self.origin, **kind, **headers}, body)


@contextmanager
def web(
    ledger: Ledger,
    *,
    connect: Callable[[str], RayClient] = RayClient,
    care: Callable[[], object] = lambda: None,
    wall_ms: Callable[[], int] | None = None,
    allowed: tuple[str, ...] = (),
) -> Iterator[Web]:
    keys, told = Keys(TOKEN), list[str]()
    clock = {} if wall_ms is None else {"wall_ms": wall_ms}
    site = Site(ledger, keys, Hosts(HOST, allowed), connect, care, **clock)
    bound = bind(HOST, 0)
    with serving(make_app(site), bound, lambda text_id, **_: told.append(text_id)):
        yield Web(bound.getsockname()[1], keys, told)
