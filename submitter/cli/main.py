"""The `npurun` command: thin. Every failure leaves here as one line and an exit code of the table."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from submitter.cli.commands import LazyGroup, show_version
from submitter.cli.language import choose_from, language, say
from submitter.cli.options import option
from submitter.cli.output import OutputLostError, emit, finish, prepare_streams, report, report_error, silence
from submitter.cli.prepare import ChecksRefuseError
from submitter.cli.usage import explain
from submitter.errors import NpurunError
from submitter.exit_codes import ExitCode

COMMANDS = {
    "jobs": "submitter.cli.jobs:jobs",
    "check": "submitter.cli.check:check",
    "explain": "submitter.cli.explain:explain",
    "import": "submitter.cli.import_script:import_script",
    "render": "submitter.cli.render:render",
    "stacks": "submitter.cli.stacks:stacks",
    "diagnose": "submitter.cli.diagnose:diagnose",
    "doctor": "submitter.cli.doctor:doctor",
    "submit": "submitter.cli.submit:submit",
    "list": "submitter.cli.runs:list_runs",
    "status": "submitter.cli.runs:status",
    "logs": "submitter.cli.runs:logs",
    "stop": "submitter.cli.runs:stop",
    "resume": "submitter.cli.runs:resume",
    "diff": "submitter.cli.diff:diff",
    "watch": "submitter.cli.watch:watch",
    "export": "submitter.cli.export:export",
    "report": "submitter.cli.report:report",
    "serve": "submitter.cli.serve:serve",
    "nodes": "submitter.cli.nodes:nodes",
    "rehearse": "submitter.cli.rehearse:rehearse",
    "completion": "submitter.cli.completion:completion",
}
COMPLETE_VARIABLE = "_NPURUN_COMPLETE"
"""Set by the shell's completion script, read by click."""


@click.group(cls=LazyGroup, lazy=COMMANDS, help="cli.help", invoke_without_command=True)
@option("--version", is_flag=True, is_eager=True, expose_value=False, callback=show_version, help="cli.option.version")
@click.pass_context
def npurun(context: click.Context) -> None:
    if context.invoked_subcommand is None:
        emit(context.get_help())


def run(argv: Sequence[str] | None = None) -> None:
    """Entry point of the `npurun` script; never returns."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    prepare_streams()
    sys.exit(int(_run(arguments)))


def _run(arguments: list[str]) -> int:
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    as_json = "--json" in own
    choose_from(own)
    try:
        code = _invoke(arguments)
        finish()
        return code
    except ChecksRefuseError as refused:
        return report_error(refused, as_json, findings=[one.as_json(language()) for one in refused.report.findings])
    except NpurunError as error:
        return report_error(error, as_json)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as error:
        report(explain(error), None, as_json, hint=_usage(error))
        return ExitCode.USAGE
    except (KeyboardInterrupt, click.Abort):
        report(say("cli.interrupted"), None, as_json)
        return ExitCode.INTERRUPTED
    except OutputLostError as lost:
        silence(sys.stdout)
        if lost.reader_left:  # `npurun jobs | head`: it has enough
            return ExitCode.DONE
        report(say("cli.output_lost", reason=lost.reason), None, as_json=False)
        return ExitCode.USAGE


def _invoke(arguments: list[str]) -> int:
    """Not click's `main`: it turns a closed pipe into exit code 1, which says here that the run failed."""
    instruction = os.environ.get(COMPLETE_VARIABLE)
    if instruction:
        from click.shell_completion import shell_complete

        return shell_complete(npurun, {}, "npurun", COMPLETE_VARIABLE, instruction)
    with npurun.make_context("npurun", arguments) as context:
        result = npurun.invoke(context)
    return result if isinstance(result, int) else ExitCode.DONE


def _usage(error: click.ClickException) -> str | None:
    context = getattr(error, "ctx", None)
    return say("cli.see_help", command=context.command_path) if context else None
