"""Real hosts, each with its address, interface and ports: node workers' meetings as processes in network namespaces."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from submitter.gang.probes import network
from submitter.gang.probes.wish import Wish
from tests.support import netns
from tests.support.nodes import node
from tests.support.verdicts import judged

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(120),
    pytest.mark.skipif(netns.possible() is not None, reason=netns.possible() or ""),
]

BOUND_S = 8.0
"""What the driver waits for the last of the meetings, once half of them have ended."""
PORT = 29555

HOST = """
import json, sys
from pathlib import Path
from submitter.gang.meeting import Meeting
from submitter.gang.probes import network
from submitter.gang.probes.wish import Wish
own, folder, port = sys.argv[1:]
wish = Wish(ports=(int(port),))
ports = network.ports(wish, own=own)
facts = {"interfaces": network.interfaces(wish, own=own), "ports": ports}
meeting = Meeting("run-a1", own, (folder,))
print(json.dumps({"facts": facts, "ports": [meeting.port, *network.open_ports(ports)]}), flush=True)
peers = json.loads(sys.stdin.readline())
print(json.dumps(meeting.meet(peers)), flush=True)
sys.stdin.readline()
meeting.close()
"""


class Worker:
    """One host's process: measures, is told its peers, meets them, and stays until all have met."""

    def __init__(self, hosts: netns.Hosts, ip: str, folder: Path) -> None:
        self.ip = ip
        self._process = hosts.start(ip, [sys.executable, "-c", HOST, ip, str(folder), str(PORT)])
        told = self._line()
        self.ports, self._facts = told["ports"], told["facts"]

    def ask(self, peers: Mapping[str, list[int]]) -> None:
        self._say(json.dumps(peers))

    def node(self) -> Any:
        return node(self.ip, measured={**self._facts, "peers": self._line()})

    def end(self) -> None:
        try:
            self._say("")
            self._process.wait(10)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self._process.kill()
            self._process.wait()

    def _line(self) -> Any:
        assert self._process.stdout
        return json.loads(self._process.stdout.readline())

    def _say(self, line: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()


@pytest.fixture
def hosts() -> Iterator[netns.Hosts]:
    with netns.Hosts(3) as made:
        yield made


def met(hosts: netns.Hosts, folder: Path) -> tuple[list[Any], float]:
    """Every host as the judges see it, and how long the meetings took."""
    with ExitStack() as ends:
        workers = []
        for ip in hosts.ips:
            workers.append(Worker(hosts, ip, folder))
            ends.callback(workers[-1].end)
        peers = {worker.ip: worker.ports for worker in workers}
        began = time.monotonic()
        for worker in workers:
            worker.ask(peers)
        nodes = [worker.node() for worker in workers]
        return nodes, time.monotonic() - began


def test_three_hosts_that_reach_each_other(hosts: netns.Hosts, tmp_path: Path) -> None:
    nodes, took_s = met(hosts, tmp_path)
    assert took_s < BOUND_S
    assert not [one for one in judged(network.JUDGES, nodes) if one.id not in ("NR528", "NR522")]
    for one in nodes:
        assert one.facts("interfaces")["interface"].startswith("npi")
        assert one.facts("interfaces")["mtu"][one.facts("interfaces")["interface"]] == 1500
        assert one.facts("peers")["from"] == [one.ip]
        assert one.facts("peers")["tokens"] == {str(tmp_path): hosts.ips}
        assert set(one.facts("peers")["reach"]) == set(hosts.ips)
    assert list(tmp_path.iterdir()) == []


def test_one_pair_that_is_cut_off_is_named_within_the_bound(hosts: netns.Hosts, tmp_path: Path) -> None:
    first, second, third = hosts.ips
    hosts.cut(second, third)  # nothing of .2 leaves for .3: what .3 asks is never answered
    nodes, took_s = met(hosts, tmp_path)
    assert took_s < BOUND_S
    verdicts = [one for one in judged(network.JUDGES, nodes) if one.id == "NR523"]
    pairs = {(one.values["source"], one.values["peer"]) for one in verdicts}
    assert pairs == {(second, third), (third, second)}
    assert {one.node for one in verdicts} == {third}  # one of the two goes, and the rest can work
    for one in nodes:
        reach = one.facts("peers")["reach"]
        assert [ip for ip in reach if "why" not in reach[ip]] == [
            ip for ip in hosts.ips if {one.ip, ip} != {second, third}
        ]
    timed_out = nodes[2].facts("peers")["reach"][second]["why"]
    assert timed_out == "timed out"
    assert first not in {one.node for one in verdicts}


def test_a_host_that_nobody_reaches_is_blamed_alone(hosts: netns.Hosts, tmp_path: Path) -> None:
    first, second, third = hosts.ips
    for other in (second, third):
        hosts.cut(first, other)
    nodes, took_s = met(hosts, tmp_path)
    assert took_s < BOUND_S
    verdicts = [one for one in judged(network.JUDGES, nodes) if one.id == "NR523"]
    assert {one.node for one in verdicts} == {first}
    assert len(verdicts) == 4


def test_a_port_of_the_job_that_is_bound_on_one_host(hosts: netns.Hosts, tmp_path: Path) -> None:
    _, second, _ = hosts.ips
    listens = f"import socket; s = socket.create_server(('', {PORT})); print('bound', flush=True); input()"
    taker = hosts.start(second, [sys.executable, "-c", listens])
    try:
        assert taker.stdout and taker.stdout.readline() == "bound\n"
        nodes, _ = met(hosts, tmp_path)
    finally:
        taker.kill()
        taker.wait()
    verdicts = [one for one in judged(network.JUDGES, nodes, Wish(ports=(PORT,))) if one.id == "NR524"]
    assert [(one.node, one.value) for one in verdicts] == [(second, str(PORT))]
