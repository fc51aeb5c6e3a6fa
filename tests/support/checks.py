"""What the rules say about a job, cut to the ids that a test is about."""

from __future__ import annotations

from collections.abc import Iterable

from runtime_env.stacks import stack_of
from submitter.checks.case import Case, NotChecked
from submitter.checks.examine import examine
from submitter.checks.finding import Finding
from submitter.checks.rule import Rule
from submitter.checks.settings import Settings
from submitter.job.model import Job


def findings_of(job: Job, *ids: str) -> list[Finding]:
    """Of the rules whose ids start with one of `ids`; without any, of the runtime environment's (NR40 to NR44)."""
    wanted = ids or ("NR40", "NR41", "NR42", "NR43", "NR44")
    return [finding for finding in examine(job).findings if finding.id.startswith(wanted)]


def not_checked(job: Job, *ids: str) -> list[NotChecked]:
    return [one for one in examine(job).not_checked if one.id.startswith(ids)]


def findings_by(rules: Iterable[Rule], job: Job) -> list[Finding]:
    """Of these rules alone, from the job's settings: nothing else is gathered, so that many cases take little time."""
    case = case_of(job)
    said = [one for rule in rules if case.settings.ppo or not rule.ppo for one in rule.check(case)]
    return [one for one in said if isinstance(one, Finding)]


def case_of(job: Job) -> Case:
    """Of the job's settings alone."""
    stack = stack_of(job)
    return Case(job, stack, Settings(job, stack.verl_release if stack else None))
