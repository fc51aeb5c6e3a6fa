"""What differs between two attempts: arguments, environment, versions, nodes, outcome. By the ledger alone."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from runtime_env.build import CHANGES_FLAG
from runtime_env.ids import check_run
from submitter.errors import UsageError
from submitter.gang.plan import Plan
from submitter.ledger import Attempt, Ledger
from submitter.supervise.kept import plan_of
from submitter.supervise.versions import VERSIONS

SECTIONS = ("arguments", "environment", "cluster", "versions", "nodes", "outcome")
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
class NotKnown:
    """A section that is not compared, since nothing of it is known of that attempt."""

    section: str
    submission_id: str


@dataclass(frozen=True)
class Diff:
    left: str
    """Submission id."""
    right: str
    differences: tuple[Difference, ...]
    not_known: tuple[NotKnown, ...]


def diff(left: str, right: str, ledger: Ledger) -> Diff:
    """`left`, `right`: RUN (its newest attempt) or RUN/aN. UsageError for one that this ledger does not have."""
    one, other = find(left, ledger), find(right, ledger)
    found = {attempt.submission_id: facts_of(attempt, ledger) for attempt in (one, other)}
    here, there = found[one.submission_id], found[other.submission_id]
    unknown = [NotKnown(section, name) for section in SECTIONS for name in found if found[name][section] is None]
    differences = [one for section in SECTIONS for one in _compare(section, here[section], there[section])]
    return Diff(one.submission_id, other.submission_id, tuple(differences), tuple(unknown))


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


def facts_of(attempt: Attempt, ledger: Ledger) -> dict[str, dict[str, str] | None]:
    """By section, all that is compared; None: not known. Secrets are references here, never values."""
    body = json.loads(attempt.body)
    plan, end = plan_of(body, ledger), attempt.end or {}
    env = body["runtime_env"].get("env_vars", {})
    return {
        "arguments": _arguments(plan, attempt) if plan else None,
        "environment": {name: value for name, value in env.items() if name not in {*_PER_ATTEMPT, CHANGES_FLAG}},
        "cluster": _cluster(plan) if plan else None,
        "versions": end.get(VERSIONS),
        "nodes": dict.fromkeys(end["nodes"], "✓") if "nodes" in end else None,
        "outcome": _outcome(attempt),
    }


def _compare(section: str, here: Mapping[str, str] | None, there: Mapping[str, str] | None) -> list[Difference]:
    if here is None or there is None:
        return []
    keys = dict.fromkeys((*here, *there))
    return [Difference(section, key, here.get(key), there.get(key)) for key in keys if here.get(key) != there.get(key)]


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
