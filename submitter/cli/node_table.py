"""Nodes as rows, facts as columns: what is equal everywhere is said once, the odd one out is marked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from submitter.cli.findings import Paper, painted
from submitter.cli.language import say
from submitter.cli.node_columns import ABSENT, Cell, Fact, facts_of
from submitter.cli.table import GAP
from submitter.cli.wrap import columns, wrap
from submitter.gang.probes.verdict import Node
from submitter.supervise.node_findings import NodeFinding, node_names
from submitter.texts import Phrase, clipped, one_line

ROWS_MAX = 16
"""Above, equal nodes share a row: one page."""
NAMES_MAX = 24
"""Columns for the nodes of a shared row; longer ones are counted."""
CELL_MAX = 24
"""Characters of one cell on a terminal; the JSON has it whole."""
MARK = "*"
UNKNOWN = "-"
_SEVERITIES = ("error", "warning", "hint")
_OF_ALL = frozenset({"NR514"})
"""Said once, of all nodes: the one that it is said at is as good as the others."""


@dataclass(frozen=True)
class _Shown:
    text: str
    severity: str = ""
    """Of the worst finding about it; empty: none."""

    @property
    def marked(self) -> str:
        return self.text + (MARK if self.severity else "")


@dataclass(frozen=True)
class _Row:
    nodes: tuple[str, ...]
    name: _Shown
    cells: tuple[_Shown, ...]


class _Marks:
    """Which findings are about which cell."""

    def __init__(self, findings: Iterable[NodeFinding]) -> None:
        self._of_node: dict[str | None, list[NodeFinding]] = {}
        for one in findings:
            self._of_node.setdefault(one.place.node, []).append(one)

    def of(self, fact: Fact, node: Node) -> str:
        """The severity of the worst one."""
        return _worst(one for one in self._of_node.get(node.ip, ()) if fact.is_about(one))

    def beside(self, facts: Sequence[Fact], node: Node) -> str:
        """Of those about none of `facts`."""
        found = self._of_node.get(node.ip, ())
        own = (one for one in found if one.id not in _OF_ALL)
        return _worst(one for one in own if not any(fact.is_about(one) for fact in facts))


def print_nodes(nodes: Sequence[Node], findings: Sequence[NodeFinding], paper: Paper) -> None:
    """A table per as many columns as fit, then a line on what is equal on all nodes."""
    marks = _Marks(findings)
    facts = [fact for fact in facts_of(nodes) if any(fact.cell(node) is not None for node in nodes)]
    answering = [node for node in nodes if node.silent is None]
    told = [fact for fact in facts if answering and not _is_equal(fact, answering, marks)]
    rows = _rows(nodes, told, facts, marks)
    lines = _rows_told([_heading(fact) for fact in told], rows, paper)
    for line in lines if told or not all(map(_calm, rows)) else _everyone(nodes, paper.width):
        paper.write(line)
    for heading, items in _equal([fact for fact in facts if fact not in told], answering, marks, len(nodes)):
        for line in _packed(heading, items, paper.width):
            paper.write(line)
    paper.write("")


def _rows_told(headings: Sequence[str], rows: Sequence[_Row], paper: Paper) -> Iterator[str]:
    for first, last in _parts(headings, rows, paper.width):
        yield from _table(headings[first:last], [replace(row, cells=row.cells[first:last]) for row in rows], paper)
        yield ""


def _everyone(nodes: Sequence[Node], width: int | None) -> list[str]:
    """`4 nodes: 10.0.0.1-4`, where a table would have no column but their names."""
    names = node_names([node.ip for node in nodes])
    line = (
        say("cli.node.everyone", count=len(nodes), nodes=names) if len(nodes) > 1 else say("cli.place.node", node=names)
    )
    return [*([line] if width is None else wrap(line, width)), ""]


def _is_equal(fact: Fact, nodes: Sequence[Node], marks: _Marks) -> bool:
    return len({(_text(fact.cell(node)), marks.of(fact, node)) for node in nodes}) == 1


def _worst(findings: Iterable[NodeFinding]) -> str:
    found = {one.severity for one in findings} - {"hint"}
    return next((severity for severity in _SEVERITIES if severity in found), "")


def _rows(nodes: Sequence[Node], told: Sequence[Fact], facts: Sequence[Fact], marks: _Marks) -> list[_Row]:
    cells = {node.ip: [fact.cell(node) for fact in told] for node in nodes}
    severities = {node.ip: [marks.of(fact, node) for fact in told] for node in nodes}
    own = _own(nodes, facts, marks)
    groups: dict[object, list[str]] = {}
    for node in nodes:
        fixed = [None if isinstance(cell, float) else _text(cell) for cell in cells[node.ip]]
        alike = (*fixed, *severities[node.ip], own[node.ip]) if len(nodes) > ROWS_MAX else node.ip
        groups.setdefault(alike, []).append(node.ip)
    rows = [
        _Row(
            tuple(ips),
            _Shown(_names(ips), own[ips[0]]),
            tuple(_Shown(_range([cells[ip][at] for ip in ips]), severities[ips[0]][at]) for at in range(len(told))),
        )
        for ips in groups.values()
    ]
    return sorted(rows, key=_calm) if len(nodes) > ROWS_MAX else rows


def _own(nodes: Sequence[Node], facts: Sequence[Fact], marks: _Marks) -> dict[str, str]:
    """What marks a node itself: findings that no column shows, unless all nodes have them."""
    own = {node.ip: marks.beside(facts, node) for node in nodes}
    return dict.fromkeys(own, "") if len(own) > 1 and len(set(own.values())) == 1 else own


def _calm(row: _Row) -> bool:
    return not any(one.severity for one in (row.name, *row.cells))


def _names(ips: Sequence[str]) -> str:
    names = node_names(ips)
    short = names if len(names) <= NAMES_MAX else f"{ips[0]} +{len(ips) - 1}"
    return short if len(ips) == 1 or len(names) > NAMES_MAX else f"{short} ({len(ips)})"


def _range(cells: Sequence[Cell]) -> str:
    numbers = [cell for cell in cells if isinstance(cell, float)]
    if len(numbers) < 2:
        return _text(cells[0])
    low, high = _text(min(numbers)), _text(max(numbers))
    return low if low == high else f"{low}..{high}"


def _text(cell: Cell) -> str:
    if cell is None:
        return UNKNOWN
    if isinstance(cell, float):
        return f"{cell:.0f}" if abs(cell) >= 10 else f"{cell:.1f}"
    return one_line(say(cell.id, **cell.values) if isinstance(cell, Phrase) else cell)


def _heading(fact: Fact) -> str:
    name = say(f"cli.node.{fact.name}")
    return f"{name} {fact.unit}" if fact.unit else name


def _parts(headings: Sequence[str], rows: Sequence[_Row], width: int | None) -> Iterator[tuple[int, int]]:
    """(first, behind the last) of the columns that stand beside each other; the nodes' names stand in each part."""
    if width is None or not headings:
        yield 0, len(headings)
        return
    start = max(columns(text) for text in (say("cli.node.node"), *(row.name.marked for row in rows)))
    first, used = 0, start
    for at, heading in enumerate(headings):
        needed = GAP + max(columns(heading), *(columns(_fit(row.cells[at], width).marked) for row in rows))
        if used + needed > width and at > first:
            yield first, at
            first, used = at, start
        used += needed
    yield first, len(headings)


