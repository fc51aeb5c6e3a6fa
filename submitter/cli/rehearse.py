"""`npurun rehearse`: the same submission as on a real cluster, on local Ray nodes of this machine."""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from submitter.cli.commands import JobCommand
from submitter.cli.options import force_option, job_parameters, option, stack_option
from submitter.cli.output import tell
from submitter.cli.prepare import checked_job
from submitter.cli.usage import AtLeastOne
from submitter.exit_codes import ExitCode

if TYPE_CHECKING:
    from submitter.job.model import Job


@click.command(cls=JobCommand, help="cli.rehearse.help")
@job_parameters
@stack_option
@force_option
@option("--nodes", metavar="N", type=AtLeastOne(), help="cli.option.nodes")
def rehearse(job: str, sets: tuple[str, ...], stack: str | None, force: tuple[str, ...], nodes: int | None) -> int:
    from submitter.rehearsal.rehearse import rehearse as start

    checked = checked_job(job, sets, stack=stack, force=force)
    workdir = Path(tempfile.mkdtemp(prefix="npurun-"))
    try:
        return int(start(checked, nodes=nodes, workdir=workdir, tell=tell, run_job=_Submitter(workdir)))
    finally:
        shutil.rmtree(workdir, ignore_errors=True)


class _Submitter:
    """Submits to the rehearsal's cluster by the path of `npurun submit`, with a ledger that goes with it."""

    def __init__(self, workdir: Path) -> None:
        self.home = workdir / "home"

    def __call__(self, job: Job, address: str, extra_packages: Mapping[str, Path]) -> ExitCode:
        from submitter.cli.submit import follow_to_end
        from submitter.cluster.client import RayClient
        from submitter.ledger import Ledger
        from submitter.supervise.submit import submit

        connection = RayClient(address)
        submission = submit(
            job,
            connection,
            Ledger(self.home),
            run=None,
            tell=tell,
            extra_packages=extra_packages,
            clock=time.time,
            rng=random.SystemRandom(),
        )
        tell("cli.submitted", run=submission.run, submission=submission.submission_id, address=address)
        return ExitCode(follow_to_end(connection, submission.run, submission.submission_id, out=_log_line, say=_say))


def _say(text_id: str, /, **values: object) -> None:
    """Not that an interrupted run goes on: this one ends with its cluster."""
    if text_id != "follow.interrupted":
        tell(text_id, **values)


def _log_line(line: str) -> None:
    """The line as it is and, after one of verl's hundred metrics, what a person looks for in it."""
    from submitter.cli.submit import log_line
    from submitter.rehearsal.results import step_and_reward

    log_line(line)
    if found := step_and_reward(line):
        tell("rehearsal.step", step=found[0], reward=f"{found[1]:.3f}")
