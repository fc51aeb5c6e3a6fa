"""What the rules say about a job, cut to the ids that a test is about."""

from __future__ import annotations

from submitter.checks.case import NotChecked
from submitter.checks.examine import examine
from submitter.checks.finding import Finding
from submitter.job.model import Job


def findings_of(job: Job, *ids: str) -> list[Finding]:
    """Of the rules whose ids start with one of `ids`; without any, of the runtime environment's (NR40 to NR44)."""
    wanted = ids or ("NR40", "NR41", "NR42", "NR43", "NR44")
    return [finding for finding in examine(job).findings if finding.id.startswith(wanted)]


def not_checked(job: Job, *ids: str) -> list[NotChecked]:
    return [one for one in examine(job).not_checked if one.id.startswith(ids)]
