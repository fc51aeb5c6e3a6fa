"""`npurun export`: the steps of a run for whatever reads CSV or JSON."""

from __future__ import annotations

import click

from submitter.cli.commands import Command
from submitter.cli.options import ledger, option, run_argument
from submitter.cli.output_file import write
from submitter.errors import Place, UsageError


@click.command(cls=Command, help="cli.export.help")
@run_argument
@option("--csv", "as_csv", is_flag=True, help="cli.option.csv")
@option("--json", "as_json", is_flag=True, help="cli.option.json_steps")
@option("--all", "every", is_flag=True, help="cli.option.all_steps")
@option("-o", "--output", metavar="FILE", help="cli.option.output_file")
def export(run: str, as_csv: bool, as_json: bool, every: bool, output: str | None) -> None:
    from submitter.watch.export import FORMS
    from submitter.watch.export import export as steps_of

    if as_csv and as_json:
        raise UsageError("cli.export.one_form", Place(key="--csv"))
    found = steps_of(ledger(), run, every=every)
    write(FORMS["json" if as_json else "csv"](found), output)
