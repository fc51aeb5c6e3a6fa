"""Comments that end in a backslash: for bash the comment ends there, shfmt 3.13 goes on reading it on the next line."""

from __future__ import annotations

import re
from collections.abc import Iterator

_HEREDOC = re.compile(r"<<(-?)[ \t]*(?:'([^'\n]*)'|\"([^\"\n]*)\"|\\\\?([^\s;&|<>()]+))")
_BEFORE_COMMENT = " \t\n;&|()"


def with_closed_comments(text: str) -> str:
    """The text with a space behind such a backslash: no line is added or lost."""
    ends = [end for _, end in comments(text) if text[end - 1] == "\\"]
    for end in reversed(ends):
        text = f"{text[:end]} {text[end:]}"
    return text


def cut_short(text: str) -> list[int]:
    """The lines of comments that stand inside a command which goes on with a backslash: for bash it ends there."""
    lines = text.split("\n")
    starts = {text.count("\n", 0, start) for start, _ in comments(text)}
    inside = (number for number in sorted(starts) if number > 0 and number - 1 not in starts)
    return [number + 1 for number in inside if lines[number].lstrip()[:1] == "#" and _goes_on(lines[number - 1])]


def comments(text: str) -> Iterator[tuple[int, int]]:
    """Where each comment begins and ends, outside quotes and here-documents."""
    position, quotes = 0, [""]
    pending: list[tuple[bool, str]] = []
    while position < len(text):
        char, mode = text[position], quotes[-1]
        if mode == "'":
            position += 1
            if char == "'":
                quotes.pop()
            continue
        if char == "\\":
            position += 2
            continue
        if mode == "" and char == "#" and (position == 0 or text[position - 1] in _BEFORE_COMMENT):
            end = text.find("\n", position)
            end = len(text) if end < 0 else end
            yield position, end
            position = end
            continue
        if char == "\n" and pending and mode == "":
            position = _behind_documents(text, position + 1, pending)
            pending = []
            continue
        found = _HEREDOC.match(text, position) if mode == "" and text.startswith("<<", position) else None
        if found and not text.startswith("<<<", position) and text[position - 1 : position] != "<":
            pending.append((bool(found[1]), found[2] or found[3] or found[4] or ""))
            position = found.end()
            continue
        position += _quote(text, position, quotes)


def _quote(text: str, position: int, quotes: list[str]) -> int:
    """Enters or leaves quotes and `$( )`; returns how many characters that took."""
    char, mode = text[position], quotes[-1]
    if text.startswith("$(", position) and not text.startswith("$((", position):
        quotes.append("")
        return 2
    if char == "(" and mode == "":
        quotes.append("")
    elif char == ")" and mode == "" and len(quotes) > 1:
        quotes.pop()
    elif char == '"':
        if mode == '"':
            quotes.pop()
        else:
            quotes.append('"')
    elif char == "'" and mode == "":
        quotes.append("'")
    return 1


def _behind_documents(text: str, position: int, pending: list[tuple[bool, str]]) -> int:
    for tabs, delimiter in pending:
        while position < len(text):
            end = text.find("\n", position)
            end = len(text) if end < 0 else end
            line = text[position:end]
            position = end + 1
            if (line.lstrip("\t") if tabs else line) == delimiter:
                break
    return position


def _goes_on(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1
