"""What `npurun explain` shows of alerts: what one says while a run trains, and what people do then."""

from __future__ import annotations

from typing import Any, Protocol

from submitter.checks.about import about, pattern, title
from submitter.cli.language import language, say
from submitter.cli.output import print_json
from submitter.cli.table import Column, print_block, print_table
from submitter.metrics.alerts import RULES, Rule


class Told(Protocol):
    """A check or an alert: its texts go by its id."""

    @property
    def id(self) -> str: ...
    @property
    def severities(self) -> tuple[str, ...]: ...
    @property
    def source(self) -> str: ...


def show_all(as_json: bool) -> None:
    if as_json:
        print_json([document(rule) for rule in RULES])
        return
    columns = (Column("id"), Column("severity"), Column("title", wraps=True))
    print_table(columns, [(rule.id, _severities(rule), title(rule.id, language())) for rule in RULES], head=False)


def show(rule: Rule, as_json: bool) -> None:
    told = document(rule)
    if as_json:
        print_json(told)
        return
    block = [("id", rule.id), ("severity", _severities(rule))]
    print_block([*block, *((name, told[name]) for name in ("about", "message", "fix", "source"))])


def document(rule: Told) -> dict[str, Any]:
    return {
        "id": rule.id,
        "severities": list(rule.severities),
        "title": title(rule.id, language()),
        "about": about(rule.id, language()),
        "message": pattern(rule.id, language()),
        "fix": pattern(f"{rule.id}.fix", language()),
        "source": rule.source,
    }


def _severities(rule: Rule) -> str:
    return " / ".join(say(f"cli.severity.{severity}") for severity in rule.severities)
