"""Text → a YAML scalar that both npurun and `yaml.safe_load` read as this very text, also after `yaml.safe_dump`."""

from __future__ import annotations

import io
import re
from functools import cache
from typing import Any

import yaml

from submitter.errors import Place, UsageError
from submitter.importer.structure import Pieces, Ref, Sum
from submitter.job.document import Scalar, plain_kind
from submitter.job.hydra_grammar import EXPONENT
from submitter.job.scalars import text_of, typed

VALUE = frozenset({"int", "float", "bool", "null"})
"""An argument's: `null` stays null, since no grammar but Hydra's reads it."""
VARIABLE = frozenset({"int", "float", "bool"})
FLAG = frozenset({"int", "float"})
"""`safe_dump` writes True as true, and a flag keeps its spelling."""
TEXT: frozenset[str] = frozenset()
WORD = frozenset({"str"})
"""Taken as it stands: `1e-6` is no number there, as it is no number for YAML."""

WIDTH = 120
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,99}", re.ASCII)
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\x1b": "\\e"}


def written(pieces: Pieces) -> str:
    """With references, as a job file has it."""
    return "".join(map(_written, pieces))


def scalar(pieces: Pieces, kinds: frozenset[str], column: int = 0) -> str:
    """`kinds`: what may stand without quotes though it is no string. From `column` on it keeps to the line's width."""
    text = written(pieces)
    if any(not isinstance(piece, str) for piece in pieces):
        return _styled(text, column)
    if "${" in text or (kinds != WORD and _reading(text, plain=False, kinds=kinds) != text):
        return f"{{$text: {_quoted(text, column + 8)}}}"
    kind = plain_kind(text)
    if kind == "str":
        return _styled(text, column)
    return text if kind in kinds and _is_canonical(text, kind) else _quoted(text, column)


def is_plain_text(text: str) -> bool:
    """It is a string even where no quotes are around it."""
    return plain_kind(text) == "str" and EXPONENT.fullmatch(text) is None


def key(text: str) -> str:
    return _styled(text, 0) if plain_kind(text) == "str" else _quoted(text, 0)


def _written(piece: str | Ref | Sum) -> str:
    if isinstance(piece, str):
        return piece
    return f"${{{piece.name}}}" if isinstance(piece, Ref) else f"${{{{ {piece.expression} }}}}"


def _reading(text: str, *, plain: bool, kinds: frozenset[str]) -> str | None:
    """What a job file makes of the scalar; None: it refuses it, or takes for a number what has to be a string."""
    try:
        value = typed(Scalar(text, plain, 1), Place()).value
    except UsageError:
        return None
    return text_of(value) if kinds or isinstance(value, str) else None


def _is_canonical(text: str, kind: str) -> bool:
    """`safe_dump` writes it again as it is; bools alone are canonical in npurun too."""
    if kind == "bool":
        return text in ("True", "False")
    if kind == "null":
        return text == "null"
    if kind == "int":
        return _INTEGER.fullmatch(text) is not None
    return (
        str(yaml.safe_dump(yaml.safe_load(text))).split("\n")[0] == text
        and _reading(text, plain=True, kinds=VALUE) == text
    )


def _styled(text: str, column: int) -> str:
    if column + len(text) <= WIDTH and _is_plain(text):
        return text
    return _quoted(text, column)


def _is_plain(text: str) -> bool:
    return text.isprintable() and bool(_emitter().analyze_scalar(text).allow_block_plain)


def _quoted(text: str, column: int) -> str:
    single = "'" not in text or '"' in text or "\\" in text
    spelled = "'" + text.replace("'", "''") + "'" if single and text.isprintable() else f'"{_escaped(text)}"'
    return spelled if column + len(spelled) <= WIDTH else _folded(text, column)


def _folded(text: str, column: int) -> str:
    """In double quotes over several lines, cut behind a space, a comma or a slash where there is one."""
    lines: list[str] = []
    room = max(WIDTH - column - 2, 20)
    rest = _escaped(text)
    while len(rest) > room:
        at = _cut(rest, room)
        lines.append(rest[:at])
        # A space at the start of a line is not read.
        rest = "\\" + rest[at:] if rest[at] == " " else rest[at:]
    return '"' + "\\\n".join([*lines, rest]) + '"'


def _cut(text: str, room: int) -> int:
    near = max(text.rfind(mark, room // 2, room) for mark in " ,/")
    at = near + 1 if near > 0 else room
    # Not inside an escape: the longest are 10 characters.
    for start in [found.start() for found in _ESCAPED.finditer(text, 0, at + 10)]:
        end = _ESCAPED.match(text, start).end()  # type: ignore[union-attr]
        if start < at < end:
            return start
    return at


_ESCAPED = re.compile(r"\\(?:x[0-9A-F]{2}|u[0-9A-F]{4}|U[0-9A-F]{8}|.)")


def _escaped(text: str) -> str:
    return "".join(_ESCAPES.get(char) or (char if char.isprintable() else _code(ord(char))) for char in text)


def _code(number: int) -> str:
    if number <= 0xFF:
        return f"\\x{number:02X}"
    return f"\\u{number:04X}" if number <= 0xFFFF else f"\\U{number:08X}"


@cache
def _emitter() -> Any:
    return yaml.emitter.Emitter(io.StringIO(), allow_unicode=True)
