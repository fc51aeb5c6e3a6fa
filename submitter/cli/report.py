"""`npurun report`: one page of a run, to keep or to send."""

from __future__ import annotations

import sys
import time

import click

from submitter.cli.commands import Command
from submitter.cli.language import language
from submitter.cli.options import ledger, option, run_argument
from submitter.cli.output_file import write
from submitter.errors import Place, UsageError


@click.command(cls=Command, help="cli.report.help")
@run_argument
@option("-o", "--output", metavar="FILE", help="cli.option.output_file")
def report(run: str, output: str | None) -> None:
    from submitter.watch.report import report as page_of

    if output is None and sys.stdout.isatty():
        raise UsageError("cli.report.no_file", Place(key="-o"), run=run)
    page = page_of(ledger(), run, now_ms=int(time.time() * 1000), language=language())
    write([page], output)
