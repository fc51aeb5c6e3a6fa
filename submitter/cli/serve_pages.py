"""The pages beside the supervisor: what they need, and what its user is told of them."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from submitter.cli.language import language
from submitter.texts import Tell

if TYPE_CHECKING:
    from starlette.types import ASGIApp

NEEDED = ("starlette", "uvicorn", "websockets", "jinja2", "youplot", "prometheus_client")
"""Of the extra `web`."""


@contextmanager
def pages(home: Path, host: str, port: int, allowed: Sequence[str], say: Tell) -> Iterator[bool]:
    """Served while the block runs. False: something of the extra is not installed, which is told.

    UsageError: the port is taken, or the token's file cannot be trusted.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        say("web.not_installed", missing=", ".join(missing))
        yield False
        return
    from submitter.watch.web.server import bind, serving
    from submitter.watch.web.token import FILE_NAME

    app, close = _app(home, host, allowed)
    bound = bind(host, port)
    shown = f"[{host.strip('[]')}]" if ":" in host else host
    try:
        with serving(app, bound, say):
            say("web.serving", url=f"http://{shown}:{bound.getsockname()[1]}/", file=home / FILE_NAME)
            if not _is_loopback(host):
                say("web.open", host=host)
            yield True
    finally:
        close()


def _app(home: Path, host: str, allowed: Sequence[str]) -> tuple[ASGIApp, Callable[[], None]]:
    """And what closes its ledger."""
    from submitter.ledger import Ledger
    from submitter.supervise.serve import connection, ensure_running
    from submitter.watch.web.app import make_app
    from submitter.watch.web.hosts import Hosts
    from submitter.watch.web.keys import Keys
    from submitter.watch.web.site import Site
    from submitter.watch.web.token import read_or_make

    ledger = Ledger(home)
    site = Site(
        ledger,
        Keys(read_or_make(home)),
        Hosts(host, allowed),
        connection(os.environ),
        lambda: ensure_running(home, ledger, tell=lambda *_, **__: None, environ=os.environ, wait=False),
        language(),
    )
    return make_app(site), ledger.close


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
