"""Words → fields, in bash's order: braces, tilde, parameters, commands, arithmetic, splitting, file names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from submitter.importer.model import Input, Lit, Template
from submitter.importer.shell import patterns
from submitter.importer.shell.arithmetic import template_of
from submitter.importer.shell.braces import MAX_WORDS, TooManyWordsError, expanded
from submitter.importer.shell.parameters import Parameters, divisible
from submitter.importer.shell.quoting import ansi_c, in_double_quotes, unquoted
from submitter.importer.shell.state import Element, Shell, Variable
from submitter.importer.shell.template import EMPTY, joined, literal, never_empty, text_of
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
    element: Element | None = None
    """The element of an array, or the argument, that it is."""
    default_quoted: bool = False
    """`${V:-"a b"}` outside quotes: the default is one word, what V may hold instead is split."""

    @property
    def text(self) -> str:
        return text_of(self.template)


@dataclass(frozen=True)
class Boundary:
    """Between two elements of `"${A[@]}"`."""


Piece = Atom | Boundary


class Words:
    def __init__(self, shell: Shell, statements: Statements) -> None:
        self.shell = shell
        self.statements = statements
        self._parameters = Parameters(self)

    # ── whole words ──────────────────────────────────────────────────────────────────────────────────────────────

    def fields(self, words: Iterable[Node], *, element: bool = False) -> list[Element]:
        """The arguments of a command, or the elements of an array."""
        return [field for word in words for field in self._fields_of(word, element)]

    def text(self, word: Node | None) -> Template:
        """One text, without splitting: the value of an assignment, a file's name, what `case` looks at."""
        return joined(atom.template for atom in self.atoms(word)) if word else EMPTY

    def atoms(self, word: Node, *, quoted: bool = False) -> list[Atom]:
        """As `text`, with what was quoted; several elements are joined by a space."""
        return in_one(self._pieces(word.get("Parts", []), quoted=quoted, tildes=":" if not quoted else ""))

    def operand(self, word: Node, quoted: bool) -> list[Piece]:
        """The word behind `:-`, in or outside double quotes."""
        parts = word.get("Parts", [])
        if quoted:  # `"${V:-{a:1\}}"`: a backslash quotes the brace too
            parts = [_with_braces(one) for one in parts]
        return list(self._pieces(parts, quoted=quoted))

    def pattern(self, word: Node, *, quoted: bool = False) -> list[patterns.Char]:
        """For `case`, `[[ == ]]`, `${V%p}`: whatever it hangs on is decided."""
        atoms = self.atoms(word, quoted=quoted)
        return [patterns.Char(char, not atom.quoted) for atom in atoms for char in self.shell.decide(atom.template)]

    def heredoc(self, word: Node, *, plain: bool) -> Template:
        if plain:
            return literal("".join(part.get("Value", "") for part in word.get("Parts", [])))
        pieces = self._pieces(word.get("Parts", []), quoted=True, heredoc=True)
        return joined(atom.template for atom in in_one(pieces))

    def key(self, variable: Variable | None, index: Node) -> int | str:
        return self._parameters.key(variable, index)

    def parameter_value(self, name: str) -> Template:
        return self._parameters.scalar(name)

    # ── expansion ────────────────────────────────────────────────────────────────────────────────────────────────

    def _fields_of(self, word: Node, element: bool) -> Iterator[Element]:
        self.shell.step()
        line = line_of(word)
        try:
            yield from self._brace_fields(word, line, element)
        except TooManyWordsError:
            raise self.shell.fail("importer.too_many_words", line, limit=MAX_WORDS) from None

    def _brace_fields(self, word: Node, line: int, element: bool) -> Iterator[Element]:
        for parts in expanded(word.get("Parts", [])):
            pieces = list(self._pieces(parts, tildes=":=" if _looks_assigning(parts) and not element else ""))
            for atoms_of_one in _between_boundaries(pieces):
                for atoms in self._split(atoms_of_one):
                    yield from self._named(atoms, line)

    def _named(self, atoms: list[Atom], line: int) -> Iterator[Element]:
        template = joined(atom.template for atom in atoms)
        whole = [atom.element for atom in atoms if atom.element is not None and atom.template == template]
        like = whole[0] if whole else Element(EMPTY, line)
        pattern = [char for atom in atoms for char in _pattern_chars(atom)]
        if "f" in self.shell.options or not patterns.has_special(pattern):
            yield replace(like, template=template)
            return
        found = patterns.files(pattern, self.shell.cwd)
        if found or any(char.special and char.text in "*?" for char in pattern):
            self.shell.decide(template)  # with other values it would stand for other files
        if found:
            self.shell.note("importer.glob", text=text_of(template)[:80], count=len(found))
            yield from (replace(like, template=literal(name)) for name in found)
        elif "nullglob" not in self.shell.options:
            yield replace(like, template=template)

    def _pieces(
        self, parts: Sequence[Node], *, quoted: bool = False, tildes: str = "", heredoc: bool = False
    ) -> Iterator[Piece]:
        for index, part in enumerate(parts):
            if part["Type"] == "Lit":
                where = (index == 0, index == len(parts) - 1)
                yield from self._literal(part, where, quoted=quoted, tildes=tildes, heredoc=heredoc)
                continue
            handler = _PARTS.get(part["Type"])
            if handler is None:
                raise self.shell.fail("importer.unsupported", line_of(part), what=part["Type"])
            yield from handler(self, part, quoted)

    def _literal(
        self, part: Node, where: tuple[bool, bool], *, quoted: bool, tildes: str, heredoc: bool
    ) -> Iterator[Atom]:
        text = part["Value"]
        first, last = where
        if quoted:
            yield Atom(literal(in_double_quotes(text, heredoc=heredoc)), quoted=True)
            return
        if first and text.startswith("~"):
            home, text = self._tilde(text, last)
            yield from home
        if tildes and "~" in text:
            yield from self._tildes_inside(text, tildes if first else ":", last)
            return
        yield from _unquoted_atoms(text)

    def _tildes_inside(self, text: str, behind: str, last: bool) -> Iterator[Atom]:
        """In an assignment `~` counts behind its `=`, and behind every `:`."""
        pieces = re.split(r"(?<=:)(?=~)", text)
        if "=" in behind and (found := re.match(r"[^=]*=(?=~)", pieces[0])):
            pieces[:1] = [found[0], pieces[0][found.end() :]]
        for number, piece in enumerate(pieces):
            if number and piece.startswith("~"):
                home, piece = self._tilde(piece, last or number < len(pieces) - 1)
                yield from home
            yield from _unquoted_atoms(piece)

    def _tilde(self, text: str, whole: bool) -> tuple[list[Atom], str]:
        """`whole`: the text goes on with nothing else, which could belong to the user's name."""
        found = _USER.match(text)
        if found is None or (found.end() == len(text) and not whole):
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
        if any(_is_list(one) and self._parameters.is_empty(one) for one in inner) and _is_nothing(pieces):
            self.shell.decide(joined(piece.template for piece in pieces if isinstance(piece, Atom)))
            return
        yield Atom(EMPTY, quoted=True)
        yield from pieces

    def _parameter(self, part: Node, quoted: bool) -> Iterator[Piece]:
        yield from self._parameters.pieces(part, quoted)

    def _command(self, part: Node, quoted: bool) -> Iterator[Piece]:
        template = self.statements.captured(part.get("Stmts", []))
        yield Atom(template, quoted=quoted, expanded=True)

    def _arithmetic(self, part: Node, quoted: bool) -> Iterator[Piece]:
        template = template_of(self, part["X"]) if part.get("X") else literal("0")
        yield Atom(template, quoted=quoted, expanded=True)

    def _process(self, part: Node, _quoted: bool) -> Iterator[Piece]:
        path = f"/dev/fd/{63 - len(self.shell.record.substitutions)}"
        self.shell.record.substitutions.append(path)
        if part["Op"] == "<(":
            output = self.statements.captured(part.get("Stmts", []))
            self.shell.record.files[path] = joined([output, literal("\n")]) if output else EMPTY
        else:
            self.shell.note("importer.process_substitution", "note", line_of(part))
        yield Atom(literal(path), quoted=True)

    def _ext_glob(self, part: Node, quoted: bool) -> Iterator[Piece]:
        text = f"{part['Op']}{part['Pattern']['Value']})"
        yield Atom(literal(text), quoted=quoted)

    # ── splitting ────────────────────────────────────────────────────────────────────────────────────────────────

    def _split(self, pieces: Sequence[Atom]) -> list[list[Atom]]:
        """The fields that one word, or one element, becomes."""
        splitter = _Splitter(self.shell, self.separators())
        for atom in pieces:
            if atom.quoted or not atom.expanded:
                splitter.take(atom)
            else:
                splitter.take_expanded(atom)
        return splitter.end()

    def separators(self) -> str:
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
        if atom.default_quoted:
            self._shell.record.unquoted.update(part.name for part in atom.template if isinstance(part, Input))
        self._now.append(atom)

    def take_expanded(self, atom: Atom) -> None:
        for part in atom.template:
            if isinstance(part, Input) and part.default and divisible(text_of(part.default)):
                self._shell.decide((part,))  # its default would be split, what it holds now is not
            if any(char in self._separators for char in part.text):
                self._take_text(self._shell.decide((part,)))
            elif part.text == "":
                self._vanishing.append((part,))
                self._shell.unquoted((part,))
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


