"""The `npurun` command: thin. Every failure leaves here as one line and an exit code of the table."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from submitter.cli.commands import LazyGroup, lang_option
from submitter.cli.language import say
from submitter.cli.output import fail, report_error
from submitter.errors import NpurunError
from submitter.exit_codes import ExitCode

COMMANDS = {
    "jobs": "submitter.cli.jobs:jobs",
    "render": "submitter.cli.render:render",
    "submit": "submitter.cli.submit:submit",
    "list": "submitter.cli.runs:list_runs",
    "status": "submitter.cli.runs:status",
    "logs": "submitter.cli.runs:logs",
    "stop": "submitter.cli.runs:stop",
    "rehearse": "submitter.cli.rehearse:rehearse",
    "completion": "submitter.cli.completion:completion",
}


@click.group(cls=LazyGroup, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@lang_option
@click.version_option(package_name="npurun", message="%(prog)s %(version)s")
def npurun() -> None:
    pass


def run(argv: Sequence[str] | None = None) -> None:
    """Entry point of the `npurun` script; never returns."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    sys.exit(int(_run(arguments)))


def _run(arguments: list[str]) -> int:
    as_json = "--json" in arguments[: arguments.index("--")] if "--" in arguments else "--json" in arguments
    try:
        result = npurun.main(arguments, prog_name="npurun", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else ExitCode.DONE
    except NpurunError as error:
        return report_error(error, as_json)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as error:
        fail(error.format_message(), None, as_json, hint=_usage(error))
        return ExitCode.USAGE
    except (KeyboardInterrupt, click.Abort):
        print(say("cli.interrupted"), file=sys.stderr)
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # `npurun jobs | head`: the reader has enough. Python would complain again when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.DONE


def _usage(error: click.ClickException) -> str | None:
    context = getattr(error, "ctx", None)
    return say("cli.see_help", command=context.command_path) if context else None
