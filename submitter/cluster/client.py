"""Ray's Jobs REST and State API, as far as npurun needs them. Every call has a timeout and fails with `RayError`."""

from __future__ import annotations

import codecs
import copy
import re
import ssl
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from submitter.cluster.address import Address, address_from, parse_address
from submitter.cluster.auth import Token, find_token, tls_context
from submitter.cluster.errors import RayError, failure
from submitter.cluster.transport import Answer, Transport
from submitter.errors import UsageError

if TYPE_CHECKING:
    from submitter.cluster.packages import Package

CALL_TIMEOUT_S = 10.0
"""A healthy dashboard answers within 25 ms; one whose GCS died hangs for a minute (Ray 2.60)."""
POST_TIMEOUT_S = 30.0
"""The head itself waits 10 s for its agent before it answers a submission."""
UPLOAD_BYTES_PER_S = 1 << 20
"""The slowest line on which an upload is still waited for."""
NODE_LIMIT = 10_000
"""The State API's own maximum; its default of 100 would hide nodes."""
_STATE_API_AWAY = frozenset({404, 429})
"""429: all of its hundred places are taken, as by followers who left (`ray logs --follow`, Ray 2.60)."""
TERMINAL = frozenset({"SUCCEEDED", "FAILED", "STOPPED"})
SUBMISSION_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
"""Ray accepts more, and leaves jobs that stay PENDING for ever behind some of it (slashes, over-long names)."""

_STARTER_PREFIX = "_ray_internal_job_actor_"
"""Of the name of a job's supervisor actor (ray/dashboard/modules/job/common.py)."""

_OUR_NAMES = {"start_time": "start_ms", "end_time": "end_ms"}
"""Ray's names of a job's fields, where ours say the unit."""


@dataclass(frozen=True)
class HeadNode:
    node_id: str
    ip: str


@dataclass(frozen=True)
class JobInfo:
    submission_id: str
    status: str
    """PENDING, RUNNING, STOPPED, SUCCEEDED or FAILED."""
    driver_exit_code: int | None = None
    """The shell's; None when stopped, and when the driver never started."""
    error_type: str | None = None
    message: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    start_ms: int | None = None
    """Unix time."""
    end_ms: int | None = None
    driver_node_id: str | None = None
    """Where the log file lies; None while PENDING."""

    @property
    def ended(self) -> bool:
        return self.status in TERMINAL


