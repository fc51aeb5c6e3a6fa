"""Hosts with addresses of their own: network namespaces that hang on one bridge."""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

IP_S = 20.0
"""For one `ip` command; a namespace's end waits for the kernel on a loaded host."""
CAP_NET_ADMIN, CAP_SYS_ADMIN = 12, 21


def possible() -> str | None:
    """Why there can be no namespaces here; None: there can."""
    if shutil.which("ip") is None:
        return "no `ip` command"
    held = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("CapEff:"))
    lacking = [bit for bit in (CAP_NET_ADMIN, CAP_SYS_ADMIN) if not int(held.split()[1], 16) >> bit & 1]
    return f"capabilities {lacking} are not held" if lacking else None


class Hosts:
    """`count` namespaces with 10.211.0.1, .2 …; a context manager that removes all of them."""

    def __init__(self, count: int) -> None:
        self._mark = uuid.uuid4().hex[:6]  # interface names have 15 characters at most
        self.ips = [f"10.211.0.{number}" for number in range(1, count + 1)]
        self._bridge = f"npb{self._mark}"

    def __enter__(self) -> Hosts:
        try:
            _ip("link", "add", self._bridge, "type", "bridge")
            _ip("link", "set", self._bridge, "up")
            for number, ip in enumerate(self.ips):
                self._add(number, ip)
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._remove()

    def start(self, ip: str, command: Sequence[str]) -> subprocess.Popen[str]:
        """The command inside of the host, its input and output as text pipes."""
        inside = ["ip", "netns", "exec", self._name(self.ips.index(ip)), *command]
        return subprocess.Popen(inside, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ))

    def cut(self, source: str, peer: str) -> None:
        """Packets from the one to the other vanish: a route that drops, as a firewall does."""
        _ip("-n", self._name(self.ips.index(source)), "route", "add", "blackhole", f"{peer}/32")

    def _name(self, number: int) -> str:
        return f"npn{self._mark}{number}"

    def _add(self, number: int, ip: str) -> None:
        name, outer, inner = self._name(number), f"npo{self._mark}{number}", f"npi{self._mark}{number}"
        _ip("netns", "add", name)
        _ip("link", "add", outer, "type", "veth", "peer", "name", inner)
        _ip("link", "set", inner, "netns", name)
        _ip("link", "set", outer, "master", self._bridge)
        _ip("link", "set", outer, "up")
        _ip("-n", name, "addr", "add", f"{ip}/24", "dev", inner)
        _ip("-n", name, "link", "set", inner, "up")
        _ip("-n", name, "link", "set", "lo", "up")

    def _remove(self) -> None:
        """Each veth pair goes with its namespace, unless it was not moved there yet."""
        for number in range(len(self.ips)):
            for words in (("netns", "del", self._name(number)), ("link", "del", f"npo{self._mark}{number}")):
                _ip(*words, check=False)
        _ip("link", "del", self._bridge, check=False)


def _ip(*words: str, check: bool = True) -> None:
    subprocess.run(["ip", *words], check=check, capture_output=True, timeout=IP_S)
