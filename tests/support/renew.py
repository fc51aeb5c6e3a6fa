"""A local cluster whose parts can be ended and started again: a node, all of Ray, the dashboard alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import psutil

from submitter.cluster.client import RayClient
from submitter.cluster.errors import RayError
from submitter.rehearsal import keeper
from submitter.rehearsal.keeper import descendants
from submitter.rehearsal.local_cluster import START_WAIT_S, LocalCluster, LocalNode, ray_version
from tests.support.processes import command_line, wait_for

GONE_BOUND_S = 30.0
ANSWER_S = 2.0


@dataclass
class RenewableCluster(LocalCluster):
    _dashboards: list[subprocess.Popen[bytes]] = field(default_factory=list)
    """Keepers of those that were started again."""

    def stop(self) -> None:
        for one in self._dashboards:
            one.communicate(timeout=GONE_BOUND_S)
        super().stop()

    def node_of(self, pid: int) -> LocalNode:
        """The node on which a process runs."""
        return next(node for node in self.nodes if pid in node.pids())

    def start_again(self, node: LocalNode) -> None:
        """A node whose raylet was killed comes back, at its old address, as another Ray node."""
        index = self.nodes.index(node)
        self._wait_ended(index)
        self._start_node(index, [f"--address={self.gcs_address}"], {}, ray_version(self.python))
        self._keepers[index] = self._keepers.pop()
        wait_for(lambda: self._is_new(node), bound_s=START_WAIT_S, what=f"{node.ip} is back")
        self.nodes = self._found()

    @contextmanager
    def without_ray(self) -> Iterator[None]:
        """`ray stop` on every node; at the end `ray start`: the same addresses, and no memory of what was."""
        for one in self._keepers:
            assert one.stdin is not None
            one.stdin.close()
        for index in range(len(self._keepers)):
            self._wait_ended(index)
        self._keepers.clear()
        yield
        self._start_ray()

    @contextmanager
    def frozen_dashboard(self) -> Iterator[None]:
        """Meanwhile it takes connections and answers none of them."""
        pids = self._dashboard()
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    @contextmanager
    def without_dashboard(self) -> Iterator[None]:
        """`kill -9` of the dashboard alone; at the end another one takes its place.

        `ray start --block` would end all of Ray with it: that process is stopped, and never goes on.
        """
        for pid in self._head_pids():
            if "ray.scripts.scripts start --head" in command_line(pid) and "keeper.py" not in command_line(pid):
                os.kill(pid, signal.SIGSTOP)
        pids = self._dashboard()
        process = psutil.Process(pids[0])
        command, environ, cwd = process.cmdline(), process.environ(), process.cwd()
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not self.answers(), bound_s=GONE_BOUND_S, what="the dashboard is gone")
        yield
        kept = [sys.executable, "-I", "-S", keeper.__file__, "--", *command]
        null = subprocess.DEVNULL
        self._dashboards.append(
            subprocess.Popen(
                kept,
                env=environ,
                cwd=cwd,
                stdin=subprocess.PIPE,
                stdout=null,
                stderr=null,
                start_new_session=True,
            )
        )
        wait_for(self.answers, bound_s=START_WAIT_S, what="the dashboard answers again")

    def answers(self) -> bool:
        client = RayClient(self.address, timeout_s=ANSWER_S)
        try:
            return bool(client.version()) and bool(client.head())
        except RayError:
            return False

    def _start_ray(self) -> None:
        assert self._claim is not None
        gcs, dashboard = (address.rpartition(":")[2] for address in (self.gcs_address, self.address))
        head = ["--head", f"--port={gcs}", f"--dashboard-port={dashboard}", "--no-monitor"]
        head += [f"--dashboard-host={self._claim.address(0)}", f"--ray-client-server-port={self._claim.port()}"]
        deadline = time.monotonic() + START_WAIT_S
        version = ray_version(self.python)
        self._start_node(0, head, {}, version)
        self._wait(deadline, _silent, self._missing)
        for index in range(1, len(self.specs)):
            self._start_node(index, [f"--address={self.gcs_address}"], {}, version)
        self._wait(deadline, _silent, self._missing)
        self.nodes = self._found()

    def _is_new(self, node: LocalNode) -> bool:
        return self._alive().get(node.ip, node.node_id) != node.node_id

    def _wait_ended(self, index: int) -> None:
        """The keeper of a node ends what is left of it, and then itself."""
        one = self._keepers[index]
        wait_for(lambda: one.poll() is not None, bound_s=GONE_BOUND_S, what=f"the end of node {index}")

    def _dashboard(self) -> list[int]:
        """Its root first, then its modules."""
        living = [one.pid for one in self._dashboards if one.poll() is None]
        pids = [*self._head_pids(), *(pid for one in living for pid in descendants(one))]
        (root,) = [pid for pid in pids if "dashboard/dashboard.py" in command_line(pid)]
        return [root, *descendants(root)]

    def _head_pids(self) -> list[int]:
        return descendants(self._keepers[0].pid)


def _silent(*_: object, **__: object) -> None:
    return None
