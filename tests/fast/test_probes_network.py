"""The network as each node sees it: generated /sys and /proc trees, and what is judged over all nodes."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submitter.gang.probes import network
from submitter.gang.probes.measure import NotMeasuredError
from submitter.gang.probes.verdict import Node, Verdict
from submitter.gang.probes.wish import Wish
from tests.support.nodes import node
from tests.support.verdicts import brief, judged

HEADER = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
LISTEN, ESTABLISHED = "0A", "01"


def one(number: int, **measured: Any) -> Node:
    return node(f"10.0.0.{number}", measured=measured)


def found(nodes: list[Node], wish: Wish | None = None) -> list[Verdict]:
    return judged(network.JUDGES, nodes, wish)


# Interfaces


def interfaces(tmp_path: Path, own: str, addresses: Mapping[str, list[str]], **environ: str) -> Any:
    for name, mtu in {"lo": "65536\n", "enp189s0f0": "1500\n", "bonding_masters": None}.items():
        (tmp_path / name).mkdir()
        if mtu:
            (tmp_path / name / "mtu").write_text(mtu)
    return network.interfaces(Wish(), tmp_path, environ, own, lambda: addresses)


def test_the_interface_that_holds_rays_address(tmp_path: Path) -> None:
    addresses = {"lo": ["127.0.0.1"], "enp189s0f0": ["10.0.0.1", "fd00::1"], "docker0": []}
    facts = interfaces(tmp_path, "10.0.0.1", addresses, HCCL_SOCKET_IFNAME="enp", PATH="/bin")
    assert facts == {
        "ip": "10.0.0.1",
        "interface": "enp189s0f0",
        "mtu": {"bonding_masters": None, "enp189s0f0": 1500, "lo": 65536},
        "with_ip": ["enp189s0f0", "lo"],
        "named": {"HCCL_SOCKET_IFNAME": "enp"},
    }


def test_an_address_of_no_interface_and_one_of_the_loopback(tmp_path: Path) -> None:
    assert interfaces(tmp_path, "10.9.9.9", {"lo": ["127.0.0.1"]})["interface"] is None
    assert network.interfaces(Wish(), tmp_path, {}, "127.0.0.7", dict)["interface"] == "lo"


def test_this_machines_own_interfaces() -> None:
    facts = network.interfaces(Wish(), environ={}, own="127.0.0.1")
    assert facts["mtu"]["lo"] and "lo" in facts["with_ip"]


@pytest.mark.parametrize(
    ("flag", "value", "fits"),
    [
        ("HCCL_SOCKET_IFNAME", "enp", True),
        ("HCCL_SOCKET_IFNAME", "eth0,enp189", True),
        ("HCCL_SOCKET_IFNAME", "=enp189s0f0", True),
        ("HCCL_SOCKET_IFNAME", "=enp", False),
        ("HCCL_SOCKET_IFNAME", "eth", False),
        ("HCCL_SOCKET_IFNAME", "^eth", True),
        ("HCCL_SOCKET_IFNAME", "^lo,enp", False),
        ("HCCL_SOCKET_IFNAME", "^=enp", True),
        ("HCCL_SOCKET_IFNAME", "ib0", False),  # there, without an address
        ("HCCL_SOCKET_IFNAME", "", True),
        ("GLOO_SOCKET_IFNAME", "enp189s0f0", True),
        ("GLOO_SOCKET_IFNAME", "enp", False),
        ("GLOO_SOCKET_IFNAME", "enp189s0f0,eth0", False),
        ("TP_SOCKET_IFNAME", "enp189s0f0", True),
    ],
)
def test_an_interface_that_a_flag_names(flag: str, value: str, fits: bool) -> None:
    facts = {
        "mtu": {"lo": 65536, "enp189s0f0": 1500, "ib0": 2044},
        "with_ip": ["enp189s0f0", "lo"],
        "interface": "enp189s0f0",
        "named": {flag: value},
    }
    verdicts = found([one(1, interfaces=facts)])
    assert brief(verdicts) == ([] if fits else [("NR521", "1", "error")])


@given(st.text(alphabet="^=,eth0n p", max_size=12), st.lists(st.sampled_from(["eth0", "enp1", "lo"]), unique=True))
def test_any_interface_flag_is_read(wanted: str, have: list[str]) -> None:
    network._hccl_finds(wanted, have)
    network._gloo_finds(wanted, have)


# Names


@pytest.mark.parametrize(
    ("addresses", "named", "warned"),
    [
        (["10.0.0.1"], {}, False),
        (["127.0.1.1"], {}, True),
        (["::1", "127.0.0.1"], {}, True),
        (["127.0.1.1", "10.0.0.1"], {}, False),
        ([], {}, True),
        (["127.0.1.1"], {"GLOO_SOCKET_IFNAME": "lo"}, False),
    ],
)
def test_a_host_whose_name_leads_to_itself(addresses: list[str], named: dict[str, str], warned: bool) -> None:
    why = None if addresses else "Name or service not known"
    own = {"names": {"hostname": "h1", "addresses": addresses, "why": why}}
    view = {"interfaces": {"mtu": {}, "with_ip": ["lo"], "interface": "eth0", "named": named}}
    verdicts = found([one(1, **own, **view), one(2)])
    assert brief(verdicts) == ([("NR522", "1", "warning")] if warned else [])
    assert not found([one(1, **own, **view)])  # alone nobody has to reach it


def test_names_are_looked_up() -> None:
    assert "127.0.0.1" in network.names(Wish(), "localhost")["addresses"]
    lost = network.names(Wish(), "no-such-host.invalid")
    assert lost["addresses"] == [] and lost["why"]


# Ports


def proc(root: Path, tcp: list[str], tcp6: list[str] | None = None, reserved: str = "\n") -> Path:
    (root / "net").mkdir(parents=True)
    (root / "net" / "tcp").write_text(HEADER + "".join(tcp))
    if tcp6 is not None:
        (root / "net" / "tcp6").write_text(HEADER + "".join(tcp6))
    (root / "sys/net/ipv4").mkdir(parents=True)
    (root / "sys/net/ipv4/ip_local_port_range").write_text("32768\t60999\n")
    (root / "sys/net/ipv4/ip_local_reserved_ports").write_text(reserved)
    return root


def line(address: str, port: int, state: str = LISTEN) -> str:
    return f"   0: {address}:{port:04X} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000     0\n"


EVERYWHERE, LOOPBACK, OTHER = "00000000", "0100007F", "0100000A"
EVERYWHERE_6, LOOPBACK_6 = "0" * 32, "0" * 24 + "01000000"
MAPPED_LOOPBACK = "0000000000000000FFFF00000100007F"


def test_ports_that_are_taken(tmp_path: Path) -> None:
    tcp = [line(EVERYWHERE, 29500), line(LOOPBACK, 60001), line(OTHER, 60002), line(OTHER, 60003, ESTABLISHED)]
    tcp6 = [line(EVERYWHERE_6, 60004), line(LOOPBACK_6, 60005), line(MAPPED_LOOPBACK, 60006), "short\n"]
    root = proc(tmp_path, tcp, tcp6, "60000-60001,8080\n")
    wish = Wish(npus_per_node=8, ports=(29500,), hccl_base_port=60000)
    facts = network.ports(wish, root, "10.0.0.1", {})
    assert facts == {
        "taken": [29500, 60002, 60004],
        "wanted": [29500, *range(60000, 60008)],
        "hccl": [60000, 60015],
        "ephemeral": [32768, 60999],
        "reserved": [[60000, 60001], [8080, 8080]],
    }
    assert 60001 in network.ports(wish, root, "127.0.0.2")["taken"]  # where Ray itself lives on loopback
    (verdict,) = [one for one in found([one(1, ports=facts)]) if one.id == "NR524"]
    assert (verdict.value, verdict.severity) == ("29500, 60002, 60004", "error")


@pytest.mark.parametrize(
    ("flags", "base", "environ", "taken", "hccl"),
    [
        ({"HCCL_HOST_SOCKET_PORT_RANGE": "60000-60002"}, None, {}, [60001, 60002], [60000, 60002]),
        ({"HCCL_HOST_SOCKET_PORT_RANGE": "60000-60009"}, None, {}, [], [60000, 60009]),  # enough others are free
        ({"HCCL_HOST_SOCKET_PORT_RANGE": "auto"}, None, {}, [], None),
        ({}, 60000, {"HCCL_IF_BASE_PORT": "61000"}, [], [61000, 61015]),
        ({"HCCL_IF_BASE_PORT": "60000"}, 60000, {"HCCL_IF_BASE_PORT": "61000"}, [60001], [60000, 60015]),
        ({}, 60000, {"HCCL_HOST_SOCKET_PORT_RANGE": "auto"}, [], None),
        ({}, None, {"HCCL_IF_BASE_PORT": "60000"}, [], None),  # the trainer has HCCL find ports itself
    ],
)
def test_hccls_ports_by_flags_and_by_the_workers_environment(
    tmp_path: Path, flags: dict[str, str], base: int | None, environ: dict[str, str], taken: list[int], hccl: Any
) -> None:
    root = proc(tmp_path, [line(EVERYWHERE, 60001), line(EVERYWHERE, 60002)])
    wish = Wish(npus_per_node=2, hccl_base_port=base, flags=flags)
    facts = network.ports(wish, root, "10.0.0.1", environ)
    assert (facts["taken"], facts["hccl"]) == (taken, hccl)


def test_a_port_that_is_really_bound() -> None:
    with socket.create_server(("", 0)) as server:
        port = server.getsockname()[1]
        facts = network.ports(Wish(ports=(port,)), own="10.0.0.1")
        assert facts["taken"] == [port]
    assert network.ports(Wish(ports=(port,)), own="10.0.0.1")["taken"] == []


def test_an_older_kernel_without_ipv6(tmp_path: Path) -> None:
    root = proc(tmp_path, [])
    (root / "sys/net/ipv4/ip_local_reserved_ports").unlink()
    assert network.ports(Wish(), root, "10.0.0.1") == {
        "taken": [],
        "wanted": [],
        "hccl": None,
        "ephemeral": [32768, 60999],
        "reserved": [],
    }


@pytest.mark.parametrize(
    ("reserved", "wanted"),
    [([], "60000-60015"), ([[60000, 60015]], None), ([[60000, 60007]], "60008-60015"), ([[59000, 61000]], None)],
)
def test_hccls_ports_in_the_ephemeral_range(reserved: list[list[int]], wanted: str | None) -> None:
    facts = {"taken": [], "wanted": [], "hccl": [60000, 60015], "ephemeral": [32768, 60999], "reserved": reserved}
    assert [verdict.value for verdict in found([one(1, ports=facts)])] == ([wanted] if wanted else [])


@given(st.lists(st.tuples(st.integers(1, 65535), st.integers(0, 20))))
def test_reserved_ranges_are_read(ranges: list[tuple[int, int]]) -> None:
    text = ",".join(str(first) if not more else f"{first}-{first + more}" for first, more in ranges)
    assert network._ranges(f"{text}\n") == [[first, first + more] for first, more in ranges]


def test_ports_that_peers_may_try() -> None:
    facts = {"wanted": [29500, *range(60000, 60008)], "taken": [60003]}
    assert network.open_ports(facts) == [29500, 60000, 60002, 60004, 60007]
    assert network.open_ports(None) == []
    assert network.open_ports({"wanted": [29500], "taken": [29500]}) == []


# Devices' addresses

HCCN = """\
address_0=29.89.132.13
netmask_0=255.255.0.0
netdetect_0=29.89.0.1
gateway_0=29.89.0.1
send_arp_status_0=1
address_1 = 29.89.20.64
#address_2=1.2.3.4
"""


def test_addresses_of_hccn_conf(tmp_path: Path) -> None:
    file, boot = tmp_path / "hccn.conf", tmp_path / "boot_id"
    with pytest.raises(NotMeasuredError, match="no "):
        network.hccn(Wish(), file, boot)
    file.write_text("# nothing yet\n")
    with pytest.raises(NotMeasuredError, match="names no address"):
        network.hccn(Wish(), file, boot)
    file.write_text(HCCN)
    boot.write_text("b1\n")
    assert network.hccn(Wish(), file, boot) == {
        "addresses": {"0": "29.89.132.13", "1": "29.89.20.64"},
        "boot": "b1",
    }


def test_an_address_that_two_hosts_have() -> None:
    def device(number: int, boot: str | None, **addresses: str) -> Node:
        return one(number, hccn={"addresses": {name[1:]: ip for name, ip in addresses.items()}, "boot": boot})

    same = found([device(1, "a", d0="29.0.0.1", d1="29.0.0.2"), device(2, "b", d0="29.0.0.1", d1="29.0.0.9")])
    assert brief(same) == [("NR527", "2", "warning")]
    assert same[0].values == {"npu": "0", "other": "10.0.0.1"}
    assert not found([device(1, "a", d0="29.0.0.1"), device(2, "a", d0="29.0.0.1")])  # two containers of one host
    assert not found([device(1, "a", d0="29.0.0.1"), device(2, "b", d1="29.0.0.1")])  # planes of their own
    assert len(found([device(1, None, d0="29.0.0.1"), device(2, None, d0="29.0.0.1")])) == 1


# Between nodes


def meeting(number: int, reach: Mapping[int, Any], **more: Any) -> Node:
    """`reach`: peer -> ms, or why not."""
    answers = {
        f"10.0.0.{peer}": {"why": told} if isinstance(told, str) else {"rtt_ms": told} for peer, told in reach.items()
    }
    return one(number, peers={"reach": answers, "tokens": {}, **more})


@pytest.mark.parametrize("alone", [1, 2, 3])
def test_a_node_that_is_cut_off_is_blamed_alone(alone: int) -> None:
    numbers = (1, 2, 3)
    reach = {a: {b: "timed out" if a != b and alone in (a, b) else 0.1 for b in numbers} for a in numbers}
    verdicts = found([meeting(number, reach[number]) for number in numbers])
    assert {verdict.node for verdict in verdicts} == {f"10.0.0.{alone}"}
    assert len(verdicts) == 4


def test_of_a_pair_that_does_not_meet_one_is_left_out() -> None:
    nodes = [
        meeting(1, {2: "No route to host", 3: 0.1}),
        meeting(2, {1: "timed out", 3: 0.1}),
        meeting(3, {1: 1, 2: 1}),
    ]
    verdicts = found(nodes)
    assert brief(verdicts) == [("NR523", "2", "error")] * 2
    assert [(verdict.values["source"], verdict.values["peer"]) for verdict in verdicts] == [
        ("10.0.0.1", "10.0.0.2"),
        ("10.0.0.2", "10.0.0.1"),
    ]


def test_a_port_that_a_firewall_swallows() -> None:
    answer = {"rtt_ms": 0.1, "why": "timed out", "port": 29500}
    (verdict,) = found([one(1, peers={"reach": {"10.0.0.2": answer}, "tokens": {}}), meeting(2, {1: 0.1})])
    assert (verdict.id, verdict.values["peer"]) == ("NR523", "10.0.0.2 port 29500")


@given(st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda pair: pair[0] != pair[1])))
def test_every_failing_pair_has_one_that_is_blamed(pairs: set[tuple[int, int]]) -> None:
    named = {frozenset(map(str, pair)) for pair in pairs}
    cover = network._cover(set(named))
    assert all(pair & set(cover) for pair in named)
    assert len(cover) <= len(named)


@pytest.mark.parametrize(
    ("mtus", "wanted"),
    [
        ([1500, 1500, 1500], []),
        ([9000, 9000, 1500], [("NR526", "2", "warning")]),
        ([9000, 1500], [("NR526", "0", "warning"), ("NR526", "1", "warning")]),
        ([1500, None, 1500], []),
    ],
)
def test_an_mtu_that_differs(mtus: list[int | None], wanted: list[tuple[str, str, str]]) -> None:
    nodes = [
        one(n, interfaces={"interface": "eth0", "mtu": {"eth0": mtu}, "named": {}, "with_ip": []})
        for n, mtu in enumerate(mtus)
    ]
    assert brief(found(nodes)) == wanted


@pytest.mark.parametrize(("slow", "wanted"), [(4.9, 0), (5.1, 1), (80.0, 1)])
def test_a_pair_that_is_slow(slow: float, wanted: int) -> None:
    nodes = [meeting(1, {2: 0.2, 3: slow}), meeting(2, {1: 0.2, 3: 0.2}), meeting(3, {1: 0.2, 2: 0.2})]
    assert brief(found(nodes)) == [("NR528", "1", "hint")] * wanted


def test_slow_everywhere_is_no_pairs_fault() -> None:
    assert not found([meeting(1, {2: 30.0}), meeting(2, {1: 40.0})])


def test_names_that_lead_astray_and_another_way_out() -> None:
    lost = {f"h{n}": "Name or service not known" for n in range(5)}
    verdicts = found([meeting(1, {}, names=lost), meeting(2, {}, **{"from": ["10.0.0.2"]}, names={})])
    assert [(verdict.id, verdict.value) for verdict in verdicts] == [("NR529", "h0, h1, h2, +2")]
    (verdict,) = found([meeting(1, {}, **{"from": ["127.0.0.1", "192.168.1.5"]})])
    assert (verdict.id, verdict.value, verdict.limit) == ("NR530", "192.168.1.5", "10.0.0.1")


def test_nodes_on_loopback_are_no_network() -> None:
    peers = {"reach": {}, "tokens": {}, "names": {"h": "leads to 127.0.1.1"}, "from": ["10.0.0.1"]}
    assert not found([node(f"127.0.0.{n}", measured={"peers": peers}) for n in (2, 3)])


def test_what_was_not_measured_is_no_verdict() -> None:
    blind = node(why=dict.fromkeys(("interfaces", "names", "ports", "hccn", "peers"), "no result within 2 s"))
    assert not found([blind, one(2)], Wish(hccl_base_port=60000, npus_per_node=8))
