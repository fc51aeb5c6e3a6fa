"""`npurun list | status | logs | stop`: runs that were submitted."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from submitter.checks.secret_like import redacted
from submitter.cli.commands import Command
from submitter.cli.language import say
from submitter.cli.options import address_option, client, json_option, ledger, option, run_argument
from submitter.cli.output import emit, print_json, tell, without_secrets
from submitter.cli.table import Column, print_block, print_table
from submitter.exit_codes import ExitCode

_LIST = (Column("run"), Column("state"), Column("started"), Column("job", wraps=True), Column("address", wraps=True))
_ATTEMPTS = tuple(Column(name) for name in ("attempt", "state", "reason", "nodes", "started", "ended"))
_LEFT_OUT = (Column("attempt"), Column("left_out"), Column("finding"), Column("why", wraps=True))
_LIVE = ("pending", "running")


@click.command("list", cls=Command, help="cli.list.help")
@address_option
@json_option
def list_runs(address: str | None, ca: str | None, as_json: bool) -> None:
    from submitter.supervise.inspect import list_runs as find

    rows = find(ledger(), client(address, ca), tell=tell)
    if as_json:
        print_json(rows)
        return
    if not rows:
        tell("cli.no_runs")
        return
    # The address is long, and mostly the same.
    columns = _LIST if len({row["address"] for row in rows}) > 1 else _LIST[:-1]
    print_table(columns, [[_shown(row, column.name) for column in columns] for row in rows])


def _shown(row: dict[str, Any], name: str) -> object:
    return _when(row[name]) if name == "started" else row[name]


@click.command(cls=Command, help="cli.status.help")
@run_argument
@address_option
@json_option
def status(run: str, address: str | None, ca: str | None, as_json: bool) -> None:
    from submitter.supervise.inspect import status as inspect
    from submitter.supervise.nodes import UNFIT, tell_unfit

    found = inspect(run, ledger(), client(address, ca))
    if as_json:
        print_json(without_secrets(found))
        return
    attempts = found["attempts"]
    step = None if found["step"] is None else f"{found['step']} / {found['total_steps'] or '-'}"
    nodes = " ".join(attempts[-1]["nodes"] or ()) if attempts else ""
    print_block([("run", run), ("state", found["state"]), ("step", step), ("nodes", nodes or None)])
    emit("")
    print_table(_ATTEMPTS, [_attempt_row(row) for row in attempts])
    _show_left_out(attempts)
    if attempts and attempts[-1]["reason"] == UNFIT:
        tell_unfit(attempts[-1]["left_out"] or (), tell)
    for what in ("follow", "stop") if found["state"] in _LIVE else ("log",):
        tell(f"cli.next.{what}", run=run)


def _attempt_row(attempt: dict[str, Any]) -> tuple[object, ...]:
    return (
        attempt["id"].rpartition("-")[2],
        attempt["state"],
        attempt["reason"],
        len(attempt["nodes"]) if attempt["nodes"] else None,
        _when(attempt["started"]),
        _when(attempt["ended"]),
    )


def _show_left_out(attempts: list[dict[str, Any]]) -> None:
    """The nodes that the attempts did without, and why."""
    from submitter.supervise.nodes import said

    rows = [
        (
            attempt["id"].rpartition("-")[2],
            one["node"],
            one["id"],
            redacted(say("nodes.why", why=said(one["id"], one["node"], one))),
        )
        for attempt in attempts
        for one in attempt["left_out"] or ()
    ]
    if rows:
        emit("")
        print_table(_LEFT_OUT, rows)


def _when(seconds: float | None) -> str | None:
    """Local time, to the minute; None for what is not known."""
    return None if seconds is None else datetime.fromtimestamp(seconds).strftime("%m-%d %H:%M")


@click.command(cls=Command, help="cli.logs.help")
@run_argument
@option("-f", "--follow", "keep_on", is_flag=True, help="cli.option.follow")
@address_option
def logs(run: str, keep_on: bool, address: str | None, ca: str | None) -> int:
    from submitter.cli.submit import follow_to_end, whole_line
    from submitter.supervise.follow import Records
    from submitter.supervise.inspect import newest_attempt, whole_log

    book = ledger()
    connection, submission_id = newest_attempt(run, book, client(address, ca))
    if keep_on:
        return follow_to_end(connection, run, submission_id, None, keep=book)
    empty, records = True, Records(submission_id)
    for line in whole_log(connection, submission_id):
        records.note(line)
        whole_line(line)
        empty = False
    records.tell_unfit(tell)
    if empty:
        tell("cli.no_log", submission=submission_id, run=run)
    return ExitCode.DONE


@click.command(cls=Command, help="cli.stop.help")
@run_argument
@address_option
@json_option
def stop(run: str, address: str | None, ca: str | None, as_json: bool) -> None:
    from submitter.supervise.stop import stop as end

    document = end(run, ledger(), client(address, ca), tell=tell)
    if as_json:
        print_json(document)
