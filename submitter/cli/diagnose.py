"""`npurun diagnose`: why a run or a log ended as it did."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from submitter.cli.commands import Command
from submitter.cli.language import language, say
from submitter.cli.options import _complete_run, address_option, client, json_option, ledger, option
from submitter.cli.output import emit, print_json, tell, without_secrets
from submitter.cli.table import print_block
from submitter.cli.usage import usage_error
from submitter.errors import NpurunError, Place, UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from submitter.recovery.diagnose import Candidate, Diagnosis, Line

INDENT = "  "
_OUTCOMES = frozenset({"succeeded", "stopped", "still_running"})
"""Nothing failed, as far as is known."""


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file"), *_complete_run(ctx, param, incomplete)]


@click.command(cls=Command, help="cli.diagnose.help")
@click.argument("logs", metavar="LOG...|RUN", nargs=-1, required=True, shell_complete=_complete)
@option("--attempt", type=click.IntRange(min=1), metavar="N", help="cli.option.which_attempt")
@address_option
@json_option
def diagnose(logs: tuple[str, ...], attempt: int | None, address: str | None, ca: str | None, as_json: bool) -> None:
    found, shown = _find(logs, attempt, address, ca)
    if as_json:
        print_json(without_secrets({**found.as_json(language()), "logs": shown}))
        return
    _show(found, several=len(shown) > 1)


def _find(
    names: tuple[str, ...], attempt: int | None, address: str | None, ca: str | None
) -> tuple[Diagnosis, list[str]]:
    """And the logs that were read."""
    from submitter.recovery.diagnose import diagnose as judge
    from submitter.recovery.logs import sources

    if run := _run_name(names):
        return _of_run(run, attempt, address, ca)
    logs = sources(names)
    found = judge(logs, attempt=attempt)
    for name in found.values.get("damaged", ()):
        tell("diagnose.damaged", file=name)
    return found, [log.name for log in logs]


def _run_name(names: tuple[str, ...]) -> str | None:
    """A file of that name comes first."""
    from submitter.supervise.diagnose_run import is_run_name

    name = names[0]
    return name if len(names) == 1 and is_run_name(name) and not Path(name).exists() else None


def _of_run(run: str, attempt: int | None, address: str | None, ca: str | None) -> tuple[Diagnosis, list[str]]:
    from submitter.supervise.diagnose_run import diagnose_run

    if attempt is not None:
        context = click.get_current_context()
        raise usage_error("diagnose.attempt_of_run", context, run=run.partition("/")[0], attempt=attempt)
    book = ledger()
    try:
        submission_id, found = diagnose_run(run, book, client(address, ca))
    except NpurunError as error:
        if address is None and book.run(run.partition("/")[0]) is None:  # a mistyped file name is likelier
            raise UsageError("diagnose.neither", Place(file=run), error=error) from error
        raise
    return found, [submission_id]


def _show(found: Diagnosis, *, several: bool) -> None:
    """`several`: lines say of which file they are."""
    told, values = found.as_json(language()), found.values
    block: list[tuple[str, Any]] = [("reason", f"{found.reason}: {told['summary']}"), ("means", told["means"])]
    block += [(name, value) for name, value in [("node", found.node), *_known(values)] if value is not None]
    if found.reason not in _OUTCOMES:
        block.append(("retry", say(f"diagnose.retry.{found.retry}")))
    print_block([*block, ("fix", told["fix"])])
    _show_lines("diagnose.evidence", found.evidence, several)
    if found.candidates:
        emit("")
        emit(say("diagnose.candidates" if found.reason == "unknown" else "diagnose.also"))
        for one in found.candidates:
            _show_candidate(one, set(found.evidence), several)


def _known(values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(name, values.get(name)) for name in ("step", "exception", "place")]


def _show_candidate(one: Candidate, shown: Collection[Line], several: bool) -> None:
    """Lines that stand in the evidence are not shown twice."""
    if one.reason:
        emit(f"{INDENT}{one.reason}: {say(f'reason.{one.reason}')}")
    for line in one.evidence if one.reason is None else [line for line in one.evidence if line not in shown]:
        _show_line(line, several, INDENT * 2 if one.reason else INDENT)


def _show_lines(heading: str, lines: Iterable[Line], several: bool) -> None:
    shown = list(lines)
    if not shown:
        return
    emit("")
    emit(say(heading))
    for line in shown:
        _show_line(line, several, INDENT)


def _show_line(line: Line, several: bool, indent: str) -> None:
    """The number stands first, as editors and `sed -n` want it; the file only where there are several."""
    from submitter.cli.table import terminal_width
    from submitter.cli.wrap import columns, wrap

    number = f"{line.line}" if line.line else "-"
    place = f"{line.file}:{number}" if several else number
    start = f"{indent}{place}  "
    for text in wrap(line.text, max(terminal_width() - columns(start), 40)) if _wraps() else [line.text]:
        emit(f"{start}{text}")
        start = " " * columns(start)


def _wraps() -> bool:
    import sys

    return sys.stdout.isatty()
