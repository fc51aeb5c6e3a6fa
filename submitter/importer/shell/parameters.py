"""`$V`, `${V:-x}`, `${A[@]}`, `${V##p}`: what a parameter is, and what its operators make of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from submitter.errors import UsageError
from submitter.importer.model import Input, Template
from submitter.importer.shell import patterns
from submitter.importer.shell.flow import DiscardCommand
from submitter.importer.shell.state import Element, Shell, Variable
from submitter.importer.shell.template import EMPTY, inputs, joined, literal, never_empty, text_of
from submitter.importer.syntax import Node

if TYPE_CHECKING:
    from submitter.importer.shell.words import Atom, Piece, Words

_POSITIONAL = re.compile(r"[0-9]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Scalar:
    template: Template
    is_set: bool
    raw: str | None = None
    """The input's name, where it comes from outside without a default."""


@dataclass(frozen=True)
class Elements:
    """Of `$@`, `${A[@]}`; `star`: `$*`, `${A[*]}`."""

    items: tuple[Element, ...]
    star: bool


class Parameters:
    def __init__(self, words: Words) -> None:
        self._words = words
        self._shell = words.shell

    def scalar(self, name: str) -> Template:
        """`$name`. UsageError: it is not set, and the script has `set -u`."""
        found = self._scalar(name)
        return self._used(name, found)

    def pieces(self, node: Node, quoted: bool) -> Iterator[Piece]:
        """Of one `${…}`, in or outside double quotes."""
        for key in ("Width", "IsSet", "Plus"):
            if node.get(key):
                raise self._shell.fail("importer.unsupported", what="${%name}")
        name = node["Param"]["Value"]
        if node.get("Names"):
            yield from self._listed(self._names(name), node["Names"] == "*", quoted)
            return
        value = self._value(node, name)
        if node.get("Length"):
            yield self._atom(literal(str(self._length(value, name))), quoted)
        elif isinstance(value, Elements):
            yield from self._elements(node, value, quoted)
        elif node.get("Excl"):
            yield from self._indirect(node, value, quoted)
        else:
            yield from self._operated(node, name, value, quoted)

    def is_empty(self, node: Node) -> bool:
        """Of `$@`, `${A[@]}`: it has no elements."""
        value = self._value(node, node["Param"]["Value"])
        if not isinstance(value, Elements):
            return False
        return not (self._sliced(node, list(value.items)) if node.get("Slice") else value.items)

    # ── what a name is ───────────────────────────────────────────────────────────────────────────────────────────

    def _value(self, node: Node, name: str) -> Scalar | Elements:
        if name in ("@", "*"):
            return Elements(tuple(self._shell.params), star=name == "*")
        index = node.get("Index")
        if index is None:
            return self._scalar(name)
        sign = _plain_text(index)
        if sign in ("@", "*"):
            if node.get("Excl"):
                keys = tuple(Element(literal(str(key))) for key in self._items(name))
                return Elements(keys, star=sign == "*")
            return Elements(tuple(self._items(name).values()), star=sign == "*")
        element = self._items(name).get(self._key(name, index))
        return Scalar(element.template, True) if element else Scalar(EMPTY, False)

    def _items(self, name: str) -> dict[int | str, Element]:
        variable = self._shell.variable(name)
        if variable is None:
            found = self._scalar(name)
            return {0: Element(self._used(name, found))} if found.is_set else {}
        if variable.elements is None:
            return {0: Element(variable.value)} if variable.value is not None else {}
        if variable.keyed:
            return {key: variable.elements[key] for key in in_hash_order(variable.elements)}
        return dict(sorted(variable.elements.items(), key=lambda item: int(item[0])))

    def _key(self, name: str, index: Node) -> int | str:
        variable = self._shell.variable(name)
        return self.key(variable, index)

    def key(self, variable: Variable | None, index: Node) -> int | str:
        """An index of an array: arithmetic, or a text where the array has keys."""
        from submitter.importer.shell.arithmetic import Arithmetic

        if variable is not None and variable.keyed:
            return self._shell.decide(self._words.text(index))
        number = Arithmetic(self._words).number(index)
        if number < 0 and variable is not None and variable.elements:
            number += max(int(key) for key in variable.elements) + 1
        return number

    def _scalar(self, name: str) -> Scalar:
        if _POSITIONAL.fullmatch(name):
            return self._positional(int(name))
        if special := self._special(name):
            return special
        variable = self._shell.variable(name)
        if variable is None or variable.outside:
            return self._outside(name)
        if variable.elements is not None:
            first = variable.elements.get(0)
            return Scalar(first.template, True) if first else Scalar(EMPTY, False)
        return Scalar(variable.value or EMPTY, variable.value is not None)

    def _positional(self, number: int) -> Scalar:
        if number == 0:
            return Scalar(literal(self._shell.path), True)
        if number > len(self._shell.params):
            return Scalar(EMPTY, False)
        return Scalar(self._shell.params[number - 1].template, True)

    def _special(self, name: str) -> Scalar | None:
        from submitter.importer.shell.machine import special

        template = special(self._shell, name)
        return None if template is None else Scalar(template, True)

    def _outside(self, name: str) -> Scalar:
        given = self._shell.given(name)
        return Scalar(self._shell.input(name), given is not None, raw=name)

    def _used(self, name: str, found: Scalar) -> Template:
        """`$name` without an operator."""
        shell = self._shell
        if found.is_set or name in ("@", "*"):
            if found.raw and "u" in shell.options and text_of(found.template):
                shell.record.required.add(found.raw)
            return found.template
        if "u" in shell.options and not shell.quiet:
            if found.raw:
                raise shell.stops("importer.unset", name=name)
            raise shell.stops("importer.unset_positional" if name.isdigit() else "importer.unset_here", name=name)
        if found.raw is not None:
            shell.note("importer.no_default", name=name)
        return found.template

    def _names(self, prefix: str) -> list[Element]:
        names = {*self._shell.variables, *self._shell.record.environ}
        return [Element(literal(name)) for name in sorted(names) if name.startswith(prefix)]

    # ── lists ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _elements(self, node: Node, value: Elements, quoted: bool) -> Iterator[Piece]:
        items = list(value.items)
        if node.get("Slice"):
            items = self._sliced(node, items)
        if node.get("Exp"):
            items_or_word = self._list_operator(node["Exp"], items, quoted)
            if items_or_word is None:
                return
            if isinstance(items_or_word, _Word):
                yield from items_or_word.pieces
                return
            items = items_or_word
        if node.get("Repl"):
            items = [Element(self._replaced(node["Repl"], item.template), item.line) for item in items]
        yield from self._listed(items, value.star, quoted)

    def _listed(self, items: Sequence[Element], star: bool, quoted: bool) -> Iterator[Piece]:
        from submitter.importer.shell.words import Atom, Boundary

        if star and quoted:
            yield Atom(self._starred(items), quoted=True)
            return
        for number, item in enumerate(items):
            if number:
                yield Boundary()
            yield Atom(item.template, quoted=quoted, expanded=True, element=item)

    def _starred(self, items: Sequence[Element]) -> Template:
        between = self._between()
        pieces: list[Template] = []
        for number, item in enumerate(items):
            pieces += [literal(between), item.template] if number else [item.template]
        return joined(pieces)

    def _between(self) -> str:
        variable = self._shell.variables.get("IFS")
        if variable is None or variable.value is None:
            return " "
        return self._shell.decide(variable.value)[:1]

    def _list_operator(self, exp: Node, items: list[Element], quoted: bool) -> list[Element] | _Word | None:
        sign = exp["Op"]
        if sign in (":-", "-"):
            return items if self._counts(sign, items) else _Word(self._word(exp, quoted))
        if sign in (":+", "+"):
            return _Word(self._word(exp, quoted)) if self._counts(sign, items) else None
        return [Element(self._text_operator(sign, exp, item.template), item.line) for item in items]

    def _counts(self, sign: str, items: list[Element]) -> bool:
        """Whether a list is there; with a colon: and is not one empty text."""
        if sign[0] != ":" or len(items) != 1:
            return bool(items)
        return never_empty(items[0].template) or bool(self._shell.decide(items[0].template))

    def _sliced(self, node: Node, items: list[Element]) -> list[Element]:
        """`${A[@]:2:3}`: three elements from index 2 on; an array may have holes, `$@` begins with `$0`."""
        from submitter.importer.shell.arithmetic import Arithmetic

        name, cut = node["Param"]["Value"], node["Slice"]
        if name in ("@", "*"):
            whole = dict(enumerate([Element(literal(self._shell.path)), *items]))
        else:
            whole = {int(key): item for key, item in self._items(name).items()}
        start = Arithmetic(self._words).number(cut["Offset"])
        start = start + max(whole, default=-1) + 1 if start < 0 else start
        found = [item for key, item in whole.items() if key >= start >= 0]
        if not cut.get("Length"):
            return found
        return found[: max(Arithmetic(self._words).number(cut["Length"]), 0)]

    # ── operators on one text ────────────────────────────────────────────────────────────────────────────────────

    def _operated(self, node: Node, name: str, value: Scalar, quoted: bool) -> Iterator[Piece]:
        if exp := node.get("Exp"):
            handler = _OPERATORS.get(exp["Op"])
            if handler is not None:
                yield from handler(self, exp, name, value, quoted)
                return
            template = self._text_operator(exp["Op"], exp, self._used(name, value))
        elif node.get("Repl"):
            template = self._used(name, value)
            template = self._replaced(node["Repl"], template) if value.is_set else self._nothing(value)
        elif node.get("Slice"):
            template = self._substring(node["Slice"], self._used(name, value))
        else:
            template = self._used(name, value)
        yield self._atom(template, quoted)

    def _indirect(self, node: Node, value: Scalar, quoted: bool) -> Iterator[Piece]:
        name = self._shell.decide(value.template)
        if not _NAME.fullmatch(name) and not _POSITIONAL.fullmatch(name):
            raise self._shell.fail("importer.unsupported", what=f"${{!…}} of {name[:60]}")
        yield from self.pieces({**node, "Excl": False, "Param": {"Value": name}}, quoted)

    def _default(self, exp: Node, name: str, value: Scalar, quoted: bool) -> Iterator[Piece]:
        """`${V:-x}`, `${V-x}`."""
        if value.raw is not None:
            yield from self._input_or_default(exp, value.raw, quoted, colon=exp["Op"][0] == ":")
            return
        if exp["Op"] == "-":
            yield from [self._atom(value.template, quoted)] if value.is_set else self._word(exp, quoted)
            return
        if never_empty(value.template):
            yield self._atom(value.template, quoted)
        elif (raw := _could_be_empty(value.template)) is not None:
            yield from self._input_or_default(exp, raw.name, quoted)
        elif self._shell.decide(value.template):
            yield self._atom(value.template, quoted)
        else:
            yield from self._word(exp, quoted)

    def _input_or_default(self, exp: Node, name: str, quoted: bool, *, colon: bool = True) -> Iterator[Piece]:
        """An input whose default is here."""
        from submitter.importer.shell.words import Atom, Boundary, in_one

        shell = self._shell
        given = shell.given(name)
        if given and name in shell.record.sets:
            yield self._atom(shell.input(name), quoted)
            return
        if not colon and exp.get("Word"):
            yield from self._told_apart(exp, name, quoted)
            return
        if given:
            yield self._atom(shell.input(name, self._unneeded(exp, quoted)), quoted)
            return
        pieces = self._word_pieces(exp, quoted)
        atoms = in_one(pieces)
        default = joined(atom.template for atom in atoms)
        protected = bool(atoms) and all(atom.quoted for atom in atoms)
        mixed = not protected and any(atom.quoted for atom in atoms) and divisible(text_of(default))
        if any(isinstance(piece, Boundary) for piece in pieces) or (mixed and not quoted):
            shell.decide(shell.input(name, default, text=text_of(default)))
            yield from pieces
            return
        template = shell.input(name, default, text=text_of(default))
        yield Atom(template, quoted or protected, expanded=True, default_quoted=protected and not quoted)

    def _told_apart(self, exp: Node, name: str, quoted: bool) -> Iterator[Piece]:
        """`${V-x}` knows an empty V from one that is not set, a job file does not: what it is now stays."""
        shell = self._shell
        if shell.given(name) is None:
            shell.record.unset.add(name)
            shell.depends(shell.input(name))
            yield from self._word(exp, quoted)
        else:
            shell.depends(shell.input(name))
            yield self._atom(shell.input(name), quoted)

    def _unneeded(self, exp: Node, quoted: bool) -> Template | None:
        """The default of an input that is given: bash does not look at it, so nothing in it may do anything."""
        with _quiet(self._shell):
            try:
                return joined(atom.template for atom in self._word_atoms(exp, quoted))
            except (UsageError, DiscardCommand):
                return None

    def _assigning_default(self, exp: Node, name: str, value: Scalar, quoted: bool) -> Iterator[Piece]:
        """`${V:=x}`."""
        from submitter.importer.shell.words import in_one

        pieces = list(self._default({**exp, "Op": exp["Op"].replace("=", "-")}, name, value, quoted))
        template = joined(atom.template for atom in in_one(pieces))
        self._shell.assign(name, template)
        yield self._atom(template, quoted)  # the quotes in the word are gone by then

    def _required(self, exp: Node, name: str, value: Scalar, quoted: bool) -> Iterator[Piece]:
        """`${V:?why}`."""
        missing = not value.is_set or (exp["Op"][0] == ":" and not text_of(value.template))
        if missing and not self._shell.quiet:
            why = text_of(joined(atom.template for atom in self._word_atoms(exp, True)))
            raise self._shell.stops("importer.required", name=name, why=why[:200])
        if not never_empty(value.template):
            self._shell.record.required.update(leaf.name for leaf in inputs(value.template))
        yield self._atom(value.template, quoted)

    def _alternative(self, exp: Node, _name: str, value: Scalar, quoted: bool) -> Iterator[Piece]:
        """`${V:+x}`."""
        if not never_empty(value.template):
            self._shell.decide(value.template)
        present = value.is_set and (exp["Op"] == "+" or bool(text_of(value.template)))
        if value.raw is not None and exp["Op"] == "+" and not value.is_set:
            self._shell.record.unset.add(value.raw)
        yield from self._word(exp, quoted) if present else []

    def _text_operator(self, sign: str, exp: Node, template: Template) -> Template:
        text = self._shell.changed(template)
        if sign in _CASES:
            return literal(self._cased(sign, exp, text))
        if sign in ("#", "##", "%", "%%"):
            pattern = self._words.pattern(exp["Word"]) if exp.get("Word") else []
            strip = patterns.without_prefix if sign[0] == "#" else patterns.without_suffix
            return literal(strip(text, pattern, longest=len(sign) == 2))
        if sign == "@" and _plain_text(exp.get("Word", {})) in ("Q", "U", "L", "u"):
            how = _plain_text(exp["Word"])
            return literal({"U": str.upper, "L": str.lower, "u": _first_upper, "Q": _single_quoted}[how](text))
        raise self._shell.fail("importer.unsupported", what=f"${{…{sign}…}}")

    def _cased(self, sign: str, exp: Node, text: str) -> str:
        change = str.upper if sign[0] == "^" else str.lower
        pattern = self._words.pattern(exp["Word"]) if exp.get("Word") else None
        end = len(text) if len(sign) == 2 else 1
        return "".join(
            change(char) if index < end and (pattern is None or patterns.matches(pattern, char)) else char
            for index, char in enumerate(text)
        )

    def _replaced(self, repl: Node, template: Template) -> Template:
        text = self._shell.changed(template)
        pattern = self._words.pattern(repl["Orig"]) if repl.get("Orig") else []
        by = self._replacement(repl["With"]) if repl.get("With") else ""
        where = "/" if repl.get("All") else ""
        if not where and pattern and pattern[0].text in "#%" and pattern[0].special:
            where, pattern = pattern[0].text, pattern[1:]
        return literal(patterns.replaced(text, pattern, by, where))

    def _replacement(self, word: Node) -> str:
        atoms = self._words.atoms(word)
        if any("&" in atom.text and not atom.quoted for atom in atoms):  # since 5.2 it is what was found
            raise self._shell.fail("importer.unsupported", what="& in ${V/x/&}, which bash reads by its version")
        return self._shell.decide(joined(atom.template for atom in atoms))

    def _nothing(self, value: Scalar) -> Template:
        """Of what is not set nothing is replaced, not even the empty text."""
        self._shell.depends(value.template)
        if value.raw is not None:
            self._shell.record.unset.add(value.raw)
        return EMPTY

    def _substring(self, cut: Node, template: Template) -> Template:
        from submitter.importer.shell.arithmetic import Arithmetic

        text = self._shell.changed(template)
        start = Arithmetic(self._words).number(cut["Offset"])
        start = start + len(text) if start < 0 else start
        if start < 0 or start > len(text):
            return EMPTY
        if not cut.get("Length"):
            return literal(text[start:])
        length = Arithmetic(self._words).number(cut["Length"])
        end = start + length if length >= 0 else len(text) + length
        if end < start:
            raise self._shell.stops("importer.bad_substring")
        return literal(text[start:end])

    def _length(self, value: Scalar | Elements, name: str) -> int:
        if isinstance(value, Elements):
            return len(value.items)
        return len(self._shell.decide(self._used(name, value)))

    def _word(self, exp: Node, quoted: bool) -> Iterator[Piece]:
        yield from self._word_pieces(exp, quoted)

    def _word_atoms(self, exp: Node, quoted: bool) -> list[Atom]:
        from submitter.importer.shell.words import in_one

        return in_one(self._word_pieces(exp, quoted))

    def _word_pieces(self, exp: Node, quoted: bool) -> list[Piece]:
        """Whatever is not quoted in it may be split."""
        from submitter.importer.shell.words import Atom

        pieces = self._words.operand(exp["Word"], quoted) if exp.get("Word") else []
        return [replace(piece, expanded=True) if isinstance(piece, Atom) else piece for piece in pieces]

    def _atom(self, template: Template, quoted: bool) -> Atom:
        from submitter.importer.shell.words import Atom

        return Atom(template, quoted=quoted, expanded=True)


