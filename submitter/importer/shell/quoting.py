"""Backslashes and quotes, in the spellings that shfmt leaves in its tree."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ESCAPE = re.compile(r"\\(?:x(?P<hex>[0-9A-Fa-f]{1,2})|u(?P<u>[0-9A-Fa-f]{1,4})|U(?P<U>[0-9A-Fa-f]{1,8})"
                     r"|(?P<octal>[0-7]{1,3})|c(?P<control>.)|(?P<other>.))", re.DOTALL)  # fmt: skip
_SINGLE = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "E": "\x1b",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_IN_DOUBLE = re.compile(r'\\(\n|[$`"\\])')
_IN_HEREDOC = re.compile(r"\\(\n|[$`\\])")


def unquoted(text: str) -> Iterator[tuple[str, bool]]:
    """Runs of typed text with whether each was quoted by a backslash."""
    run, index = "", 0
    while index < len(text):
        if text[index] != "\\":
            run += text[index]
            index += 1
            continue
        if index + 1 == len(text):  # at the end of the file
            break
        if run:
            yield run, False
            run = ""
        if text[index + 1] != "\n":
            yield text[index + 1], True
        index += 2
    if run:
        yield run, False


def in_double_quotes(text: str, *, heredoc: bool = False) -> str:
    pattern = _IN_HEREDOC if heredoc else _IN_DOUBLE
    return pattern.sub(lambda match: "" if match[1] == "\n" else match[1], text)


def ansi_c(text: str) -> str:
    """`$'…'`; what follows a NUL is lost, as in bash."""
    made = _ESCAPE.sub(_ansi_c_escape, text).partition("\0")[0]
    if not any("\ue100" <= char <= "\ue1ff" for char in made):
        return made
    # Bytes that were written one by one may be one character together.
    pieces = [bytes([ord(char) - 0xE100]) if "\ue100" <= char <= "\ue1ff" else char.encode() for char in made]
    return b"".join(pieces).decode(errors="surrogateescape")


def _ansi_c_escape(match: re.Match[str]) -> str:
    for name, base in (("hex", 16), ("u", 16), ("U", 16), ("octal", 8)):
        if match[name] is not None:
            code = int(match[name], base)
            if name in ("hex", "octal") and code & 0xFF > 0x7F:
                return chr(0xE100 + (code & 0xFF))
            return chr(code & 0xFF if name == "octal" else code) if code <= 0x10FFFF else match[0]
    if match["control"] is not None:
        return chr(ord(match["control"]) & 0x1F)
    return _SINGLE.get(match["other"], match[0])
