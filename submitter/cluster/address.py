"""Where the cluster is: one spelling of the address of Ray's dashboard, which serves its REST API."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from submitter.errors import Place, UsageError

DASHBOARD_PORT = 8265
DEFAULT_ADDRESS = f"http://127.0.0.1:{DASHBOARD_PORT}"
_ENVIRONMENT = "RAY_API_SERVER_ADDRESS"
_FALLBACK = "RAY_ADDRESS"
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Address:
    scheme: str
    host: str
    port: int
    prefix: str
    """Path in front of Ray's own (a reverse proxy), without the last slash; mostly empty."""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.prefix}"

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port


def address_from(given: str | None, environ: Mapping[str, str]) -> Address:
    """Of `--address`, else `RAY_API_SERVER_ADDRESS`, an http(s) `RAY_ADDRESS`, or 127.0.0.1:8265.

    UsageError that names where a bad one came from.
    """
    if given is not None:
        return parse_address(given, Place(key="--address"))
    text, key = _from_environment(environ)
    return parse_address(text, Place(key=key) if key else None)


def parse_address(text: str, place: Place | None = None) -> Address:
    """Accepts a URL, `host:port` or `host`; a fragment (a pasted dashboard link) is dropped."""
    text = text.strip()
    if "@" in text:
        raise UsageError("cluster.address_credentials", place)  # without the address: it holds a password
    if text.startswith("ray://"):
        raise UsageError("cluster.address_ray_client", place, value=text)
    bare = "://" not in text
    try:
        parts = urlsplit(f"http://{text}" if bare else text)
        port = parts.port
    except ValueError as error:
        raise UsageError("cluster.address_bad", place, value=text) from error
    usable = parts.scheme in _DEFAULT_PORTS and _is_host(parts.hostname) and _is_path(parts.path)
    if not usable or parts.query or port == 0:
        raise UsageError("cluster.address_bad", place, value=text)
    default = DASHBOARD_PORT if bare else _DEFAULT_PORTS[parts.scheme]
    return Address(parts.scheme, parts.hostname or "", port or default, parts.path.rstrip("/"))


def _from_environment(environ: Mapping[str, str]) -> tuple[str, str | None]:
    if environ.get(_ENVIRONMENT):
        return environ[_ENVIRONMENT], _ENVIRONMENT
    fallback = environ.get(_FALLBACK, "")
    # RAY_ADDRESS mostly names the GCS port, which speaks no HTTP.
    if fallback.startswith(("http://", "https://")):
        return fallback, _FALLBACK
    return DEFAULT_ADDRESS, None


def _is_host(host: str | None) -> bool:
    return bool(host and re.fullmatch(r"[A-Za-z0-9_.\-]+|[0-9a-fA-F:.]+(%\w+)?", host))


def _is_path(path: str) -> bool:
    return re.fullmatch(r"[\x21-\x7e]*", path) is not None