@dataclass(frozen=True)
class _Word:
    pieces: Iterator[Piece]


_OPERATORS = {
    ":-": Parameters._default, "-": Parameters._default,
    ":=": Parameters._assigning_default, "=": Parameters._assigning_default,
    ":?": Parameters._required, "?": Parameters._required,
    ":+": Parameters._alternative, "+": Parameters._alternative,
}  # fmt: skip
_CASES = ("^", "^^", ",", ",,")


_FNV_OFFSET, _FNV_PRIME, _BUCKETS = 2166136261, 16777619, 1024


def in_hash_order(keys: Iterable[int | str]) -> list[int | str]:
    """As bash walks an associative array: hashlib.c's FNV-1 in 1,024 buckets, the newest first in each."""

    def bucket(key: int | str) -> int:
        value = _FNV_OFFSET
        for byte in str(key).encode():
            value = ((value * _FNV_PRIME) & 0xFFFFFFFF) ^ byte
        return value % _BUCKETS

    return [key for _, _, key in sorted((bucket(key), -number, key) for number, key in enumerate(keys))]


def _could_be_empty(template: Template) -> Input | None:
    """A template that is one input, given or not, whose own default says nothing."""
    part = template[0] if len(template) == 1 else None
    if isinstance(part, Input) and (part.default is None or part.default == EMPTY):
        return part
    return None


@contextmanager
def _quiet(shell: Shell) -> Iterator[None]:
    variables, cwd, status = dict(shell.variables), shell.cwd, shell.status
    shell.quiet += 1
    try:
        yield
    finally:
        shell.quiet -= 1
        shell.variables, shell.cwd, shell.status = variables, cwd, status


def _plain_text(word: Node) -> str:
    """The text of a word without expansions; else the empty one."""
    parts = word.get("Parts", [])
    return parts[0].get("Value", "") if len(parts) == 1 and parts[0]["Type"] == "Lit" else ""


def divisible(text: str) -> bool:
    return any(char in " \t\n" + patterns.SPECIAL for char in text)


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _single_quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
