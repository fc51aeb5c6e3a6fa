"""The records that a doctor's driver prints of a healthy A3 cluster, and of one with an odd node."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from submitter.gang.fitness import judge
from submitter.gang.probes.measure import Measured, as_json
from submitter.gang.probes.verdict import Node
from submitter.gang.probes.wish import Wish
from submitter.gang.record import End, fitness_line, verdict_line

GIB = 1024**3
VERSIONS = {
    "driver": "25.3.rc1",
    "cann": "9.0.0",
    "torch": "2.9.0",
    "torch_npu": "2.9.0.post2",
    "vllm": "0.18.0",
    "vllm_ascend": "0.18.0",
    "verl": "0.8.0",
    "megatron_core": "0.16.1",
    "mindspeed": None,
    "transformers": "5.1.0",
    "ray": "2.60.0",
    "python": "3.11.7",
}
NO_LIMIT = {"limit": None, "used": None, "hugepages": 0}
NO_HCCN = "no /etc/hccn.conf: the devices' addresses are not told here"


def a3_node(number: int, of: int = 4, **changes: Mapping[str, Any] | str) -> Node:
    """16 devices, all well. `changes`: probe -> other facts for some of its keys, or why it could not look."""
    facts: dict[str, Any] = {
        "npus": {"npu_smi": "25.3.rc1", "devices": [device(n) for n in range(16)], "processes": []},
        "versions": VERSIONS,
        "memory": {
            "total": 2000 * GIB,
            "available": (1850 + number) * GIB,
            "limit": None,
            "used": None,
            "hugepages": 0,
        },
        "folders": {kind: folder(kind) for kind in ("shm", "tmp", "ray")},
        "limits": {"files": 1048576, "processes": None, "pids": None},
        "cpus": {"usable": 192, "quota": None},
        "others": {"clusters": ["10.0.0.1:6379"], "zombies": 0, "attempts": {}},
        "interfaces": {"ip": ip(number), "interface": "eth0", "mtu": {"eth0": 1500}, "named": {}},
        "clock": {"offset_s": 0.001 * number, "uncertainty_s": 0.01},
        "peers": {"reach": {ip(peer): {"rtt_ms": 0.2} for peer in range(1, of + 1)}, "tokens": {}},
    }
    measured = {probe: Measured(one, None, 0.1) for probe, one in facts.items()}
    measured["hccn"] = Measured(None, NO_HCCN, 0.0)
    for probe, change in changes.items():
        whole = change if isinstance(change, str) else {**facts.get(probe, {}), **change}
        measured[probe] = Measured(None, whole, 0.1) if isinstance(whole, str) else Measured(whole, None, 0.1)
    return Node(ip(number), f"host-{number}", 16.0, 192.0, measured)


def device(number: int, **changes: Any) -> dict[str, Any]:
    well = {"card": number // 2, "chip": number % 2, "physical": number, "name": "Ascend910", "health": "OK"}
    return {**well, "hbm_used_mb": 3190, "hbm_total_mb": 65536, **changes}


def folder(kind: str, free_gib: float = 500) -> dict[str, Any]:
    return {"path": f"/{kind}", "total": 1000 * GIB, "free": int(free_gib * GIB)}


def ip(number: int) -> str:
    return f"10.0.0.{number}"


def odd_node(number: int, of: int = 4) -> Node:
    """A sick chip and an older torch_npu."""
    devices = [device(n, health="Critical" if n == 5 else "OK") for n in range(16)]
    return a3_node(number, of, npus={"devices": devices}, versions={"torch_npu": "2.8.0"})


def broken_node(number: int, of: int) -> Node:
    """Its devices are sick, its clock is off, and it does not reach half of the others: all by values of its own."""
    reach = {ip(n): {"why": f"error {n}"} if (n + number) % 2 else {"rtt_ms": 0.2} for n in range(1, of + 1)}
    return a3_node(
        number,
        of,
        npus={"devices": [device(n, health="Critical", hbm_used_mb=60_000 + number) for n in range(16)]},
        clock={"offset_s": 100.0 * number * (number % 2), "uncertainty_s": 0.01},
        limits={"files": 1024},
        peers={"reach": reach},
    )


def silent_node(number: int) -> Node:
    return Node(ip(number), f"host-{number}", 16.0, 192.0, {}, silent="does not answer")


def log(attempt: str, nodes: Sequence[Node], wish: Wish | None = None) -> bytes:
    """What the driver prints, the judges' verdicts included."""
    lines = [f"[npurun] driver of {attempt}: Ray 2.60.0, Python 3.11.7, host-1"]
    lines += [fitness_line(attempt, record(node)) for node in nodes]
    lines += [verdict_line(attempt, verdict.as_json()) for verdict in judge(nodes, wish or Wish())]
    lines += ["", End(attempt, "fitness", "succeeded").line()]
    return ("\n".join(lines) + "\n").encode()


def record(node: Node) -> dict[str, Any]:
    fields = {field.name: getattr(node, field.name) for field in dataclasses.fields(node)}
    return {**fields, "measured": as_json(node.measured)}
