"""`npurun nodes`: nodes that are kept out of new attempts; `npurun nodes release NODE` takes one back."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from submitter.cli.commands import Command, LazyGroup
from submitter.cli.language import say
from submitter.cli.options import address_option, client, json_option, ledger
from submitter.cli.output import emit, print_json, tell, without_secrets
from submitter.cli.table import Column, print_block, print_table
from submitter.errors import NpurunError
from submitter.gang.secret_like import redacted

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from submitter.ledger import Ledger, Quarantined

_LIST = (*map(Column, ("node", "finding", "since", "until", "attempt")), Column("why", wraps=True))


@click.group(
    cls=LazyGroup,
    lazy={"release": "submitter.cli.nodes:release"},
    help="cli.nodes.help",
    invoke_without_command=True,
)
@address_option
@json_option
@click.pass_context
def nodes(context: click.Context, address: str | None, ca: str | None, as_json: bool) -> None:
    context.obj = {"address": address, "ca": ca, "as_json": as_json}
    if context.invoked_subcommand is not None:
        return
    book = ledger()
    where = _read_ends(book, address, ca)
    found = book.quarantined(_now_ms(), where)
    if as_json:
        print_json(without_secrets([_document(one) for one in found]))
        return
    if not found:
        tell("cli.no_nodes")
        return
    # The address is long, and mostly the same.
    columns = (*_LIST, Column("address", wraps=True)) if len({one.address for one in found}) > 1 else _LIST
    _show(columns, [_row(one)[: len(columns)] for one in found])
    tell("cli.next.release")


def _show(columns: Sequence[Column], rows: Sequence[tuple[object, ...]]) -> None:
    """A row each in a pipe; an attempt's name and a finding's text beside each other are too wide for a terminal."""
    if not sys.stdout.isatty():
        print_table(columns, rows)
        return
    for row in rows:
        print_block([(column.name, cell) for column, cell in zip(columns, row, strict=True)])
        emit("")


def _complete_node(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Of this machine's ledger only."""
    from click.shell_completion import CompletionItem

    from submitter.ledger import default_home
    from submitter.ledger.home import FILE_NAME

    if not (default_home(os.environ) / FILE_NAME).is_file():
        return []
    try:
        found = ledger().quarantined(_now_ms())
    except NpurunError:
        return []
    why = {one.node: one.finding for one in found if one.node.startswith(incomplete)}
    return [CompletionItem(node, help=finding) for node, finding in why.items()]


@click.command(cls=Command, help="cli.release.help")
@click.argument("node", metavar="NODE", shell_complete=_complete_node)
@address_option
@json_option
def release(node: str, address: str | None, ca: str | None, as_json: bool) -> None:
    from submitter.supervise.nodes import holding
    from submitter.supervise.nodes import release as free

    given = click.get_current_context().obj
    address, ca = address or given["address"], ca or given["ca"]
    book = ledger()
    asked = _read_ends(book, address, ca)
    found = holding(book, node, _now_ms(), asked, client(address, ca).address)
    count = free(book, node, _now_ms(), found[0] if len(found) == 1 else asked)
    if as_json or given["as_json"]:
        print_json({"node": node, "released": count})
    else:
        told = "cli.released.one" if count == 1 else "cli.released.many"
        tell(told, node=node, count=count, address=", ".join(found))


def _read_ends(book: Ledger, address: str | None, ca: str | None) -> str | None:
    """What ended attempts have against nodes is noted first; returns the cluster that was asked for by its address.

    The ledger answers without a cluster too.
    """
    from submitter.supervise.inspect import catch_up_all

    named = client(address, ca)
    others = [] if address else [run.address for run in book.runs().values()]
    catch_up_all(book, named, dict.fromkeys([named.address, *others]), tell)
    return named.address if address else None


def _row(one: Quarantined) -> tuple[object, ...]:
    return (one.node, one.finding, _when(one.since_ms), _when(one.until_ms), one.submission_id, _why(one), one.address)


def _why(one: Quarantined) -> str:
    from submitter.supervise.nodes import said

    return redacted(say("nodes.why", why=said(one.finding, one.node, one.evidence)))


def _document(one: Quarantined) -> dict[str, Any]:
    return {
        "node": one.node,
        "finding": one.finding,
        "message": _why(one),
        "since": one.since_ms / 1000,
        "until": one.until_ms / 1000,
        "attempt": one.submission_id,
        "address": one.address,
        "evidence": one.evidence,
    }


def _when(milliseconds: int) -> str:
    """Local time, to the minute."""
    return datetime.fromtimestamp(milliseconds / 1000).strftime("%m-%d %H:%M")


def _now_ms() -> int:
    return int(time.time() * 1000)
