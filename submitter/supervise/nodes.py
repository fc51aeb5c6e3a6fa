"""Nodes that are kept out of new attempts: proposed in the cluster, kept in the ledger, ended by time or by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from submitter.ledger import Ledger, Quarantined
from submitter.texts import Tell

HOUR_MS = 3_600_000

LASTS_MS: Mapping[str, int] = {
    # What a person has to repair: a device's health, files of a container, a copied hccn.conf.
    **dict.fromkeys(("NR501", "NR502", "NR503", "NR506", "NR527"), 24 * HOUR_MS),
    # What goes away by itself, or with its owner: processes, memory, ports.
    **dict.fromkeys(("NR504", "NR505", "NR524", "NR531", "NR571"), HOUR_MS // 2),
}
LASTS_OTHERWISE_MS = 2 * HOUR_MS
"""Also for a node that froze or was lost in training."""


def keep_proposals(
    ledger: Ledger, address: str, submission_id: str, end: Mapping[str, Any] | None, ended_ms: int | None
) -> None:
    """Writes down the nodes that an attempt's end record proposes; the same record again changes nothing."""
    if end and ended_ms is not None:
        ledger.quarantine(list(_entries(address, submission_id, end, ended_ms)))


def left_out(ledger: Ledger, address: str, now_ms: int, tell: Tell) -> tuple[str, ...]:
    """IPs of the cluster's nodes that a new attempt must not use, each told with what it was found to have."""
    found = ledger.quarantined(now_ms, address)
    for one in found:
        tell("nodes.left_out", node=one.node, finding=one.finding, attempt=one.submission_id)
    return tuple(dict.fromkeys(one.node for one in found))


def _entries(address: str, submission_id: str, end: Mapping[str, Any], ended_ms: int) -> Iterator[Quarantined]:
    proposals = [one for one in end.get("proposals") or [] if isinstance(one, dict) and one.get("node")]
    for one in proposals:
        finding = str(one.get("id"))
        yield _entry(address, submission_id, str(one["node"]), finding, one, ended_ms)
    explained = {one["node"] for one in proposals}
    for node in end.get("quarantine") or []:
        if node not in explained:
            evidence = {"evidence": end.get("evidence")}
            yield _entry(address, submission_id, str(node), str(end.get("reason")), evidence, ended_ms)


def _entry(
    address: str, submission_id: str, node: str, finding: str, evidence: Mapping[str, Any], ended_ms: int
) -> Quarantined:
    until = ended_ms + LASTS_MS.get(finding, LASTS_OTHERWISE_MS)
    return Quarantined(address, node, submission_id, finding, dict(evidence), ended_ms, until)
