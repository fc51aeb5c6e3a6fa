"""A real Ray cluster of several raylets on this machine, each with its own address, ports, labels and temp dir.

Every node runs below a keeper (`keeper.py`), which ends and removes all of it when this process lets go or dies.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any

from submitter.errors import NotPlacedError, RunFailedError, UsageError
from submitter.rehearsal import memory
from submitter.rehearsal.claim import Claim, claim
from submitter.rehearsal.keeper import TERM_WAIT_S, descendants, end_tree
from submitter.texts import Tell

START_WAIT_S = 180.0
"""Five nodes take about 25 s on 2 idle cores; a busy machine is slower, a hang longer."""
START_REPORT_EVERY_S = 10.0
STOP_WAIT_S = 2 * TERM_WAIT_S + 10.0
"""SIGTERM and SIGKILL of the keepers, which work side by side, and some room."""
HTTP_TIMEOUT_S = 5.0
POLL_S = 0.2
OBJECT_STORE_BYTES = 100 * memory.MIB
"""Ray's least is 75 MiB; five stores must fit into a container's /dev/shm or disk."""
NODE_BYTES = 500 * memory.MIB
"""One node without work: `ray start`, raylet, two agents, log monitor, the gang's actor (measured: 413 MiB)."""
TEMP_DIR_MAX = 40
"""A Unix socket's path may have 107 characters, and Ray adds up to 66 to its temp dir."""
LABELS_SINCE = (2, 46)
"""`ray start --labels` takes key=value pairs in 2.46 (read in its source); 2.41 wants JSON and has no selectors."""
OWN_TEMP_DIR_SINCE = (2, 55)
"""Before it only the head's --temp-dir counts: raylets that start side by side take the same socket names there, and
each log monitor repeats every node's lines."""

KEPT_VARIABLES = ("HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH")
"""All that nodes inherit from this process. A flag of this shell that reached the workers by inheritance would make
the proof of the job's flags worthless."""

LIGHT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "disabled",
    "RAY_enable_metrics_collection": "false",
    "RAY_metrics_report_interval_ms": "60000",
    "RAY_prestart_worker_first_driver": "false",
    "RAY_enable_worker_prestart": "false",
    "RAY_scheduler_avoid_gpu_nodes": "false",
}


@dataclass(frozen=True)
class NodeSpec:
    npus: int
    cpus: int
    labels: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment of this node's raylet, as if exported before `ray start` on that host."""
    npu_resource: bool = True
    """False: a host whose Ray was started without the NPU resource."""


@dataclass(frozen=True)
class LocalNode:
    ip: str
    raylet_pid: int
    spec: NodeSpec
    node_id: str
    """Ray's, in hex."""
    keeper_pid: int

    def pids(self) -> list[int]:
        """Every living process of this node."""
        return descendants(self.keeper_pid)


