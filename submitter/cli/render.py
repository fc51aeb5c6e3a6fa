"""`npurun render`: what would be run or posted, in five forms."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from submitter.cli.commands import JobCommand, lang_option
from submitter.cli.options import address_option, client, job_parameters, option
from submitter.cli.output import tell
from submitter.cli.prepare import checked_job

if TYPE_CHECKING:
    from submitter.job.model import Job


@click.command(cls=JobCommand, help="cli.render.help")
@job_parameters
@option(
    "--as",
    "form",
    type=click.Choice(("argv", "env", "request", "command", "bash")),
    required=True,
    help="cli.option.as",
)
@address_option
@option("--run", metavar="NAME", help="cli.option.render_run")
@option("--attempt", type=click.IntRange(min=1), default=1, show_default=True, help="cli.option.attempt")
@option("-o", "--output", metavar="DIR", type=click.Path(file_okay=False, path_type=Path), help="cli.option.output")
@lang_option
def render(
    job: str,
    sets: tuple[str, ...],
    form: str,
    address: str | None,
    ca: str | None,
    run: str | None,
    attempt: int,
    output: Path | None,
) -> None:
    checked = checked_job(job, sets)
    if form in _LOCAL:
        print(_LOCAL[form](checked))
        return
    _render_request(checked, form, address, ca, run, attempt, output)


def _argv(job: Job) -> str:
    from submitter.arguments.assemble import argv

    if job.trainer.launcher == "torchrun":
        tell("cli.torchrun_per_node")
    return "\n".join(argv(job))


def _env(job: Job) -> str:
    from submitter.arguments.assemble import flags

    return "\n".join(f"{name}={value}" for name, value in flags(job).items())


def _bash(job: Job) -> str:
    from submitter.render.bash import bash_script

    return bash_script(job).rstrip("\n")


_LOCAL: dict[str, Callable[[Job], str]] = {"argv": _argv, "env": _env, "bash": _bash}
"""The forms that need no cluster and no package."""


def _render_request(
    job: Job, form: str, address: str | None, ca: str | None, run: str | None, attempt: int, output: Path | None
) -> None:
    from submitter.cluster.packages import write_folder
    from submitter.render.command import command_line
    from submitter.render.request import HEAD_PLACEHOLDER, request, request_bytes
    from submitter.supervise.submit import example_run_name, facts_for, packages_for

    packages = packages_for(job)
    connection = client(address, ca) if address else None
    run = run or example_run_name(job)
    facts = facts_for(packages, connection, run=run, attempt=attempt)
    if connection is None:
        tell("cli.head_placeholder", placeholder=HEAD_PLACEHOLDER, run=run)
    body = request(job, facts)
    folder = output or _package_folder(packages.gang.name)
    if output or form == "command":
        write_folder(packages.gang, folder)
        tell("cli.package_written", folder=folder)
    if form == "command":
        print(command_line(job, body, folder))
        return
    sys.stdout.write(request_bytes(body).decode() + "\n")


def _package_folder(package_name: str) -> Path:
    """Where `--as command` keeps the package that its line names, when no `-o` is given."""
    from submitter.ledger import default_home

    return default_home(os.environ) / "packages" / Path(package_name).stem
