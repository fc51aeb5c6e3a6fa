"""Rules over the numbers of a run: `NR9xx`, each with what triggered it. Pure; the texts are in `texts.alerts`.

`Watched` is fed with steps and node samples as they come; `judge(watched.window())` says what holds now.
"""

from submitter.metrics.alerts.judge import RULES, judge
from submitter.metrics.alerts.names import NAMES
from submitter.metrics.alerts.rule import Alert, Rule, Severity
from submitter.metrics.alerts.window import Watched, Window

__all__ = ["NAMES", "RULES", "Alert", "Rule", "Severity", "Watched", "Window", "judge"]
