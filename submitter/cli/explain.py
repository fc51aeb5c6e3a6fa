"""`npurun explain`: every check and flag, from the tables that the code uses."""

from __future__ import annotations

from typing import Any

import click

from submitter.checks.about import about, pattern, title
from submitter.checks.registry import RULES
from submitter.checks.rule import Rule
from submitter.cli.commands import Command
from submitter.cli.language import language, say
from submitter.cli.options import json_option
from submitter.cli.output import print_json
from submitter.cli.table import Column, print_block, print_table
from submitter.errors import UsageError
from submitter.job.nearest import nearest


@click.command(cls=Command, help="cli.explain.help")
@click.argument("name", metavar="[NAME]", required=False)
@json_option
def explain(name: str | None, as_json: bool) -> None:
    rules = {rule.id: rule for rule in RULES}
    if name is None:
        _list_checks(as_json)
    elif (wanted := name.strip().upper()) in rules:
        _show_check(rules[wanted], as_json)
    else:
        raise UsageError("explain.unknown", None, name=name, nearest=nearest(name, rules))


def _list_checks(as_json: bool) -> None:
    if as_json:
        print_json([_check(rule) for rule in RULES])
        return
    columns = (Column("id"), Column("severity"), Column("title", wraps=True))
    print_table(columns, [(rule.id, _severities(rule), title(rule.id, language())) for rule in RULES])


def _show_check(rule: Rule, as_json: bool) -> None:
    if as_json:
        print_json(_check(rule))
        return
    print_block(
        [
            ("id", rule.id),
            ("severity", _severities(rule)),
            ("about", about(rule.id, language())),
            ("message", pattern(rule.id, language())),
            ("fix", pattern(f"{rule.id}.fix", language())),
            ("source", rule.source),
            ("force", say("cli.explain.forcible") if rule.forcible else say("cli.explain.never_forced")),
        ]
    )


def _check(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "severities": list(rule.severities),
        "title": title(rule.id, language()),
        "about": about(rule.id, language()),
        "message": pattern(rule.id, language()),
        "fix": pattern(f"{rule.id}.fix", language()),
        "source": rule.source,
        "forcible": rule.forcible,
    }


def _severities(rule: Rule) -> str:
    return " / ".join(say(f"cli.severity.{severity}") for severity in rule.severities)
