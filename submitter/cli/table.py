"""Tables and blocks on stdout: as wide as the terminal; in a pipe one row a line, nothing cut."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO
from shutil import get_terminal_size

from submitter.cli.language import say
from submitter.cli.output import emit
from submitter.texts import one_line

NARROWEST = 12
"""Columns that one which wraps keeps, whatever the terminal's width."""
PIPE_WIDTH = 1 << 20
WIDEST = 120
GAP = 2
_HEIGHT = 25
"""Without one, rich takes 80 columns for a terminal without colours, whatever width it is given."""


@dataclass(frozen=True)
class Column:
    name: str
    """Its heading is the text `cli.column.<name>`."""
    wraps: bool = False
    """At spaces; any other is never broken, so that names can be copied."""


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[object]], *, head: bool = True) -> None:
    """Unknown values (None) show as `-`. `head`: with the columns' names."""
    from rich.console import Console
    from rich.table import Table

    # With a file of its own: rich flushes stdout, and ends the process with code 1 when its reader has gone.
    drawn = StringIO()
    cells = [[_cell(value) for value in row] for row in rows]
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, show_header=head)
    for column in columns:
        table.add_column(say(f"cli.column.{column.name}"), no_wrap=not column.wraps, overflow="fold")
    for row in cells:
        table.add_row(*row)
    width = max(_columns(), _least_width(columns, cells))
    colours = sys.stdout.isatty()
    console = Console(file=drawn, force_terminal=colours, markup=False, highlight=False, width=width, height=_HEIGHT)
    console.print(table)
    for line in drawn.getvalue().splitlines():
        emit(line.rstrip())


def fits(columns: Sequence[Column], rows: Iterable[Sequence[object]]) -> bool:
    """`print_table` has no need of more columns than there are."""
    return _least_width(columns, [[_cell(value) for value in row] for row in rows]) <= _columns()


def print_block(pairs: Iterable[tuple[str, object]]) -> None:
    """`name  value` lines; the names are `cli.column.<name>`. On a terminal long values wrap."""
    print_pairs((say(f"cli.column.{name}"), value) for name, value in pairs)


def print_pairs(pairs: Iterable[tuple[str, object]]) -> None:
    """The same with names as they are shown."""
    from submitter.cli.wrap import columns, wrap

    shown = [(name, _cell(value)) for name, value in pairs]
    start = max(columns(name) for name, _ in shown) + GAP
    room = max(terminal_width() - start, NARROWEST) if sys.stdout.isatty() else PIPE_WIDTH
    for name, value in shown:
        for line in wrap(value, room):
            emit(f"{name}{'':{start - columns(name)}}{line}")
            name = ""


def terminal_width() -> int:
    """Columns; longer lines than 120 are hard to read."""
    return min(get_terminal_size().columns, WIDEST)


def _columns() -> int:
    return get_terminal_size().columns if sys.stdout.isatty() else PIPE_WIDTH


def _cell(value: object) -> str:
    return "-" if value is None else one_line(value)


def _least_width(columns: Sequence[Column], cells: Sequence[Sequence[str]]) -> int:
    from rich.cells import cell_len

    least = 0
    for index, column in enumerate(columns):
        texts = [say(f"cli.column.{column.name}"), *(row[index] for row in cells)]
        least += GAP + (NARROWEST if column.wraps else max(map(cell_len, texts)))
    return least - GAP
