"""What `render` and `submit` do first: load, check, refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from submitter.cli.options import load
from submitter.cli.output import print_findings
from submitter.errors import NpurunError
from submitter.exit_codes import ExitCode

if TYPE_CHECKING:
    from submitter.job.model import Job


class ChecksRefuse(NpurunError):
    exit_code = ExitCode.CHECK_FAILED


def checked_job(name: str, sets: tuple[str, ...]) -> Job:
    """The job, with its findings told on stderr; raises `ChecksRefuse` when one of them is an error."""
    from submitter.checks.registry import run_checks

    job = load(name, sets)
    findings = run_checks(job)
    print_findings(findings)
    errors = sum(finding.severity == "error" for finding in findings)
    if errors:
        raise ChecksRefuse("cli.checks_refuse", errors=errors)
    return job
