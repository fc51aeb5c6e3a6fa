"""Words → fields, in bash's order: braces, tilde, parameters, commands and arithmetic, splitting, file names, quotes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from submitter.importer.model import Defined, Input, Lit, Template
from submitter.importer.shell import patterns
from submitter.importer.shell.arithmetic import template_of
from submitter.importer.shell.braces import expanded
from submitter.importer.shell.parameters import Parameters
from submitter.importer.shell.quoting import ansi_c, in_double_quotes, unquoted
from submitter.importer.shell.state import Element, Shell
from submitter.importer.shell.template import EMPTY, is_literal, joined, literal, never_empty, text_of
from submitter.importer.syntax import Node, line_of

if TYPE_CHECKING:
    from submitter.importer.shell.statements import Statements

_WHITESPACE = " \t\n"
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_USER = re.compile(r"~([A-Za-z_][A-Za-z0-9_-]*)?(?=/|:|$)")


@dataclass(frozen=True)
class Atom:
    """A stretch of one field. `quoted`: stands for itself; `expanded`: came out of an expansion, so it may be split."""

    template: Template
    quoted: bool = False
    expanded: bool = False

    @property
    def text(self) -> str:
        return text_of(self.template)


@dataclass(frozen=True)
class Boundary:
    """Between two elements of `"${A[@]}"`; `element` is the one that begins here."""

    element: Element


Piece = Atom | Boundary


class Words:
    def __init__(self, shell: Shell, statements: Statements) -> None:
        self.shell = shell
        self.statements = statements
        self._parameters = Parameters(self)

    # ── whole words ──────────────────────────────────────────────────────────────────────────────────────────────

    def fields(self, words: Iterable[Node]) -> list[Element]:
        """The arguments of a command, or the elements of an array."""
        return [field for word in words for field in self._fields_of(word)]

    def text(self, word: Node | None) -> Template:
        """One text, without splitting: the value of an assignment, a file's name, what `case` looks at."""
        return joined(atom.template for atom in self.atoms(word)) if word else EMPTY

    def atoms(self, word: Node, *, quoted: bool = False) -> list[Atom]:
        """As `text`, with what was quoted; several elements are joined by a space."""
        pieces = self._pieces(word.get("Parts", []), quoted=quoted, assignment=not quoted)
        return [_space(piece) if isinstance(piece, Boundary) else piece for piece in _without_first_boundary(pieces)]

    def default_atoms(self, word: Node, quoted: bool) -> list[Atom]:
        """The word behind `:-`, in or outside double quotes."""
        pieces = self._pieces(word.get("Parts", []), quoted=quoted)
        return [_space(piece) if isinstance(piece, Boundary) else piece for piece in _without_first_boundary(pieces)]

    def pattern(self, word: Node, *, quoted: bool = False) -> list[patterns.Char]:
        """For `case`, `[[ == ]]`, `${V%p}`: whatever it hangs on is decided."""
        atoms = self.atoms(word, quoted=quoted)
        return [
            patterns.Char(char, not atom.quoted) for atom in atoms for char in self.shell.decide(atom.template)
        ]

    def heredoc(self, word: Node, *, plain: bool) -> Template:
        if plain:
            return literal("".join(part.get("Value", "") for part in word.get("Parts", [])))
        pieces = self._pieces(word.get("Parts", []), quoted=True, heredoc=True)
        return joined(piece.template for piece in pieces if isinstance(piece, Atom))

    def parameter_value(self, name: str) -> Template:
        return self._parameters.scalar(name)

    # ── expansion ────────────────────────────────────────────────────────────────────────────────────────────────

    def _fields_of(self, word: Node) -> Iterator[Element]:
        self.shell.step()
        line = line_of(word)
        for parts in expanded(word.get("Parts", [])):
            pieces = list(self._pieces(parts, assignment=_looks_assigning(parts)))
            for pieces_of_one, element in _split_at_boundaries(pieces):
                for atoms in self._split(pieces_of_one):
                    yield from self._named(atoms, element, line)

    def _named(self, atoms: list[Atom], element: Element | None, line: int) -> Iterator[Element]:
        template = joined(atom.template for atom in atoms)
        like = element if element is not None and element.template == template else Element(EMPTY, line)
        pattern = [patterns.Char(char, not atom.quoted) for atom in atoms for char in atom.text]
        if "f" in self.shell.options or not patterns.has_special(pattern):
            yield replace(like, template=template)
            return
        found = patterns.files(pattern, self.shell.cwd)
        if found:
            self.shell.decide(template)
            self.shell.note("importer.glob", text=text_of(template)[:80], count=len(found))
            yield from (replace(like, template=literal(name)) for name in found)
        elif "nullglob" not in self.shell.options:
            yield replace(like, template=template)

    def _pieces(
        self, parts: Sequence[Node], *, quoted: bool = False, assignment: bool = False, heredoc: bool = False
    ) -> Iterator[Piece]:
        for index, part in enumerate(parts):
            if part["Type"] == "Lit":
                yield from self._literal(part, index == 0, quoted=quoted, assignment=assignment, heredoc=heredoc)
                continue
            handler = _PARTS.get(part["Type"])
            if handler is None:
                raise self.shell.fail("importer.unsupported", line_of(part), what=part["Type"])
            yield from handler(self, part, quoted)

    def _literal(
        self, part: Node, first: bool, *, quoted: bool, assignment: bool, heredoc: bool
    ) -> Iterator[Atom]:
        text = part["Value"]
        if quoted:
            yield Atom(literal(in_double_quotes(text, heredoc=heredoc)), quoted=True)
            return
        if first and text.startswith("~"):
            home, text = self._tilde(text)
            yield from home
        if assignment and "~" in text:
            yield from self._tildes_inside(text)
            return
        yield from _unquoted_atoms(text)

    def _tildes_inside(self, text: str) -> Iterator[Atom]:
        """In an assignment `~` counts behind `=` and `:` too."""
        pieces = re.split(r"(?<=[:=])(?=~)", text)
        for number, piece in enumerate(pieces):
            if number and piece.startswith("~"):
                home, piece = self._tilde(piece)
                yield from home
            yield from _unquoted_atoms(piece)

    def _tilde(self, text: str) -> tuple[list[Atom], str]:
        found = _USER.match(text)
        if found is None:
            return [], text
        if found[1]:
            home = os.path.expanduser(found[0])  # noqa: PTH111  # `~user`, which may not exist
            return ([Atom(literal(home), quoted=True)], text[found.end() :]) if home != found[0] else ([], text)
        return [Atom(self.parameter_value("HOME"), quoted=True)], text[found.end() :]

    def _single(self, part: Node, quoted: bool) -> Iterator[Piece]:
        text = part.get("Value", "")
        if part.get("Dollar"):
            yield Atom(literal(ansi_c(text)), quoted=True)
        elif quoted:  # `"${V:-'x'}"`: inside double quotes they are plain characters
            yield Atom(literal(f"'{text}'"), quoted=True)
        else:
            yield Atom(literal(text), quoted=True)

    def _double(self, part: Node, _quoted: bool) -> Iterator[Piece]:
        inner = part.get("Parts", [])
        pieces = list(self._pieces(inner, quoted=True))
        lists_only = bool(inner) and all(_is_list(one) for one in inner)
        if not (lists_only and not pieces):
            yield Atom(EMPTY, quoted=True)
        yield from pieces

    def _parameter(self, part: Node, quoted: bool) -> Iterator[Piece]:
        yield from self._parameters.pieces(part, quoted)

    def _command(self, part: Node, quoted: bool) -> Iterator[Piece]:
        template = self.statements.captured(part.get("Stmts", []), part)
        yield Atom(template, quoted=quoted, expanded=True)

    def _arithmetic(self, part: Node, quoted: bool) -> Iterator[Piece]:
        template = template_of(self, part["X"]) if part.get("X") else literal("0")
        yield Atom(template, quoted=quoted, expanded=True)

    def _process(self, part: Node, _quoted: bool) -> Iterator[Piece]:
        self.shell.note("importer.process_substitution", "note", line_of(part))
        yield Atom(literal("/dev/fd/63"), quoted=True)

    def _ext_glob(self, part: Node, quoted: bool) -> Iterator[Piece]:
        text = f"{part['Op']}{part['Pattern']['Value']})"
        yield Atom(literal(text), quoted=quoted)

    # ── splitting ────────────────────────────────────────────────────────────────────────────────────────────────

    def _split(self, pieces: Sequence[Atom]) -> list[list[Atom]]:
        """The fields that one word, or one element, becomes."""
        splitter = _Splitter(self.shell, self._separators())
        for atom in pieces:
            if atom.quoted or not atom.expanded:
                splitter.take(atom)
            else:
                splitter.take_expanded(atom)
        return splitter.end()

    def _separators(self) -> str:
        variable = self.shell.variables.get("IFS")
        if variable is None or variable.value is None:
            return _WHITESPACE
        return self.shell.decide(variable.value)


