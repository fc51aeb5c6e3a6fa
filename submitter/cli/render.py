"""`npurun render`: what would be run or posted, in five forms."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import click

from submitter.cli.commands import JobCommand
from submitter.cli.options import address_option, client, force_option, job_parameters, option, stack_option
from submitter.cli.output import emit_bytes, tell
from submitter.cli.prepare import ChecksRefuseError, checked_job
from submitter.cli.usage import AtLeastOne, OneOf
from submitter.errors import Place, UsageError
from submitter.exit_codes import ExitCode

if TYPE_CHECKING:
    from submitter.cluster.packages import Package
    from submitter.job.model import Job


@click.command(cls=JobCommand, help="cli.render.help")
@job_parameters
@option(
    "--as",
    "form",
    type=OneOf(("argv", "env", "request", "command", "bash")),
    metavar="FORM",
    default="argv",
    help="cli.option.as",
)
@stack_option
@force_option
@address_option
@option("--run", metavar="NAME", help="cli.option.render_run")
@option("--attempt", metavar="N", type=AtLeastOne(), default=1, help="cli.option.attempt")
@option("-o", "--output", metavar="DIR", help="cli.option.output")
def render(
    job: str,
    sets: tuple[str, ...],
    form: str,
    stack: str | None,
    force: tuple[str, ...],
    address: str | None,
    ca: str | None,
    run: str | None,
    attempt: int,
    output: str | None,
) -> int:
    _check_options(form, run, attempt, output)
    try:
        checked = checked_job(job, sets, stack=stack, force=force)
    except ChecksRefuseError as refused:
        if form not in _ONLY_SHOWN or refused.always:
            raise
        emit_bytes(_LOCAL[form](refused.job).encode())
        tell("cli.shown_with_errors", errors=refused.values["errors"])
        return ExitCode.CHECK_FAILED
    if form in _LOCAL:
        emit_bytes(_LOCAL[form](checked).encode())
    else:
        _render_request(checked, form, address, ca, run, attempt, output)
    return ExitCode.DONE


def _check_options(form: str, run: str | None, attempt: int, output: str | None) -> None:
    """Whatever the form: a name that submit refuses is refused here too, and `-o` is never silently unused."""
    from runtime_env.ids import submission_id

    if run is not None:
        submission_id(run, attempt)
    if output is not None and form in _LOCAL:
        raise UsageError("cli.output_without_package", Place(key="-o"), form=form)


def _argv(job: Job) -> str:
    from submitter.arguments.assemble import argv

    if job.trainer.launcher == "torchrun":
        tell("cli.torchrun_per_node")
    return _lines(argv(job))


def _env(job: Job) -> str:
    from submitter.arguments.assemble import flags

    return _lines([f"{name}={value}" for name, value in flags(job).items()])


def _bash(job: Job) -> str:
    from submitter.render.bash import bash_script

    return bash_script(job)


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


_ASSUMED_RAY = {"request": "2.60.0", "command": ""}
"""Without a cluster: the request of a current Ray, with a placeholder for its head; a line that needs no head's id."""

_LOCAL: dict[str, Callable[[Job], str]] = {"argv": _argv, "env": _env, "bash": _bash}
"""The forms that need no cluster and no package."""
_ONLY_SHOWN = ("argv", "env")
"""Nothing can be started with them by mistake: they are shown with errors too."""


def _render_request(
    job: Job, form: str, address: str | None, ca: str | None, run: str | None, attempt: int, output: str | None
) -> None:
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
    if form == "request":
        if output:
            _write(packages, Path(output))
        emit_bytes(request_bytes(body))
        return
    folder = Path(output) if output else _package_folder(packages[0].name)
    _write(packages, folder)
    emit_bytes(f"{command_line(body, folder.absolute(), address)}\n".encode())


class _SameSuffix(Random):
    """Renders are repeatable: a run that nobody named gets the same suffix each time."""

    def choice(self, seq: Any) -> Any:
        return seq[0]


def _package_folder(package_name: str) -> Path:
    """Where `--as command` keeps the package that its line names, when no `-o` is given."""
    from submitter.ledger import default_home, prepare_home

    return prepare_home(default_home(os.environ)).parent / "packages" / Path(package_name).stem


def _write(packages: Sequence[Package], folder: Path) -> None:
    from submitter.cluster.packages import write_archive, write_folder

    try:
        write_folder(packages[0], folder)
        for package in packages[1:]:
            write_archive(package, folder)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError("cli.output_unwritable", Place(key="-o"), folder=folder, reason=reason) from error
    tell("cli.package_written", folder=folder)
