"""The node's network: the interface towards the others, names, ports, and what HCCL needs."""

from __future__ import annotations

import os
import re
import socket
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from .measure import Facts, NotMeasuredError, Probe
from .odd import odd_ones
from .verdict import Judge, Node, Verdict, of_job
from .wish import Wish

RTT_WARN_MS = 5.0
RTT_WARN_TIMES = 10
"""Of the usual round trip between two nodes."""
HCCL_IFNAME, GLOO_IFNAME = "HCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"
IFNAMES = (HCCL_IFNAME, GLOO_IFNAME, "TP_SOCKET_IFNAME")
HCCL_PORTS = 16
"""HCCL reserves so many from its base port on, whatever the number of devices (CANN: HCCL_IF_BASE_PORT)."""
HCCL_BASE, HCCL_RANGE = "HCCL_IF_BASE_PORT", "HCCL_HOST_SOCKET_PORT_RANGE"
"""HCCL_NPU_SOCKET_PORT_RANGE is about the devices' own network interfaces: no socket of the host."""
PEERS_SHOWN = 3
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_LOCAL = re.compile(r"127\.|::1$|::ffff:127\.", re.IGNORECASE)
_LINK_LOCAL = "fe80:"
_LISTENS = "0A"
_LOCAL_V4, _LOCAL_V6 = "7F", ("0" * 24 + "01000000", "0000000000000000FFFF0000")
"""As /proc/net/tcp writes them: each 4 bytes in the host's order, so that 127.0.0.1 ends with 7F."""


def interfaces(
    _wish: Wish,
    sys: Path = Path("/sys/class/net"),
    environ: Mapping[str, str] | None = None,
    own: str | None = None,
    addresses: Callable[[], Mapping[str, Sequence[str]]] | None = None,
) -> Facts:
    """The interfaces with their MTU, those that have an IP, the one that holds this node's own Ray address (for
    HCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME), and what those flags name now."""
    ip = own or _own_ip()
    known = (addresses or _addresses)()
    return {
        "ip": ip,
        "interface": _holder(ip, known),
        "mtu": {entry.name: _number(entry / "mtu") for entry in sorted(sys.iterdir())},
        "with_ip": sorted(name for name, found in known.items() if found),
        "named": {
            name: value for name, value in (os.environ if environ is None else environ).items() if name in IFNAMES
        },
    }


def names(_wish: Wish, hostname: str | None = None) -> Facts:
    """The host's own name, and the addresses that it resolves to here."""
    name = socket.gethostname() if hostname is None else hostname
    try:
        found = sorted({str(info[4][0]) for info in socket.getaddrinfo(name, None)})
    except OSError as error:
        return {"hostname": name, "addresses": [], "why": error.strerror or str(error)}
    return {"hostname": name, "addresses": found, "why": None}


def ports(
    wish: Wish, proc: Path = Path("/proc"), own: str | None = None, environ: Mapping[str, str] | None = None
) -> Facts:
    """Wanted ports that something listens on, HCCL's own, and the kernel's ephemeral and reserved ranges."""
    listening = set(_listening(proc, with_loopback=is_local(own or _own_ip())))
    net = proc / "sys/net/ipv4"
    low, high = map(int, (net / "ip_local_port_range").read_text().split())
    hccl, some_will_do = _hccl_ports(wish, os.environ if environ is None else environ)
    needed = list(hccl[: wish.npus_per_node])
    if some_will_do:
        free = [port for port in hccl if port not in listening]
        needed = free[: len(needed)] if len(free) >= len(needed) else list(hccl)
    wanted = sorted({*wish.ports, *needed})
    return {
        "taken": [port for port in wanted if port in listening],
        "wanted": wanted,
        "hccl": [hccl.start, hccl.stop - 1] if hccl else None,
        "ephemeral": [low, high],
        "reserved": _ranges(_read(net / "ip_local_reserved_ports")),
    }


def open_ports(facts: Facts | None) -> list[int]:
    """Those that peers may try: wanted by the job, and nobody's yet. Of a range the first and the last will do."""
    if not facts:
        return []
    free = [port for port in facts["wanted"] if port not in facts["taken"]]
    return [port for port in free if not {port - 1, port + 1} <= set(free)]


