"""Builtins that read lines or options: `read`, `mapfile`, `getopts`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from submitter.importer.shell.state import Element
from submitter.importer.shell.template import EMPTY, literal, text_of

if TYPE_CHECKING:
    from submitter.importer.shell.statements import Statements

Arguments = Sequence[Element]


def _read(statements: Statements, arguments: Arguments) -> int:
    """`read -r a b <<< "$text"`."""
    shell = statements.shell
    names: list[str] = []
    array = None
    index = 0
    while index < len(arguments):
        text = arguments[index].text
        if text.startswith("-") and len(text) > 1:
            if text[-1] == "a":
                array, index = arguments[index + 1].text, index + 1
            elif text[-1] in "pdnNtu":
                index += 1
        else:
            names.append(text)
        index += 1
    if not shell.stdin:
        for name in names or ["REPLY"]:
            shell.assign(
                name, shell.unknown(f"read {name}", name) if shell.stdin is EMPTY and not shell.in_pipe else EMPTY
            )
        return 1 if shell.in_pipe else 0
    line, newline, rest = shell.decide(shell.stdin).partition("\n")
    shell.stdin = literal(rest)
    _assign_words(statements, line, names or ["REPLY"], array)
    return 0 if newline else 1


def _assign_words(statements: Statements, line: str, names: list[str], array: str | None) -> None:
    shell = statements.shell
    separators = statements.words.separators()
    white = "".join(char for char in separators if char in " \t\n")
    body = line.strip(white)
    if array is not None:
        words = _cut(body, separators, None)
        shell.assign_array(array, {index: Element(literal(word), shell.line) for index, word in enumerate(words)})
        return
    words = _cut(body, separators, len(names)) if names != ["REPLY"] else [line]
    for name, word in zip(names, [*words, *[""] * len(names)], strict=False):
        shell.assign(name, literal(word))


def _cut(text: str, separators: str, limit: int | None) -> list[str]:
    white = "".join(re.escape(char) for char in separators if char in " \t\n")
    other = "".join(re.escape(char) for char in separators if char not in " \t\n")
    space = f"[{white}]" if white else "(?!)"
    pattern = f"{space}*[{other}]{space}*|{space}+" if other else f"{space}+"
    if not text or not separators:
        return [text] if text else []
    return re.split(pattern, text, maxsplit=0 if limit is None else limit - 1)


def _mapfile(statements: Statements, arguments: Arguments) -> int:
    shell = statements.shell
    strip = any(argument.text == "-t" for argument in arguments)
    names = [argument.text for argument in arguments if not argument.text.startswith("-")]
    lines = shell.decide(shell.stdin).splitlines(keepends=not strip)
    shell.assign_array(names[-1] if names else "MAPFILE", {i: Element(literal(line)) for i, line in enumerate(lines)})
    return 0


def _getopts(statements: Statements, arguments: Arguments) -> int:
    """`while getopts "a:b" opt`: one option letter a word, as launch scripts have it."""
    shell = statements.shell
    wanted, name = arguments[0].text, arguments[1].text
    at = int(text_of(statements.words.parameter_value("OPTIND")) or "1")
    if at > len(shell.params) or not re.match(r"-[A-Za-z0-9]", shell.params[at - 1].text):
        shell.assign(name, literal("?"))
        return 1
    word = shell.params[at - 1]
    letter = word.text[1]
    if letter not in wanted:
        shell.assign(name, literal("?"))
        shell.assign("OPTIND", literal(str(at + 1)))
        return 0
    if f"{letter}:" in wanted:
        attached = word.text[2:]
        value = literal(attached) if attached else shell.params[at].template if at < len(shell.params) else EMPTY
        at += 0 if attached else 1
        shell.assign("OPTARG", value)
    shell.assign(name, literal(letter))
    shell.assign("OPTIND", literal(str(at + 1)))
    return 0


LINES = {"read": _read, "mapfile": _mapfile, "readarray": _mapfile, "getopts": _getopts}
