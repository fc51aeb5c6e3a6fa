"""`npurun doctor`: every node of the cluster, looked at by the probes that each attempt begins with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from submitter.cli.commands import JobCommand
from submitter.cli.language import language, say
from submitter.cli.options import address_option, client, job_argument, json_option, load, set_option, stack_option
from submitter.cli.output import emit, print_json, tell, without_secrets
from submitter.errors import Place, UsageError
from submitter.exit_codes import ExitCode

if TYPE_CHECKING:
    from runtime_env.stacks import Stack
    from submitter.checks.case import NotChecked
    from submitter.checks.finding import Finding
    from submitter.job.model import Job
    from submitter.supervise.doctor import Examination, NotMeasured

SHOWN_OF_ONE_KIND = 3
"""Findings of one id: a node that nobody reaches has one for each peer. On more nodes than this they are one line."""
SHOWN_AT_ALL = 40
"""Findings, and likewise what was not checked: some pages, the errors first."""

_SUMMARIES = {
    # (one node answered, some are silent)
    (True, False): "cli.doctor.summary_one",
    (True, True): "cli.doctor.summary_one_silent",
    (False, False): "cli.doctor.summary",
    (False, True): "cli.doctor.summary_silent",
}


@click.command(cls=JobCommand, help="cli.doctor.help")
@job_argument(required=False)
@set_option
@stack_option
@address_option
@json_option
def doctor(
    job: str | None, sets: tuple[str, ...], stack: str | None, address: str | None, ca: str | None, as_json: bool
) -> int:
    from submitter.supervise.doctor import examine

    loaded = _job(job, sets, stack)
    versions = _stack(loaded, stack)
    found = examine(loaded, client(address, ca), stack=versions, tell=tell)
    if as_json:
        print_json(without_secrets(document(loaded, versions, found)))
    else:
        _show(found)
    return ExitCode.CHECK_FAILED if any(one.severity == "error" for one in found.findings) else ExitCode.DONE


def document(job: Job | None, stack: Stack | None, found: Examination) -> dict[str, Any]:
    return {
        "job": job.name if job else None,
        "stack": stack.name if stack else None,
        "findings": [one.as_json(language()) for one in found.findings],
        "not_checked": [{"id": one.probe, "why": one.why, "nodes": list(one.nodes)} for one in found.not_measured],
        "nodes": [{key: value for key, value in node.items() if key != "attempt"} for node in found.nodes],
    }


def _job(name: str | None, sets: tuple[str, ...], stack: str | None) -> Job | None:
    if name is not None:
        job = load(name, sets, stack)
        _check_folder(job)
        return job
    if sets:
        raise UsageError("doctor.set_alone", Place(key="--set"))
    return None


def _stack(job: Job | None, stack: str | None) -> Stack | None:
    from runtime_env.stacks import parse_stack, stack_of

    if job is not None:
        return stack_of(job)
    return parse_stack(stack, Place(key="--stack")) if stack is not None else None


def _check_folder(job: Job) -> None:
    """Before a byte of it is read: a home folder by mistake is refused in the words of `npurun check`."""
    from submitter.checks.case import Case
    from submitter.checks.finding import Finding
    from submitter.checks.settings import Settings
    from submitter.checks.working_dir import RULES
    from submitter.checks.working_dir_measure import packed

    case = Case(job, None, Settings(job, None), working_dir=packed(job))
    for one in (one for rule in RULES for one in rule.check(case)):
        if isinstance(one, Finding) and one.severity == "error":
            raise UsageError(one.id, one.place, value=one.value, limit=one.limit, **one.values)


def _show(found: Examination) -> None:
    from submitter.cli.findings import print_findings, stdout
    from submitter.cli.node_columns import node_of
    from submitter.cli.node_table import print_nodes
    from submitter.supervise.node_findings import folded

    nodes = [node_of(record) for record in found.nodes]
    print_nodes(nodes, found.findings, stdout())
    findings = folded(found.findings, SHOWN_OF_ONE_KIND)
    shown = list(_few(findings))[:SHOWN_AT_ALL]
    unchecked = [_not_checked(one, len(nodes)) for one in found.not_measured[:SHOWN_AT_ALL]]
    print_findings(shown, stdout(), not_checked=unchecked)
    left = len(findings) - len(shown) + len(found.not_measured) - len(unchecked)
    if left:
        emit(say("cli.doctor.more", count=left))
    emit(_summary(found, findings))


def _few(findings: Sequence[Finding]) -> Iterator[Finding]:
    seen: dict[tuple[str, str | None], int] = {}
    for one in findings:
        kind = (one.id, one.place.node)
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] <= SHOWN_OF_ONE_KIND:
            yield one


def _not_checked(one: NotMeasured, everyone: int) -> NotChecked:
    from submitter.checks.case import NotChecked
    from submitter.supervise.node_findings import node_names, why_of

    values: dict[str, object] = {
        "why": why_of(one.why),
        "count": len(one.nodes),
        "all": everyone,
        "nodes": node_names(one.nodes),
    }
    told = "cli.doctor.not_measured" if len(one.nodes) == everyone else "cli.doctor.not_measured_on"
    told = "cli.doctor.not_measured_alone" if everyone == 1 else told
    return NotChecked(one.probe, told, values)


def _summary(found: Examination, findings: Sequence[Finding]) -> str:
    from submitter.cli.findings import counted

    silent = sum(node["silent"] is not None for node in found.nodes)
    answered = len(found.nodes) - silent
    return say(
        _SUMMARIES[answered == 1, silent > 0],
        answered=answered,
        silent=silent,
        seconds=f"{found.took_s:.0f}",
        counts=counted(findings, len(found.not_measured)),
    )