_PARTS: dict[str, Callable[[Words, Node, bool], Iterator[Piece]]] = {
    "SglQuoted": Words._single,
    "DblQuoted": Words._double,
    "ParamExp": Words._parameter,
    "CmdSubst": Words._command,
    "ArithmExp": Words._arithmetic,
    "ProcSubst": Words._process,
    "ExtGlob": Words._ext_glob,
}


class _Splitter:
    def __init__(self, shell: Shell, separators: str) -> None:
        self._shell = shell
        self._white = "".join(char for char in separators if char in _WHITESPACE)
        self._other = "".join(char for char in separators if char not in _WHITESPACE)
        self._separators = separators
        self._fields: list[list[Atom]] = []
        self._now: list[Atom] = []
        self._begun = False
        self._vanishing: list[Template] = []
        """What was empty here and would have been a word otherwise."""

    def take(self, atom: Atom) -> None:
        self._begun = self._begun or atom.quoted or bool(atom.text)
        self._now.append(atom)

    def take_expanded(self, atom: Atom) -> None:
        for part in atom.template:
            if any(char in self._separators for char in part.text):
                self._take_text(self._shell.decide((part,)))
            elif part.text == "":
                self._vanishing.append((part,))
                self._now.append(Atom((part,), expanded=True))
            else:
                if any(char in patterns.SPECIAL for char in part.text) and not isinstance(part, Lit):
                    self._shell.decide((part,))
                    part = Lit(part.text)
                self._shell.unquoted((part,))
                self._now.append(Atom((part,), expanded=True))
                self._begun = True

    def end(self) -> list[list[Atom]]:
        self._close()
        return self._fields

    def _take_text(self, text: str) -> None:
        pattern = _separator_pattern(self._white, self._other)
        position = 0
        for found in pattern.finditer(text):
            self._add(text[position : found.start()])
            if self._begun or found[0].strip(self._white):  # leading white space makes no field, another sign does
                self._close(force=bool(found[0].strip(self._white)))
            position = found.end()
        self._add(text[position:])

    def _add(self, text: str) -> None:
        if text:
            self._now.append(Atom(literal(text), expanded=True))
            self._begun = True

    def _close(self, *, force: bool = False) -> None:
        if self._begun or force:
            self._fields.append(self._now)
            template = joined(atom.template for atom in self._now)
            if all(atom.expanded and not atom.quoted for atom in self._now) and not never_empty(template):
                self._shell.decide(template)
        else:
            for template in self._vanishing:
                self._shell.decide(template)
        self._now, self._begun, self._vanishing = [], False, []


