"""`echo` and `printf`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from submitter.importer.model import Template
from submitter.importer.shell.quoting import ansi_c
from submitter.importer.shell.state import Element, Shell
from submitter.importer.shell.template import EMPTY, is_literal, joined, literal

_OPTION = re.compile(r"-[neE]+")
_DIRECTIVE = re.compile(r"%(?P<flags>[-+ 0#]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\d+))?(?P<kind>[diouxXfFeEgGsbqc%])")
_MAX_ROUNDS = 1000
_MAX_WIDTH = 10_000


def echo(shell: Shell, arguments: Sequence[Element]) -> Template:
    words = list(arguments)
    newline, escapes = True, False
    for word in words:  # what could be an option instead decides
        if not is_literal(word.template[:1]):
            shell.decide(word.template)
        elif word.text[:1] != "-" or word.text == "-":
            break
    while words and _OPTION.fullmatch(words[0].text):
        letters = words.pop(0).text[1:]
        newline = newline and "n" not in letters
        escapes = "e" in letters if set(letters) & {"e", "E"} else escapes
    pieces: list[Template] = []
    for number, word in enumerate(words):
        template = word.template
        if escapes and "\\" in word.text:
            text, _, rest = _printed(shell.decide(template)).partition("\0")
            if rest:  # \c: nothing more is printed
                return joined([*pieces, literal(" " if number else ""), literal(text)])
            template = literal(text)
        pieces += [literal(" "), template] if number else [template]
    return joined([*pieces, literal("\n" if newline else "")])


def printf(shell: Shell, arguments: Sequence[Element]) -> Template:
    if arguments and arguments[0].text == "--":
        arguments = arguments[1:]
    if not arguments:
        return EMPTY
    form, rest = shell.decide(arguments[0].template), list(arguments[1:])
    out: list[Template] = []
    for _ in range(_MAX_ROUNDS):
        used = _once(shell, form, rest, out)
        if not rest or not used:
            return joined(out)
    raise shell.fail("importer.endless_loop", limit=_MAX_ROUNDS)


def _once(shell: Shell, form: str, rest: list[Element], out: list[Template]) -> int:
    """One pass over the format; returns how many arguments it took."""
    position = used = 0
    if "%(" in form:
        raise shell.fail("importer.unsupported", what="printf %(…)T")
    for found in _DIRECTIVE.finditer(form):
        out.append(literal(ansi_c(form[position : found.start()])))
        position = found.end()
        if found["kind"] == "%":
            out.append(literal("%"))
            continue
        argument = rest.pop(0).template if rest else EMPTY
        used += 1
        out.append(_formatted(shell, found, argument))
    out.append(literal(ansi_c(form[position:])))
    return used


def _formatted(shell: Shell, found: re.Match[str], argument: Template) -> Template:
    kind = found["kind"]
    if kind == "s" and not found["flags"] and not found["width"] and not found["precision"]:
        return argument
    text = shell.decide(argument)
    wide = max(int((found[part] or "0").replace("*", "0")[:9]) for part in ("width", "precision"))
    if wide > _MAX_WIDTH or found["width"] == "*" or "#" in found["flags"]:
        raise shell.fail("importer.unsupported", what=f"printf {found[0]}")
    if kind == "q":
        return literal(_quoted(text))
    if kind == "b":
        return literal(_printed(text).partition("\0")[0])
    if kind == "c":
        text, kind = text[:1], "s"
    spec = "%" + found["flags"] + (found["width"] or "") + (f".{found['precision']}" if found["precision"] else "")
    return literal((spec + ("d" if kind in "iu" else kind)) % _argument(kind, text))


def _argument(kind: str, text: str) -> str | int | float:
    """What is no number counts as 0, as bash has it."""
    if kind == "s":
        return text
    if text[:1] in ("'", '"'):  # the code of a character
        return ord(text[1:2] or "\0")
    try:
        return float(text or "0") if kind in "fFeEgG" else _integer(text or "0", kind)
    except ValueError:
        return 0


def _integer(text: str, kind: str) -> int:
    octal = re.fullmatch(r"([+-]?)0([0-7]+)", text)
    value = int(f"{octal[1]}{octal[2]}", 8) if octal else int(text, 0)
    value = max(min(value, (1 << 63) - 1), -(1 << 63))
    return value % (1 << 64) if kind in "xXou" else value


def _printed(text: str) -> str:
    """Escapes as `echo -e` has them: `\\0nnn`, quotes keep their backslash. NUL stands where `\\c` ends all."""
    text = re.sub(r"\\0([0-7]{1,3})", r"\\\1", re.sub(r"\\([\"'])", r"\\\\\1", text))
    before, ends, _ = text.partition("\\c")
    return ansi_c(before) + ("\0 " if ends else "")


def _quoted(text: str) -> str:
    if text == "":
        return "''"
    if re.search(r"[^ -~]", text):
        raise_text = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t")
        return f"$'{raise_text}'"
    return re.sub(r"([^A-Za-z0-9_@%+=:,./~#-])", r"\\\1", text)
