"""An import held against what bash really starts, in the sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from submitter.arguments.assemble import arguments, flags
from submitter.importer.importing import Imported, Request
from submitter.importer.model import Definition, Value
from submitter.importer.shell.template import leaves
from submitter.importer.verify.commands import normalised
from submitter.importer.verify.compare import Difference, compare
from submitter.importer.verify.recording import Recorded, Recording, exported, launches, submitted
from submitter.importer.verify.sandbox import record


@dataclass(frozen=True)
class Verified:
    """`recording.commands` has no such launch: `reached` is False, and there are no differences to tell."""

    reached: bool
    differences: tuple[Difference, ...]
    machine: tuple[Difference, ...]
    """Differences in what only the machine knows: a date that has gone on since."""
    recording: Recording
    compared: int
    """Arguments and variables."""


def verify(request: Request, imported: Imported) -> Verified:
    """SandboxError: the script was not run, since no sandbox can be made."""
    recording = record(
        request.script, arguments=request.arguments, environ={**request.environ, **request.sets}, cwd=Path.cwd()
    )
    found = _same_launch(launches(recording), imported, request)
    if found is None:
        return Verified(False, (), (), recording, 0)
    bash, ours = normalised(found.argv).arguments, arguments(imported.job)
    environment = {**exported(recording, found), **(submitted(found) or {})}
    withheld = {
        str(note.values.get("name")) for note in imported.notes if note.text_id.startswith("importer_write.secret")
    }
    environment = {name: value for name, value in environment.items() if name not in withheld}
    differences = compare(bash, ours, environment, flags(imported.job))
    machine = tuple(one for one in differences if _hangs_on_machine(one, imported) or _withheld(one, bash, withheld))
    others = tuple(one for one in differences if one not in machine)
    return Verified(True, others, machine, recording, len(bash) + len(environment))


def _same_launch(found: Sequence[Recorded], imported: Imported, request: Request) -> Recorded | None:
    same = [one for one in found if normalised(one.argv).target == imported.launch.target.text]
    number = (request.launch or 1) - 1
    if number < len(found) and found[number] in same:
        return found[number]
    return same[0] if same else None


def _hangs_on_machine(difference: Difference, imported: Imported) -> bool:
    if difference.position is not None and difference.position <= len(imported.launch.arguments):
        return _of_machine(imported.launch.arguments[difference.position - 1].value)
    values = {one.name: one.value for one in imported.launch.exported}
    return difference.name in values and _of_machine(values[str(difference.name)])


def _withheld(difference: Difference, bash: Sequence[str], withheld: set[str]) -> bool:
    if difference.position is None or difference.position > len(bash):
        return False
    return bash[difference.position - 1].partition("=")[0] in withheld


def _of_machine(value: Value) -> bool:
    return any(isinstance(leaf, Definition) and leaf.note is not None for leaf in leaves(value.template))
