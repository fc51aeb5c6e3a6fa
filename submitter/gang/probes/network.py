"""The node's network: the interface towards the others, names, ports, and what HCCL needs."""

from __future__ import annotations

import os
import re
import socket
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

from .measure import Facts, NotMeasuredError, Probe
from .odd import odd_ones
from .verdict import Judge, Node, Verdict
from .wish import Wish

RTT_WARN_MS = 5.0
RTT_WARN_TIMES = 10
"""Of the usual round trip between two nodes."""
IFNAMES = ("HCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME")
_LOOPBACK = "127."


def interfaces(
    _wish: Wish, sys: Path = Path("/sys/class/net"), environ: Iterable[tuple[str, str]] | None = None
) -> Facts:
    """The interfaces with their MTU, the one that holds this node's own Ray address, and what the flags name."""
    own = _own_ip()
    mtus = {entry.name: _number(entry / "mtu") for entry in sorted(sys.iterdir())}
    named = {name: value for name, value in (environ or os.environ.items()) if name in IFNAMES}
    return {"ip": own, "interface": _holder(own), "mtu": mtus, "named": named}


def names(_wish: Wish) -> Facts:
    """The host's own name, and the addresses that it resolves to here."""
    name = socket.gethostname()
    try:
        found = sorted({str(info[4][0]) for info in socket.getaddrinfo(name, None)})
    except OSError as error:
        return {"hostname": name, "addresses": [], "why": error.strerror or str(error)}
    return {"hostname": name, "addresses": found, "why": None}


def ports(wish: Wish, proc: Path = Path("/proc")) -> Facts:
    """Wanted ports that something listens on, HCCL's own, and the kernel's ephemeral and reserved ranges."""
    listening = set(_listening(proc))
    net = proc / "sys/net/ipv4"
    low, high = map(int, (net / "ip_local_port_range").read_text().split())
    base = wish.hccl_base_port
    hccl = range(base, base + (wish.npus_per_node or 0)) if base else range(0)
    wanted = sorted({*wish.ports, *hccl})
    return {
        "taken": [port for port in wanted if port in listening],
        "wanted": wanted,
        "hccl": [hccl.start, hccl.stop - 1] if hccl else None,
        "ephemeral": [low, high],
        "reserved": _ranges((net / "ip_local_reserved_ports").read_text()),
    }


def hccn(_wish: Wish, file: Path = Path("/etc/hccn.conf")) -> Facts:
    """The devices' own RoCE addresses, as the host's configuration gives them: device -> IP."""
    try:
        text = file.read_text(errors="replace")
    except OSError as error:
        raise NotMeasuredError(f"no {file}: the devices' addresses are not told here") from error
    return {"addresses": dict(re.findall(r"^\s*address_(\d+)\s*=\s*(\S+)", text, re.MULTILINE))}


