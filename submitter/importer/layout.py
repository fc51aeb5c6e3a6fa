"""The lines of a job file: keys with their values and comments, each within the width.

A script's comments come without decoration, licence and secrets.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

from submitter.gang.secret_like import redacted
from submitter.importer.spelling import WIDTH
from submitter.texts import one_line

_DECORATION = re.compile(r"^(?:#+ ?|[#=*~_─━\-\s]{3,})|[#=*~_─━\-\s]{3,}$")
_NO_REMARK = re.compile(r"(?:shellcheck|set [-+][a-z]+|vim?:|-\*-)(?:\s|$)", re.IGNORECASE)
_LICENCE = re.compile(
    r"copyright|licen[cs]e|all rights reserved|WARRANT|unless required by applicable law|express or implied",
    re.IGNORECASE,
)


Lines = list[str]


def entry(indent: int, name: str, spelled: str, comments: Iterable[str] = (), note: str | None = None) -> Lines:
    """`name: spelled`, comments above it, the note behind it."""
    return [*above(comments, indent), *behind(_indented(f"{name}: {spelled}", indent), note)]


def item(indent: int, spelled: str, comments: Iterable[str] = ()) -> Lines:
    return [*above(comments, indent), _indented(f"- {spelled}", indent)]


def listed(indent: int, name: str, items: Sequence[str]) -> Lines:
    """`name: [a, b]`, over several lines where it is long."""
    lead = " " * indent
    whole = f"{name}: [{', '.join(items)}]"
    return textwrap.wrap(whole, WIDTH, initial_indent=lead, subsequent_indent=lead + "  ", break_long_words=False)


def above(comments: Iterable[str], indent: int = 0) -> Lines:
    """Whole lines, `#` and all."""
    lead = " " * indent + "# "
    lines = (line for comment in comments for line in _wrapped(_cleaned(comment), WIDTH - len(lead)))
    return [lead + line for line in lines]


def at_the_top(comments: Iterable[str]) -> Lines:
    """Blocks stay apart."""
    lines: Lines = []
    for comment in comments:
        if _LICENCE.search(comment):
            continue
        block = above([comment]) or ["#"]
        lines += block if block != ["#"] or (lines and lines[-1] != "#") else []
    while lines and lines[-1] == "#":
        lines.pop()
    return lines


def behind(line: str, comment: str | None) -> Lines:
    """`line` with the comment, which stands above where there is no room for it."""
    said = _cleaned(comment or "")
    if not said:
        return [line]
    whole = f"{line}  # {said}"
    if "\n" not in line and len(whole) <= WIDTH:
        return [whole]
    return [*above([said], len(line) - len(line.lstrip(" "))), line]


def _indented(text: str, indent: int) -> str:
    """The lines of a folded scalar too, where YAML skips what stands in front."""
    lead = " " * indent
    return lead + text.replace("\n", f"\n{lead}  ")


def _cleaned(comment: str) -> str:
    text = one_line(comment.expandtabs(4).rstrip())
    text = _DECORATION.sub("", text) if text.strip() else ""
    return "" if _NO_REMARK.match(text) else redacted(text)


def _wrapped(text: str, width: int) -> Lines:
    return textwrap.wrap(text, width, subsequent_indent=_indent(text), break_on_hyphens=False) if text.strip() else []


def _indent(text: str) -> str:
    return " " * (len(text) - len(text.lstrip()))