def hccn(_wish: Wish, file: Path = Path("/etc/hccn.conf"), boot_id: Path = BOOT_ID) -> Facts:
    """The devices' own RoCE addresses, as the host's configuration gives them: device -> IP. `boot`: equal for the
    containers of one host."""
    try:
        text = file.read_text(errors="replace")
    except OSError as error:
        raise NotMeasuredError(f"no {file}: the devices' addresses are not told here") from error
    addresses = dict(re.findall(r"^[ \t]*address_(\d+)[ \t]*=[ \t]*(\S+)", text, re.MULTILINE))
    if not addresses:
        raise NotMeasuredError(f"{file} names no address of a device")
    return {"addresses": addresses, "boot": _read(boot_id).strip() or None}


def no_interface(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: HCCL and gloo bind to an interface that the flag names, and to an IP of it: without one they fail."""
    return [
        Verdict(
            "NR521", node.ip, "error", wanted, ", ".join(facts["with_ip"]) or "-", {"name": name, "own": _own(facts)}
        )
        for node in nodes
        if (facts := node.facts("interfaces"))
        for name, wanted in sorted(facts["named"].items())
        if wanted and not (_hccl_finds if name == HCCL_IFNAME else _gloo_finds)(wanted, facts["with_ip"])
    ]


def loopback_name(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: gloo binds to what the host's name resolves to, unless GLOO_SOCKET_IFNAME is set (verl reports)."""
    return [
        Verdict(
            "NR522",
            node.ip,
            "warning",
            ", ".join(facts["addresses"]) or facts["why"],
            None,
            {"name": facts["hostname"], "own": _own(node.facts("interfaces"))},
        )
        for node in nodes
        if len(nodes) > 1 and not is_local(node.ip)
        if GLOO_IFNAME not in node.facts("interfaces").get("named", {})
        if (facts := node.facts("names")) and all(is_local(address) for address in facts["addresses"])
    ]


def unreachable(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: HCCL and gloo connect every pair of nodes. The fewest nodes that all failing pairs have in common are to
    blame: one node that is cut off, or one of two that do not reach each other."""
    pairs = [
        (node.ip, peer, answer)
        for node in nodes
        for peer, answer in node.facts("peers").get("reach", {}).items()
        if "why" in answer
    ]
    blamed = _cover({frozenset((source, peer)) for source, peer, _ in pairs})
    return [
        Verdict("NR523", next(ip for ip in blamed if ip in (source, peer)), "error", answer["why"], None, _way(*pair))
        for pair in pairs
        for source, peer, answer in [pair]
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
    seen = {node.ip: _mtu(node) for node in nodes if not is_local(node.ip)}
    return [Verdict("NR526", ip, "warning", str(value), str(usual)) for ip, value, usual in odd_ones(seen)]


def same_device_ip(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: hccn.conf: the same device of two hosts has two addresses; a copied file repeats them. A warning: HCCL
    asks the driver, and the file may be one that was packed into the container's image."""
    owners: dict[tuple[str, str], dict[str, str]] = {}
    for node in nodes:
        facts = node.facts("hccn")
        for device, address in facts.get("addresses", {}).items():
            owners.setdefault((device, address), {}).setdefault(facts["boot"] or node.ip, node.ip)
    return [
        Verdict("NR527", ip, "warning", address, None, {"npu": device, "other": first})
        for (device, address), hosts in owners.items()
        for first, *others in [list(hosts.values())]
        for ip in others
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


def astray_names(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: each node looked the host names of all others up. Ray and npurun use addresses; user code may not."""
    return [
        Verdict("NR529", node.ip, "hint", _some(sorted(names)), None, {"why": names[min(names)], "count": len(names)})
        for node in nodes
        if not is_local(node.ip) and (names := node.facts("peers").get("names"))
    ]


def other_way(nodes: Sequence[Node], _wish: Wish) -> list[Verdict]:
    """Source: own addresses of the connections to the peers: sockets that are bound to none take these, not Ray's."""
    return [
        Verdict("NR530", node.ip, "hint", ", ".join(others), node.ip)
        for node in nodes
        if not is_local(node.ip)
        if (others := [ip for ip in node.facts("peers").get("from", []) if ip != node.ip and not is_local(ip)])
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
    Judge("NR524", "ports", of_job(ports_taken)),
    Judge("NR525", "ports", of_job(in_ephemeral)),
    Judge("NR526", "interfaces", other_mtu),
    Judge("NR527", "hccn", same_device_ip),
    Judge("NR528", "peers", slow_pair),
    Judge("NR529", "peers", astray_names),
    Judge("NR530", "peers", other_way),
)


def _own_ip() -> str:
    import ray

    return str(ray.util.get_node_ip_address())


def _addresses() -> dict[str, list[str]]:
    """Interface -> its IPs, without those of one link alone."""
    import psutil  # comes with ray

    families = (socket.AF_INET, socket.AF_INET6)
    return {
        name: [one.address for one in found if one.family in families and not one.address.startswith(_LINK_LOCAL)]
        for name, found in psutil.net_if_addrs().items()
    }


def _holder(ip: str, addresses: Mapping[str, Sequence[str]]) -> str | None:
    """The interface that has this address (all of 127.0.0.0/8 is lo's)."""
    return "lo" if is_local(ip) else next((name for name, found in addresses.items() if ip in found), None)


def is_local(address: str) -> bool:
    return _LOCAL.match(address) is not None


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None


def _hccl_ports(wish: Wish, environ: Mapping[str, str]) -> tuple[range, bool]:
    """Where HCCL opens its sockets on this host, and whether it takes any that is free there (a range). The job's flags
    come before what the worker has inherited; that counts only where nobody has HCCL find ports itself."""
    inherited = {} if wish.hccl_base_port is None else environ
    if span := re.match(r"\s*(\d+)-(\d+)", wish.flags.get(HCCL_RANGE, inherited.get(HCCL_RANGE, ""))):
        return range(int(span[1]), int(span[2]) + 1), True
    if wish.hccl_base_port is None or inherited.get(HCCL_RANGE) == "auto":
        return range(0), False
    own = environ.get(HCCL_BASE, "")
    base = int(own) if HCCL_BASE not in wish.flags and own.isdecimal() else wish.hccl_base_port
    return range(base, base + HCCL_PORTS), False


def _listening(proc: Path, with_loopback: bool) -> Iterable[int]:
    """The port of every TCP socket that listens; one on the loopback interface alone is in nobody's way."""
    for name in ("tcp", "tcp6"):
        for fields in (line.split() for line in _read(proc / "net" / name).splitlines()[1:]):
            if len(fields) > 3 and fields[3] == _LISTENS:
                address, _, port = fields[1].rpartition(":")
                if with_loopback or not _is_local_hex(address):
                    yield int(port, 16)


def _is_local_hex(address: str) -> bool:
    mapped = len(address) == 8 or address.startswith(_LOCAL_V6[1])
    return address == _LOCAL_V6[0] or (mapped and address.endswith(_LOCAL_V4))


def _read(file: Path) -> str:
    """Empty when it is not there: IPv6 may be off, and an older kernel lacks some settings."""
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""


def _ranges(text: str) -> list[list[int]]:
    """`"60000-60015,8080"` as [[60000, 60015], [8080, 8080]]."""
    parts = [part.split("-") for part in text.strip().split(",") if part]
    return [[int(part[0]), int(part[-1])] for part in parts]


def _within(port: int, ranges: Sequence[Sequence[int]]) -> bool:
    return any(first <= port <= last for first, last in ranges)


def _hccl_finds(wanted: str, have: Iterable[str]) -> bool:
    """CANN: a list of prefixes; `=` asks for the whole names, `^` for any but these, `^=` for both."""
    but = wanted.startswith("^")
    rest = wanted.removeprefix("^")
    exact = rest.startswith("=")
    choices = [one.strip() for one in rest.removeprefix("=").split(",") if one.strip()]
    return any(any(name == one if exact else name.startswith(one) for one in choices) != but for name in have)


def _gloo_finds(wanted: str, have: Iterable[str]) -> bool:
    """torch: a list of whole names, each of which has to be there."""
    return {one for one in wanted.split(",") if one} <= set(have)


def _cover(pairs: set[frozenset[str]]) -> list[str]:
    """Nodes that have a part in every pair, as few as going by the number of pairs finds; of two alike the later."""
    nodes: list[str] = []
    while pairs:
        counts = Counter(ip for pair in pairs for ip in pair)
        nodes.append(max(counts, key=lambda ip: (counts[ip], ip)))
        pairs = {pair for pair in pairs if nodes[-1] not in pair}
    return nodes


def _way(source: str, peer: str, answer: Mapping[str, Any]) -> dict[str, object]:
    return {"source": source, "peer": f"{peer} port {answer['port']}" if "port" in answer else peer}


def _own(facts: Mapping[str, Any]) -> str:
    return facts.get("interface") or "?"


def _some(names: Sequence[str]) -> str:
    more = f", +{len(names) - PEERS_SHOWN}" if len(names) > PEERS_SHOWN else ""
    return ", ".join(names[:PEERS_SHOWN]) + more


def _mtu(node: Node) -> int | None:
    facts = node.facts("interfaces")
    mtu: int | None = facts.get("mtu", {}).get(facts.get("interface"))
    return mtu
