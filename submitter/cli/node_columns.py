"""What `npurun doctor` shows of a node, fact by fact. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from submitter.gang.probes.measure import from_json
from submitter.gang.probes.verdict import Node
from submitter.supervise.node_findings import NodeFinding
from submitter.texts import Phrase

GIB = 1024**3
MB_PER_GB = 1024

Cell = str | float | Phrase | None
"""None: not measured. A number is one that differs from node to node by nature: a group of nodes shows its range."""

ABSENT = Phrase("cli.node.absent")
"""Looked for, and not installed."""


@dataclass(frozen=True)
class Fact:
    name: str
    """Its heading is the text `cli.node.<name>`."""
    cell: Callable[[Node], Cell]
    marks: tuple[str, ...] = ()
    """Ids of the findings that are about it."""
    component: str | None = None
    """Of the findings on components, only the ones on this one."""
    unit: str = ""

    def is_about(self, finding: NodeFinding) -> bool:
        return finding.id in self.marks and (finding.id not in _ON_COMPONENTS or finding.component == self.component)


def node_of(record: Mapping[str, Any]) -> Node:
    """A record of the driver's log."""
    fields = ("ip", "hostname", "npus", "cpus", "silent", "busy")
    return Node(**{name: record[name] for name in fields}, measured=from_json(record["measured"]))


def facts_of(nodes: Sequence[Node]) -> tuple[Fact, ...]:
    """Every fact that has a column, the most telling first; clocks are compared with the middle one of `nodes`."""
    offsets = [node.facts("clock")["offset_s"] for node in nodes if node.facts("clock")]
    right = median(offsets) if offsets else 0.0

    def clock(node: Node) -> Cell:
        facts = node.facts("clock")
        return round(float(facts["offset_s"]) - right, 1) or 0.0 if facts else None

    return (
        Fact("npus", _npus, ("NR501", "NR506", "NR508", "NR510", "NR564")),
        Fact("ray_npus", lambda node: f"{node.npus:g}", ("NR502",)),
        *([Fact("busy", _busy)] if any(node.busy for node in nodes) else []),
        Fact("chip", _chip, ("NR509",)),
        Fact("health", _health, ("NR503",)),
        Fact("hbm", _hbm, ("NR504", "NR505"), unit="GB"),
        *(
            Fact(name, _version(name), (*_ON_COMPONENTS, *_OF_COMPONENT.get(name, ())), component=name)
            for name in _COMPONENTS
        ),
        Fact("memory", _memory, ("NR531", "NR539"), unit="GiB"),
        Fact("shm", _folder("shm"), ("NR532",), unit="GiB"),
        Fact("tmp", _folder("tmp"), ("NR533",), unit="GiB"),
        Fact("clock", clock, ("NR536",), unit="s"),
        Fact("interface", lambda node: node.facts("interfaces").get("interface"), ("NR521", "NR522", "NR529", "NR530")),
        Fact("mtu", _mtu, ("NR526",)),
        Fact("rtt", _rtt, ("NR523", "NR528"), unit="ms"),
        Fact("cpus", _cpus, ("NR538",)),
        Fact("files", _files, ("NR534",)),
        Fact("model", _model, ("NR551", "NR552", "NR558", "NR559")),
        Fact("data", _data, ("NR553",)),
        Fact("modules", _modules, ("NR557",)),
        Fact("write", _writable, ("NR554", "NR555", "NR556"), unit="GiB"),
    )


_ON_COMPONENTS = ("NR511", "NR512", "NR513")
_OF_COMPONENT = {"torch_npu": ("NR507",)}
_COMPONENTS = (
    "driver",
    "cann",
    "torch",
    "torch_npu",
    "vllm",
    "vllm_ascend",
    "verl",
    "megatron_core",
    "mindspeed",
    "transformers",
    "ray",
    "python",
)


def _npus(node: Node) -> Cell:
    devices = node.facts("npus").get("devices")
    return None if devices is None else str(len(devices))


def _busy(node: Node) -> Cell:
    return Phrase(f"cli.node.{'yes' if node.busy else 'no'}")


def _chip(node: Node) -> Cell:
    names = {str(device["name"]) for device in node.facts("npus").get("devices", ())}
    return "/".join(sorted(names)) or None


def _health(node: Node) -> Cell:
    devices = node.facts("npus").get("devices")
    if not devices:
        return None
    ill = [str(device["health"]) for device in devices if device["health"].lower() != "ok"]
    return f"{len(ill)} {ill[0]}" if ill else "OK"


def _hbm(node: Node) -> Cell:
    """Of the device that has the most in use."""
    used = [device["hbm_used_mb"] for device in node.facts("npus").get("devices", ())]
    known = [one for one in used if one is not None]
    return max(known) / MB_PER_GB if known else None


def _version(component: str) -> Callable[[Node], Cell]:
    def cell(node: Node) -> Cell:
        facts = node.facts("versions")
        return (facts.get(component) or ABSENT) if facts else None

    return cell


def _memory(node: Node) -> Cell:
    """Free, of what the container may use."""
    facts = node.facts("memory")
    free: int | None = facts.get("available")
    limit: int | None = facts.get("limit")
    if free is None or limit is None:
        return None if free is None else free / GIB
    return min(free, limit - int(facts.get("used") or 0)) / GIB


def _folder(kind: str) -> Callable[[Node], Cell]:
    def cell(node: Node) -> Cell:
        free = (node.facts("folders").get(kind) or {}).get("free")
        return None if free is None else free / GIB

    return cell


def _mtu(node: Node) -> Cell:
    facts = node.facts("interfaces")
    mtu = facts.get("mtu", {}).get(facts.get("interface"))
    return None if mtu is None else str(mtu)


def _rtt(node: Node) -> Cell:
    """To the peer that is furthest away; of a single node there is none."""
    reach = node.facts("peers").get("reach", {})
    times = [answer["rtt_ms"] for peer, answer in reach.items() if peer != node.ip and "rtt_ms" in answer]
    return float(max(times)) if times else None


def _cpus(node: Node) -> Cell:
    facts = node.facts("cpus")
    return f"{min(facts['usable'], facts['quota'] or facts['usable']):g}" if facts else None


def _files(node: Node) -> Cell:
    facts = node.facts("limits")
    return (str(facts["files"]) if facts["files"] is not None else Phrase("cli.node.unlimited")) if facts else None


def _model(node: Node) -> Cell:
    """Equal for equal folders."""
    facts = node.facts("model")
    if not facts:
        return None
    fingerprint = facts["fingerprint"]  # empty: the time for it ran out
    return Phrase("cli.node.incomplete") if facts["missing"] else str(fingerprint)[:8] if fingerprint else None


def _data(node: Node) -> Cell:
    files = node.facts("data").get("files")
    return f"{sum(not one['why'] for one in files.values())}/{len(files)}" if files else None


def _modules(node: Node) -> Cell:
    """Of the user's, how many can be imported."""
    modules = node.facts("modules").get("modules")
    return f"{sum(not why for why in modules.values())}/{len(modules)}" if modules else None


def _writable(node: Node) -> Cell:
    """The least free space of the folders that the trainer writes to."""
    folders = node.facts("writable").get("folders")
    if not folders:
        return None
    free = [one["free"] for one in folders.values() if one["free"] is not None]
    return min(free) / GIB if free else Phrase("cli.node.no")
