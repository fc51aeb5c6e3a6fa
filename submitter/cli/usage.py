"""Wrong usage in npurun's own words, in the user's language, instead of click's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from submitter.cli.language import say
from submitter.texts import one_line


def usage_error(text_id: str, ctx: click.Context | None, **values: object) -> click.UsageError:
    return click.UsageError(say(text_id, **values), ctx)


def explain(error: click.ClickException) -> str:
    """What is wrong; click's own words only for an error that none of the commands can cause."""
    for kind, told in _TOLD.items():
        if isinstance(error, kind):
            return told(error)
    return one_line(error.format_message())


class OneOf(click.Choice):  # type: ignore[type-arg]  # click before 8.2 has no parameter there
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.choices:
            raise usage_error(
                "cli.usage.choice", ctx, option=_name(param), value=value, choices=", ".join(self.choices)
            )
        return str(value)


class AtLeastOne(click.ParamType):  # type: ignore[type-arg]
    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        # isdecimal also takes digits of other scripts, as int does; no sign, no underscore, no 5000 digits.
        if not (value.isdecimal() and len(value) <= 9 and int(value) >= 1):
            raise usage_error("cli.usage.at_least_one", ctx, option=_name(param), value=value)
        return int(value)


class PortNumber(click.ParamType):  # type: ignore[type-arg]
    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        if not (value.isdecimal() and len(value) <= 5 and int(value) <= 65535):
            raise usage_error("cli.usage.port", ctx, option=_name(param), value=value)
        return int(value)


def _no_such_option(error: Any) -> str:
    name, near = error.option_name, error.possibilities
    if not near:
        return say("cli.usage.option", option=name)
    return say("cli.usage.option_nearest", option=name, nearest=near[0])


def _missing(error: Any) -> str:
    return say("cli.usage.missing", name=_name(error.param))


def _option_value(error: Any) -> str:
    """click raises the same class for a value that is missing and for one that does not belong there."""
    context, name = error.ctx, error.option_name
    params = context.command.params if context else []
    flag = any(name in param.opts and getattr(param, "is_flag", False) for param in params)
    return say("cli.usage.flag_value" if flag else "cli.usage.no_value", option=name)


_TOLD: Mapping[type[click.ClickException], Callable[[Any], str]] = {
    click.NoSuchOption: _no_such_option,
    click.MissingParameter: _missing,
    click.BadOptionUsage: _option_value,
}


def _name(param: click.Parameter | None) -> str:
    """As the user writes it: `--set`, JOB."""
    if param is None:
        return "-"
    return param.opts[-1] if isinstance(param, click.Option) else (param.metavar or str(param.name))
