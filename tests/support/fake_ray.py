"""A fake Ray dashboard on loopback: real HTTP and websockets, with the quirks measured on Ray 2.60.

What a test wants to go wrong it says with `fail_next`; everything else behaves. Nothing here sleeps for long.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import socket
import ssl
import struct
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from submitter.gang.telemetry.sample import TELEMETRY_FILE

HEAD_ID = "a" * 56
HEAD_IP = "10.0.0.1"
STARTER_PREFIX = "_ray_internal_job_actor_"
EOF_REST_S = 0.01
"""Ray rests a second at the end of the log file."""
CHUNK_CHARS = 20_000
HEAD_RESOURCES = frozenset({"CPU", "node:__internal_head__"})
TERMINAL = ("SUCCEEDED", "FAILED", "STOPPED")
_SIZES = ("num_cpus", "num_gpus", "memory", "resources", "label_selector")
FIELDS = {
    "entrypoint",
    "submission_id",
    "job_id",
    "runtime_env",
    "metadata",
    *(f"entrypoint_{name}" for name in _SIZES),
}
_WEBSOCKET_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


@dataclass
class FakeJob:
    submission_id: str
    status: str
    metadata: dict[str, str]
    log: Path
    runtime_env: dict[str, Any] = field(default_factory=dict)
    message: str = ""
    error_type: str | None = None
    driver_exit_code: int | None = None
    start_time: int = 1_700_000_000_000
    end_time: int | None = None
    driver_node_id: str | None = HEAD_ID
    stops: int = 0

    @property
    def telemetry(self) -> Path:
        """What the driver writes beside its log."""
        return self.log.with_suffix(".telemetry")

    @property
    def files(self) -> dict[str, Path]:
        names = f"job-driver-{self.submission_id}.log", TELEMETRY_FILE.format(attempt=self.submission_id)
        return dict(zip(names, (self.log, self.telemetry), strict=True))

    def write(self, data: bytes) -> None:
        with self.log.open("ab") as file:
            file.write(data)

    def end(self, status: str, *, code: int | None = None, error_type: str | None = None, message: str = "") -> None:
        self.driver_exit_code, self.error_type, self.message = code, error_type, message
        self.end_time = self.start_time + 60_000
        self.status = status

    def details(self) -> dict[str, Any]:
        return {
            "type": "SUBMISSION",
            "job_id": None,
            "submission_id": self.submission_id,
            "status": self.status,
            "entrypoint": "python3 -m npurun_gang",
            "message": self.message,
            "error_type": self.error_type,
            "start_time": self.start_time,
            "end_time": self.end_time,
            "metadata": self.metadata,
            "runtime_env": self.runtime_env,
            "driver_node_id": None if self.status == "PENDING" else self.driver_node_id,
            "driver_exit_code": self.driver_exit_code,
        }


Handler = Any
Fault = Callable[[Handler, Callable[[], None]], None]
"""Gets the request's handler and the action that answers it as Ray does."""