def _fit(shown: _Shown, width: int | None) -> _Shown:
    return shown if width is None else replace(shown, text=clipped(shown.text, CELL_MAX))


def _table(headings: Sequence[str], rows: Sequence[_Row], paper: Paper) -> Iterator[str]:
    lines = [[_Shown(text) for text in (say("cli.node.node"), *headings)]]
    lines += [[row.name, *(_fit(cell, paper.width) for cell in row.cells)] for row in rows]
    widths = [max(columns(cell.marked) for cell in column) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [_pad(cell, width, paper) for cell, width in zip(line, widths, strict=True)]
        yield (" " * GAP).join(cells).rstrip()


def _pad(cell: _Shown, width: int, paper: Paper) -> str:
    space = " " * (width - columns(cell.marked))
    return (painted(cell.marked, cell.severity, paper) if cell.severity else cell.marked) + space


def _equal(
    facts: Sequence[Fact], nodes: Sequence[Node], marks: _Marks, everyone: int
) -> Iterator[tuple[str, list[str]]]:
    """`equal on all nodes:` and `CANN 9.0.0` …; then what none of them has."""
    if not nodes:
        return
    first = nodes[0]
    installed = [_said(fact, first, marks) for fact in facts if fact.cell(first) not in (None, ABSENT)]
    absent = [_heading(fact) for fact in facts if fact.cell(first) == ABSENT]
    if installed:
        yield say("cli.node.equal" if len(nodes) == everyone else "cli.node.equal_answering"), installed
    if absent:
        yield say("cli.node.nowhere"), absent


def _packed(heading: str, items: Sequence[str], width: int | None) -> Iterator[str]:
    """One line, or as many as the width makes of it, none broken within an item."""
    comma = say("cli.count.comma")
    line = f"{heading}{say('cli.node.colon')}{items[0]}"
    for item in items[1:]:
        if width is not None and columns(f"{line}{comma}{item}{comma.rstrip()}") > width:
            yield f"{line}{comma.rstrip()}"
            line = f"{'':{GAP}}{item}"
        else:
            line = f"{line}{comma}{item}"
    yield line


def _said(fact: Fact, node: Node, marks: _Marks) -> str:
    mark = MARK if marks.of(fact, node) else ""
    return " ".join(part for part in (say(f"cli.node.{fact.name}"), _text(fact.cell(node)), fact.unit) if part) + mark