def no_interface(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: HCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME name an interface that each node must have, with its Ray IP."""
    found = []
    for node in nodes:
        facts = node.facts("interfaces")
        for name, wanted in facts.get("named", {}).items():
            if not _matches(wanted, facts["mtu"]):
                have = ", ".join(facts["mtu"])
                found.append(Verdict("NR521", node.ip, "error", wanted, have, {"name": name}))
    return found


def loopback_name(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: gloo binds to what the host's name resolves to, unless GLOO_SOCKET_IFNAME is set (verl reports)."""
    return [
        Verdict(
            "NR522",
            node.ip,
            "warning",
            ", ".join(facts["addresses"]) or facts["why"],
            None,
            {"name": facts["hostname"]},
        )
        for node in nodes
        if len(nodes) > 1 and not node.ip.startswith(_LOOPBACK)
        if "GLOO_SOCKET_IFNAME" not in node.facts("interfaces").get("named", {})
        if (facts := node.facts("names")) and all(address.startswith(_LOOPBACK) for address in facts["addresses"])
    ]


def unreachable(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: HCCL and gloo connect every pair of nodes. The node that most pairs fail with is the one to blame."""
    pairs = [
        (node.ip, peer, answer["why"])
        for node in nodes
        for peer, answer in node.facts("peers").get("reach", {}).items()
        if "why" in answer
    ]
    failures = Counter(ip for source, peer, _ in pairs for ip in (source, peer))
    return [
        Verdict("NR523", _blamed(source, peer, failures), "error", why, None, {"source": source, "peer": peer})
        for source, peer, why in pairs
    ]


def ports_taken(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: HCCL binds a port per device from its base port on, torchrun its rendezvous port (EI0019)."""
    return [
        Verdict("NR524", node.ip, "warning" if node.busy else "error", ", ".join(map(str, taken)), None)
        for node in nodes
        if (taken := node.facts("ports").get("taken"))
    ]


def in_ephemeral(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: the kernel hands out ports of this range to any outgoing connection, unless they are reserved."""
    found = []
    for node in nodes:
        facts = node.facts("ports")
        if not facts or not facts["hccl"]:
            continue
        (low, high), (first, last) = facts["ephemeral"], facts["hccl"]
        risky = [
            port for port in range(first, last + 1) if low <= port <= high and not _within(port, facts["reserved"])
        ]
        if risky:
            value, limit = f"{risky[0]}-{risky[-1]}", f"{low}-{high}"
            found.append(Verdict("NR525", node.ip, "warning", value, limit))
    return found


def other_mtu(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: packets larger than the smallest MTU on the way are dropped or cut: slow, or a connection that hangs."""
    seen = {node.ip: _mtu(node) for node in nodes}
    return [Verdict("NR526", ip, "warning", str(value), str(usual)) for ip, value, usual in odd_ones(seen)]


def same_device_ip(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: hccn.conf: every device of the cluster has an address of its own; a copied file repeats them."""
    owners: dict[str, list[tuple[str, str]]] = {}
    for node in nodes:
        for device, address in node.facts("hccn").get("addresses", {}).items():
            owners.setdefault(address, []).append((node.ip, device))
    return [
        Verdict(
            "NR527",
            ip,
            "error",
            address,
            None,
            {"npu": device, "other": f"{owners[address][0][0]} NPU {owners[address][0][1]}"},
        )
        for address, found in owners.items()
        for ip, device in found[1:]
    ]


def slow_pair(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: round trips of a TCP connection between all pairs; one that is far from the usual takes another way."""
    times = {
        (node.ip, peer): answer["rtt_ms"]
        for node in nodes
        for peer, answer in node.facts("peers").get("reach", {}).items()
        if "rtt_ms" in answer and peer != node.ip
    }
    usual = median(times.values()) if times else 0.0
    return [
        Verdict("NR528", source, "hint", f"{took:g} ms", f"{usual:g} ms", {"peer": peer})
        for (source, peer), took in times.items()
        if took > RTT_WARN_MS and took > RTT_WARN_TIMES * usual
    ]


PROBES = (
    Probe("interfaces", interfaces),
    Probe("names", names, 4.0),
    Probe("ports", ports),
    Probe("hccn", hccn),
)
JUDGES = (
    Judge("NR521", "interfaces", no_interface),
    Judge("NR522", "names", loopback_name),
    Judge("NR523", "peers", unreachable),
    Judge("NR524", "ports", ports_taken),
    Judge("NR525", "ports", in_ephemeral),
    Judge("NR526", "interfaces", other_mtu),
    Judge("NR527", "hccn", same_device_ip),
    Judge("NR528", "peers", slow_pair),
)


def _own_ip() -> str:
    import ray

    return str(ray.util.get_node_ip_address())


def _holder(ip: str) -> str | None:
    """The interface that has this address (all of 127.0.0.0/8 is lo's)."""
    import psutil  # comes with ray

    if ip.startswith(_LOOPBACK):
        return "lo"
    table = psutil.net_if_addrs()
    return next((name for name, addresses in table.items() if any(one.address == ip for one in addresses)), None)


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None


def _listening(proc: Path) -> Iterable[int]:
    """The port of every TCP socket that listens: state 0A in /proc/net/tcp."""
    for name in ("tcp", "tcp6"):
        try:
            lines = (proc / "net" / name).read_text().splitlines()[1:]
        except OSError:
            continue
        for fields in (line.split() for line in lines):
            if len(fields) > 3 and fields[3] == "0A":
                yield int(fields[1].rpartition(":")[2], 16)


def _ranges(text: str) -> list[list[int]]:
    """`"60000-60015,8080"` as [[60000, 60015], [8080, 8080]]."""
    parts = [part.split("-") for part in text.strip().split(",") if part]
    return [[int(part[0]), int(part[-1])] for part in parts]


def _within(port: int, ranges: Sequence[Sequence[int]]) -> bool:
    return any(first <= port <= last for first, last in ranges)


def _matches(wanted: str, have: Iterable[str]) -> bool:
    """As HCCL and gloo read it: a list of prefixes; `=` asks for the whole name, `^` for any but these."""
    if wanted.startswith("^"):
        return True
    exact = wanted.startswith("=")
    choices = [one for one in wanted.lstrip("=").split(",") if one]
    return any(name == one if exact else name.startswith(one) for name in have for one in choices)


def _blamed(source: str, peer: str, failures: Counter[str]) -> str:
    return peer if failures[peer] > failures[source] else source


def _mtu(node: Node) -> int | None:
    facts = node.facts("interfaces")
    mtu: int | None = facts.get("mtu", {}).get(facts.get("interface"))
    return mtu
