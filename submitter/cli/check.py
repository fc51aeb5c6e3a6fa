"""`npurun check`: what would fail or silently not work, before NPUs are taken."""

from __future__ import annotations

from typing import Any

import click

from submitter.checks.case import NotChecked
from submitter.cli.commands import JobCommand
from submitter.cli.language import language, say
from submitter.cli.options import (
    address_option,
    client,
    force_option,
    job_parameters,
    json_option,
    option,
    stack_option,
)
from submitter.cli.output import emit, print_json, without_secrets
from submitter.cli.prepare import Examined, examined_job, tell_unused_force
from submitter.exit_codes import ExitCode


@click.command(cls=JobCommand, help="cli.check.help")
@job_parameters
@stack_option
@address_option
@option("--no-compose", is_flag=True, help="cli.option.no_compose")
@force_option
@json_option
def check(
    job: str,
    sets: tuple[str, ...],
    stack: str | None,
    address: str | None,
    ca: str | None,
    no_compose: bool,
    force: tuple[str, ...],
    as_json: bool,
) -> int:
    found = examined_job(job, sets, stack=stack, force=force, compose=not no_compose)
    if no_compose:
        found = found.leaving_out(NotChecked("NR101", "check.no_compose"))
    if address:
        from submitter.cluster.shape import cluster_nodes

        found = found.on(cluster_nodes(client(address, ca)))
    tell_unused_force(found)
    if as_json:
        print_json(without_secrets(document(found)))
    else:
        _show(found)
    return ExitCode.CHECK_FAILED if found.refusing else ExitCode.DONE


def document(found: Examined) -> dict[str, Any]:
    from submitter.checks.arithmetic import arithmetic

    stack = found.case.stack
    return {
        "job": found.job.name,
        "stack": stack.name if stack else None,
        "findings": [one.as_json(language()) for one in found.report.findings],
        "not_checked": [one.as_json(language()) for one in found.report.not_checked],
        "arithmetic": list(arithmetic(found.case)),
        "forced": list(found.forced),
    }


def _show(found: Examined) -> None:
    from submitter.checks.arithmetic import arithmetic
    from submitter.cli.findings import counted, print_arithmetic, print_findings, stdout

    report, stack = found.report, found.case.stack
    print_findings(report.findings, stdout(), forced=found.forced, not_checked=report.not_checked)
    print_arithmetic(arithmetic(found.case), stdout())
    counts = counted(report.findings, len(report.not_checked))
    emit(
        say(
            "cli.check.summary",
            job=found.job.name,
            stack=stack.name if stack else say("cli.check.no_stack"),
            counts=counts,
        )
    )
