"""`npurun jobs`: the job files that ship."""

from __future__ import annotations

import click

from submitter.cli.commands import Command
from submitter.cli.options import json_option
from submitter.cli.output import print_json
from submitter.cli.table import Column, print_table


@click.command(cls=Command, help="cli.jobs.help")
@json_option
def jobs(as_json: bool) -> None:
    from jobs import shipped_jobs

    found = shipped_jobs()
    if as_json:
        print_json([{"name": job.name, "summary": job.summary, "file": str(job.path)} for job in found])
        return
    print_table((Column("job"), Column("summary", wraps=True)), [(job.name, job.summary) for job in found])