def _separator_pattern(white: str, other: str) -> re.Pattern[str]:
    """White space around another separator belongs to it."""
    w = f"[{re.escape(white)}]" if white else "(?!)"
    if not other:
        return re.compile(f"{w}+")
    return re.compile(f"{w}*[{re.escape(other)}]{w}*|{w}+")


def _split_at_boundaries(pieces: Sequence[Piece]) -> Iterator[tuple[list[Atom], Element | None]]:
    """The pieces of each field before splitting, with the element that a field wholly is."""
    now: list[Atom] = []
    element: Element | None = None
    seen = False
    for piece in pieces:
        if isinstance(piece, Atom):
            now.append(piece)
            continue
        if seen:
            yield now, element
            now = []
        element, seen = piece.element, True
    yield now, element


def _without_first_boundary(pieces: Iterable[Piece]) -> Iterator[Piece]:
    seen = False
    for piece in pieces:
        if isinstance(piece, Boundary) and not seen:
            seen = True
            continue
        yield piece


def _space(_: Boundary) -> Atom:
    return Atom(literal(" "), quoted=True)


def _unquoted_atoms(text: str) -> Iterator[Atom]:
    for run, quoted in unquoted(text):
        yield Atom(literal(run), quoted=quoted)


def _looks_assigning(parts: Sequence[Node]) -> bool:
    return bool(parts) and parts[0]["Type"] == "Lit" and _ASSIGNMENT.match(parts[0]["Value"]) is not None


def _is_list(part: Node) -> bool:
    """`$@`, `${A[@]}`: of no elements nothing is left, not even inside quotes."""
    if part["Type"] != "ParamExp" or part.get("Exp") or part.get("Length"):
        return False
    if part["Param"]["Value"] == "@":
        return True
    index = part.get("Index") or {}
    return [one.get("Value") for one in index.get("Parts", [])] == ["@"]


__all__ = ["Atom", "Boundary", "Defined", "Input", "Words", "is_literal"]