class RayClient:
    """One cluster. `explicit`: the user named this address, it is no default."""

    def __init__(
        self,
        address: str | Address,
        *,
        token: Token | None = None,
        ca_bundle: str | None = None,
        timeout_s: float = CALL_TIMEOUT_S,
        environ: Mapping[str, str] | None = None,
        explicit: bool = False,
    ) -> None:
        parsed = parse_address(address) if isinstance(address, str) else address
        context = cache(lambda: tls_context(environ or {}, ca_bundle))
        if parsed.scheme == "https":
            context()  # an unreadable bundle is told now, as wrong usage
        self.explicit = explicit
        self.timeout_s = timeout_s
        self.transport = Transport(parsed, token, context)
        self._context: Callable[[], ssl.SSLContext] = context

    @property
    def address(self) -> str:
        return str(self.transport.address)

    def at(self, address: str) -> RayClient:
        """The same user at another cluster's address, which is one of the ledger's."""
        other = copy.copy(self)
        other.explicit = False
        other.transport = Transport(parse_address(address), self.transport.token, self._context)
        return other

    def version(self) -> str:
        """Of Ray on the cluster."""
        answer = self.transport.call("GET", "/api/version", timeout_s=self.timeout_s)
        return str(self._field(answer, "ray_version"))

    def head(self) -> HeadNode:
        heads = [node for node in self.nodes() if node.get("is_head_node") and node.get("state") == "ALIVE"]
        if not heads:
            raise failure("cluster.no_head", self.address)
        # After a restart of the head the dead one is listed too, and for a moment perhaps as alive.
        newest = max(heads, key=lambda node: node.get("start_time_ms") or 0)
        return HeadNode(str(newest["node_id"]), str(newest["node_ip"]))

    def nodes(self) -> list[dict[str, Any]]:
        """All nodes that the State API lists, dead ones too."""
        query = urlencode({"detail": 1, "limit": NODE_LIMIT, "timeout": int(self.timeout_s)})
        found = self._get(f"/api/v0/nodes?{query}")
        try:
            rows = found["data"]["result"]["result"]
        except (KeyError, TypeError) as error:
            raise failure("cluster.not_ray", self.address) from error
        return [row for row in rows if isinstance(row, dict)]

    def has_package(self, uri: str) -> bool:
        """Also keeps the package from being dropped for the next ten minutes."""
        answer = self.transport.call("GET", _package_path(uri), timeout_s=self.timeout_s)
        if answer.status == 404:
            return False
        if answer.status != 200:
            raise self.transport.refusal(answer)
        return True

    def put_package(self, package: Package) -> None:
        timeout_s = self.timeout_s + len(package.data) / UPLOAD_BYTES_PER_S
        path, kind = _package_path(package.uri), "application/octet-stream"
        answer = self.transport.call("PUT", path, body=package.data, kind=kind, timeout_s=timeout_s)
        if answer.status != 200:
            raise self.transport.refusal(answer)

    def post_job(self, body: bytes) -> str:
        """Submits; the submission id. A `RayError` that is `in_doubt` does not mean that there is no such job."""
        answer = self.transport.call("POST", "/api/jobs/", body=body, timeout_s=max(POST_TIMEOUT_S, self.timeout_s))
        return str(self._field(answer, "submission_id"))

    def job(self, submission_id: str) -> JobInfo | None:
        """None when the cluster has no such job."""
        answer = self.transport.call("GET", _job_path(submission_id), timeout_s=self.timeout_s)
        if answer.status == 404 and b"does not exist" in answer.body:
            return None
        return self._job_info(self.transport.json_of(answer))

    def jobs(self) -> list[JobInfo]:
        """Every submission that the cluster remembers; plain drivers are left out."""
        rows = self._get("/api/jobs/")
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise failure("cluster.not_ray", self.address)
        return [self._job_info(row) for row in rows if row.get("submission_id")]

    def stop(self, submission_id: str) -> bool:
        """Asks for the end, does not wait for it; False when the job has ended already.

        True says little: Ray 2.60 answers so for a PENDING job too, and does not stop it.
        """
        path = f"{_job_path(submission_id)}/stop"
        answer = self.transport.call("POST", path, body=b"", timeout_s=max(POST_TIMEOUT_S, self.timeout_s))
        return bool(self._field(answer, "stopped"))

    def log_tail(self, submission_id: str, lines: int) -> str:
        """The last `lines` lines (at least 1), cheap whatever the log's size; "" while there is no log.

        A character that is only half written at the log's end is left out.
        """
        return codecs.getincrementaldecoder("utf-8")("replace").decode(b"".join(self._log(submission_id, lines)))

    def whole_log(self, submission_id: str) -> Iterator[bytes]:
        """The log's bytes as they are now, in pieces.

        Read through the State API: Ray's own `/api/jobs/<id>/logs` and its stream fail for ever on one byte that is
        no UTF-8 (Ray 2.60).
        """
        return self._log(submission_id, -1)

    def log_of(self, info: JobInfo, lines: int) -> Iterator[bytes]:
        """The last `lines` lines (-1: all) of a job that was just asked for, in pieces; none while there is no log."""
        chunks = self.beside_log(info, f"job-driver-{info.submission_id}.log", lines)
        return self._log_or_else(chunks, info.submission_id, lines)

    def beside_log(self, info: JobInfo, filename: str, lines: int) -> Iterator[bytes]:
        """As `log_of`, of a file in the folder where the driver's log lies. Raises `RayError`: also where it is not."""
        if info.driver_node_id is None:
            return iter(())
        query = {"node_id": info.driver_node_id, "filename": filename, "lines": lines}
        return self.transport.stream(f"/api/v0/logs/file?{urlencode(query)}", timeout_s=self.timeout_s)

    def has_starter(self, submission_id: str) -> bool:
        """Whether Ray still has the actor that starts the job's driver and watches it, in whatever state but dead."""
        name = f"{_STARTER_PREFIX}{submission_id}"
        filters = {"filter_keys": "name", "filter_predicates": "=", "filter_values": name}
        found = self._get(
            f"/api/v0/actors?{urlencode({**filters, 'limit': NODE_LIMIT, 'timeout': int(self.timeout_s)})}"
        )
        try:
            rows = found["data"]["result"]["result"]
            return any(row["name"] == name and row["state"] != "DEAD" for row in rows)
        except (KeyError, TypeError) as error:
            raise failure("cluster.not_ray", self.address) from error

    def _log(self, submission_id: str, lines: int) -> Iterator[bytes]:
        info = self.job(submission_id)
        return iter(()) if info is None else self.log_of(info, lines)

    def _log_or_else(self, chunks: Iterator[bytes], submission_id: str, lines: int) -> Iterator[bytes]:
        """Nothing, while the driver has not opened its log file; Ray's other way where the State API has no place."""
        try:
            yield from chunks
        except RayError as error:
            if error.status in _STATE_API_AWAY:
                yield self._log_as_json(submission_id, lines)
            elif "file is not found" not in str(error.values.get("cause", "")):
                raise

    def _log_as_json(self, submission_id: str, lines: int) -> bytes:
        """Always the whole file in one string, and only if all of it is UTF-8."""
        answer = self.transport.call("GET", f"{_job_path(submission_id)}/logs", timeout_s=self.timeout_s)
        found: list[str] = str(self._field(answer, "logs")).splitlines(keepends=True)
        return "".join(found if lines < 0 else found[-lines:]).encode()

    def _get(self, path: str) -> Any:
        return self.transport.json_of(self.transport.call("GET", path, timeout_s=self.timeout_s))

    def _field(self, answer: Answer, key: str) -> Any:
        found = self.transport.json_of(answer)
        if not isinstance(found, dict) or key not in found:
            raise failure("cluster.not_ray", self.address, in_doubt=True)
        return found[key]

    def _job_info(self, row: Any) -> JobInfo:
        import msgspec

        try:
            known = msgspec.convert(row, dict[str, Any])
            named = {_OUR_NAMES.get(key, key): value for key, value in known.items() if value is not None}
            return msgspec.convert(named, JobInfo)
        except msgspec.ValidationError as error:
            raise failure("cluster.not_ray", self.address) from error


def from_environment(address: str | None, environ: Mapping[str, str], *, ca_bundle: str | None = None) -> RayClient:
    """A client for `address` or the environment's; raises `UsageError` for a bad address, token file or CA bundle."""
    return RayClient(
        address_from(address, environ),
        token=find_token(environ),
        ca_bundle=ca_bundle,
        environ=environ,
        explicit=address is not None,
    )


def _job_path(submission_id: str) -> str:
    if not SUBMISSION_ID.fullmatch(submission_id):
        raise UsageError("cluster.submission_id", value=submission_id)
    return f"/api/jobs/{submission_id}"


def _package_path(uri: str) -> str:
    """Of `gcs://<name>`."""
    protocol, _, name = uri.partition("://")
    return f"/api/packages/{quote(protocol, safe='')}/{quote(name, safe='')}"
