"""What can go wrong on the way to Ray, each told in one line; and what an answer's body says about it."""

from __future__ import annotations

import http.client
import os
import re
import socket
import ssl

from submitter.errors import UnreachableError
from submitter.texts import clipped

CAUSE_LIMIT_CHARS = 300
"""Of Ray's own message in an error text: Ray answers with whole tracebacks."""

_HTTP2_SETTINGS = "\x00\x00"
"""A gRPC server (Ray's GCS port) answers an HTTP/1.1 request with a binary HTTP/2 frame."""


class RayError(UnreachableError):
    """A call to Ray without a usable answer."""

    in_doubt = False
    """The request may have taken effect although no answer says so."""
    status: int | None = None
    """The HTTP status, if there was an answer."""

    @property
    def refused(self) -> bool:
        """Ray understood the request and will not do it: asking again changes nothing."""
        return self.status is not None and 400 <= self.status < 500 and self.status not in (408, 429)


def failure(
    text_id: str, address: str, *, in_doubt: bool = False, status: int | None = None, **values: object
) -> RayError:
    error = RayError(text_id, address=address, **values)
    error.in_doubt = in_doubt
    error.status = status
    return error


def of_exception(error: Exception, address: str, *, sent: bool, timeout_s: float) -> RayError:
    """The one-line error for what the socket, TLS or HTTP layer raised. `sent`: the request was on its way."""
    if isinstance(error, socket.gaierror):
        return failure("cluster.name_not_resolved", address, reason=error.strerror or "")
    if isinstance(error, UnicodeError):  # a host name with an empty or over-long part
        return failure("cluster.name_not_resolved", address, reason=str(error))
    if isinstance(error, TimeoutError):
        text_id = "cluster.no_answer" if sent else "cluster.no_connection"
        return failure(text_id, address, in_doubt=sent, seconds=f"{timeout_s:g}")
    if isinstance(error, ssl.SSLCertVerificationError):
        return failure("cluster.tls_untrusted", address, reason=error.verify_message)
    if isinstance(error, ssl.SSLError):
        return failure("cluster.tls", address, reason=error.reason or "")
    if isinstance(error, http.client.IncompleteRead):
        return failure("cluster.truncated", address, in_doubt=sent)
    if isinstance(error, http.client.BadStatusLine) and not isinstance(error, ConnectionError):
        binary = _HTTP2_SETTINGS in str(error.args[0])
        return failure("cluster.gcs_port" if binary else "cluster.not_http", address)
    if isinstance(error, OSError):
        return _of_os_error(error, address, sent)
    return failure("cluster.not_http", address, in_doubt=sent)


def _of_os_error(error: OSError, address: str, sent: bool) -> RayError:
    if isinstance(error, ConnectionRefusedError):
        return failure("cluster.port_refused", address)
    if isinstance(error, ConnectionError):
        return failure("cluster.dropped", address, in_doubt=sent)
    reason = os.strerror(error.errno) if error.errno else type(error).__name__
    return failure("cluster.network", address, in_doubt=sent, reason=reason)


def cause(body: bytes, secret: str | None = None) -> str:
    """Ray's own message, cut out of the traceback that it answers with; never holds `secret`."""
    text = body.decode("utf-8", "replace")
    if secret:
        text = text.replace(secret, "***")
    lines = [line.strip() for line in text.splitlines() if re.search(r"\w", line)]
    last = lines[-1] if lines else ""
    return clipped(last, CAUSE_LIMIT_CHARS)


def is_duplicate(error: RayError) -> bool:
    """Ray's answer to a submission id that exists: HTTP 500 with this text in its traceback (Ray 2.60)."""
    return "already exists" in str(error.values.get("cause", ""))
