"""What an attempt was started with, what the nodes measure, and where Ray shows the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from submitter.gang.secret_like import redacted, shown
from submitter.ledger import Attempt, Ledger, Quarantined
from submitter.supervise.diff import diff, facts_of
from submitter.supervise.nodes import said
from submitter.texts import text
from submitter.watch.parts import node_views
from submitter.watch.view import as_json

RUNS_LOOKED_AT = 50
"""The newest active ones, for the nodes of their clusters."""


def of_attempt(attempt: Attempt, ledger: Ledger) -> dict[str, Any]:
    """`{"arguments": {key: value} or None, "environment", "versions", "differences": [{section, key, left, right}]}`:
    the differences to the attempt before it. None: not known any more."""
    facts = facts_of(attempt, ledger)
    kept = {name: _masked(facts[name]) for name in ("arguments", "environment", "versions", "cluster")}
    before = f"{attempt.run}/a{attempt.attempt - 1}"
    found = diff(before, f"{attempt.run}/a{attempt.attempt}", ledger).differences if attempt.attempt > 1 else ()
    return {**kept, "differences": [_difference(asdict(one)) for one in found]}


def of_cluster(ledger: Ledger, now_ms: int, language: str) -> list[dict[str, Any]]:
    """Of each cluster that a run is on: `{"address", "dashboard", "runs", "nodes": [NodeView + run], "quarantine"}`."""
    runs = [run for run in ledger.runs().values() if run.state == "active"][:RUNS_LOOKED_AT]
    kept = ledger.quarantined(now_ms)
    addresses = dict.fromkeys((*(run.address for run in runs), *(one.address for one in kept)))
    return [
        {
            "address": address,
            "dashboard": dashboard(address, "cluster"),
            "runs": [run.run for run in runs if run.address == address],
            "nodes": [
                {"run": run.run, **as_json(node)}
                for run in runs
                if run.address == address
                for node in node_views(ledger.samples(run.run))
            ],
            "quarantine": [_quarantined(one, language) for one in kept if one.address == address],
        }
        for address in addresses
    ]


def dashboard(address: str, page: str) -> str | None:
    """A page of Ray's dashboard (2.60: `#/jobs/<id>`, `#/cluster`, `#/logs`); None where the address is no web page."""
    return f"{address.rstrip('/')}/#/{quote(page)}" if address.startswith(("http://", "https://")) else None


def _quarantined(one: Quarantined, language: str) -> dict[str, Any]:
    why = said(one.finding, one.node, one.evidence)
    return {
        "node": one.node,
        "finding": one.finding,
        "why": redacted(text(why.id, language, **why.values)),
        "attempt": one.submission_id,
        "since_ms": one.since_ms,
        "until_ms": one.until_ms,
    }


def _difference(found: dict[str, Any]) -> dict[str, Any]:
    sides = {side: None if found[side] is None else shown(found["key"], found[side]) for side in ("left", "right")}
    return {**found, **sides}


def _masked(found: Mapping[str, str] | None) -> dict[str, str] | None:
    """By name as well: `trainer.db_password=…` looks like any word."""
    return None if found is None else {name: shown(name, value) for name, value in found.items()}
