"""`npurun render`: what would be run or posted, in five forms."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

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


_ASSUMED_RAY = {"request": "2.60.0", "command": ""}
"""Without a cluster: the request of a current Ray, with a placeholder for its head; a line that needs no head's id."""

_LOCAL: dict[str, Callable[[Job], str]] = {"argv": _argv, "env": _env, "bash": _bash}
"""The forms that need no cluster and no package."""


def _render_request(
    job: Job, form: str, address: str | None, ca: str | None, run: str | None, attempt: int, output: Path | None
) -> None:
    from submitter.cluster.packages import write_archive, write_folder
    from submitter.render.command import command_line
    from submitter.render.request import HEAD_PLACEHOLDER, request_bytes
    from submitter.supervise.submit import mint_run, prepare

    run = run or mint_run(job.name, _SameSuffix())
    if address:
        connection = client(address, ca)
        version, head = connection.version(), connection.head().node_id
    else:
        version, head = _ASSUMED_RAY[form], HEAD_PLACEHOLDER
        tell(f"cli.no_address.{form}", placeholder=HEAD_PLACEHOLDER, run=run)
    packages, body = prepare(job, run=run, attempt=attempt, head_node_id=head, ray_version=version)
    folder = output or _package_folder(packages[0].name)
    if output or form == "command":
        write_folder(packages[0], folder)
        for package in packages[1:]:
            write_archive(package, folder)
        tell("cli.package_written", folder=folder)
    if form == "command":
        print(command_line(body, folder, address))
        return
    sys.stdout.buffer.write(request_bytes(body))


class _SameSuffix(Random):
    """Renders are repeatable: a run that nobody named gets the same suffix each time."""

    def choice(self, seq: Any) -> Any:
        return seq[0]


def _package_folder(package_name: str) -> Path:
    """Where `--as command` keeps the package that its line names, when no `-o` is given."""
    from submitter.ledger import default_home, prepare_home

    return prepare_home(default_home(os.environ)).parent / "packages" / Path(package_name).stem
