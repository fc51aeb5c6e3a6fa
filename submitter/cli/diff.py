"""`npurun diff`: what two attempts have differently."""

from __future__ import annotations

from dataclasses import asdict

import click

from submitter.cli.commands import Command
from submitter.cli.language import say
from submitter.cli.options import _complete_run, json_option, ledger
from submitter.cli.output import print_json, tell
from submitter.cli.table import Column, print_table

_COLUMNS = (Column("section"), Column("key", wraps=True), Column("left", wraps=True), Column("right", wraps=True))


@click.command(cls=Command, help="cli.diff.help")
@click.argument("left", metavar="RUN[/aN]", shell_complete=_complete_run)
@click.argument("right", metavar="RUN[/aN]", shell_complete=_complete_run)
@json_option
def diff(left: str, right: str, as_json: bool) -> None:
    from submitter.supervise.diff import diff as compare

    found = compare(left, right, ledger())
    if as_json:
        print_json(asdict(found))
        return
    rows = [(say(f"cli.diff.{one.section}"), one.key, one.left, one.right) for one in found.differences]
    if rows:
        print_table(_COLUMNS, [(say("cli.diff.attempt"), None, found.left, found.right), *rows])
    else:
        tell("diff.same", left=found.left, right=found.right)
    for submission in found.not_known:
        tell("diff.not_known", submission=submission)
