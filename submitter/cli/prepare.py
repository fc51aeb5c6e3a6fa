"""What commands on a job do first: load, check, refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from submitter.cli.options import load, trees
from submitter.cli.output import tell
from submitter.errors import NpurunError
from submitter.exit_codes import ExitCode

if TYPE_CHECKING:
    from submitter.checks.case import Case, NotChecked
    from submitter.checks.cluster_node import ClusterNode
    from submitter.checks.examine import Report
    from submitter.checks.finding import Finding
    from submitter.job.model import Job

    Nodes = tuple[ClusterNode, ...]


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

    def on(self, nodes: Nodes) -> Examined:
        """Also against the nodes of a live cluster."""
        from submitter.checks.examine import judge

        case = replace(self.case, cluster=nodes)
        return replace(self, case=case, report=judge(case))

    def before(self, nodes: Nodes) -> Examined:
        """As `on`, for a submission: what the nodes lack is a warning, since the gang waits for those that still come.

        Whether they came is told by the placement, with an exit code of its own.
        """
        live = self.on(nodes)
        mild = [
            one if one in self.report.findings else replace(one, severity="warning") for one in live.report.findings
        ]
        return replace(live, report=replace(live.report, findings=tuple(mild)))

    def leaving_out(self, what: NotChecked) -> Examined:
        """Says what was not asked for."""
        return replace(self, report=replace(self.report, not_checked=(*self.report.not_checked, what)))


class ChecksRefuseError(NpurunError):
    exit_code = ExitCode.CHECK_FAILED

    def __init__(self, found: Examined) -> None:
        from submitter.checks.force import is_forcible

        ids = {one.id for one in found.refusing}
        never = ", ".join(sorted(name for name in ids if not is_forcible(name)))
        self.job = found.job
        self.always = bool(never)
        """An error is among them that nothing overrides: a secret must not even be shown."""
        told = "cli.checks_refuse_always" if never else "cli.checks_refuse"
        force = ",".join(sorted({*ids, *found.forced}))
        super().__init__(told, None, errors=len(found.refusing), ids=force, never=never)
        self.report = found.report


def examined_job(
    name: str, sets: tuple[str, ...], *, stack: str | None = None, force: Iterable[str] = (), compose: bool = False
) -> Examined:
    """The job, what its checks look at and what they say; `compose`: also its arguments against verl's config tree."""
    from submitter.checks.examine import gather, judge
    from submitter.checks.force import forced_ids

    forced = forced_ids(force)
    case = gather(load(name, sets, stack), trees=trees() if compose else None)
    return Examined(case, judge(case), forced)


def checked_job(
    name: str,
    sets: tuple[str, ...],
    *,
    stack: str | None = None,
    force: Iterable[str] = (),
    compose: bool = False,
    cluster: Callable[[], Nodes] | None = None,
) -> Job:
    """The job, with its findings told on stderr; raises `ChecksRefuseError` when an error among them is not forced.

    `cluster` is asked for its nodes only by a job that has no error without them.
    """
    found = examined_job(name, sets, stack=stack, force=force, compose=compose)
    try:
        found = found.before(cluster()) if cluster and not found.refusing else found
    finally:  # a cluster that does not answer keeps no finding back
        _tell_findings(found)
    return found.job


def tell_unused_force(found: Examined) -> None:
    from submitter.checks.force import without_effect

    for name in without_effect(found.report.errors, found.forced):
        tell("force.nothing", name=name)


def _tell_findings(found: Examined) -> None:
    """On stderr, without hints: those are for `check`. Raises `ChecksRefuseError`."""
    from submitter.cli.findings import print_findings, stderr

    told = [one for one in found.report.findings if one.severity != "hint"]
    print_findings(told, stderr(), forced=found.forced)
    tell_unused_force(found)
    if found.refusing:
        raise ChecksRefuseError(found)
