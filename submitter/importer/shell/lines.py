"""Builtins that read lines or options: `read`, `mapfile`, `getopts`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from submitter.importer.shell.state import Element, Shell
from submitter.importer.shell.template import EMPTY, lines_of, literal, text_of

if TYPE_CHECKING:
    from submitter.importer.shell.statements import Statements

Arguments = Sequence[Element]


@dataclass(frozen=True)
class _Options:
    names: tuple[str, ...]
    array: str | None
    raw: bool
    delimiter: str


def _read(statements: Statements, arguments: Arguments) -> int:
    """`read -r a b <<< "$text"`."""
    shell = statements.shell
    options = _options(shell, arguments)
    if shell.stdin is None:  # a person would type it
        for name in options.names or ("REPLY",):
            shell.assign(name, shell.unknown(f"read {name}", name))
        return 0
    text = shell.decide(shell.stdin)
    chars = list(_characters(text, options.raw))
    ends = [index for index, (char, escaped) in enumerate(chars) if char == options.delimiter and not escaped]
    end = ends[0] if ends else len(chars)
    shell.stdin = literal("".join(("\\" if e and not options.raw else "") + c for c, e in chars[end + 1 :]))
    _assign_words(statements, chars[:end], options)
    return 0 if ends else 1


def _options(shell: Shell, arguments: Arguments) -> _Options:
    names: list[str] = []
    array, raw, delimiter = None, False, "\n"
    rest = [argument.text for argument in arguments]
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word == "-":
            names.append(word)
            continue
        raw = raw or "r" in word[1:]
        letter = word[-1]
        if letter in "nN":
            raise shell.fail("importer.unsupported", what=f"read -{letter}")
        if letter in "adptu" and rest:
            value = rest.pop(0)
            array = value if letter == "a" else array
            delimiter = (value or "\0")[0] if letter == "d" else delimiter
    return _Options(tuple(names), array, raw, delimiter)


def _characters(text: str, raw: bool) -> Iterator[tuple[str, bool]]:
    """Each with whether a backslash stood before it, which `read` without -r takes away."""
    index = 0
    while index < len(text):
        if not raw and text[index] == "\\":
            if text[index + 1 : index + 2] not in ("", "\n"):
                yield text[index + 1], True
            index += 2
        else:
            yield text[index], False
            index += 1


def _assign_words(statements: Statements, chars: list[tuple[str, bool]], options: _Options) -> None:
    shell = statements.shell
    separators = statements.words.separators()
    if options.array is not None:
        words = _cut(chars, separators, None)
        shell.assign_array(options.array, {at: Element(literal(word), shell.line) for at, word in enumerate(words)})
        return
    whole = "".join(char for char, _ in chars)
    names = options.names or ("REPLY",)
    words = _cut(chars, separators, len(names)) if options.names else [whole]
    for name, word in zip(names, [*words, *[""] * len(names)], strict=False):
        shell.assign(name, literal(word))


def _cut(chars: list[tuple[str, bool]], separators: str, limit: int | None) -> list[str]:
    """At the separators that no backslash stands before; the last of `limit` words keeps the rest."""
    # A private-use character stands for what must not be cut.
    kept = [char for char, escaped in chars if escaped]
    text = "".join("\ue000" if escaped else char for char, escaped in chars)
    words = _cut_text(text, separators, limit)
    found = iter(kept)
    return ["".join(next(found, "") if char == "\ue000" else char for char in word) for word in words]


def _cut_text(text: str, separators: str, limit: int | None) -> list[str]:
    white = "".join(char for char in separators if char in " \t\n")
    other = "".join(re.escape(char) for char in separators if char not in " \t\n")
    body = text.strip(white)
    space = f"[{re.escape(white)}]" if white else "(?!)"
    pattern = f"{space}*[{other}]{space}*|{space}+" if other else f"{space}+"
    if not body or not separators or limit == 1:
        return [body] if body else []
    return re.split(pattern, body, maxsplit=0 if limit is None else limit - 1)


def _mapfile(statements: Statements, arguments: Arguments) -> int:
    shell = statements.shell
    texts = [argument.text for argument in arguments]
    options = [text for text in texts if text.startswith("-")]
    if set(options) - {"-t"}:
        raise shell.fail("importer.unsupported", what=f"mapfile {' '.join(options)}"[:60])
    names = [text for text in texts if not text.startswith("-")]
    lines = lines_of(shell.decide(shell.piped), ends=not options)
    name = names[-1] if names else "MAPFILE"
    shell.assign_array(name, {at: Element(literal(line), shell.line) for at, line in enumerate(lines)})
    return 0


def _getopts(statements: Statements, arguments: Arguments) -> int:
    """`while getopts "a:b" option`; several letters may stand in one word."""
    shell = statements.shell
    wanted, name = arguments[0].text, arguments[1].text
    at = int(text_of(statements.words.parameter_value("OPTIND")) or "1")
    word = shell.params[at - 1].text if 0 < at <= len(shell.params) else ""
    if shell.letter == 0 and (not re.match(r"-[^-]", word) or word == "-"):
        shell.assign(name, literal("?"))
        if word == "--":
            shell.assign("OPTIND", literal(str(at + 1)))
        return 1
    shell.letter += 1
    letter = word[shell.letter]
    known = letter != ":" and letter in wanted
    if known and f"{letter}:" in wanted:
        at = _option_value(shell, at, word)
    elif shell.letter + 1 >= len(word):
        shell.letter, at = 0, at + 1
    shell.assign(name, literal(letter if known else "?"))
    shell.assign("OPTIND", literal(str(at)))
    return 0


def _option_value(shell: Shell, at: int, word: str) -> int:
    """`-a7`, `-a 7`; returns the index of the next word."""
    attached, shell.letter = word[shell.letter + 1 :], 0
    if attached:
        shell.assign("OPTARG", literal(attached))
        return at + 1
    shell.assign("OPTARG", shell.params[at].template if at < len(shell.params) else EMPTY)
    return at + 2


LINES = {"read": _read, "mapfile": _mapfile, "readarray": _mapfile, "getopts": _getopts}
