"""Variables: what `${NAME}` and `${{ 2 * NAME }}` become. Undeclared, only `${HOME}` and `${USER}` resolve.

| written | becomes |
|---|---|
| `${NAME}` alone, value from the file | that value with its type |
| `${NAME}` alone, value from the environment or `--set` | `RawText`: passed on unchanged, whatever Hydra makes of it |
| `a/${NAME}/b` | a string, in which Hydra and OmegaConf find nothing to interpret |
| `${{ 2 * NAME }}` alone | an integer |

Read verbatim, a string is `RawText` in all of these.

A literal `${` and Hydra's own interpolations (`${oc.env:HOME}`) are written as `{$text: …}`: nothing in it is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from submitter.errors import Place, UsageError
from submitter.job import expression
from submitter.job.document import Mapping as MappingNode
from submitter.job.document import Node, Scalar, is_text
from submitter.job.model import Number, RawText
from submitter.job.nearest import NONE, nearest
from submitter.job.scalars import Resolved, text_of, typed, visible

PREDEFINED = ("HOME", "USER")
MAX_EXPANDED_CHARS = 1 << 20
"""All replaced text of one job together. Variables that double each other would otherwise fill the memory."""
TEXT_KEY = "$text"

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HOLE = re.compile(r"\$\{\{(?P<expression>.*?)\}\}|\$\{(?P<name>[^{}]*)\}|(?P<broken>\$\{)", re.DOTALL)
_INTEGER_TEXT = re.compile(r"[+-]?[0-9](?:_?[0-9])*", re.ASCII)


@dataclass(frozen=True)
class Reference:
    name: str


@dataclass(frozen=True)
class Expression:
    text: str


Part = str | Reference | Expression


class Scope:
    """The values of all variables, for the scalars that refer to them."""

    def __init__(self, shown: str, environ: Mapping[str, str], *, as_bash: bool = False) -> None:
        """`as_bash`: what bash computes otherwise is refused."""
        self._shown = shown
        self._as_bash = as_bash
        self._environ = environ
        self._values: dict[str, Resolved] = {}
        self._expanded = 0

    def add(self, name: str, value: Resolved) -> None:
        self._values[name] = value

    def resolve(self, node: Node, key: str, *, verbatim: bool = False) -> Resolved:
        """The value of a scalar or of `{$text: …}`. UsageError: another kind of node, an undefined name, …"""
        place = Place(self._shown, node.line, key)
        text = raw_text(node, place)
        if text is not None:
            return Resolved(RawText(text), text, place)
        if not isinstance(node, Scalar):
            raise UsageError("job.not_a_scalar", place, key=key)
        if verbatim and is_text(node) and "${" not in node.text:
            return Resolved(RawText(node.text), node.text, place)
        if "${" not in node.text:
            return typed(node, place)
        filled = self._filled(list(parts(node.text, place)), place)
        if verbatim and isinstance(filled.value, str):
            return Resolved(RawText(filled.value), filled.spelling, filled.place)
        return filled

    def _filled(self, pieces: list[Part], place: Place) -> Resolved:
        match pieces:
            case [Reference(name)]:
                return self._lookup(name, place)
            case [Expression(text)]:
                number = self._evaluate(text, place)
                return Resolved(Number(number), number, place)
        text = "".join(self._text(piece, place) for piece in pieces)
        return Resolved(text, text, place)

    def _text(self, piece: Part, place: Place) -> str:
        if isinstance(piece, Reference):
            return text_of(self._lookup(piece.name, place).value)
        return self._evaluate(piece.text, place) if isinstance(piece, Expression) else piece

    def _evaluate(self, text: str, place: Place) -> str:
        lookup = partial(self._integer, place=place)
        return str(expression.evaluate(text, lookup, place, as_bash=self._as_bash))

    def _integer(self, name: str, place: Place) -> int:
        found = self._lookup(name, place)
        text = text_of(found.value)
        if isinstance(found.value, bool) or _INTEGER_TEXT.fullmatch(text) is None or len(text) > expression.MAX_DIGITS:
            limit = expression.MAX_DIGITS
            raise UsageError("job.operand", found.place, name=name, value=visible(text), limit=limit)
        if text.lstrip("+-").startswith("0") and abs(int(text)) > expression.MAX_SAME_OCTAL:
            raise UsageError("job.operand_octal", found.place, name=name, value=text)
        return int(text)

    def _lookup(self, name: str, place: Place) -> Resolved:
        found = self._found(name, place)
        self._expanded += len(found.spelling)
        if self._expanded > MAX_EXPANDED_CHARS:
            raise UsageError("job.expanded", place, limit=MAX_EXPANDED_CHARS)
        return found

    def _found(self, name: str, place: Place) -> Resolved:
        if name in self._values:
            return self._values[name]
        if name not in PREDEFINED:
            raise undefined(name, self._values, place)
        text = self._environ.get(name, "")
        if not text:
            raise UsageError("job.environment_lacks", place, name=name)
        check_text(text, environment(name))
        return Resolved(text, text, place)


def raw_text(node: Node, place: Place) -> str | None:
    """The text of `{$text: …}`; None: `node` is something else. UsageError: `$text` beside other keys, or no text."""
    if not isinstance(node, MappingNode) or TEXT_KEY not in node.entries:
        return None
    text = node.entries[TEXT_KEY].node
    if len(node.entries) > 1 or not isinstance(text, Scalar) or not is_text(text):
        raise UsageError("job.text_form", place)
    return text.text


def check_text(text: str, place: Place) -> None:
    """UsageError: text from outside the file that could not be written into a request, or given to a process."""
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise UsageError("job.not_text", place)


def parts(text: str, place: Place) -> Iterator[Part]:
    """The literal pieces, references and expressions of `text`, in order. UsageError: `${` that is neither."""
    end = 0
    for hole in _HOLE.finditer(text):
        if hole.start() > end:
            yield text[end : hole.start()]
        end = hole.end()
        yield _part(hole, place)
    if end < len(text):
        yield text[end:]


def _part(hole: re.Match[str], place: Place) -> Part:
    if hole["expression"] is not None:
        return Expression(hole["expression"])
    if hole["broken"] is not None or NAME.fullmatch(hole["name"]) is None:
        raise UsageError("job.reference", place, reference=hole[0])
    return Reference(hole["name"])


def check_references(text: str, declared: Iterable[str], place: Place) -> set[str]:
    """The declared variables that `text` refers to. UsageError: it refers to one that is not defined."""
    names = set(_names(text, place))
    for name in sorted(names.difference(declared, PREDEFINED)):
        raise undefined(name, declared, place)
    return names.intersection(declared)


def undefined(name: str, declared: Iterable[str], place: Place) -> UsageError:
    near = nearest(name, [*declared, *PREDEFINED])
    if near == NONE:
        return UsageError("job.undefined_alone", place, name=name)
    return UsageError("job.undefined", place, name=name, nearest=near)


def _names(text: str, place: Place) -> Iterator[str]:
    for part in parts(text, place):
        if isinstance(part, Reference):
            yield part.name
        elif isinstance(part, Expression):
            yield from expression.names_in(part.text)


def environment(name: str) -> Place:
    """Without the value: it may be a secret, and places are printed."""
    return Place(key=f"environment variable {name}")
