"""Nodes that are kept out of new attempts: proposed in the cluster, kept in the ledger, ended by time or by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from submitter.cluster.client import JobInfo
from submitter.errors import UsageError
from submitter.gang.record import EXIT_OF_REASON
from submitter.job.nearest import NONE, nearest
from submitter.ledger import Ledger, Quarantined
from submitter.recovery.reasons import REASONS
from submitter.supervise.node_findings import NodeFinding, finding_of, folded
from submitter.texts import TABLE, Phrase, Tell

HOUR_MS = 3_600_000
UNFIT = "node_unfit"
"""Why an attempt ended."""

LASTS_MS: Mapping[str, int] = {
    # What a person has to repair: a device's health, files of a container, a copied hccn.conf, how Ray was started.
    **dict.fromkeys(("NR501", "NR502", "NR503", "NR506", "NR527", "NR564"), 24 * HOUR_MS),
    # What goes away by itself, or with its owner: processes, memory, ports.
    **dict.fromkeys(("NR504", "NR505", "NR524", "NR531", "NR571"), HOUR_MS // 2),
}
LASTS_OTHERWISE_MS = 2 * HOUR_MS
"""Also for a node that froze or was lost in training."""
NAME_MAX = 255
"""Characters of a host's name (RFC 1035); what is longer is no node."""
SHOWN_UNFIT = 16
"""Findings after a failure; the end record and the verdicts in the log have all of them."""


def keep_proposals(ledger: Ledger, address: str, info: JobInfo, end: Mapping[str, Any] | None, now_ms: int) -> None:
    """Writes down the nodes that an attempt's end record proposes; the same record again changes nothing.

    They are left out from the attempt's end on: what is read days later has run out, and keeps no node from anybody.
    """
    if end:
        ledger.quarantine(list(_entries(address, info.submission_id, end, _ended_ms(ledger, info, now_ms))))


def left_out(ledger: Ledger, address: str, now_ms: int, tell: Tell) -> tuple[str, ...]:
    """IPs of the cluster's nodes that a new attempt must not use, each told with what it was found to have."""
    found = ledger.quarantined(now_ms, address)
    for one in found:
        tell("nodes.left_out", node=one.node, finding=one.finding, attempt=one.submission_id)
    return tuple(dict.fromkeys(one.node for one in found))


def holding(ledger: Ledger, node: str, now_ms: int, address: str | None, usual: str) -> list[str]:
    """Clusters that the node is left out of: `address` if given, else `usual` if it is one of them, else all."""
    found = list(dict.fromkeys(one.address for one in ledger.quarantined(now_ms, address) if one.node == node))
    return [usual] if usual in found else found


def release(ledger: Ledger, node: str, now_ms: int, address: str | None) -> int:
    """How many entries of the node were ended; UsageError with the nearest node when none holds."""
    count = ledger.release(node, now_ms, address)
    if not count:
        known = sorted({one.node for one in ledger.quarantined(now_ms, address)})
        near = nearest(node, known)
        told = "nodes.none_at_all" if not known else "nodes.none_near" if near == NONE else "nodes.none"
        raise UsageError(told, node=node, nearest=near)
    return count


def said(finding: str, node: str, evidence: Mapping[str, Any]) -> Phrase:
    """Why a node was left out. `evidence` came through a log that the trainer writes to, perhaps of another npurun."""
    if finding in TABLE and finding.startswith("NR"):
        one = finding_of({**evidence, "id": finding, "node": node})
        if _fits(one):
            return one.phrases()[0]
    if finding in EXIT_OF_REASON and (finding not in REASONS or REASONS[finding].blames_node):
        return Phrase(f"gang.reason.{finding}", {"node": node, "code": "-"})
    if finding in REASONS:
        return Phrase(f"reason.{finding}")
    if finding == "quarantined":
        return Phrase("nodes.quarantined")
    return Phrase("nodes.unknown_finding", {"finding": finding})


def tell_unfit(verdicts: Iterable[Mapping[str, Any]], tell: Tell) -> bool:
    """What makes nodes unfit, and what to do, told once for all nodes that have it; False if nothing is known.

    `verdicts`: of a log or of an end record; those that are no errors, and those without a text here, are not told.
    """
    known = [one for one in verdicts if str(one["id"]) in TABLE and str(one["id"]).startswith("NR")]
    found = [one for one in map(finding_of, known) if one.severity == "error" and _fits(one)]
    told = folded(list({(one.id, one.place.node, one.message()): one for one in found}.values()))
    for one in told[:SHOWN_UNFIT]:
        why, fix = one.phrases()
        tell("nodes.unfit", finding=one.id, why=why, fix=fix)
    if len(told) > SHOWN_UNFIT:
        tell("nodes.unfit_more", count=len(told) - SHOWN_UNFIT)
    return bool(told)


def proposed(end: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """What an attempt's end record has against nodes: proposals in their own form, else the reason of its end."""
    if not end:
        return []
    proposals = [
        {**one, "node": storable(one["node"]), "id": storable(one["id"])}
        for one in _list(end, "proposals")
        if isinstance(one, dict) and _is_name(one.get("node")) and _is_name(one.get("id"))
    ]
    explained = {one["node"] for one in proposals}
    named = [storable(one) for one in _list(end, "quarantine") if _is_name(one)]
    others = [node for node in named if node not in explained]
    reason = storable(end.get("reason"))
    return [*proposals, *({"node": node, "id": reason, "evidence": end.get("evidence")} for node in others)]


def _ended_ms(ledger: Ledger, info: JobInfo, now_ms: int) -> int:
    """By this machine's clock: the head's may be hours off, yet it knows how long the attempt took.

    Now, for an attempt that was not posted from here.
    """
    posted_ms = ledger.posted_ms(info.submission_id)
    if posted_ms is None or info.start_ms is None or info.end_ms is None:
        return now_ms
    return min(now_ms, posted_ms + max(0, info.end_ms - info.start_ms))


def _entries(address: str, submission_id: str, end: Mapping[str, Any], since_ms: int) -> Iterator[Quarantined]:
    for one in proposed(end):
        yield _entry(address, submission_id, one["node"], one["id"], one, since_ms)


def _list(end: Mapping[str, Any], key: str) -> list[Any]:
    found = end.get(key)
    return found if isinstance(found, list) else []


def storable(value: object) -> str:
    """As text that UTF-8 has: JSON may hold half a surrogate pair, and SQLite takes none."""
    return str(value).encode("utf-8", "replace").decode()


def _is_name(value: object) -> bool:
    return 0 < len(storable(value)) <= NAME_MAX if value else False


def _fits(one: NodeFinding) -> bool:
    """Whether its texts find all that they name."""
    try:
        one.message(), one.fix()
    except (KeyError, IndexError):
        return False
    return True


def _entry(
    address: str, submission_id: str, node: str, finding: str, evidence: Mapping[str, Any], since_ms: int
) -> Quarantined:
    until = since_ms + LASTS_MS.get(finding, LASTS_OTHERWISE_MS)
    return Quarantined(address, node, submission_id, finding, dict(evidence), since_ms, until)
