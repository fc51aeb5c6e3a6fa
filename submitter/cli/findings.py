"""How findings look: grouped by place and wrapped on a terminal; in a pipe one finding a line, nothing cut."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from submitter.cli.language import language, say
from submitter.cli.output import emit, tell_line
from submitter.cli.table import GAP, terminal_width
from submitter.cli.wrap import columns, wrap
from submitter.gang.secret_like import MASK, redacted
from submitter.texts import one_line

if TYPE_CHECKING:
    from submitter.checks.case import NotChecked
    from submitter.checks.finding import Finding
    from submitter.errors import Place

SEVERITIES = ("error", "warning", "hint")
NARROWEST_TEXT = 30
"""Columns that a message keeps, whatever the terminal's width."""

_COLOURS = {"error": "31", "warning": "33", "hint": "36", "place": "1", "": "2"}
"""ANSI: red, yellow, cyan, bold, faint."""


@dataclass(frozen=True)
class Paper:
    """Where lines go to."""

    write: Callable[[str], None]
    width: int | None
    """None: no terminal."""
    coloured: bool
    arrow: str
    """Ahead of what to do."""


def stdout() -> Paper:
    return _paper(lambda line: emit(redacted(line)), sys.stdout)


def stderr() -> Paper:
    return _paper(tell_line, sys.stderr)


def print_findings(
    findings: Iterable[Finding], paper: Paper, *, forced: Collection[str] = (), not_checked: Iterable[NotChecked] = ()
) -> None:
    """`forced`: ids whose errors are overridden."""
    groups = [(_place(place), [_row(one, forced) for one in found]) for place, found in _by_place(findings).items()]
    unchecked = [_Row("", "", one.id, one_line(one.message(language()))) for one in not_checked]
    groups += [((say("cli.not_checked"), ""), unchecked)] if unchecked else []
    for line in _rows(groups, paper.arrow) if paper.width is None else _blocks(groups, paper, paper.width):
        paper.write(line)


def print_arithmetic(lines: Iterable[str], paper: Paper) -> None:
    heading = say("cli.arithmetic")
    if paper.width is None:
        for line in lines:
            paper.write(f"{heading}: {line}")
    elif lines := tuple(lines):
        paper.write(painted(heading, "place", paper))
        for line in lines:
            for index, piece in enumerate(wrap(line, paper.width - 2 * GAP)):
                paper.write(" " * (GAP * (2 if index else 1)) + piece)
        paper.write("")


def counted(findings: Iterable[Finding], unchecked: int) -> str:
    """`2 errors, 5 warnings, 1 hint; 3 not checked`."""
    severities = [finding.severity for finding in findings]
    counts = [(name, severities.count(name)) for name in SEVERITIES if name in severities]
    told = [say(f"cli.count.{name}.{'one' if count == 1 else 'many'}", count=count) for name, count in counts]
    total = say("cli.count.comma").join(told) or say("cli.count.none")
    return say("cli.count.with_unchecked", counts=total, count=unchecked) if unchecked else total


@dataclass(frozen=True)
class _Row:
    severity: str
    label: str
    id: str
    message: str
    notes: tuple[str, ...] = ()
    """Value and limit unless the texts say them; whether it is overridden."""
    fix: str = ""


_Group = tuple[tuple[str, str], list[_Row]]
"""((place, key), rows)."""


def _by_place(findings: Iterable[Finding]) -> dict[Place, list[Finding]]:
    """In the order in which places come up: those of errors first."""
    groups: dict[Place, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.place, []).append(finding)
    return groups


def _place(place: Place) -> tuple[str, str]:
    """`job.yaml:45`, `data.train_batch_size`; or `node 10.0.0.1`."""
    where = str(place) if place.node is None else say("cli.place.node", node=place.node)
    return one_line(where), one_line(place.key) if place.key and place.key != where else ""


def _row(finding: Finding, forced: Collection[str]) -> _Row:
    message, fix = (one_line(told(language())) for told in (finding.message, finding.fix))
    named = [("value", finding.value), ("limit", finding.limit)]
    measured = [(name, text) for name, text in named if text and text != MASK and text not in message + fix]
    notes = [say("cli.count.comma").join(say(f"cli.finding.{name}", text=text) for name, text in measured)]
    if finding.severity == "error" and finding.id in forced:
        notes.append(say("cli.finding.forced"))
    label = say(f"cli.severity.{finding.severity}")
    return _Row(finding.severity, label, finding.id, message, tuple(note for note in notes if note), fix)


def _rows(groups: list[_Group], arrow: str) -> Iterator[str]:
    """`job.yaml:45: error NR201 data.train_batch_size: …  → …`: what editors and `grep` know."""
    for (place, key), rows in groups:
        for row in rows:
            what = " ".join(word for word in (row.label, row.id, key) if word)
            fix = [arrow + row.fix] if row.fix else []
            yield "  ".join([f"{place}: {what}: {row.message}", *row.notes, *fix])


def _blocks(groups: list[_Group], paper: Paper, width: int) -> Iterator[str]:
    labels = _label_width(row for _, rows in groups for row in rows)
    for (place, key), rows in groups:
        yield f"{painted(place, 'place', paper)}{'  ' if key else ''}{key}"
        for row in rows:
            yield from _block(row, labels, paper, width)
        yield ""


def _block(row: _Row, labels: int, paper: Paper, width: int) -> Iterator[str]:
    label = f"{painted(row.label, row.severity, paper)}{'':{labels - columns(row.label) + GAP}}" if row.label else ""
    before = f"{'':{GAP}}{label}{row.id}{'':{GAP}}"
    start = GAP + (labels + GAP if label else 0) + len(row.id) + GAP
    room = max(width - start, NARROWEST_TEXT)
    for line in [line for told in (row.message, *row.notes) for line in wrap(told, room)]:
        yield before + line
        before = " " * start
    lead = paper.arrow
    for line in wrap(row.fix, room - len(lead)) if row.fix else ():
        yield before + lead + line
        lead = " " * len(lead)


def _label_width(rows: Iterable[_Row]) -> int:
    return max((columns(row.label) for row in rows), default=0)


def painted(text: str, colour: str, paper: Paper) -> str:
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if paper.coloured and text else text


def _paper(write: Callable[[str], None], stream: TextIO) -> Paper:
    """Colour on a terminal only, and never against NO_COLOR (https://no-color.org)."""
    terminal = stream.isatty()
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return Paper(write, terminal_width() if terminal else None, terminal and not plain, _arrow(stream.encoding))


def _arrow(encoding: str | None) -> str:
    with suppress(UnicodeEncodeError, LookupError):
        "→".encode(encoding or "utf-8")
        return "→ "
    return "-> "