@dataclass
class LocalCluster:
    """Made by `start`; a context manager that stops it."""

    specs: tuple[NodeSpec, ...]
    base_dir: Path
    python: str
    nodes: list[LocalNode] = field(default_factory=list)
    """Node 0 is the head."""
    gcs_address: str = ""
    address: str = ""
    """URL of the dashboard and Jobs REST."""
    _claim: Claim | None = None
    _temp: Path | None = None
    _keepers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @classmethod
    def start(
        cls,
        nodes: Sequence[NodeSpec],
        *,
        base_dir: Path,
        python: str = sys.executable,
        env: Mapping[str, str] = MappingProxyType({}),
        tell: Tell = lambda *_, **__: None,
    ) -> LocalCluster:
        """Start all nodes and wait until they are alive; `base_dir` receives one start log per node.

        Raises NotPlacedError when they do not fit into free memory or ports, UsageError when `python` has no Ray,
        RunFailedError when a node does not come. On any exception, Ctrl-C too, everything started is ended.
        """
        require_memory(len(nodes) * NODE_BYTES, what=len(nodes))
        # Absolute: the nodes run in `base_dir`.
        cluster = cls(tuple(nodes), base_dir, str(Path(shutil.which(python) or python).absolute()))
        try:
            cluster._start(env, tell)
        except BaseException:  # KeyboardInterrupt above all: nothing may stay
            cluster.stop()
            raise
        return cluster

    def stop(self) -> None:
        """End every process, remove the temp dirs. Bounded, repeatable; a second Ctrl-C does not cut it short."""
        with _no_interrupt():
            for keeper in self._keepers:
                assert keeper.stdin is not None
                keeper.stdin.close()
            deadline = time.monotonic() + STOP_WAIT_S
            for keeper in self._keepers:
                _wait_or_end(keeper, deadline)
            self._keepers.clear()
            if self._temp is not None:
                shutil.rmtree(self._temp, ignore_errors=True)
            if self._claim is not None:
                self._claim.release()

    def __enter__(self) -> LocalCluster:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()

    def _start(self, env: Mapping[str, str], tell: Tell) -> None:
        version = ray_version(self.python)
        self.base_dir.mkdir(parents=True, exist_ok=True)
        self._claim = claim()
        # Named before it is made: an interrupt in between leaves nothing that stop() does not know.
        self._temp = _temp_root() / f"nr{os.getpid()}-{self._claim.index}"
        self._temp.mkdir(mode=0o700)
        gcs_port, dashboard_port = self._claim.port(), self._claim.port()
        self.gcs_address = f"{self._claim.address(0)}:{gcs_port}"
        self.address = f"http://{self._claim.address(0)}:{dashboard_port}"
        head = ["--head", f"--port={gcs_port}", f"--dashboard-port={dashboard_port}", "--no-monitor"]
        head += [f"--dashboard-host={self._claim.address(0)}", f"--ray-client-server-port={self._claim.port()}"]
        deadline = time.monotonic() + START_WAIT_S
        tell("rehearsal.starting", nodes=len(self.specs), address=self.address)
        self._start_node(0, head, env, version)
        self._wait(deadline, tell, lambda: [] if self._alive() else [self._claim_address(0)])
        for index in range(1, len(self.specs)):
            self._start_node(index, [f"--address={self.gcs_address}"], env, version)
            if version < OWN_TEMP_DIR_SINCE:
                self._wait(deadline, tell, self._missing)
        self._wait(deadline, tell, self._missing)
        self.nodes = self._found()

    def _start_node(self, index: int, role: list[str], env: Mapping[str, str], version: tuple[int, int]) -> None:
        assert self._claim is not None and self._temp is not None
        spec, temp = self.specs[index], self._temp / str(index)
        options = node_options(spec, ip=self._claim_address(index), temp=temp, port=self._claim.port, version=version)
        if index > 0 and version < OWN_TEMP_DIR_SINCE:
            options.append("--include-log-monitor=false")
        command = [sys.executable, "-I", "-S", str(Path(__file__).with_name("keeper.py")), "--remove", str(temp), "--"]
        command += [self.python, "-m", "ray.scripts.scripts", "start", *role, *options]
        scratch = temp / "tmp"
        scratch.mkdir(parents=True)
        environment = node_environment(os.environ, self.python, {"TMPDIR": str(scratch), **env, **spec.env})
        with (self.base_dir / f"node{index}.log").open("wb") as log:
            # A session of its own: the terminal's Ctrl-C is ours to handle. If we are interrupted before the append,
            # the Popen object is collected, its pipe closes, and the keeper ends.
            self._keepers.append(
                subprocess.Popen(
                    command,
                    # A driver without a working_dir runs where its raylet was started, and Hydra writes there.
                    cwd=self.base_dir,
                    env=environment,
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )

    def _wait(self, deadline: float, tell: Tell, missing: Callable[[], list[str]]) -> None:
        next_report = time.monotonic() + START_REPORT_EVERY_S
        while left := missing():
            now = time.monotonic()
            self._raise_if_ended()
            if now > deadline:
                raise RunFailedError("rehearsal.start_timeout", limit=int(START_WAIT_S), missing=", ".join(left))
            if now > next_report:
                next_report = now + START_REPORT_EVERY_S
                tell("rehearsal.waiting", missing=", ".join(left))
            time.sleep(POLL_S)

    def _raise_if_ended(self) -> None:
        for index, keeper in enumerate(self._keepers):
            if (code := keeper.poll()) is not None:
                tail = last_line(self.base_dir / f"node{index}.log")
                raise RunFailedError("rehearsal.node_ended", node=self._claim_address(index), code=code, tail=tail)

    def _alive(self) -> dict[str, str]:
        """Node id by IP of the nodes that the head calls alive; empty while it does not answer."""
        answer = get_json(f"{self.address}/nodes?view=summary")
        if answer is None:
            return {}
        raylets = [entry["raylet"] for entry in answer["data"]["summary"]]
        return {raylet["nodeManagerAddress"]: raylet["nodeId"] for raylet in raylets if raylet["state"] == "ALIVE"}

    def _missing(self) -> list[str]:
        """Addresses of the nodes that have been started and are not alive."""
        alive = self._alive()
        wanted = [self._claim_address(index) for index in range(len(self._keepers))]
        return [ip for ip in wanted if ip not in alive]

    def _found(self) -> list[LocalNode]:
        alive = self._alive()
        found = []
        for index, (spec, keeper) in enumerate(zip(self.specs, self._keepers, strict=True)):
            ip = self._claim_address(index)
            found.append(LocalNode(ip, _raylet(keeper.pid), spec, alive[ip], keeper.pid))
        return found

    def _claim_address(self, index: int) -> str:
        assert self._claim is not None
        return self._claim.address(index)


def require_memory(needed: int, *, what: int, free: Callable[[], int] = memory.available) -> None:
    """Refuse before anything is started when `what` nodes would not fit. Bytes."""
    if needed > (limit := free()):
        gib = memory.MIB * 1024
        raise NotPlacedError("rehearsal.memory", nodes=what, value=f"{needed / gib:.1f}", limit=f"{limit / gib:.1f}")


def ray_version(python: str) -> tuple[int, int]:
    """(major, minor) of the Ray that `python` has."""
    code = "from importlib.metadata import version; print(version('ray'))"
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError("rehearsal.no_python", python=python, reason=error) from None
    if done.returncode != 0:
        raise UsageError("rehearsal.no_ray", python=python)
    major, minor = done.stdout.split(".")[:2]
    return int(major), int(minor)


def node_options(
    spec: NodeSpec, *, ip: str, temp: Path, port: Callable[[], int], version: tuple[int, int]
) -> list[str]:
    """Options of `ray start` that differ from node to node. Ports of workers are 0: the kernel's choice."""
    ports = ("node-manager", "object-manager", "dashboard-agent-listen", "dashboard-agent-grpc", "runtime-env-agent")
    options = [
        "--block",
        "--disable-usage-stats",
        f"--node-ip-address={ip}",
        f"--temp-dir={temp}",
        f"--num-cpus={spec.cpus}",
        "--num-gpus=0",
        f"--object-store-memory={OBJECT_STORE_BYTES}",
        "--min-worker-port=0",
        "--max-worker-port=0",
        *(f"--{name}-port={port()}" for name in (*ports, "metrics-export")),
    ]
    if spec.npu_resource:
        options.append("--resources=" + json.dumps({"NPU": spec.npus}))
    if spec.labels and version >= LABELS_SINCE:
        options.append("--labels=" + ",".join(f"{key}={value}" for key, value in spec.labels.items()))
    return options


def node_environment(environ: Mapping[str, str], python: str, extra: Mapping[str, str]) -> dict[str, str]:
    """The folder of `python` is first on PATH: the job's `python3` must be the one that has Ray."""
    kept = {name: environ[name] for name in KEPT_VARIABLES if name in environ}
    path = os.pathsep.join((str(Path(python).absolute().parent), environ.get("PATH", os.defpath)))
    return {**kept, "PATH": path, **LIGHT, **extra}


def get_json(url: str) -> Any | None:
    """The answer, or None while nobody (or not yet Ray) answers. Never through a proxy: this is loopback."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=HTTP_TIMEOUT_S) as response:
            return json.load(response)
    except (urllib.error.URLError, OSError, ValueError):
        return None


def last_line(path: Path) -> str:
    lines = [line.strip() for line in path.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _wait_or_end(keeper: subprocess.Popen[bytes], deadline: float) -> None:
    """A keeper ends by itself; one that does not (frozen, say) is ended from here with all below it."""
    try:
        keeper.wait(max(0.1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        end_tree(keeper.pid)
        keeper.kill()
        with suppress(subprocess.TimeoutExpired):  # a killed process is gone at once, unless it waits for a device
            keeper.wait(TERM_WAIT_S)


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Ctrl-C waits until the bounded work inside is done. Only the main thread receives it at all."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _temp_root() -> Path:
    root = Path(tempfile.gettempdir())
    return root if len(str(root)) <= TEMP_DIR_MAX - len("/nr4194304-49/63") else Path("/tmp")


def _raylet(keeper: int) -> int:
    for pid in descendants(keeper):
        try:
            name = Path(f"/proc/{pid}/comm").read_text().strip()
        except OSError:
            continue  # ended while we looked
        if name == "raylet":
            return pid
    raise RunFailedError("rehearsal.no_raylet", keeper=keeper)
