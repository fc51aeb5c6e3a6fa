"""What holds now, by all rules."""

from __future__ import annotations

from submitter.metrics.alerts import learning, machines, pace, stability
from submitter.metrics.alerts.rule import Alert, Rule
from submitter.metrics.alerts.window import Window

RULES: tuple[Rule, ...] = tuple(
    sorted((*learning.RULES, *stability.RULES, *pace.RULES, *machines.RULES), key=lambda rule: rule.id)
)
"""Every rule, once; a new file of rules adds its table here."""


def judge(window: Window) -> list[Alert]:
    """By rule, then node; at most one of each. The same window always gives the same."""
    return [alert for rule in RULES for alert in rule.find(window)]
