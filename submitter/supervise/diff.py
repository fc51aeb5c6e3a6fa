"""What differs between two attempts: arguments, environment, versions, nodes, outcome. By the ledger alone."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runtime_env.build import CHANGES_FLAG
from runtime_env.ids import check_run
from submitter.errors import UsageError
from submitter.gang.plan import PACKAGE, Plan
from submitter.ledger import Attempt, Ledger
from submitter.supervise.act import PROTOCOL, package_uris

SECTIONS = ("arguments", "environment", "cluster", "nodes", "outcome")
_NAME = re.compile(r"(?P<run>[^/]+)(/a(?P<attempt>[1-9]\d{0,3}))?")
_PER_ATTEMPT = frozenset({"NPURUN_ATTEMPT"})
"""Differs always, and says nothing."""


@dataclass(frozen=True)
class Difference:
    section: str
    """One of SECTIONS."""
    key: str
    left: str | None
    """None: not there, or not known."""
    right: str | None


@dataclass(frozen=True)
class Diff:
    left: str
    """Submission id."""
    right: str
    differences: tuple[Difference, ...]
    not_known: tuple[str, ...]
    """Submission ids whose plan is gone from the home: arguments cannot be compared."""


def diff(left: str, right: str, ledger: Ledger) -> Diff:
    """`left`, `right`: RUN (its newest attempt) or RUN/aN. UsageError for one that this ledger does not have."""
    one, other = find(left, ledger), find(right, ledger)
    found = {attempt.submission_id: facts_of(attempt, ledger) for attempt in (one, other)}
    here, there = found[one.submission_id], found[other.submission_id]
    differences = [
        Difference(section, key, here[section].get(key), there[section].get(key))
        for section in SECTIONS
        for key in dict.fromkeys((*here[section], *there[section]))
        if here[section].get(key) != there[section].get(key)
    ]
    unknown = tuple(name for name, facts in found.items() if not facts["arguments"])
    return Diff(one.submission_id, other.submission_id, tuple(differences), unknown)


def find(name: str, ledger: Ledger) -> Attempt:
    match = _NAME.fullmatch(name)
    if match is None:
        raise UsageError("diff.name", value=name)
    attempts = ledger.attempts(check_run(match["run"]))
    if not attempts:
        raise UsageError("resume.unknown", run=match["run"])
    number = int(match["attempt"] or attempts[-1].attempt)
    found = next((attempt for attempt in attempts if attempt.attempt == number), None)
    if found is None:
        raise UsageError("diff.no_attempt", run=match["run"], attempt=number, newest=attempts[-1].attempt)
    return found


def facts_of(attempt: Attempt, ledger: Ledger) -> dict[str, dict[str, str]]:
    """By section, all that is compared. Secrets are references here, never values."""
    body = json.loads(attempt.body)
    plan = plan_of(body, ledger)
    env = body["runtime_env"].get("env_vars", {})
    return {
        "arguments": _arguments(plan, attempt) if plan else {},
        "environment": {name: value for name, value in env.items() if name not in {*_PER_ATTEMPT, CHANGES_FLAG}},
        "cluster": _cluster(plan) if plan else {},
        "nodes": dict.fromkeys((attempt.end or {}).get("nodes") or (), "✓"),
        "outcome": _outcome(attempt),
    }


def plan_of(body: Mapping[str, Any], ledger: Ledger) -> Plan | None:
    """What the attempt's driver was given; None when the package is gone from the home, or of another npurun."""
    for uri in package_uris(body):
        data = ledger.package(uri.removeprefix(PROTOCOL))
        if data is None:
            continue
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                return Plan.from_json(archive.read(f"{PACKAGE}/plan.json").decode())
        except (KeyError, TypeError, ValueError, zipfile.BadZipFile):
            continue
    return None


def _arguments(plan: Plan, attempt: Attempt) -> dict[str, str]:
    """By key, without Hydra's prefix; one that is given twice counts as Hydra takes it, the last."""
    texts = [*plan.command, *attempt.changes]
    return {key.lstrip("+~"): value for key, equals, value in (text.partition("=") for text in texts) if equals}


def _cluster(plan: Plan) -> dict[str, str]:
    stack = {f"stack.{name}": version for name, version in plan.wish.stack.items()}
    labels = {f"labels.{name}": value for name, value in plan.labels.items()}
    return {
        "module": " ".join(text for text in plan.command if "=" not in text),
        "launcher": plan.launcher,
        "nodes": str(plan.nodes),
        "npus_per_node": str(plan.npus_per_node),
        **labels,
        **stack,
    }


def _outcome(attempt: Attempt) -> dict[str, str]:
    diagnosis = attempt.diagnosis or {}
    known = {
        "state": attempt.state and attempt.state.lower(),
        "reason": attempt.reason,
        "node": diagnosis.get("node"),
        "resumed_from": attempt.resumed_from,
        "first_step": attempt.first_step,
        "last_step": attempt.last_step,
    }
    return {name: str(value) for name, value in known.items() if value is not None}
