"""What the driver tells people: English lines in the job's log, each with the prefix that marks it as npurun's."""

from __future__ import annotations

from collections.abc import Sequence

from .record import PREFIX

WIDTH = 80
"""Columns that a table has to fit into, prefix included: a plain terminal."""


def say(line: str) -> None:
    print(f"{PREFIX}{line}", flush=True)


def warn(line: str) -> None:
    say(f"warning: {line}")


def clean(value: object) -> str:
    """`value` on one line: control characters (newline, ANSI escape) are shown, not obeyed."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in str(value))


def shorten(value: object, width: int) -> str:
    """`value` in at most `width` (at least 3) columns, its middle left out."""
    plain = clean(value)
    if len(plain) <= width:
        return plain
    head = (width - 2 + 1) // 2
    return f"{plain[:head]}..{plain[len(plain) - (width - 2 - head) :]}"


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Left-aligned columns, two spaces apart; the first row is the heading."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
