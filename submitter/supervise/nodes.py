"""Nodes that are kept out of new attempts: proposed in the cluster, kept in the ledger, ended by time or by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from submitter.checks.finding import Finding, Severity
from submitter.errors import Place, UsageError
from submitter.gang.record import EXIT_OF_REASON
from submitter.job.nearest import nearest
from submitter.ledger import Ledger, Quarantined
from submitter.texts import TABLE, Phrase, Tell

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


def release(ledger: Ledger, node: str, now_ms: int, address: str | None) -> int:
    """How many entries of the node were ended; UsageError with the nearest node when none holds."""
    count = ledger.release(node, now_ms, address)
    if not count:
        known = sorted({one.node for one in ledger.quarantined(now_ms, address)})
        raise UsageError("nodes.none" if known else "nodes.none_at_all", node=node, nearest=nearest(node, known))
    return count


def finding_of(verdict: Mapping[str, Any]) -> Finding:
    """A verdict or a proposal (`gang.probes.verdict.Verdict` as JSON) with its texts; a proposal is an error."""
    node, severity = str(verdict["node"]), verdict.get("severity", "error")
    values = verdict.get("values")
    return Finding(
        id=str(verdict["id"]),
        severity=severity if severity in get_args(Severity) else "error",
        place=Place(node=node),
        value=_text(verdict.get("value")),
        limit=_text(verdict.get("limit")),
        values={**(values if isinstance(values, dict) else {}), "node": node},
    )


def said(finding: str, node: str, evidence: Mapping[str, Any]) -> Phrase:
    """Why a node was left out. `evidence` came through a log that the trainer writes to, perhaps of another npurun."""
    if finding in TABLE and finding.startswith("NR"):
        one = finding_of({**evidence, "id": finding, "node": node})
        values = {"value": one.value, "limit": one.limit, "key": None, **one.values}
        if _fits(finding, values):
            return Phrase(finding, values)
    if finding in EXIT_OF_REASON:
        return Phrase(f"gang.reason.{finding}", {"node": node, "code": "-"})
    return (
        Phrase("nodes.quarantined")
        if finding == "quarantined"
        else Phrase("nodes.unknown_finding", {"finding": finding})
    )


def proposed(end: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """What an attempt's end record has against nodes: proposals in their own form, else the reason of its end."""
    if not end:
        return []
    proposals = [
        {**one, "node": _plain(one["node"]), "id": _plain(one["id"])}
        for one in _list(end, "proposals")
        if isinstance(one, dict) and one.get("node") and one.get("id")
    ]
    explained = {one["node"] for one in proposals}
    others = [node for one in _list(end, "quarantine") if (node := _plain(one)) not in explained]
    reason = _plain(end.get("reason"))
    return [*proposals, *({"node": node, "id": reason, "evidence": end.get("evidence")} for node in others)]


def _entries(address: str, submission_id: str, end: Mapping[str, Any], ended_ms: int) -> Iterator[Quarantined]:
    for one in proposed(end):
        yield _entry(address, submission_id, one["node"], one["id"], one, ended_ms)


def _list(end: Mapping[str, Any], key: str) -> list[Any]:
    found = end.get(key)
    return found if isinstance(found, list) else []


def _plain(value: object) -> str:
    """As text that UTF-8 has: JSON may hold half a surrogate pair, and SQLite takes none."""
    return str(value).encode("utf-8", "replace").decode()


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _fits(text_id: str, values: Mapping[str, object]) -> bool:
    """Whether the text finds all that it names."""
    try:
        TABLE[text_id][0].format(**values)
    except (KeyError, IndexError):
        return False
    return True


def _entry(
    address: str, submission_id: str, node: str, finding: str, evidence: Mapping[str, Any], ended_ms: int
) -> Quarantined:
    until = ended_ms + LASTS_MS.get(finding, LASTS_OTHERWISE_MS)
    return Quarantined(address, node, submission_id, finding, dict(evidence), ended_ms, until)
