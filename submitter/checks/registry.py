"""Every rule, once; a new room of rules adds its table here."""

from __future__ import annotations

from submitter.checks import runtime, secrets, working_dir
from submitter.checks.finding import Finding
from submitter.checks.rule import Rule
from submitter.job.model import Job

RULES: tuple[Rule, ...] = (*runtime.RULES, *secrets.RULES, *working_dir.RULES)

_ORDER = ("error", "warning", "hint")


def run_checks(job: Job) -> list[Finding]:
    """What all rules find, errors first, else by place and id; UsageError when the job's stack does not exist."""
    findings = [finding for rule in RULES for finding in rule.check(job)]
    return sorted(findings, key=_sort_key)


def _sort_key(finding: Finding) -> tuple[int, str, int, str]:
    place = finding.place
    return _ORDER.index(finding.severity), place.file or "", place.line or 0, finding.id
