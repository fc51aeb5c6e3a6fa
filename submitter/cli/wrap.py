"""Help text that fits the terminal in Chinese too: click counts characters, a terminal counts columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from unicodedata import east_asian_width

import click

WIDTH_LIMIT = 80
"""Longer lines are hard to read."""
SPACING = 2
TERM_LIMIT = 26
"""Columns of an option's name; the text of a longer one starts on the next line."""

_WIDE = "\u2e80-\u9fff\uff00-\uffef"
_OPENING, _CLOSING = "（“《", "，。、；：！？）”》"
_UNIT = re.compile(rf"`[^`]*`|[^\s{_WIDE}“”]+|[{_WIDE}“”]")


def columns(text: str) -> int:
    """Of a terminal: a Chinese character takes two."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` columns (longer if one word is), broken at spaces and beside Chinese characters."""
    lines = [""]
    for space, unit in _units(text):
        joined = f"{lines[-1]}{space}{unit}"
        if columns(joined) <= width or not lines[-1]:
            lines[-1] = joined if lines[-1] else unit
        else:
            lines.append(unit)
    return lines


def _units(text: str) -> Iterator[tuple[str, str]]:
    """(space before it, what must not be broken); punctuation stays with the character that it belongs to."""
    found: list[tuple[str, str]] = []
    end = 0
    for match in _UNIT.finditer(text):
        space = " " if match.start() > end else ""
        end = match.end()
        if found and not space and (match[0][0] in _CLOSING or found[-1][1][-1] in _OPENING):
            found[-1] = (found[-1][0], found[-1][1] + match[0])
        else:
            found.append((space, match[0]))
    return iter(found)


class Formatter(click.HelpFormatter):
    """click's, with `wrap` instead of its own."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        super().__init__(indent_increment, width, min(max_width or WIDTH_LIMIT, WIDTH_LIMIT))

    def write_text(self, text: str) -> None:
        for line in wrap(text, max(self.width - self.current_indent, TERM_LIMIT)):
            self.write(f"{'':{self.current_indent}}{line}\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = TERM_LIMIT, col_spacing: int = SPACING) -> None:
        rows = list(rows)
        known = [columns(term) for term, _ in rows if columns(term) <= col_max]
        start = max(known, default=col_max) + col_spacing
        for term, text in rows:
            self._write_row(term, wrap(text, max(self.width - self.current_indent - start, TERM_LIMIT)), start)

    def _write_row(self, term: str, lines: list[str], start: int) -> None:
        indent = " " * self.current_indent
        if columns(term) + SPACING > start:
            self.write(f"{indent}{term}\n")
            term = ""
        for line in lines:
            self.write(f"{indent}{term}{'':{start - columns(term)}}{line}\n")
            term = ""
