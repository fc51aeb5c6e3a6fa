"""Who we are to the cluster, and whom we believe: Ray's token, and the CA bundle of an https address."""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from submitter.errors import Place, UsageError

_TOKEN = "RAY_AUTH_TOKEN"
_TOKEN_PATH = "RAY_AUTH_TOKEN_PATH"
_MODE = "RAY_AUTH_MODE"
_CA_VARIABLES = ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE")
"""In the order in which `requests`, which Ray's own client uses, and OpenSSL give them weight."""
TOKEN_LIMIT_BYTES = 65536
"""Far above any token: a path that names a log file by mistake is not read whole."""


@dataclass(frozen=True)
class Token:
    value: str = field(repr=False)
    source: str
    """Where it came from, for errors; the value is never shown."""


def find_token(environ: Mapping[str, str]) -> Token | None:
    """As Ray does: `RAY_AUTH_TOKEN`, the file `RAY_AUTH_TOKEN_PATH`, `~/.ray/auth_token`; None if there is none."""
    if environ.get(_MODE, "").lower() == "disabled":
        return None
    if environ.get(_TOKEN):
        return _token(environ[_TOKEN], _TOKEN)
    if environ.get(_TOKEN_PATH):
        path = Path(environ[_TOKEN_PATH]).expanduser()
        return _token(_read(path, Place(key=_TOKEN_PATH)), str(path))
    default = Path(environ.get("HOME") or Path.home()) / ".ray" / "auth_token"
    try:
        return _token(_read(default, None), str(default)) if default.exists() else None
    except PermissionError:  # of the folder: somebody else's home, as with `sudo -E`
        return None


def tls_context(environ: Mapping[str, str], ca_bundle: str | None) -> ssl.SSLContext:
    """Verifies against `ca_bundle`, else `REQUESTS_CA_BUNDLE`, else `SSL_CERT_FILE`, else the system's store."""
    named = [("--ca", ca_bundle), *((key, environ.get(key)) for key in _CA_VARIABLES)]
    key, bundle = next(((key, value) for key, value in named if value), ("", None))
    if bundle is None:
        return ssl.create_default_context()
    path = Path(bundle).expanduser()
    try:
        if path.is_dir():
            return ssl.create_default_context(capath=str(path))
        return ssl.create_default_context(cafile=str(path))
    except (OSError, ssl.SSLError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or type(error).__name__
        raise UsageError("cluster.ca_unreadable", Place(key=key), path=path, reason=reason) from error


def _read(path: Path, place: Place | None) -> str:
    try:
        with path.open("rb") as file:
            return file.read(TOKEN_LIMIT_BYTES).decode("latin-1")
    except OSError as error:
        raise UsageError("cluster.token_unreadable", place, path=path, reason=error.strerror) from error


def _token(text: str, source: str) -> Token:
    value = text.strip()
    if not value:
        raise UsageError("cluster.token_empty", source=source)
    # Checked here: http.client and aiohttp put a bad header's value into their own errors.
    if not re.fullmatch(r"[\x21-\x7e]+", value):
        raise UsageError("cluster.token_malformed", source=source)
    return Token(value, source)
