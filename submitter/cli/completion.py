"""`npurun completion SHELL`: the script that the shell has to read."""

from __future__ import annotations

import click

from submitter.cli.commands import Command
from submitter.cli.output import emit
from submitter.cli.usage import OneOf

SHELLS = ("bash", "zsh", "fish")


@click.command(cls=Command, help="cli.completion.help")
@click.argument("shell", metavar="SHELL", type=OneOf(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    from click.shell_completion import get_completion_class

    from submitter.cli.main import COMPLETE_VARIABLE

    completer = get_completion_class(shell)
    assert completer is not None, "click knows the three shells of the choice above"
    emit(completer(context.find_root().command, {}, "npurun", COMPLETE_VARIABLE).source().rstrip("\n"))
