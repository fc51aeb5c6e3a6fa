"""`npurun import`: a bash launch script becomes a job file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from submitter.cli.commands import TRAINER_ARGS, JobCommand
from submitter.cli.language import language, say
from submitter.cli.options import option
from submitter.cli.output import tell
from submitter.cli.output_file import write
from submitter.cli.usage import AtLeastOne, usage_error
from submitter.errors import Place, UsageError
from submitter.exit_codes import ExitCode

if TYPE_CHECKING:
    from submitter.importer.importing import Imported, Request
    from submitter.importer.model import Note


class ScriptCommand(JobCommand):
    """What stands after `--` is the script's."""

    def unexpected(self, ctx: click.Context, value: str) -> click.UsageError:
        return usage_error("cli.usage.script_arguments", ctx, value=value.partition("=")[0])

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [piece.replace("TRAINER_ARGS", "SCRIPT_ARGS") for piece in super().collect_usage_pieces(ctx)]


@click.command("import", cls=ScriptCommand, help="cli.import.help")
@click.argument("script", metavar="SCRIPT", type=click.Path())
@option("-o", "--output", metavar="FILE", help="cli.import.output")
@option("--set", "sets", multiple=True, metavar="NAME=VALUE", help="cli.import.set")
@option("--launch", metavar="N", type=AtLeastOne(), help="cli.import.launch")
@option("--verify", is_flag=True, help="cli.import.verify")
@click.pass_context
def import_script(
    context: click.Context, script: str, output: str | None, sets: tuple[str, ...], launch: int | None, verify: bool
) -> int:
    from submitter.importer.bounds import bounded
    from submitter.importer.importing import Request
    from submitter.importer.importing import import_script as imported_from

    _check_output(script, output)
    request = Request(
        script=Path(script),
        environ=os.environ,
        sets=_given(sets),
        arguments=context.meta.get(TRAINER_ARGS, ()),
        launch=launch,
        name=Path(output or script).stem,
        language=language(),
    )
    with bounded(script):
        imported = imported_from(request)
    _tell_notes(imported)
    if verify and not _verified(request, imported):
        return ExitCode.CHECK_FAILED
    write([imported.text], output)
    return ExitCode.DONE


def _check_output(script: str, output: str | None) -> None:
    """The script is never written over."""
    if output is not None and Path(script).exists() and Path(output).exists() and Path(script).samefile(output):
        raise UsageError("cli.import.same_file", Place(key="-o"), file=output)


def _given(sets: tuple[str, ...]) -> dict[str, str]:
    given = {}
    for item in sets:
        name, equals, value = item.partition("=")
        if not equals or not name:
            raise UsageError("job.set_form", Place(key="--set"))
        given[name] = value
    return given


def _tell_notes(imported: Imported) -> None:
    """One line each, as a compiler's: `run.sh:12: warning: …`."""
    for note in imported.notes:
        tell("cli.import.note", place=Place(note.file, note.line), severity=_severity(note), what=_told(note))
    launch = imported.launch
    runner = " ".join(launch.runner)
    if launch.runner not in (("python3",), ("python",), ("torchrun",)):
        tell("cli.import.runner", place=Place(launch.file, launch.line), runner=runner)


def _severity(note: Note) -> str:
    return say("cli.import.warning" if note.severity == "warning" else "cli.import.note_word")


def _told(note: Note) -> str:
    return say(note.text_id, **note.values)


def _verified(request: Request, imported: Imported) -> bool:
    """Whether bash starts the same; what differs is told."""
    from submitter.importer.verify.imported import verify

    found = verify(request, imported)
    if not found.reached:
        recording = found.recording
        tail = " / ".join(recording.stderr_tail.strip().splitlines()[-3:])
        tell("cli.import.not_reached", target=imported.launch.target.text, ended=recording.ended, said=tail or "-")
        return False
    for difference in found.machine:
        tell("cli.import.machine", what=difference.told())
    for difference in found.differences:
        tell("cli.import.differs", what=difference.told())
    if not found.differences:
        tell("cli.import.verified", count=found.compared)
    return not found.differences
