"""`npurun submit`: check, submit, follow."""

from __future__ import annotations

import random
import sys
import time

import click

from submitter.cli.commands import JobCommand, lang_option
from submitter.cli.options import address_option, client, job_parameters, json_option, ledger, option
from submitter.cli.output import print_json, tell
from submitter.cli.prepare import checked_job
from submitter.exit_codes import ExitCode


@click.command(cls=JobCommand, help="cli.submit.help")
@job_parameters
@address_option
@option("--run", metavar="NAME", help="cli.option.run")
@option("--detach", is_flag=True, help="cli.option.detach")
@json_option
@lang_option
def submit(
    job: str, sets: tuple[str, ...], address: str | None, ca: str | None, run: str | None, detach: bool, as_json: bool
) -> int:
    from submitter.supervise.submit import submit as post

    checked = checked_job(job, sets)
    if checked.recovery.declared:
        tell("cli.recovery_not_yet")
    connection = client(address, ca)
    submission = post(checked, connection, ledger(), run=run, tell=tell, clock=time.time, rng=random.SystemRandom())
    told = "cli.adopted" if submission.adopted else "cli.submitted"
    tell(told, run=submission.run, submission=submission.submission_id, address=connection.address)
    tell("cli.dashboard", url=f"{connection.address}/#/jobs/{submission.submission_id}")
    tell("cli.detached", run=submission.run)
    document = {
        "run": submission.run,
        "attempt": submission.attempt,
        "submission_id": submission.submission_id,
        "adopted": submission.adopted,
        "address": connection.address,
    }
    if detach:
        if as_json:
            print_json(document)
        return ExitCode.DONE
    return follow_to_end(connection, submission.run, submission.submission_id, document if as_json else None)


def follow_to_end(connection: object, run: str, submission_id: str, document: dict[str, object] | None) -> int:
    """Streams the log, returns the outcome's exit code. A `document` is printed at the end, the log then on stderr."""
    from submitter.supervise.follow import follow

    stream = sys.stderr if document is not None else sys.stdout
    outcome = follow(connection, submission_id, out=lambda line: print(line, file=stream, flush=True), tell=tell)  # type: ignore[arg-type]
    if document is not None:
        print_json({**document, "state": outcome.state, "reason": outcome.reason, "end": outcome.end})
    return int(outcome.exit_code)
