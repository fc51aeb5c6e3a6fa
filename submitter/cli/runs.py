"""`npurun list | status | logs | stop`: runs that were submitted."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from submitter.cli.commands import Command, lang_option
from submitter.cli.language import say
from submitter.cli.options import address_option, client, json_option, ledger, option, run_argument
from submitter.cli.output import print_json, print_table, tell
from submitter.exit_codes import ExitCode


@click.command("list", cls=Command, help="cli.list.help")
@address_option
@json_option
@lang_option
def list_runs(address: str | None, ca: str | None, as_json: bool) -> None:
    from submitter.supervise.inspect import list_runs as find

    rows = find(ledger(), client(address, ca))
    if as_json:
        print_json(rows)
        return
    columns = [say(f"cli.column.{name}") for name in ("run", "job", "state", "started", "address")]
    print_table(
        columns, [(row["run"], row["job"], row["state"], _when(row["started"]), row["address"]) for row in rows]
    )


@click.command(cls=Command, help="cli.status.help")
@run_argument
@address_option
@json_option
@lang_option
def status(run: str, address: str | None, ca: str | None, as_json: bool) -> None:
    from submitter.supervise.inspect import status as inspect

    found = inspect(run, ledger(), client(address, ca))
    if as_json:
        print_json(found)
        return
    step = None if found["step"] is None else f"{found['step']} / {found['total_steps'] or '-'}"
    print_table(
        [say(f"cli.column.{name}") for name in ("run", "state", "step")], [(found["run"], found["state"], step)]
    )
    names = ("attempt", "state", "reason", "started", "ended", "nodes")
    print_table([say(f"cli.column.{name}") for name in names], [_attempt_row(row) for row in found["attempts"]])


def _attempt_row(attempt: dict[str, Any]) -> tuple[object, ...]:
    nodes = " ".join(attempt["nodes"]) if attempt["nodes"] else None
    return (
        attempt["id"],
        attempt["state"],
        attempt["reason"],
        _when(attempt["started"]),
        _when(attempt["ended"]),
        nodes,
    )


def _when(seconds: float | None) -> str | None:
    """Local time, to the second; None for what is not known."""
    return None if seconds is None else datetime.fromtimestamp(seconds).strftime("%m-%d %H:%M:%S")


@click.command(cls=Command, help="cli.logs.help")
@run_argument
@option("-f", "--follow", "keep_on", is_flag=True, help="cli.option.follow")
@address_option
@lang_option
def logs(run: str, keep_on: bool, address: str | None, ca: str | None) -> int:
    from submitter.cli.submit import follow_to_end
    from submitter.supervise.inspect import newest_attempt, whole_log

    connection, submission_id = newest_attempt(run, ledger(), client(address, ca))
    if keep_on:
        return follow_to_end(connection, run, submission_id, None)
    for line in whole_log(connection, submission_id):
        print(line)
    return ExitCode.DONE


@click.command(cls=Command, help="cli.stop.help")
@run_argument
@address_option
@json_option
@lang_option
def stop(run: str, address: str | None, ca: str | None, as_json: bool) -> None:
    from submitter.supervise.stop import stop as end

    document = end(run, ledger(), client(address, ca), tell=tell)
    if as_json:
        print_json(document)
