"""What commands on a job do first: load, check, refuse."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from submitter.cli.options import load
from submitter.cli.output import tell
from submitter.errors import NpurunError
from submitter.exit_codes import ExitCode

if TYPE_CHECKING:
    from submitter.checks.case import Case
    from submitter.checks.cluster_node import ClusterNode
    from submitter.checks.examine import Report
    from submitter.checks.finding import Finding
    from submitter.job.model import Job


@dataclass(frozen=True)
class Examined:
    case: Case
    report: Report
    forced: tuple[str, ...]
    """Ids that `--force` names."""

    @property
    def job(self) -> Job:
        return self.case.job

    @property
    def refusing(self) -> list[Finding]:
        """Errors that nobody overrides."""
        return [one for one in self.report.errors if one.id not in self.forced]


class ChecksRefuseError(NpurunError):
    exit_code = ExitCode.CHECK_FAILED

    def __init__(self, report: Report, refusing: Collection[Finding]) -> None:
        from submitter.checks.force import is_forcible

        ids = ",".join(sorted({one.id for one in refusing if is_forcible(one.id)}))
        never = ", ".join(sorted({one.id for one in refusing if not is_forcible(one.id)}))
        told = "cli.checks_refuse_always" if never else "cli.checks_refuse"
        super().__init__(told, None, errors=len(refusing), ids=ids, never=never)
        self.report = report


def examined_job(
    name: str,
    sets: tuple[str, ...],
    *,
    stack: str | None = None,
    force: Iterable[str] = (),
    compose: bool = False,
    cluster: tuple[ClusterNode, ...] | None = None,
) -> Examined:
    """The job, what its checks look at and what they say; an id of `force` that overrides nothing is told."""
    from submitter.checks.examine import gather, judge
    from submitter.checks.force import forced_ids, without_effect

    forced = forced_ids(force)
    case = gather(load(name, sets, stack), cluster=cluster)
    report = judge(case)
    for unused in without_effect(report.errors, forced):
        tell("force.nothing", name=unused)
    return Examined(case, report, forced)


def checked_job(name: str, sets: tuple[str, ...], *, stack: str | None = None, force: Iterable[str] = ()) -> Job:
    """The job, with its findings told on stderr; raises `ChecksRefuseError` when an error among them is not forced."""
    found = examined_job(name, sets, stack=stack, force=force)
    tell_findings(found)
    return found.job


def tell_findings(found: Examined) -> None:
    """On stderr; raises `ChecksRefuseError`."""
    from submitter.cli.findings import print_findings, stderr

    print_findings(found.report.findings, stderr(), forced=found.forced)
    if found.refusing:
        raise ChecksRefuseError(found.report, found.refusing)
