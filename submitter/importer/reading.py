"""A script, read with the values of one environment → `Reading`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from submitter.errors import Place, UsageError
from submitter.importer.comments import cut_short
from submitter.importer.model import Decided, Definition, Input, Launch, Note, Reading, Template
from submitter.importer.shell.flow import ExitShell
from submitter.importer.shell.launching import has_overrides, prepares
from submitter.importer.shell.parameters import divisible
from submitter.importer.shell.state import Element, Machine, Record, Shell
from submitter.importer.shell.statements import Statements
from submitter.importer.shell.template import inputs, leaves, literal
from submitter.importer.syntax import Node, line_of, parse, read_source
from submitter.job.nearest import NONE, nearest
from submitter.job.variables import PREDEFINED

_WHY_NOTHING = ("importer.expansion_error", "importer.script_missing", "importer.comment_cuts")
"""Warnings that tell, where nothing was started, most likely why."""


def read_script(
    path: Path, *, shown: str, environ: Mapping[str, str], sets: Mapping[str, str], arguments: Sequence[str], cwd: str
) -> Reading:
    """`environ`: what bash would have; `sets`: variables that win over it; `arguments`: the script's own.

    UsageError, with file and line: it cannot be read, does something that no job file can express, or starts nothing.
    """
    text = read_source(path, shown)
    tree = parse(text, shown)
    record = Record(environ, sets, this_machine(), shown)
    params = [Element(literal(argument)) for argument in arguments]
    shell = Shell(record, shown, shown, params, cwd)
    for line in cut_short(text):
        shell.note("importer.comment_cuts", line=line)
    ended = _run(shell, tree)
    launches = tuple(_chosen(record))
    if not launches:
        raise _nothing_started(shell, ended, record)
    _check_sets(record, shown)
    decided = _all_decided(record, launches)
    return Reading(
        file=shown,
        launches=launches,
        notes=(*record.notes, *_left_out(record, launches), *_left_empty(record, launches), *_taken(record, decided)),
        decided=decided,
        unquoted=frozenset(record.unquoted),
        required=frozenset(record.required),
        comments=_top_comments(tree),
        fixed=frozenset(record.fixed),
    )


def this_machine() -> Machine:
    import getpass
    import socket

    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a uid without a name, as in many containers
        user = str(os.getuid())
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Machine(datetime.now().astimezone(), cpus, socket.gethostname(), user, os.getuid())


def _run(shell: Shell, tree: Node) -> ExitShell | None:
    """Where the script ended before its last line; None: it did not."""
    try:
        Statements(shell).run_script(tree.get("Stmts", []))
    except ExitShell as end:
        return end
    except RecursionError:
        raise UsageError("importer.too_deep", Place(shell.file, shell.line)) from None
    except UsageError as error:
        if not any(has_overrides(one) and not prepares(one) for one in shell.record.launches):
            raise
        # What comes behind a training does not change it; another training there would not be seen.
        shell.note("importer.rest_unread", line=error.place.line if error.place else None, why=error)
    return None


def _chosen(record: Record) -> list[Launch]:
    """Those that train: with Hydra's overrides, else whatever does not prepare data."""
    launches = record.launches
    return (
        [one for one in launches if has_overrides(one) and not prepares(one)]
        or [one for one in launches if has_overrides(one)]
        or [one for one in launches if not prepares(one)]
    )


def _left_out(record: Record, launches: Sequence[Launch]) -> list[Note]:
    return [
        Note(
            "importer.not_carried", "note", one.file, one.line, {"command": f"{one.runner[-1]} {one.target.text}"[:60]}
        )
        for one in record.launches
        if one not in launches
    ]


def _left_empty(record: Record, launches: Sequence[Launch]) -> Iterator[Note]:
    """What a launch gets that only the machine knows."""
    for launch in launches:
        used = dict.fromkeys(leaf for template in _templates(launch) for leaf in leaves(template))
        for leaf in used:
            if isinstance(leaf, Definition) and leaf in record.unknown:
                values = {"name": leaf.name, "what": record.unknown[leaf]}
                yield Note("importer.left_empty", "warning", launch.file, leaf.line, values)


def _taken(record: Record, decided: Mapping[str, Decided]) -> Iterator[Note]:
    """What shaped the file without standing on the command line."""
    for name, one in decided.items():
        if record.environ.get(name) and name not in record.sets and name not in PREDEFINED and one.lines:
            yield Note("importer.from_environment", "warning", record.file, one.lines[0], {"name": name})


def _nothing_started(shell: Shell, ended: ExitShell | None, record: Record) -> UsageError:
    said = " / ".join(record.said)[:200]
    if ended is not None:
        return UsageError("importer.ends", ended.place, status=ended.status, said=said or "-")
    if record.launches:
        first = record.launches[0]
        return UsageError("importer.only_prepares", Place(first.file, first.line), target=first.target.text[:80])
    for note in reversed(record.notes):
        if note.text_id in _WHY_NOTHING:
            return UsageError(note.text_id, Place(note.file, note.line), **note.values)
    return UsageError("importer.starts_nothing", Place(shell.file))


def _check_sets(record: Record, shown: str) -> None:
    for name in record.sets:
        if name not in record.read:
            near = nearest(name, sorted(record.read))
            text_id = "importer.set_unread_alone" if near == NONE else "importer.set_unread"
            raise UsageError(text_id, Place(shown, key=f"--set {name}"), name=name, nearest=near)


def _all_decided(record: Record, launches: Sequence[Launch]) -> dict[str, Decided]:
    """Also inputs that have different defaults in different places: one variable cannot hold both."""
    templates = [template for launch in launches for template in _templates(launch)]
    used: dict[str, dict[tuple[str, Template | None], Input]] = {}
    for template in templates:
        for leaf in leaves(template):
            if isinstance(leaf, Input):
                used.setdefault(leaf.name, {})[(leaf.text, leaf.default)] = leaf
    _decide_divisible(record, used)
    for name in record.required.difference(used):  # no variable of the job file would hold it
        record.uses.append((0, Input(name, record.sets.get(name, record.environ.get(name, "")), None)))
    decided = {part.name for _, part in record.uses}
    for name, forms in used.items():
        if len(forms) > 1 or name in decided:
            record.uses.extend((0, leaf) for leaf in forms.values())
    return record.decided()


def _decide_divisible(record: Record, used: Mapping[str, Mapping[tuple[str, Template | None], Input]]) -> None:
    """bash would split what they hold, were it not for a value that stands before it: both are as they are."""
    held = {name for name in record.unquoted if divisible(record.sets.get(name, record.environ.get(name, "")))}
    for name, forms in used.items():
        for form in forms.values():
            if name in held or held & {leaf.name for leaf in inputs((form,))}:
                record.uses.append((0, form))


def _templates(launch: Launch) -> list[Template]:
    values = [launch.target, *launch.torchrun.values(), *([launch.working_dir] if launch.working_dir else [])]
    values += [argument.value for argument in launch.arguments]
    values += [exported.value for exported in launch.exported]
    return [value.template for value in values]


def _top_comments(tree: Node) -> tuple[str, ...]:
    """The block of comments that the script begins with; those that touch the first statement belong to it."""
    statements = tree.get("Stmts", [])
    first = statements[0] if statements else None
    found = [(comment["Pos"]["Line"], comment.get("Text", "")) for comment in (first or tree).get("Comments", [])]
    found = [(line, text) for line, text in found if not (line == 1 and text.startswith("!"))]
    if first is not None:
        line = line_of(first)
        while found and found[-1][0] >= line - 1:
            line = found.pop()[0]
    return tuple(text.removeprefix(" ").rstrip() for _, text in found)
