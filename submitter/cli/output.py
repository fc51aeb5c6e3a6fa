"""What commands print: data to stdout, people's text to stderr, one JSON document with `--json`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from submitter.cli.language import language, say
from submitter.errors import NpurunError
from submitter.exit_codes import ExitCode
from submitter.texts import one_line

if TYPE_CHECKING:
    from submitter.checks.finding import Finding

PLAIN_WIDTH = 80
"""Columns of a table that goes into a pipe or a file: the width of an ssh window."""


def tell(text_id: str, /, **values: object) -> None:
    """One line of progress for people."""
    print(say(text_id, **values), file=sys.stderr, flush=True)


def print_json(document: Any) -> None:
    print(json.dumps(document, ensure_ascii=False, indent=2))


def report_error(error: NpurunError, as_json: bool) -> ExitCode:
    where = None
    if error.place is not None:
        where = {key: getattr(error.place, key) for key in ("file", "line", "key", "node")}
    if as_json:
        print_json({"error": {"message": say(error.text_id, **error.values), "where": where}})
    else:
        fail(error.render(language()), None, as_json=False)
    return error.exit_code


def fail(message: str, where: Any, as_json: bool, hint: str | None = None) -> None:
    if as_json:
        print_json({"error": {"message": message, "where": where}})
        return
    print(f"npurun: {one_line(message)}", file=sys.stderr)
    if hint:
        print(hint, file=sys.stderr)


def print_findings(findings: Iterable[Finding]) -> None:
    """Two lines a finding, on stderr: what and where, then what to do."""
    for finding in findings:
        place = f"{one_line(finding.place)}: " if str(finding.place) else ""
        severity = say(f"cli.severity.{finding.severity}")
        print(f"{place}{severity} {finding.id}: {finding.message(language())}", file=sys.stderr)
        print(f"    {finding.fix(language())}", file=sys.stderr)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table on stdout: as wide as the terminal, `PLAIN_WIDTH` in a pipe; unknown values show as `-`."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*("-" if cell is None else one_line(cell) for cell in row))
    width = None if sys.stdout.isatty() else PLAIN_WIDTH
    Console(width=width, markup=False, highlight=False).print(table)
