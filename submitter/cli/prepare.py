"""What `render` and `submit` do first: load, check, refuse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from submitter.cli.options import load
from submitter.cli.output import print_findings
from submitter.errors import NpurunError
from submitter.exit_codes import ExitCode

if TYPE_CHECKING:
    from submitter.checks.finding import Finding
    from submitter.job.model import Job


class ChecksRefuseError(NpurunError):
    exit_code = ExitCode.CHECK_FAILED

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__("cli.checks_refuse", errors=sum(finding.severity == "error" for finding in findings))
        self.findings = findings


def checked_job(name: str, sets: tuple[str, ...]) -> Job:
    """The job, with its findings told on stderr; raises `ChecksRefuseError` when one of them is an error."""
    from submitter.checks.examine import examine

    job = load(name, sets)
    findings = examine(job).findings
    print_findings(findings)
    if any(finding.severity == "error" for finding in findings):
        raise ChecksRefuseError(findings)
    return job
