"""One real Ray head of a test's own, with token authentication, whose dashboard may be killed and started again."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import psutil

from submitter.cluster.auth import Token
from submitter.cluster.client import RayClient
from submitter.cluster.errors import RayError
from submitter.rehearsal.claim import claim
from submitter.rehearsal.local_cluster import node_environment
from tests.support.processes import carrying, command_line, wait_for

START_BOUND_S = 120.0
MARK = "NPURUN_TEST_HEAD"
OPTIONS = (
    "--no-monitor",
    "--num-cpus=8",
    "--object-store-memory=100000000",
    "--min-worker-port=0",
    "--max-worker-port=0",
)
OTHER_PORTS = (
    "ray-client-server",
    "node-manager",
    "object-manager",
    "dashboard-agent-listen",
    "dashboard-agent-grpc",
    "runtime-env-agent",
    "metrics-export",
)


@dataclass(frozen=True)
class Head:
    address: str
    gcs_address: str
    token: Token
    mark: str
    """`NAME=value` in the environment of each of its processes."""

    @property
    def client(self) -> RayClient:
        return RayClient(self.address, token=self.token)

    def answers(self) -> bool:
        try:
            return bool(self.client.version()) and bool(self.client.head())
        except RayError:
            return False

    def kill_dashboard(self) -> _Dashboard:
        """`kill -9` of the dashboard and its modules; the rest of Ray goes on."""
        (root,) = [pid for pid in carrying(self.mark) if "dashboard/dashboard.py" in command_line(pid)]
        process = psutil.Process(root)
        found = _Dashboard(process.cmdline(), process.environ(), process.cwd())
        for one in [*process.children(recursive=True), process]:
            with suppress(psutil.NoSuchProcess):
                one.kill()
        wait_for(lambda: not self.answers(), bound_s=20, what="the dashboard is gone")
        return found


@dataclass(frozen=True)
class _Dashboard:
    command: list[str]
    environ: dict[str, str]
    cwd: str

    def start_again(self) -> None:
        subprocess.Popen(
            self.command,
            env=self.environ,
            cwd=self.cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


@contextmanager
def started_head() -> Iterator[Head]:
    """Not `--block`: that would end all of Ray with its dashboard."""
    held = claim()
    mark, token = uuid.uuid4().hex, uuid.uuid4().hex
    with tempfile.TemporaryDirectory(prefix="nrh", dir="/tmp", ignore_cleanup_errors=True) as temp:
        ip, port, dashboard = held.address(0), held.port(), held.port()
        options = [f"--node-ip-address={ip}", f"--port={port}", f"--dashboard-port={dashboard}", f"--temp-dir={temp}"]
        options += [f"--dashboard-host={ip}", *(f"--{name}-port={held.port()}" for name in OTHER_PORTS)]
        auth = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token, MARK: mark}
        head = Head(f"http://{ip}:{dashboard}", f"{ip}:{port}", Token(token, "the test"), f"{MARK}={mark}")
        try:
            subprocess.run(
                [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", *OPTIONS, *options],
                env=node_environment(os.environ, sys.executable, auth),
                check=True,
                timeout=START_BOUND_S,
                stdout=subprocess.DEVNULL,
                stdin=subprocess.DEVNULL,
            )
            wait_for(head.answers, bound_s=START_BOUND_S, what="the head answers")
            yield head
        finally:
            _end(head.mark)
            held.release()


def _end(mark: str) -> None:
    for pid in carrying(mark):
        with suppress(psutil.NoSuchProcess):
            psutil.Process(pid).kill()
    wait_for(lambda: not carrying(mark), bound_s=20, what="every process of the head has ended")


class CutProxy:
    """A TCP proxy on loopback that cuts every connection when told; new ones are accepted."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._server = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.getsockname()[1]}"

    def cut(self) -> None:
        self.cuts += 1
        opened, self._open = self._open, []
        for one in opened:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._server.close()
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._server.accept()
                far = socket.create_connection(self._target, timeout=10)
                far.settimeout(None)
                self._open += [near, far]
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=_pump, args=(source, sink), daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(4096):
            sink.sendall(data)
    for one in (source, sink):
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
