"""By which names this server may be called. A page of another site that lets its own name lead here (DNS rebinding)
calls it by that name, and gets nothing. Pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_NEVER = frozenset("/?#@\\")
"""What ends the name in an address: with it, the path of the request would be read as another one."""


class Hosts:
    def __init__(self, bound: str, allowed: Iterable[str] = ()) -> None:
        """`bound`: what the server listens on. `allowed`: further names, as a proxy or a tunnel uses them."""
        self._names = {name.lower().strip("[]") for name in (*LOOPBACK, bound, *allowed)}
        self._any_address = _is_wildcard(bound)

    def allows(self, header: str) -> bool:
        """A `Host` header, with any port: a tunnel has its own. On all interfaces any address will do: what must not
        come in is a name that leads here by somebody else's will."""
        name = _name_of(header)
        return name is not None and (name in self._names or (self._any_address and _is_address(name)))

    def same(self, origin: str, header: str) -> bool:
        """Whether a page of `origin` is one of this server's, which was called by `header`."""
        try:
            found = urlsplit(origin)
        except ValueError:
            return False
        return found.scheme in ("http", "https") and found.netloc.lower() == header.lower() and self.allows(header)


def _name_of(header: str) -> str | None:
    try:
        return None if set(header) & _NEVER or not header.isprintable() else urlsplit(f"//{header}").hostname
    except ValueError:
        return None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_wildcard(bound: str) -> bool:
    return bound.strip("[]") in ("0.0.0.0", "::")
