"""`npurun submit`: check, submit, follow."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from submitter.cli.commands import JobCommand
from submitter.cli.options import (
    address_option,
    client,
    force_option,
    job_parameters,
    json_option,
    ledger,
    option,
    stack_option,
    supervisor,
)
from submitter.cli.output import OutputLostError, emit, print_json, report_error, silence, tell, tell_line
from submitter.cli.prepare import checked_job
from submitter.errors import NpurunError
from submitter.exit_codes import ExitCode
from submitter.gang.record import FITNESS_PREFIX, RECORD_PREFIXES, VERDICT_PREFIX
from submitter.texts import Tell

if TYPE_CHECKING:
    from submitter.cluster.client import RayClient
    from submitter.ledger import Ledger
    from submitter.supervise.follow import Outcome
    from submitter.supervise.submit import Submission

MEASURED_PREFIXES = (FITNESS_PREFIX, VERDICT_PREFIX)


@click.command(cls=JobCommand, help="cli.submit.help")
@job_parameters
@stack_option
@force_option
@address_option
@option("--run", metavar="NAME", help="cli.option.run")
@option("--detach", is_flag=True, help="cli.option.detach")
@json_option
def submit(
    job: str,
    sets: tuple[str, ...],
    stack: str | None,
    force: tuple[str, ...],
    address: str | None,
    ca: str | None,
    run: str | None,
    detach: bool,
    as_json: bool,
) -> int:
    from submitter.cluster.shape import cluster_nodes
    from submitter.supervise.submit import submit as post

    connection = client(address, ca)
    checked = checked_job(job, sets, stack=stack, force=force, compose=True, cluster=lambda: cluster_nodes(connection))
    book = ledger()
    submission = post(
        checked, connection, book, run=run, tell=tell, supervised=True, clock=time.time, rng=random.SystemRandom()
    )
    tell_submission(submission, connection)
    try:
        supervisor(book, ca=ca, wait=not detach)
    except NpurunError as error:  # the run is on the cluster: its name and its log must not be lost
        tell("supervise.no_care", error=error)
    document = _document(submission, connection)
    if not detach:
        return follow_run(submission.run, book, connection, document if as_json else None, ca)
    if as_json:
        print_json(document)
    else:
        emit(submission.run)  # run=$(npurun submit JOB --detach)
    return ExitCode.DONE


def tell_submission(submission: Submission, connection: RayClient) -> None:
    told = "cli.adopted" if submission.adopted else "cli.submitted"
    tell(told, run=submission.run, submission=submission.submission_id, address=connection.address)
    tell("cli.dashboard", url=f"{connection.address}/#/jobs/{submission.submission_id}")
    for step in ("follow", "state", "stop"):
        tell(f"cli.next.{step}", run=submission.run)


def follow_to_end(
    connection: RayClient,
    run: str,
    submission_id: str,
    document: dict[str, object] | None = None,
    out: Callable[[str], None] | None = None,
    say: Tell = tell,
    keep: Ledger | None = None,
) -> int:
    """Streams the log to `out`, returns the outcome's exit code.

    A `document` is printed at the end, the log then on stderr; else the log is on stdout. `keep`: where nodes that the
    attempt found unfit are noted.
    """
    from submitter.supervise.follow import follow

    return _to_end(
        lambda show: follow(connection, submission_id, out=show, tell=say, ledger=keep), run, document, out, say
    )


def follow_run(
    run: str,
    book: Ledger,
    connection: RayClient,
    document: dict[str, object] | None = None,
    ca: str | None = None,
) -> int:
    """As `follow_to_end`, over all attempts of a run in care, until the run is over."""
    from submitter.supervise.follow_run import follow_run as follow

    return _to_end(
        lambda show: follow(run, book, connection, out=show, tell=tell, care=lambda: supervisor(book, ca=ca)),
        run,
        document,
        None,
        tell,
    )


def _to_end(
    follow: Callable[[Callable[[str], None]], Outcome],
    run: str,
    document: dict[str, object] | None,
    out: Callable[[str], None] | None,
    say: Tell,
) -> int:
    try:
        outcome = follow(out or (log_line if document is None else _told_line))
    except OutputLostError as lost:
        silence(sys.stdout)
        if not lost.reader_left:
            tell("cli.output_lost", reason=lost.reason)
        say("follow.interrupted", run=run)
        return ExitCode.INTERRUPTED
    except NpurunError as error:
        if document is None:
            raise
        return report_error(error, as_json=True, **document)  # the run was submitted: its name must not be lost
    if document is not None:
        print_json({**document, "state": outcome.state, "reason": outcome.reason, "end": outcome.end})
    return int(outcome.exit_code)


def _document(submission: Submission, connection: RayClient) -> dict[str, object]:
    return {
        "run": submission.run,
        "attempt": submission.attempt,
        "submission_id": submission.submission_id,
        "adopted": submission.adopted,
        "address": connection.address,
    }


def log_line(line: str) -> None:
    """On a terminal without the driver's JSON lines: people have read the same in words."""
    if sys.stdout.isatty() and line.startswith(RECORD_PREFIXES):
        return
    whole_line(line, at_once=True)


def whole_line(line: str, *, at_once: bool = False) -> None:
    """Never what was measured on each node, kilobytes a line: the page of the doctor is for that, and Ray's own log."""
    if not line.startswith(MEASURED_PREFIXES):
        emit(line, at_once=at_once)


def _told_line(line: str) -> None:
    if not line.startswith(MEASURED_PREFIXES):
        tell_line(line)
