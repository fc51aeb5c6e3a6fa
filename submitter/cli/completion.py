"""`npurun completion SHELL`: the script that the shell has to read."""

from __future__ import annotations

import click

from submitter.cli.commands import Command, lang_option


@click.command(cls=Command, help="cli.completion.help")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@lang_option
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    from click.shell_completion import get_completion_class

    completer = get_completion_class(shell)
    assert completer is not None, "click knows the three shells of the choice above"
    print(completer(context.find_root().command, {}, "npurun", "_NPURUN_COMPLETE").source())
