"""bash's patterns: `case`, `[[ == ]]`, `${V##x}` and file names. A quoted character stands for itself."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

SPECIAL = "*?["
CLASSES = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "space": r"\s",
    "punct": r"!-/:-@\[-`{-~", "xdigit": "0-9A-Fa-f", "blank": r" \t", "word": r"\w",
}  # fmt: skip
_QUANTIFIERS = {"?": "?", "*": "*", "+": "+", "@": "", "!": ""}
_MAX_ENTRIES = 20_000
"""Directory entries looked at for one pattern."""


@dataclass(frozen=True)
class Char:
    """One character of a word. `special`: a pattern may read it as `*`, `?`, `[` …"""

    text: str
    special: bool


Pattern = Sequence[Char]


def has_special(pattern: Pattern) -> bool:
    """A file name pattern: `[` counts only with its `]`, as bash has it."""
    for index, char in enumerate(pattern):
        if _extended_end(pattern, index) is not None:
            return True
        if char.special and (char.text in "*?" or (char.text == "[" and _bracket_end(pattern, index) is not None)):
            return True
    return False


def regex(pattern: Pattern, *, slash: bool = True) -> str:
    """As a Python regular expression for the whole text. `slash`: `*` and `?` match one too."""
    any_char = "." if slash else "[^/]"
    out, index = [], 0
    while index < len(pattern):
        char = pattern[index]
        closing = _extended_end(pattern, index)
        if closing is not None:
            out.append(_extended(char.text, pattern[index + 2 : closing], slash=slash))
            index = closing + 1
            continue
        end = _bracket_end(pattern, index) if char.special and char.text == "[" else None
        if end is not None:
            out.append(_bracket(pattern[index + 1 : end]))
            index = end + 1
            continue
        if char.special and char.text in "*?":
            out.append(f"{any_char}*" if char.text == "*" else any_char)
        else:
            out.append(re.escape(char.text))
        index += 1
    return "".join(out)


def matches(pattern: Pattern, text: str) -> bool:
    return re.fullmatch(regex(pattern), text, re.DOTALL) is not None


def without_prefix(text: str, pattern: Pattern, *, longest: bool) -> str:
    """`${V#p}`, `${V##p}`."""
    compiled = re.compile(regex(pattern), re.DOTALL)
    ends = range(len(text), -1, -1) if longest else range(len(text) + 1)
    return next((text[end:] for end in ends if compiled.fullmatch(text, 0, end)), text)


def without_suffix(text: str, pattern: Pattern, *, longest: bool) -> str:
    """`${V%p}`, `${V%%p}`."""
    compiled = re.compile(regex(pattern), re.DOTALL)
    starts = range(len(text) + 1) if longest else range(len(text), -1, -1)
    return next((text[:start] for start in starts if compiled.fullmatch(text, start)), text)


def replaced(text: str, pattern: Pattern, by: str, where: str) -> str:
    """`${V/p/by}`; `where`: "/" every match, "#" at the start, "%" at the end, "" the first."""
    body = regex(pattern)
    if not body:
        return by + text if where == "#" else text + by if where == "%" else text
    compiled = re.compile({"#": rf"\A{body}", "%": rf"{body}\Z"}.get(where, body), re.DOTALL)
    out, position = "", 0
    while found := compiled.search(text, position):
        out += text[position : found.start()] + by
        position = found.end()
        if where != "/" or position >= len(text) or found.end() == found.start():
            break
    return out + text[position:]


def files(pattern: Pattern, cwd: str) -> list[str]:
    """The names that the pattern stands for, sorted; empty: none, and the word stays as it is."""
    text = "".join(char.text for char in pattern)
    absolute = text.startswith("/")
    segments = list(_segments(pattern))
    found = ["/"] if absolute else [""]
    for number, segment in enumerate(segments):
        found = [path for base in found for path in _step(base, segment, cwd, number == len(segments) - 1)]
    return sorted(found)


def _segments(pattern: Pattern) -> Iterator[list[Char]]:
    part: list[Char] = []
    for char in pattern:
        if char.text == "/":
            if part:
                yield part
            part = []
        else:
            part.append(char)
    yield part


def _step(base: str, segment: list[Char], cwd: str, last: bool) -> Iterator[str]:
    if not segment:  # a slash at the end: folders
        if os.path.isdir(os.path.join(cwd, base)):  # noqa: PTH112, PTH118  # text work, not paths
            yield base
        return
    tail = "" if last else "/"
    if not has_special(segment):
        name = base + "".join(char.text for char in segment)
        if os.path.lexists(os.path.join(cwd, name)):  # noqa: PTH118
            yield name + tail
        return
    compiled = re.compile(regex(segment, slash=False), re.DOTALL)
    hidden = segment[0].text == "."
    for name in _names(os.path.join(cwd, base)):  # noqa: PTH118
        if (hidden or not name.startswith(".")) and compiled.fullmatch(name):
            yield base + name + tail


def _names(folder: str) -> list[str]:
    try:
        with os.scandir(folder or ".") as entries:
            return [entry.name for _, entry in zip(range(_MAX_ENTRIES), entries, strict=False)]
    except OSError:
        return []


def _extended_end(pattern: Pattern, start: int) -> int | None:
    """Where the `)` is of the `+(…)`, `@(…)` … at `start`."""
    begins = pattern[start].special and pattern[start].text in _QUANTIFIERS
    if not begins or start + 1 >= len(pattern) or not pattern[start + 1].special or pattern[start + 1].text != "(":
        return None
    depth = 0
    for index in range(start + 1, len(pattern)):
        text = pattern[index].text if pattern[index].special else ""
        depth += {"(": 1, ")": -1}.get(text, 0)
        if depth == 0:
            return index
    return None


def _extended(sign: str, inner: Pattern, *, slash: bool) -> str:
    choices, depth, start = [], 0, 0
    for index, char in enumerate(inner):
        text = char.text if char.special else ""
        depth += {"(": 1, ")": -1}.get(text, 0)
        if text == "|" and depth == 0:
            choices.append(inner[start:index])
            start = index + 1
    choices.append(inner[start:])
    body = "|".join(regex(choice, slash=slash) for choice in choices)
    return rf"(?:(?!(?:{body})\Z).*)" if sign == "!" else f"(?:{body}){_QUANTIFIERS[sign]}"


def _bracket_end(pattern: Pattern, start: int) -> int | None:
    """Where the `]` is that closes the `[` at `start`."""
    index = start + 1
    if index < len(pattern) and pattern[index].text in "!^":
        index += 1
    first = index
    while index < len(pattern):
        char = pattern[index]
        if char.text == "[" and index + 1 < len(pattern) and pattern[index + 1].text == ":":
            closing = _class_end(pattern, index + 2)
            if closing is not None:
                index = closing
                continue
        if char.text == "]" and char.special and index > first:
            return index
        if char.text == "/":
            return None
        index += 1
    return None


def _class_end(pattern: Pattern, start: int) -> int | None:
    """Behind the `:]` of `[:name:]`."""
    text = "".join(char.text for char in pattern[start:])
    close = text.find(":]")
    return start + close + 2 if close > 0 and text[:close] in CLASSES else None


def _bracket(inner: Pattern) -> str:
    text = "".join(char.text for char in inner)
    negate = text[:1] in ("!", "^")
    body = text[1:] if negate else text
    out, index = [], 0
    while index < len(body):
        if body.startswith("[:", index) and (close := body.find(":]", index)) > 0:
            out.append(CLASSES.get(body[index + 2 : close], ""))
            index = close + 2
            continue
        if index + 2 < len(body) and body[index + 1] == "-":
            low, high = body[index], body[index + 2]
            out.append(f"{re.escape(low)}-{re.escape(high)}" if low <= high else "")
            index += 3
            continue
        out.append(re.escape(body[index]))
        index += 1
    inside = "".join(out)
    if not inside:
        return "." if negate else "(?!)"
    return f"[{'^' if negate else ''}{inside}]"
