"""`npurun explain`: every check, flag, reason and alert, from the tables that the code uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from submitter.cli.commands import Command
from submitter.cli.language import language, say
from submitter.cli.options import json_option, option, stack_option
from submitter.cli.output import emit, print_json
from submitter.cli.table import Column, print_block, print_table
from submitter.errors import Place, UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from runtime_env.stacks import Stack
    from submitter.checks.finding import Severity


@dataclass(frozen=True)
class Check:
    """One that `check` makes of a job, or that the nodes are judged by."""

    id: str
    severities: tuple[Severity, ...]
    source: str
    forcible: bool
    on_nodes: bool = False
    """Its severity depends on what is found."""


def _complete_name(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from runtime_env.flags import flags
    from submitter.checks.about import title
    from submitter.metrics.alerts import RULES as ALERTS
    from submitter.recovery.reasons import REASONS

    wanted = incomplete.upper()
    low = incomplete.lower() or "-"  # without a letter there are too many of them
    reasons = [CompletionItem(name, help=say(f"reason.{name}")) for name in REASONS if name.startswith(low)]
    ids = [name for name in (*_rules(), *(rule.id for rule in ALERTS)) if name.startswith(wanted)]
    checks = [CompletionItem(name, help=title(name, language())) for name in ids]
    return [*checks, *(CompletionItem(name) for name in flags() if name.startswith(wanted)), *reasons]


@click.command(cls=Command, help="cli.explain.help")
@click.argument("name", metavar="[NAME]", required=False, shell_complete=_complete_name)
@option("--flags", "all_flags", is_flag=True, help="cli.option.flags")
@option("--reasons", "all_reasons", is_flag=True, help="cli.option.reasons")
@option("--alerts", "all_alerts", is_flag=True, help="cli.option.alerts")
@stack_option
@json_option
def explain(
    name: str | None, all_flags: bool, all_reasons: bool, all_alerts: bool, stack: str | None, as_json: bool
) -> None:
    from runtime_env.stacks import parse_stack
    from submitter.cli import explain_alerts, explain_flags, explain_reasons

    wanted = None if stack is None else parse_stack(stack, Place(key="--stack"))
    lists = {"--flags": all_flags, "--reasons": all_reasons, "--alerts": all_alerts}
    asked = [option_name for option_name, is_asked in lists.items() if is_asked]
    if name is not None and asked:
        raise UsageError("explain.both", None, name=name, option=asked[0])
    if name is not None:
        _explain(name, wanted, as_json)
    elif all_alerts:
        explain_alerts.show_all(as_json)
    elif all_reasons:
        explain_reasons.show_all(as_json)
    elif all_flags:
        explain_flags.show_all(wanted, as_json)
    elif wanted is not None:
        raise UsageError("explain.stack_alone", Place(key="--stack"))
    else:
        _list_checks(as_json)


def _explain(name: str, stack: Stack | None, as_json: bool) -> None:
    from runtime_env.flags import flag, names
    from submitter.cli import explain_alerts, explain_flags, explain_reasons
    from submitter.job.nearest import nearest
    from submitter.metrics.alerts import RULES as ALERTS
    from submitter.recovery.reasons import REASONS

    rules, wanted, reason = _rules(), name.strip().upper(), REASONS.get(name.strip().lower())
    alerts = {rule.id: rule for rule in ALERTS}
    if (wanted in rules or wanted in alerts or reason) and stack is not None:
        raise UsageError("explain.stack_alone", Place(key="--stack"))
    if wanted in rules:
        _show_check(rules[wanted], as_json)
    elif wanted in alerts:
        explain_alerts.show(alerts[wanted], as_json)
    elif reason:
        explain_reasons.show(reason, as_json)
    elif found := flag(name.strip()) or flag(wanted):
        explain_flags.show(found, stack, as_json)
    else:
        raise UsageError(
            "explain.unknown", None, name=name, nearest=nearest(name, [*rules, *alerts, *names(), *REASONS])
        )


def _rules() -> dict[str, Check]:
    from submitter.checks.about import NODE_CHECKS
    from submitter.checks.registry import RULES

    rules = [Check(rule.id, rule.severities, rule.source, rule.forcible) for rule in RULES]
    rules += [Check(one.id, one.severities, one.source, forcible=False, on_nodes=True) for one in NODE_CHECKS]
    return {rule.id: rule for rule in sorted(rules, key=lambda rule: rule.id)}


def _list_checks(as_json: bool) -> None:
    from submitter.checks.about import title
    from submitter.checks.families import by_family

    if as_json:
        print_json([_document(rule) for rule in _rules().values()])
        return
    columns = (Column("id"), Column("severity"), Column("title", wraps=True))
    for heading, rules in by_family(_rules().values()):
        emit(say(heading))
        rows = [(f"  {rule.id}", _severities(rule), title(rule.id, language())) for rule in rules]
        print_table(columns, rows, head=False)


def _show_check(rule: Check, as_json: bool) -> None:
    shown = _document(rule)
    if as_json:
        print_json(shown)
        return
    told = [("id", rule.id), ("severity", _severities(rule))]
    told += [(name, shown[name]) for name in ("about", "message", "fix", "source")]
    force = "on_nodes" if rule.on_nodes else "forcible" if rule.forcible else "never_forced"
    print_block([*told, ("force", say(f"cli.explain.{force}"))])


def _document(rule: Check) -> dict[str, Any]:
    from submitter.cli.explain_alerts import document

    return {**document(rule), "forcible": rule.forcible}


def _severities(rule: Check) -> str:
    if rule.on_nodes:
        return say("cli.explain.as_found")
    return " / ".join(say(f"cli.severity.{severity}") for severity in rule.severities)