class FakeRay:
    """Use as a context manager; `address` is its URL, `requests` what came in: (method, path, headers, body)."""

    def __init__(self, *, version: str = "2.60.0", token: str | None = None, tls: ssl.SSLContext | None = None) -> None:
        self.version = version
        self.token = token
        self.jobs: dict[str, FakeJob] = {}
        self.packages: dict[str, bytes] = {}
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        self.nodes: list[dict[str, Any]] = [head_row()]
        self.start_as = "RUNNING"
        self.on_start: Callable[[FakeJob], None] = lambda job: None
        """What a job does once it was submitted: write, end."""
        self.orphans: set[str] = set()
        """Submission ids that Ray has lost the supervisor actor of."""
        self.stream_cuts: list[int] = []
        """The next log streams are cut after so many bytes of frames."""
        self.streams = 0
        self.websockets = True
        self.closing = threading.Event()
        self._faults: list[tuple[str, re.Pattern[str], Fault]] = []
        self._lock = threading.Lock()
        self._folder = tempfile.TemporaryDirectory()
        self._server = _Server(self)
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.scheme = "http" if tls is None else "https"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def address(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def __enter__(self) -> FakeRay:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._folder.cleanup()

    def fail_next(self, method: str, path: str, *faults: Fault) -> None:
        """The next matching requests (`path`: a regular expression, from its start) meet these faults, one each."""
        self._faults += [(method, re.compile(path), fault) for fault in faults]

    def add_job(self, submission_id: str, status: str = "RUNNING", log: bytes = b"", **fields: Any) -> FakeJob:
        file = Path(self._folder.name) / f"{len(self.jobs)}.log"
        file.write_bytes(log)
        job = FakeJob(submission_id, status, fields.pop("metadata", {}), file, **fields)
        self.jobs[submission_id] = job
        return job

    def posts(self) -> list[dict[str, Any]]:
        return [json.loads(body) for method, path, _, body in self.requests if (method, path) == ("POST", "/api/jobs/")]

    def take_fault(self, method: str, path: str) -> Fault | None:
        with self._lock:
            for index, (wanted, pattern, fault) in enumerate(self._faults):
                if wanted == method and pattern.match(path):
                    del self._faults[index]
                    return fault
        return None


def head_row(node_id: str = HEAD_ID, ip: str = HEAD_IP, **fields: Any) -> dict[str, Any]:
    row = {"node_id": node_id, "node_ip": ip, "is_head_node": True, "state": "ALIVE", "start_time_ms": 1}
    return {**row, **fields}


def hang(handler: Handler, _answer: Callable[[], None]) -> None:
    """Takes the request, never answers."""
    handler.ray.closing.wait(30)


def drop(handler: Handler, _answer: Callable[[], None]) -> None:
    handler.cut()


def takes_effect_then(fault: Fault) -> Fault:
    """Does what was asked, but the client meets `fault` instead of the answer."""

    def run(handler: Handler, answer: Callable[[], None]) -> None:
        handler.muted = True
        answer()
        handler.muted = False
        fault(handler, answer)

    return run


def takes_effect_after(wait_for: threading.Event, fault: Fault) -> Fault:
    """The client meets `fault` at once; what it asked is done when `wait_for` is set."""

    def run(handler: Handler, answer: Callable[[], None]) -> None:
        def later() -> None:
            wait_for.wait(30)
            handler.muted = True
            answer()

        threading.Thread(target=later, daemon=True).start()
        fault(handler, answer)

    return run


def says(status: int, body: str, content_type: str = "text/plain", headers: dict[str, str] | None = None) -> Fault:
    def run(handler: Handler, _answer: Callable[[], None]) -> None:
        handler.reply(status, body.encode(), content_type, headers)

    return run


def html(handler: Handler, answer: Callable[[], None]) -> None:
    says(200, "<!doctype html><html><body>Sign in</body></html>", "text/html")(handler, answer)


def redirects_to(url: str, status: int = 307) -> Fault:
    return says(status, "", headers={"Location": url})


def truncated(handler: Handler, _answer: Callable[[], None]) -> None:
    handler.raw(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"ray_version"')
    handler.cut()


def traceback_of(message: str) -> str:
    """As Ray's head wraps what its agent answered."""
    inner = f'Traceback (most recent call last):\n  File "job_manager.py", line 1\n{message}\n'
    return (
        'Traceback (most recent call last):\n  File "job_head.py", line 380, in submit_job\n'
        f"RuntimeError: Request failed with status code 400: {inner}.\n"
    )


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, ray: FakeRay) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.ray = ray

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Broken connections are what these tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    muted = False

    @property
    def ray(self) -> FakeRay:
        return self.server.ray  # type: ignore[attr-defined,no-any-return]

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def do_PUT(self) -> None:
        self._serve("PUT")

    def reply(
        self, status: int, body: bytes, content_type: str = "application/json", headers: dict[str, str] | None = None
    ) -> None:
        if self.muted:
            return
        self.send_response(status)
        for name, value in {"Content-Type": content_type, **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def raw(self, data: bytes) -> None:
        self.wfile.write(data)

    def cut(self) -> None:
        """Closes the connection as a killed process does."""
        self.close_connection = True
        try:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def _serve(self, method: str) -> None:
        self._body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.ray.requests.append((method, self.path, dict(self.headers), self._body))
        fault = self.ray.take_fault(method, self.path)
        if fault is None:
            self._answer(method)
        else:
            fault(self, lambda: self._answer(method))

    def _answer(self, method: str) -> None:
        if not self._allowed():
            return
        path = urlsplit(self.path).path
        for wanted, pattern, action in _ROUTES:
            match = re.fullmatch(pattern, path)
            if wanted == method and match:
                action(self, *(unquote(part) for part in match.groups()))
                return
        self.reply(404, b"404: Not Found", "text/plain")

    def _allowed(self) -> bool:
        if self.ray.token is None:
            return True
        given = self.headers.get("Authorization")
        if given is None:
            self.reply(401, b"Unauthorized: Missing authentication token", "text/plain")
        elif given != f"Bearer {self.ray.token}":
            self.reply(403, f"Forbidden: Invalid authentication token {given}".encode(), "text/plain")
        return given == f"Bearer {self.ray.token}"

    def json(self, value: Any) -> None:
        self.reply(200, json.dumps(value).encode())

    def version(self) -> None:
        self.json({"version": "4", "ray_version": self.ray.version, "ray_commit": "b7f4259", "session_name": "s"})

    def nodes(self) -> None:
        limit = int(parse_qs(urlsplit(self.path).query).get("limit", ["100"])[0])
        rows = self.ray.nodes[:limit]
        self.json({"result": True, "msg": "", "data": {"result": {"total": len(self.ray.nodes), "result": rows}}})

    def actors(self) -> None:
        """With a filter by name, as the State API takes it."""
        query = {key: values[0] for key, values in parse_qs(urlsplit(self.path).query).items()}
        name = query.get("filter_values", "")
        job = self.ray.jobs.get(name.removeprefix(STARTER_PREFIX)) if query.get("filter_keys") == "name" else None
        there = job is not None and job.status not in TERMINAL and job.submission_id not in self.ray.orphans
        rows = [{"name": name, "state": "PENDING_CREATION", "actor_id": "1" * 32}] if there else []
        self.json({"result": True, "msg": "", "data": {"result": {"total": len(rows), "result": rows}}})

    def get_package(self, name: str) -> None:
        if name in self.ray.packages:
            self.reply(200, b"", "application/octet-stream")
        else:
            self.reply(404, f"Package gcs://{name} does not exist".encode(), "text/plain")

    def put_package(self, name: str) -> None:
        self.ray.packages[name] = self._body
        self.reply(200, b"", "application/octet-stream")

    def submit(self) -> None:
        body = json.loads(self._body)
        unknown = sorted(set(body) - FIELDS)
        if unknown:
            message = f"TypeError: JobSubmitRequest.__init__() got an unexpected keyword argument '{unknown[0]}'"
            self.reply(400, f"Traceback (most recent call last):\n{message}\n".encode(), "text/plain")
            return
        if any(not isinstance(value, str) for value in (body.get("metadata") or {}).values()):
            self.reply(400, b"Traceback (most recent call last):\nTypeError: metadata values must be strings\n")
            return
        identity = body["submission_id"]
        if identity in self.ray.jobs:
            message = (
                f"ValueError: Job with submission_id {identity} already exists. Please use a different submission_id."
            )
            self.reply(500, traceback_of(message).encode(), "text/plain")
            return
        self._start(identity, body)
        self.json({"job_id": identity, "submission_id": identity})

    def _start(self, identity: str, body: dict[str, Any]) -> None:
        """Runs an entrypoint of `tests.support.jobs_contract.writes`; any other one runs until the test ends it."""
        metadata, env = body.get("metadata") or {}, body.get("runtime_env") or {}
        placeable = set(body.get("entrypoint_resources") or {}) <= HEAD_RESOURCES
        status = self.ray.start_as if placeable else "PENDING"
        job = self.ray.add_job(identity, status, metadata=metadata, runtime_env=env)
        script = re.search(
            r"b64decode\('([^']*)'\)\); sys.stdout.flush\(\); (pass|sys.exit\((\d+)\))?", body["entrypoint"]
        )
        if script is None:
            self.ray.on_start(job)
            return
        job.write(base64.b64decode(script[1]))
        if script[2] == "pass":
            job.end("SUCCEEDED", code=0)
        elif script[3]:
            message = f"failed with exit code {script[3]}, last available logs:\n{job.log.read_text()}"
            job.end("FAILED", code=int(script[3]), error_type="JOB_ENTRYPOINT_COMMAND_ERROR", message=message)

    def list_jobs(self) -> None:
        driver = {"type": "DRIVER", "job_id": "01000000", "submission_id": None, "status": "RUNNING"}
        self.json([*(job.details() for job in self.ray.jobs.values()), driver])

    def get_job(self, identity: str) -> None:
        job = self._job(identity)
        if job is not None:
            self.json(job.details())

    def stop(self, identity: str) -> None:
        job = self._job(identity)
        if job is None:
            return
        job.stops += 1
        stopped = job.status not in TERMINAL
        if job.status == "RUNNING":
            job.end("STOPPED")
        self.json({"stopped": stopped})  # also for PENDING, which goes on

    def log_file(self) -> None:
        query = {key: values[0] for key, values in parse_qs(urlsplit(self.path).query).items()}
        if "node_id" not in query:
            self.reply(500, b"500 Internal Server Error\n\nServer got itself in trouble", "text/plain")
            return
        job, file = self._file(query["filename"])
        if job is None or query["node_id"] != job.driver_node_id or not file.exists():
            self.reply(500, f"A file is not found at: /tmp/{query['filename']}".encode(), "text/plain")
            return
        data, lines = file.read_bytes(), int(query["lines"])
        self.reply(200, data if lines == -1 else b"".join(data.splitlines(keepends=True)[-lines:]), "text/plain")

    def _file(self, name: str) -> tuple[FakeJob | None, Path]:
        """Whose file it is, among those in the folder of the drivers' logs."""
        for job in self.ray.jobs.values():
            if name in job.files:
                return job, job.files[name]
        return None, Path(name)

    def log_json(self, identity: str) -> None:
        job = self._job(identity)
        if job is None:
            return
        try:
            self.json({"logs": job.log.read_text(encoding="utf-8")})
        except UnicodeDecodeError as error:
            self.reply(500, traceback_of(f"UnicodeDecodeError: {error}").encode(), "text/plain")

    def tail(self, identity: str) -> None:
        job = self._job(identity)
        if job is None:
            return
        if not self.ray.websockets or self.headers.get("Upgrade", "").lower() != "websocket":
            self.reply(400, b'Can "Upgrade" only to "WebSocket"', "text/plain")
            return
        self.ray.streams += 1
        budget = self.ray.stream_cuts.pop(0) if self.ray.stream_cuts else None
        self._upgrade()
        for text in self._text_of(job):
            frame = _frame(text.encode())
            self.raw(frame if budget is None else frame[:budget])
            if budget is not None:
                budget -= len(frame)
                if budget <= 0:
                    self.cut()
                    return
        self.raw(_frame(struct.pack("!H", 1000), opcode=8))
        self.close_connection = True

    def _text_of(self, job: FakeJob) -> Iterator[str]:
        """As Ray's agent reads the file (dashboard/modules/job/utils.py): text mode, ten lines or 20 000 characters."""
        ended = False
        with job.log.open(encoding="utf-8") as file:
            while not self.ray.closing.is_set():
                try:
                    text = _some_lines(file)
                except UnicodeDecodeError:
                    return  # the agent's task dies, the stream ends as if all were well
                if text:
                    yield text
                elif ended:
                    return
                else:
                    ended = job.status in TERMINAL
                    time.sleep(EOF_REST_S)

    def _upgrade(self) -> None:
        key = self.headers["Sec-WebSocket-Key"] + _WEBSOCKET_GUID
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        self.raw(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {accept}\r\n\r\n".encode()
        )

    def _job(self, identity: str) -> FakeJob | None:
        job = self.ray.jobs.get(identity)
        if job is None:
            self.reply(404, f"Job {identity} does not exist".encode(), "text/plain")
        return job


def _some_lines(file: Any) -> str:
    text, lines = "", 0
    while lines < 10 and len(text) <= CHUNK_CHARS:
        line = file.readline()
        if not line:
            break
        text, lines = text + line, lines + 1
    return text


def _frame(payload: bytes, opcode: int = 1) -> bytes:
    if len(payload) < 126:
        size = struct.pack("!B", len(payload))
    elif len(payload) < 1 << 16:
        size = struct.pack("!BH", 126, len(payload))
    else:
        size = struct.pack("!BQ", 127, len(payload))
    return bytes([0x80 | opcode]) + size + payload


_ROUTES: tuple[tuple[str, str, Callable[..., None]], ...] = (
    ("GET", r"/api/version", _Handler.version),
    ("GET", r"/api/v0/nodes", _Handler.nodes),
    ("GET", r"/api/v0/actors", _Handler.actors),
    ("GET", r"/api/v0/logs/file", _Handler.log_file),
    ("GET", r"/api/packages/gcs/([^/]+)", _Handler.get_package),
    ("PUT", r"/api/packages/gcs/([^/]+)", _Handler.put_package),
    ("POST", r"/api/jobs/", _Handler.submit),
    ("GET", r"/api/jobs/", _Handler.list_jobs),
    ("GET", r"/api/jobs/([^/]+)", _Handler.get_job),
    ("POST", r"/api/jobs/([^/]+)/stop", _Handler.stop),
    ("GET", r"/api/jobs/([^/]+)/logs", _Handler.log_json),
    ("GET", r"/api/jobs/([^/]+)/logs/tail", _Handler.tail),
)


@pytest.fixture
def ray() -> Iterator[FakeRay]:
    with FakeRay() as server:
        yield server
