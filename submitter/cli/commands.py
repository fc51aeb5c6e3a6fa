"""click, taught three things: texts come by id, commands load when used, `--` starts trainer arguments."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from submitter.cli.language import choose, say
from submitter.cli.output import emit
from submitter.cli.usage import OneOf, usage_error
from submitter.cli.wrap import Formatter
from submitter.job.nearest import nearest
from submitter.texts import LANGUAGES

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

TRAINER_ARGS = "npurun.trainer_args"


class Said:
    """An attribute that is a text id when set, and the text in the user's language when read."""

    def __set_name__(self, _owner: type, name: str) -> None:
        self._slot = f"_{name}_id"

    def __set__(self, instance: object, text_id: str | None) -> None:
        setattr(instance, self._slot, text_id)

    def __get__(self, instance: object, _owner: type) -> str | None:
        text_id = getattr(instance, self._slot, None)
        return say(text_id) if text_id else None


class Option(click.Option):
    """An option whose `help` is a text id."""

    help = Said()


class Context(click.Context):
    formatter_class = Formatter


class _Base(click.Command):
    """Help in the user's language; every command ends in `--lang` and `--help`."""

    context_class = Context
    help = Said()

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.params += _shared_options()

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        pieces = " ".join(self.collect_usage_pieces(ctx))
        formatter.write_usage(ctx.command_path, pieces, prefix=say("cli.heading.usage"))

    def format_help_text(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.indentation():
            formatter.write_paragraph()
            for paragraph in str(self.help).split(" / "):
                formatter.write_text(paragraph)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        params = self.get_params(ctx)
        arguments = [param for param in params if isinstance(param, click.Argument)]
        records = [param.get_help_record(ctx) for param in params if isinstance(param, click.Option)]
        if arguments:
            with formatter.section(say("cli.heading.arguments")):
                formatter.write_dl([(str(one.metavar), say(f"cli.argument.{one.name}")) for one in arguments])
        with formatter.section(say("cli.heading.options")):
            formatter.write_dl([record for record in records if record])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:  # click's parser does not always say which command it was
            error.ctx = error.ctx or ctx
            raise


class Command(_Base):
    """A command whose `help` is a text id; unknown arguments are told in the user's language."""

    allow_extra_args = True

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        unknown = super().parse_args(ctx, args)
        if unknown and not ctx.resilient_parsing:
            raise self.unexpected(ctx, unknown[0])
        return unknown

    def unexpected(self, ctx: click.Context, value: str) -> click.UsageError:
        return usage_error("cli.usage.argument", ctx, value=value)


class JobCommand(Command):
    """A command on a job: what stands after `--` is the trainer's, kept in the context under `TRAINER_ARGS`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        ctx.meta[TRAINER_ARGS] = tuple(args[end + 1 :])
        return super().parse_args(ctx, args[:end])

    def unexpected(self, ctx: click.Context, value: str) -> click.UsageError:
        # Only the key is repeated: the value may be a secret, and this line may end in a CI log.
        key, equals, _ = value.partition("=")
        return usage_error("cli.usage.dashes", ctx, value=f"{key}=…" if equals else key, command=ctx.info_name)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- TRAINER_ARGS]"]


class LazyGroup(_Base, click.Group):
    """Sub-commands are imported when they are called, so that `--help` imports none of them."""

    def __init__(self, *args: Any, lazy: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy
        """Command name -> "module:attribute"."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(self.lazy)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.lazy:
            return None
        module, attribute = self.lazy[name].split(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in self.lazy or ctx.resilient_parsing or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        raise usage_error("cli.usage.command", ctx, value=args[0], nearest=nearest(args[0], self.lazy))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section(say("cli.heading.commands")):
            formatter.write_dl([(name, say(f"cli.{name}.short")) for name in self.lazy])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        names = [name for name in self.lazy if name.startswith(incomplete)]
        commands = [CompletionItem(name, help=say(f"cli.{name}.short")) for name in names]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]


def show_version(ctx: click.Context, _param: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        from importlib.metadata import version

        emit(f"npurun {version('npurun')}", at_once=True)
        ctx.exit()


def _shared_options() -> list[click.Parameter]:
    lang = Option(
        ["--lang"],
        type=OneOf(LANGUAGES),
        metavar="LANG",
        help="cli.option.lang",
        is_eager=True,
        expose_value=False,
        callback=lambda _ctx, _param, value: choose(value) if value else None,
    )
    show = Option(
        ["-h", "--help"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        help="cli.option.help",
        callback=_show_help,
    )
    return [lang, show]


def _show_help(ctx: click.Context, _param: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        emit(ctx.get_help(), at_once=True)
        ctx.exit()
