"""`npurun watch`: how a run is doing, for as long as somebody looks."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from submitter.cli.commands import Command
from submitter.cli.language import language
from submitter.cli.options import ledger, run_argument, supervisor
from submitter.cli.output import emit, tell
from submitter.errors import UsageError
from submitter.exit_codes import ExitCode

if TYPE_CHECKING:
    from submitter.ledger import Ledger
    from submitter.watch.terminal.show import Watching


@click.command(cls=Command, help="cli.watch.help")
@run_argument
def watch(run: str) -> int:
    from submitter.watch.live import LiveRun, UnknownRunError
    from submitter.watch.terminal.show import Watching, in_pipe

    book = ledger()
    try:
        live = LiveRun(book, run)
    except UnknownRunError:
        raise UsageError("watch.unknown", run=run) from None
    watching = Watching(live, lambda: _care(run, book), language())
    try:
        if _has_cursor():
            left = _on_screen(run, book, watching)
        else:
            left = in_pipe(watching, lambda line: emit(line, at_once=True))
    except KeyboardInterrupt:
        tell("follow.interrupted", run=run)
        return ExitCode.INTERRUPTED
    if left == "quit":
        tell("watch.goes_on", run=run)
        return ExitCode.DONE
    return _exit_code(run, book)


def _on_screen(run: str, book: Ledger, watching: Watching) -> str:
    from rich.console import Console

    from submitter.supervise.serve import connection
    from submitter.watch.terminal.keys import keys
    from submitter.watch.terminal.log_tail import LogTail
    from submitter.watch.terminal.show import OnScreen

    noted = book.run(run)
    address = noted.address if noted else ""
    tail = LogTail(lambda: connection(os.environ)(address), lambda: _newest(run, book))
    tail.start()
    console = Console()
    with keys() as pressed:
        screen = OnScreen(watching, console, pressed, tail)
        left = screen.run()
    console.print(screen.last())
    return left


def _newest(run: str, book: Ledger) -> str | None:
    """The newest attempt that the cluster has, or has had."""
    posted = [one.submission_id for one in book.attempts(run) if one.posted_ms is not None]
    return posted[-1] if posted else None


def _care(run: str, book: Ledger) -> None:
    noted = book.run(run)
    if noted is not None and noted.supervised:
        supervisor(book, wait=False)


def _exit_code(run: str, book: Ledger) -> ExitCode:
    from submitter.supervise.follow_run import outcome_of_run

    noted, attempts = book.run(run), book.attempts(run)
    assert noted is not None  # it was watched
    return outcome_of_run(noted, attempts[-1] if attempts else None).exit_code


def _has_cursor() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in ("", "dumb", "unknown")