def _pattern_chars(atom: Atom) -> Iterator[patterns.Char]:
    """A backslash that came out of an expansion quotes what follows it, for the pattern alone."""
    escaped = False
    for char in atom.text:
        if char == "\\" and atom.expanded and not atom.quoted and not escaped:
            escaped = True
            continue
        yield patterns.Char(char, not atom.quoted and not escaped)
        escaped = False


def _between_boundaries(pieces: Sequence[Piece]) -> Iterator[list[Atom]]:
    """The atoms of each field before splitting."""
    now: list[Atom] = []
    for piece in pieces:
        if isinstance(piece, Atom):
            now.append(piece)
            continue
        yield now
        now = []
    yield now


def in_one(pieces: Iterable[Piece]) -> list[Atom]:
    """Elements that have to be one text are joined by a space."""
    return [Atom(literal(" "), quoted=True) if isinstance(piece, Boundary) else piece for piece in pieces]


def _unquoted_atoms(text: str) -> Iterator[Atom]:
    for run, quoted in unquoted(text):
        yield Atom(literal(run), quoted=quoted)


def _looks_assigning(parts: Sequence[Node]) -> bool:
    return bool(parts) and parts[0]["Type"] == "Lit" and _ASSIGNMENT.match(parts[0]["Value"]) is not None


def _with_braces(part: Node) -> Node:
    return {**part, "Value": part["Value"].replace("\\}", "}")} if part["Type"] == "Lit" else part


def _is_nothing(pieces: Sequence[Piece]) -> bool:
    """Of a list without elements nothing is left, not even inside quotes, if all else in them is empty too."""
    return all(isinstance(piece, Atom) and piece.element is None and not piece.text for piece in pieces)


def _is_list(part: Node) -> bool:
    """`$@`, `${A[@]}`."""
    if part["Type"] != "ParamExp" or part.get("Length"):
        return False
    if part["Param"]["Value"] == "@":
        return True
    index = part.get("Index") or {}
    return [one.get("Value") for one in index.get("Parts", [])] == ["@"]
