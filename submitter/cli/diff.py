"""`npurun diff`: what two attempts have differently."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from submitter.cli.commands import Command
from submitter.cli.language import say
from submitter.cli.options import _complete_run, json_option, ledger
from submitter.cli.output import emit, print_json, tell
from submitter.cli.table import Column, print_block, print_table

if TYPE_CHECKING:
    from submitter.supervise.diff import Diff

_COLUMNS = (Column("key"), Column("left", wraps=True), Column("right", wraps=True))


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
    if not found.differences:
        tell("diff.same", left=found.left, right=found.right)
    else:
        _show(found)
    for section in dict.fromkeys(one.section for one in found.not_known):
        those = ", ".join(one.submission_id for one in found.not_known if one.section == section)
        tell(f"diff.not_known.{section}", submission=those)


def _show(found: Diff) -> None:
    """Sections are lines of their own, so that the longest key has most of the width."""
    from submitter.supervise.diff import SECTIONS

    print_block([("left", found.left), ("right", found.right)])
    emit("")
    rows: list[tuple[object, ...]] = []
    for section in SECTIONS:
        own = [(f"  {one.key}", one.left, one.right) for one in found.differences if one.section == section]
        rows += [(say(f"cli.diff.{section}"), "", ""), *own] if own else []
    print_table(_COLUMNS, rows)
