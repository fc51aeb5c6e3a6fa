"""Verdicts on nodes, joined to their texts: one by one, and what is alike on several nodes in one. Pure."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from submitter.checks.finding import Finding, Severity
from submitter.errors import Place
from submitter.texts import TABLE, Phrase, text

WHYS = (
    *("no_npu_smi", "npu_smi_slow", "npu_smi_failed", "npu_smi_unknown", "no_device_files", "no_hccn"),
    *("no_address", "no_raylet", "raylet_unreadable", "no_meminfo", "slow", "silent", "not_asked", "unheld"),
)
"""What a node may say of a probe that could not look, by the text that translates it."""
SILENT = "NR571"
SAYS_WHY = (SILENT, "NR510")
"""Their value is a node's own words."""
NOT_INSTALLED = "NR513"
"""Its value is a component."""
HOLDERS_SHOWN = 3
NAMES_SHOWN = 24
"""Of nodes, or ranges of them, in one line."""
_HELD = ("NR504", "NR505")
"""As hints: another job holds the devices through Ray, and nothing is wrong."""


@dataclass(frozen=True)
class NodeFinding(Finding):
    alike: tuple[Finding, ...] = ()
    """All those that this one stands for, unless they are equal."""

    @property
    def component(self) -> object:
        """`cann`, if it is about one."""
        return self.value if self.id == NOT_INSTALLED else self.values.get("component")

    def message(self, language: str = "en") -> str:
        if not self.alike:
            return text(self.id, language, **self.shown())
        if self.id in _HELD:
            return text(f"doctor.hints.{self.id}", language, **self._held())
        first = self.alike[0].message(language)
        return text("doctor.hints.others", language, first=first, count=len(self.alike) - 1)

    def fix(self, language: str = "en") -> str:
        if self.severity == "hint" and self.id in _HELD:
            return text("doctor.hints.held_fix", language)
        return self.alike[0].fix(language) if self.alike else super().fix(language)

    def phrases(self) -> tuple[Phrase, Phrase]:
        """Message and fix, of one that stands for itself."""
        return Phrase(self.id, self.shown()), Phrase(f"{self.id}.fix", self._values())

    def shown(self) -> dict[str, object]:
        """Components by the names that the table has for them; the fix keeps those of job files."""
        values = self._values()
        if self.id in SAYS_WHY and self.value is not None:
            values["value"] = why_of(self.value)
        name = "value" if self.id == NOT_INSTALLED else "component"
        if self.component and f"cli.node.{self.component}" in TABLE:
            values[name] = Phrase(f"cli.node.{self.component}")
        return values

    def _held(self) -> dict[str, object]:
        devices = {(one.place.node, str(one.values.get("npu"))) for one in self.alike}
        holders = list(dict.fromkeys(f"{one.values.get('command')} ({one.values.get('owner')})" for one in self.alike))
        more = ["…"] if len(holders) > HOLDERS_SHOWN else []
        return {
            "count": len(devices),
            "node": self.place.node,
            "limit": self.limit,
            "holders": ", ".join([*holders[:HOLDERS_SHOWN], *more]),
        }


def finding_of(verdict: Mapping[str, Any]) -> NodeFinding:
    """A verdict or a proposal (`gang.probes.verdict.Verdict` as JSON) with its texts; a proposal is an error."""
    node, severity = str(verdict["node"]), verdict.get("severity", "error")
    values = verdict.get("values")
    return NodeFinding(
        id=str(verdict["id"]),
        severity=severity if severity in get_args(Severity) else "error",
        place=Place(node=node),
        value=_text(verdict.get("value")),
        limit=_text(verdict.get("limit")),
        values={**_said(values if isinstance(values, dict) else {}, verdict.get("value")), "node": node},
    )


def _said(values: Mapping[str, Any], value: object) -> dict[str, Any]:
    """What is a text's id (`probe.…`) is said in the user's language, with the verdict's other values."""
    raw = {"value": value, **values}
    return {
        name: Phrase(one, raw) if isinstance(one, str) and one.startswith("probe.") and one in TABLE else one
        for name, one in values.items()
    }


def folded(findings: Sequence[NodeFinding], nodes_of_kind: int | None = None) -> list[NodeFinding]:
    """What is equal on several nodes is told once, of all of them; so are all hints of one kind.

    `nodes_of_kind`: so is whatever is of one kind and differs on more nodes than this; None: it never is.
    """
    scattered = _scattered(findings, nodes_of_kind) if nodes_of_kind is not None else set()
    groups: dict[tuple[object, ...], list[NodeFinding]] = {}
    for one in findings:
        kind = (one.id, one.severity)
        whole = one.severity == "hint" or kind in scattered
        groups.setdefault((*kind, *([] if whole else _details(one))), []).append(one)
    return [_together(group) for group in groups.values()]


def node_names(ips: Sequence[str], most: int | None = None) -> str:
    """`10.0.0.1-4, 10.0.0.9`; in the order given, ranges where addresses follow each other; `+7` in place of what is
    beyond `most` of these."""
    spans: list[tuple[str, str]] = []
    for ip in ips:
        if spans and _next(spans[-1][1]) == ip:
            spans[-1] = (spans[-1][0], ip)
        else:
            spans.append((ip, ip))
    names = [first if first == last else f"{first}-{last.rpartition('.')[2]}" for first, last in spans]
    more = [f"+{len(names) - most}"] if most is not None and len(names) > most else []
    return ", ".join([*names[:most], *more])


def why_of(said: str) -> Phrase | str:
    """A node's words, which are English, as a text where they are known."""
    for name in WHYS:
        text_id = f"doctor.why.{name}"
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+)", re.escape(TABLE[text_id][0]))
        if match := re.fullmatch(pattern, said):
            return Phrase(text_id, match.groupdict())
    return said


def _scattered(findings: Sequence[NodeFinding], most: int) -> set[tuple[str, str]]:
    """Kinds of which more than `most` are told of more than `most` nodes."""
    nodes: dict[tuple[str, str], set[str | None]] = {}
    told: dict[tuple[str, str], set[object]] = {}
    for one in findings:
        nodes.setdefault((one.id, one.severity), set()).add(one.place.node)
        told.setdefault((one.id, one.severity), set()).add(_details(one))
    return {kind for kind in nodes if min(len(nodes[kind]), len(told[kind])) > most}


def _details(one: NodeFinding) -> tuple[object, ...]:
    others = tuple(sorted((name, str(value)) for name, value in one.values.items() if name != "node"))
    return (one.value, one.limit, others)


def _together(group: Sequence[NodeFinding]) -> NodeFinding:
    names = node_names(list(dict.fromkeys(one.place.node or "" for one in group)), NAMES_SHOWN)
    differ = len({_details(one) for one in group}) > 1
    held = group[0].severity == "hint" and group[0].id in _HELD
    alike = tuple(group) if differ or held else ()
    values = {**group[0].values, "node": names}
    told = replace(group[0], place=Place(node=names), values=values, alike=alike)
    if alike:
        return replace(told, value=None)  # of the first one alone
    if told.id in SAYS_WHY and told.value is not None:
        return replace(told, value=None, values={**values, "value": why_of(told.value)})
    return told


def _next(ip: str) -> str | None:
    """The address behind an IPv4 one, within its last number."""
    try:
        return str(ipaddress.IPv4Address(ip) + 1) if not ip.endswith(".255") else None
    except ValueError:
        return None


def _text(value: object) -> str | None:
    return None if value is None else str(value)
