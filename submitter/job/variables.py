"""Variables: where a value comes from, and what `${NAME}` and `${{ 2 * NAME }}` become.

Lowest first: the job file, an environment variable of a declared name (an empty one counts as unset, as with bash's
`:-`), `--set NAME=VALUE`. Undeclared, only `${HOME}` and `${USER}` resolve.

| written | becomes |
|---|---|
| `${NAME}` alone, value from the file | that value with its type |
| `${NAME}` alone, value from the environment or `--set` | `RawText`: passed on unchanged, whatever Hydra makes of it |
| `a/${NAME}/b` | a string, in which Hydra and OmegaConf find nothing to interpret |
| `${{ 2 * NAME }}` alone | an integer |

A literal `${` and Hydra's own interpolations (`${oc.env:HOME}`) are written as `{$text: …}`: nothing in it is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from submitter.errors import Place, UsageError
from submitter.job import expression
from submitter.job.document import Entry, Node, Scalar, plain_kind
from submitter.job.document import Mapping as MappingNode
from submitter.job.model import Number, RawText, Variable
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

    def __init__(self, shown: str, environ: Mapping[str, str]) -> None:
        self._shown = shown
        self._environ = environ
        self._values: dict[str, Resolved] = {}
        self._expanded = 0

    def add(self, name: str, value: Resolved) -> None:
        self._values[name] = value

    def resolve(self, node: Node, key: str) -> Resolved:
        """The value of a scalar or of `{$text: …}`. UsageError: another kind of node, an undefined name, …"""
        place = Place(self._shown, node.line, key)
        text = raw_text(node, place)
        if text is not None:
            return Resolved(RawText(text), text, place)
        if not isinstance(node, Scalar):
            raise UsageError("job.not_a_scalar", place, key=key)
        if "${" not in node.text:
            return typed(node, place)
        return self._filled(list(parts(node.text, place)), place)

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
        return str(expression.evaluate(text, lambda name: self._integer(name, place), place))

    def _integer(self, name: str, place: Place) -> int:
        found = self._lookup(name, place)
        text = text_of(found.value)
        if isinstance(found.value, bool) or _INTEGER_TEXT.fullmatch(text) is None or len(text) > expression.MAX_DIGITS:
            limit = expression.MAX_DIGITS
            raise UsageError("job.operand", found.place, name=name, value=visible(text), limit=limit)
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
        check_text(text, _environment(name))
        return Resolved(text, text, place)


def raw_text(node: Node, place: Place) -> str | None:
    """The text of `{$text: …}`; None: `node` is something else. UsageError: `$text` beside other keys, or no text."""
    if not isinstance(node, MappingNode) or TEXT_KEY not in node.entries:
        return None
    text = node.entries[TEXT_KEY].node
    if len(node.entries) > 1 or not isinstance(text, Scalar) or (text.plain and plain_kind(text.text) != "str"):
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


def resolve_variables(
    declared: Mapping[str, Entry], shown: str, environ: Mapping[str, str], sets: Sequence[str]
) -> tuple[Scope, dict[str, Variable]]:
    """All variables with their values. UsageError: undefined or circular references, an undeclared `--set`."""
    given = _given(sets, declared)
    scope = Scope(shown, environ)
    variables: dict[str, Variable] = {}
    for name in _in_order(declared, shown):
        value, origin = _value(name, declared[name], scope, given, environ)
        scope.add(name, value)
        variables[name] = Variable(name, text_of(value.value), origin, value.place)
    return scope, {name: variables[name] for name in declared}


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


def _given(sets: Sequence[str], declared: Mapping[str, Entry]) -> dict[str, str]:
    given: dict[str, str] = {}
    for item in sets:
        name, equals, value = item.partition("=")
        if not equals:  # whatever was given may be a secret
            raise UsageError("job.set_form", Place(key="--set"))
        place = _set(name)
        if name not in declared:
            raise _undeclared(name, declared, place)
        given[name] = value
    return given


def _undeclared(name: str, declared: Iterable[str], place: Place) -> UsageError:
    near = nearest(name, declared)
    if near == NONE:
        return UsageError("job.set_undeclared_alone", place, name=visible(name))
    return UsageError("job.set_undeclared", place, name=name, nearest=near)


def _in_order(declared: Mapping[str, Entry], shown: str) -> list[str]:
    """The names, each after those that its value in the file refers to (whether or not that value is overridden)."""
    from graphlib import CycleError, TopologicalSorter

    graph = {name: _references(name, entry, declared, shown) for name, entry in declared.items()}
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        cycle: list[str] = error.args[1]
    place = Place(shown, declared[cycle[0]].line, f"variables.{cycle[0]}")
    # graphlib lists each name before the one that refers to it.
    raise UsageError("job.cycle", place, cycle=" -> ".join(reversed(cycle)))


def _references(name: str, entry: Entry, declared: Mapping[str, Entry], shown: str) -> set[str]:
    place = Place(shown, entry.line, f"variables.{name}")
    if NAME.fullmatch(name) is None:
        raise UsageError("job.variable_name", place, name=name)
    if isinstance(entry.node, Scalar):
        return check_references(entry.node.text, declared, Place(shown, entry.node.line, place.key))
    if raw_text(entry.node, place) is None:
        raise UsageError("job.not_a_scalar", place, key=place.key)
    return set()


def _value(
    name: str, entry: Entry, scope: Scope, given: Mapping[str, str], environ: Mapping[str, str]
) -> tuple[Resolved, Literal["file", "environment", "set"]]:
    if name in given:
        return Resolved(RawText(given[name]), given[name], _set(name)), "set"
    if text := environ.get(name, ""):
        check_text(text, _environment(name))
        return Resolved(RawText(text), text, _environment(name)), "environment"
    return scope.resolve(entry.node, f"variables.{name}"), "file"


def _set(name: str) -> Place:
    """Without the value: it may be a secret, and places are printed."""
    return Place(key=f"--set {name}")


def _environment(name: str) -> Place:
    return Place(key=f"environment variable {name}")
