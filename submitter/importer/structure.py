"""A reading's templates → values with references, and the variables, constants and decided inputs that these need.

| part of a template | in the job file |
|---|---|
| typed text | itself |
| an input | `${NAME}` of a variable that has its default; decided: of `imported.decided` |
| a variable of the script's own | `${NAME}` of a constant; where its name is not free, its own value in its place |
| arithmetic | `${{ … }}` |

What cannot be said so is written as its text, and the inputs behind it become decided.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from submitter.errors import Place, UsageError
from submitter.gang.secret_like import holds_secret
from submitter.importer.model import Arith, Decided, Defined, Definition, Input, Lit, Part, Reading, Template
from submitter.importer.names import (
    alias_of,
    definitions_of,
    frozen_inputs,
    inputs_of,
    keepers,
)
from submitter.importer.shell.template import text_of
from submitter.job import expression
from submitter.job.variables import NAME, PREDEFINED

MAX_PIECES = 100
"""Of one value: a definition in place of its name doubles with each that is made of two others."""
_INTEGER = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,17})", re.ASCII)
"""What bash and a job file read as the same number: no octal, and no product beyond 64 bits goes unseen."""


@dataclass(frozen=True)
class Ref:
    name: str


@dataclass(frozen=True)
class Sum:
    """`${{ expression }}`"""

    expression: str


Piece = str | Ref | Sum
Pieces = tuple[Piece, ...]


@dataclass(frozen=True)
class Named:
    """A variable or a constant of the job file."""

    name: str
    pieces: Pieces
    line: int | None
    comments: tuple[str, ...] = ()
    note: str | None = None


@dataclass(frozen=True)
class Names:
    variables: tuple[Named, ...]
    constants: tuple[Named, ...]
    decided: tuple[Decided, ...]
    predefined: tuple[str, ...]
    """HOME and USER, where they need no variable."""
    secret: tuple[Decided, ...]
    """Decided inputs whose text must not be written; those that are referred to are variables."""


@dataclass(frozen=True)
class Source:
    """A template with its line."""

    template: Template
    line: int


class Structure:
    """Ask for every value first; `names` then has what these need."""

    def __init__(self, reading: Reading, sources: Sequence[Source]) -> None:
        self._reading = reading
        self._definitions = definitions_of(source.template for source in sources)
        behind = [Source(one.template, one.line) for one in self._definitions]
        self._sources = sorted([*sources, *behind], key=lambda one: one.line)
        self._inputs = inputs_of(source.template for source in self._sources)
        self._frozen = frozen_inputs(reading, self._inputs)
        self._also_frozen: dict[str, str] = {}
        self._kept = keepers(self._definitions, reading.fixed, (*self._inputs, *self._frozen))
        told = sorted(self._definitions, key=lambda one: (bool(one.comments), -one.line))
        self._about = {alias_of(one) or one.name: one for one in told}
        """Whose comments are those of the variable: of several with some, the first."""
        self._texts: dict[str, str] = {}
        self._fills: dict[Definition, Pieces] = {}
        self._written: list[Pieces] = []
        for definition in self._definitions:
            self._fills[definition] = self._in_place(definition)

    def value(self, template: Template) -> Pieces:
        pieces = self._settled(template)
        self._written.append(pieces)
        return pieces

    def names(self) -> Names:
        constants = {one.name: self._constant(one) for one in sorted(self._kept, key=lambda one: one.line)}
        variables = {name: self._variable(name) for name in self._inputs}
        used = reached(self._written, {**variables, **constants})
        decided = self._decided()
        secret = [one for one in decided if holds_secret(one.name, one.text or "")]
        refused = {one.name for one in decided} - {one.name for one in secret}
        free = [name for name in variables if name in used - refused]
        return Names(
            tuple(variables[name] for name in free if not self._predefined(name)),
            tuple(one for name, one in constants.items() if name in used),
            tuple(one for one in decided if one.name in refused),
            tuple(filter(self._predefined, free)),
            tuple(secret),
        )

    def _in_place(self, definition: Definition) -> Pieces:
        """What stands where the script refers to `definition`."""
        if definition in self._kept:
            self._texts[definition.name] = text_of(definition.template)
            return (Ref(definition.name),)
        pieces = self._fill(definition.template)
        return pieces if len(pieces) <= MAX_PIECES else self._literal(definition.template)

    def _settled(self, template: Template) -> Pieces:
        """No piece has a `${` that would be read as a reference."""
        pieces = self._fill(template)
        broken = len(pieces) > 1 and any(isinstance(piece, str) and "${" in piece for piece in pieces)
        return self._literal(template) if broken or len(pieces) > MAX_PIECES else pieces

    def _fill(self, template: Template) -> Pieces:
        pieces: list[Piece] = []
        for piece in (piece for part in template for piece in self._part(part)):
            if isinstance(piece, str) and pieces and isinstance(pieces[-1], str):
                pieces[-1] += piece
            elif piece != "":
                pieces.append(piece)
        return tuple(pieces)

    def _part(self, part: Part) -> Pieces:
        if isinstance(part, Lit):
            return (part.text,)
        if isinstance(part, Input):
            return self._input(part)
        return self._fills[part.definition] if isinstance(part, Defined) else self._arith(part)

    def _input(self, part: Input) -> Pieces:
        frozen = self._frozen.get(part.name)
        if frozen is None:
            return self._ref(part)
        if part.default is None:
            return self._ref(part)
        if not frozen:  # wherever the job runs: the default is what counts
            return self._fill(part.default)
        self._freeze((part,))
        return self._ref(part)

    def _ref(self, part: Input) -> Pieces:
        if NAME.fullmatch(part.name) is None:
            return self._literal((part,))
        self._texts[part.name] = part.text
        return (Ref(part.name),)

    def _arith(self, part: Arith) -> Pieces:
        operands = [one.text if isinstance(one, Lit) else self._operand(one) for one in part.parts]
        words = [operand for operand in operands if operand is not None]
        whole = "".join(words).strip()
        if len(words) < len(operands) or not self._gives(whole, part.text):
            return self._literal((part,))
        return (Sum(whole),)

    def _operand(self, part: Part) -> str | None:
        pieces = self._fill((part,))
        match pieces:
            case [Ref(name)]:
                return name
            case [Sum(inner)]:
                return f"({inner})"
            case [str(text)] if _INTEGER.fullmatch(text):
                return text if text.isdigit() else f"({text})"
        return None

    def _gives(self, whole: str, text: str) -> bool:
        try:
            return str(expression.evaluate(whole, self._integer, Place(), as_bash=True)) == text
        except UsageError:
            return False

    def _integer(self, name: str) -> int:
        text = self._texts[name]
        if _INTEGER.fullmatch(text) is None:
            raise UsageError("job.expression", Place(), expression=name)
        return int(text)

    def _literal(self, template: Template) -> Pieces:
        """The text itself; the inputs behind it must not change any more."""
        self._freeze(template)
        return (text_of(template),)

    def _freeze(self, template: Template) -> None:
        for one in (template, *(definition.template for definition in definitions_of([template]))):
            self._also_frozen.update(_in_effect(one))

    def _constant(self, definition: Definition) -> Named:
        pieces = self._settled(definition.template)
        return Named(definition.name, pieces, definition.line, definition.comments, definition.note)

    def _variable(self, name: str) -> Named:
        about = self._about.get(name)
        line, comments = (about.line, about.comments) if about else (None, ())
        if name in self._frozen:  # a secret, or it would not become a variable
            return Named(name, (), line, comments)
        return Named(name, self._settled(self._inputs[name][0].default or ()), line, comments)

    def _decided(self) -> list[Decided]:
        """The reading's, then those that became so here, with the lines of what they are in."""
        added = {name: text for name, text in self._frozen.items() if name not in self._reading.decided}
        added |= {name: text for name, text in self._also_frozen.items() if name not in self._frozen}
        lines = self._lines(added)
        own = [replace(one, text=one.text and self._frozen[name]) for name, one in self._reading.decided.items()]
        return [*own, *(Decided(name, text, lines[name]) for name, text in added.items())]

    def _lines(self, names: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """Where each is read."""
        found: dict[str, dict[int, None]] = {name: {} for name in names}
        for source in self._sources:
            for name in inputs_of([source.template]):
                if name in found:
                    found[name][source.line] = None
        return {name: tuple(lines) for name, lines in found.items()}

    def _predefined(self, name: str) -> bool:
        """A job file knows HOME and USER; where they are unset it refuses, bash reads nothing."""
        first = self._inputs[name][0]
        return name in PREDEFINED and first.default is None and bool(first.text)


def reached(values: Iterable[Pieces], named: dict[str, Named]) -> set[str]:
    """The names that `values` refer to, directly or through others."""
    found: set[str] = set()
    waiting = [name for pieces in values for name in _names(pieces)]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _names(named[name].pieces) if name in named else ()
    return found


def _names(pieces: Pieces) -> Iterator[str]:
    for piece in pieces:
        if isinstance(piece, Ref):
            yield piece.name
        elif isinstance(piece, Sum):
            yield from expression.names_in(piece.expression)


def _in_effect(template: Template) -> dict[str, str]:
    """The inputs with their text, without those of a default that does not count."""
    found: dict[str, str] = {}
    waiting = list(template)
    while waiting:
        part = waiting.pop()
        if isinstance(part, Arith):
            waiting += part.parts
        elif isinstance(part, Input):
            found[part.name] = part.text
            waiting += (part.default or ()) if part.text == text_of(part.default or ()) else ()
    return found
