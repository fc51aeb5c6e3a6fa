"""`npurun list | status | logs | stop`: runs that were submitted."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from submitter.cli.commands import Command
from submitter.cli.language import say
from submitter.cli.options import address_option, client, json_option, ledger, option, run_argument, supervisor
from submitter.cli.output import emit, print_json, tell, without_secrets
from submitter.cli.table import Column, print_block, print_pairs, print_table
from submitter.exit_codes import ExitCode
from submitter.gang.secret_like import redacted

_LIST = (Column("run"), Column("state"), Column("started"), Column("job", wraps=True), Column("address", wraps=True))
_ATTEMPTS = (
    *(Column("attempt"), Column("state"), Column("reason", wraps=True), Column("steps"), Column("nodes")),
    *(Column("started"), Column("ended")),
)
_LEFT_OUT = (Column("attempt"), Column("left_out"), Column("finding"), Column("why", wraps=True))
_LIVE = ("submitting", "pending", "running", "waiting", "unreachable")
_AFTER = {"failed": ("log", "resume"), "stopped": ("log", "resume")}
_NO_FAILURE = frozenset({None, "succeeded", "stopped"})
EVIDENCE_SHOWN = 3
"""Lines; `npurun diagnose` shows all."""


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
    print_block([("run", run), ("state", found["state"]), ("step", step), ("nodes", nodes or None), *_next(found)])
    emit("")
    print_table(_ATTEMPTS, [_attempt_row(row) for row in attempts])
    _show_decisions(attempts)
    if found["state"] != "succeeded":
        _show_failure(attempts)
    _show_left_out(attempts)
    if attempts and attempts[-1]["reason"] == UNFIT:
        tell_unfit(attempts[-1]["left_out"] or (), tell)
    if found["state"] in _LIVE and found.get("supervisor", ()) is None:  # nobody notices how the attempt ends
        tell("cli.no_supervisor", run=run)
    for what in ("follow", "stop") if found["state"] in _LIVE else _AFTER.get(found["state"], ("log",)):
        tell(f"cli.next.{what}", run=run)


def _attempt_row(attempt: dict[str, Any]) -> tuple[object, ...]:
    return (
        _short(attempt),
        attempt["state"],
        attempt["reason"],
        _steps(attempt),
        len(attempt["nodes"]) if attempt["nodes"] else None,
        _when(attempt["started"]),
        _when(attempt["ended"]),
    )


def _steps(attempt: dict[str, Any]) -> str | None:
    """`18-37`; None before the first one."""
    last = attempt["last_step"]
    if last is None:
        return None
    first = attempt["first_step"] if attempt["first_step"] is not None else attempt["resumed_from"]
    return str(last) if first is None or first == last else f"{first}-{last}"


def _next(found: dict[str, Any]) -> list[tuple[str, object]]:
    """What is decided and not done yet."""
    coming = found["next"]
    if coming is None:
        return []
    at = datetime.fromtimestamp(coming["at"]).strftime("%H:%M:%S")
    return [("next", say("cli.next.attempt", attempt=coming["attempt"], at=at))]


def _short(attempt: dict[str, Any]) -> str:
    """`a2`: the run's name stands above."""
    return str(attempt["id"].rpartition("-")[2])


def _show_decisions(attempts: list[dict[str, Any]]) -> None:
    """How each attempt ended, and what followed."""
    rows = [
        (_short(attempt), say(f"decide.{decision['why']}", **decision["values"]))
        for attempt in attempts
        if (decision := attempt.get("decision")) and decision["action"] != "succeeded"
    ]
    if rows:
        emit("")
        print_pairs(rows)


def _show_failure(attempts: list[dict[str, Any]]) -> None:
    """Of the newest attempt that has ended, if it failed: what that means, what to do, the lines that prove it."""
    last = next((one for one in reversed(attempts) if one["ended"] is not None), None)
    if last is None or last["reason"] in _NO_FAILURE or not last.get("summary"):
        return
    reason = f"reason.{last['reason']}"
    emit("")
    lines = [redacted(str(line["text"])) for line in last["evidence"][:EVIDENCE_SHOWN]]
    told = [f"{last['reason']}: {say(reason)}", f"→ {say(f'{reason}.fix')}", *lines]
    print_pairs(zip((_short(last), *[""] * len(told)), told, strict=False))


def _show_left_out(attempts: list[dict[str, Any]]) -> None:
    """The nodes that the attempts did without, and why; what holds for several attempts in one row."""
    from submitter.supervise.nodes import said

    found: dict[tuple[str, ...], list[str]] = {}
    for attempt in attempts:
        for one in attempt["left_out"] or ():
            why = redacted(say("nodes.why", why=said(one["id"], one["node"], one)))
            found.setdefault((one["node"], one["id"], why), []).append(_short(attempt))
    if found:
        emit("")
        print_table(_LEFT_OUT, [(_span(names), *row) for row, names in found.items()])


def _span(names: list[str]) -> str:
    """Of attempts in their order."""
    return names[0] if len(names) == 1 else f"{names[0]}-{names[-1]}"


def _when(seconds: float | None) -> str | None:
    """Local time, to the minute; None for what is not known."""
    return None if seconds is None else datetime.fromtimestamp(seconds).strftime("%m-%d %H:%M")


@click.command(cls=Command, help="cli.logs.help")
@run_argument
@option("-f", "--follow", "keep_on", is_flag=True, help="cli.option.follow")
@address_option
def logs(run: str, keep_on: bool, address: str | None, ca: str | None) -> int:
    from submitter.cli.submit import follow_run, follow_to_end, whole_line
    from submitter.supervise.follow import Records
    from submitter.supervise.inspect import newest_attempt, whole_log

    book = ledger()
    connection, submission_id = newest_attempt(run, book, client(address, ca))
    if keep_on and (noted := book.run(run)) is not None and noted.supervised:
        return follow_run(run, book, connection, ca=ca)
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

    book = ledger()
    document = end(run, book, client(address, ca), tell=tell, care=lambda: supervisor(book, ca=ca))
    if as_json:
        print_json(document)


@click.command(cls=Command, help="cli.resume.help")
@run_argument
@option("--detach", is_flag=True, help="cli.option.detach")
@json_option
def resume(run: str, detach: bool, as_json: bool) -> int:
    from submitter.cli.submit import follow_run
    from submitter.supervise.resume import resume as reopen

    book = ledger()
    noted, after = reopen(run, book)
    supervisor(book, wait=not detach)
    tell("cli.resumed", run=run, attempt=after.attempt, step="-" if after.last_step is None else after.last_step)
    document: dict[str, object] = {"run": run, "after": after.submission_id, "address": noted.address}
    if not detach:
        return follow_run(run, book, client(None, None).at(noted.address), document if as_json else None)
    if as_json:
        print_json(document)
    else:
        emit(run)
    return ExitCode.DONE
