"""click, taught three things: texts come by id, commands load when used, `--` starts trainer arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import click

from submitter.cli.language import choose, say
from submitter.texts import LANGUAGES

TRAINER_ARGS = "npurun.trainer_args"


class Option(click.Option):
    """An option whose `help` is a text id."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        text_id, self.help = self.help, say(self.help) if self.help else None
        try:
            return super().get_help_record(ctx)
        finally:
            self.help = text_id


class Command(click.Command):
    """A command whose `help` is a text id. The last parameter of all is `--lang`."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.indentation():
            formatter.write_paragraph()
            for paragraph in say(self.help or "").split(" / "):
                formatter.write_text(paragraph)

    def get_short_help_str(self, limit: int = 45) -> str:
        return say(self.help or "")


class JobCommand(Command):
    """A command on a job: what stands after `--` is the trainer's, kept in the context under `TRAINER_ARGS`."""

    allow_extra_args = True

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        ctx.meta[TRAINER_ARGS] = tuple(args[end + 1 :])
        unknown = super().parse_args(ctx, args[:end])
        if unknown:
            text = say("cli.arguments_need_dashes", value=unknown[0], command=ctx.info_name)
            raise click.UsageError(text, ctx)
        return unknown

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- TRAINER_ARGS]"]


class LazyGroup(click.Group):
    """Sub-commands are imported when they are called, so that `--help` imports none of them."""

    def __init__(self, *args: Any, lazy: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy
        """Command name -> "module:attribute"."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.lazy)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.lazy:
            return None
        module, attribute = self.lazy[name].split(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, say(f"cli.{name}.short")) for name in self.lazy])

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.indentation():
            formatter.write_paragraph()
            formatter.write_text(say("cli.help"))


def lang_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--lang`, read before anything is said."""
    return click.option(
        "--lang",
        type=click.Choice(LANGUAGES),
        cls=Option,
        help="cli.lang",
        is_eager=True,
        expose_value=False,
        callback=lambda _ctx, _param, value: choose(value) if value else None,
    )(function)
