"""Builtins that change or ask the shell alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from submitter.importer.model import Template
from submitter.importer.shell import files
from submitter.importer.shell.conditions import test_command
from submitter.importer.shell.flow import BreakLoop, ContinueLoop, ExitShell, ReturnFrom
from submitter.importer.shell.printing import echo, printf
from submitter.importer.shell.state import MAX_ELEMENTS, Element, Shell, Variable
from submitter.importer.shell.template import EMPTY, joined, literal, text_of

if TYPE_CHECKING:
    from submitter.importer.shell.statements import Statements

Arguments = Sequence[Element]
Builtin = Callable[["Statements", Arguments], int]

_SHOWN = 60
_NO_EFFECT = ("nocaseglob", "dotglob", "globstar", "failglob", "lastpipe", "expand_aliases")


def _set(statements: Statements, arguments: Arguments) -> int:
    shell = statements.shell
    index = 0
    while index < len(arguments):
        text = arguments[index].text
        if text == "--" or text[:1] not in ("-", "+") or text in ("-", "+"):
            shell.params = list(arguments[index + 1 if text in ("--", "-") else index :])
            if len(shell.params) > MAX_ELEMENTS:
                raise shell.fail("importer.too_many_words", limit=MAX_ELEMENTS)
            return 0
        for letter in text[1:]:
            if letter == "o" and index + 1 < len(arguments):
                index += 1
                _switch(shell, _LONG.get(arguments[index].text, arguments[index].text), text[0])
            else:
                _switch(shell, letter, text[0])
        index += 1
    return 0


_LONG = {"errexit": "e", "nounset": "u", "xtrace": "x", "noglob": "f", "allexport": "a"}


def _switch(shell: Shell, option: str, sign: str) -> None:
    if sign == "-":
        shell.options.add(option)
    else:
        shell.options.discard(option)


def _shopt(statements: Statements, arguments: Arguments) -> int:
    texts = [argument.text for argument in arguments]
    names = [text for text in texts if not text.startswith("-")]
    if "-q" in texts or not {"-s", "-u"} & set(texts):
        return int(not all(name in statements.shell.options for name in names))
    for name in names:
        if name == "nocasematch" and "-s" in texts:
            raise statements.shell.fail("importer.unsupported", what="shopt -s nocasematch")
        if name in _NO_EFFECT and "-s" in texts:
            statements.shell.note("importer.no_shopt", name=name)
        _switch(statements.shell, name, "-" if "-s" in texts else "+")
    return 0


def _shift(statements: Statements, arguments: Arguments) -> int:
    shell = statements.shell
    count = int(arguments[0].text) if arguments and re.fullmatch(r"[0-9]{1,9}", arguments[0].text) else 1
    if count > len(shell.params):
        return 1
    shell.params = shell.params[count:]
    return 0


def _unset(statements: Statements, arguments: Arguments) -> int:
    shell = statements.shell
    for argument in arguments:
        name = argument.text
        if name.startswith("-"):
            continue
        if element := re.fullmatch(r"([A-Za-z_]\w*)\[(.+)\]", name):
            _unset_element(shell, element[1], element[2])
            continue
        if arguments[0].text == "-f" or (name in shell.functions and name not in shell.variables):
            shell.functions.pop(name, None)
        else:
            shell.unset(name)
    return 0


def _unset_element(shell: Shell, name: str, index: str) -> None:
    variable = shell.variables.get(name)
    key: int | str = int(index) if index.isdigit() and not (variable and variable.keyed) else index
    if variable is not None and variable.elements is not None:
        elements = {one: value for one, value in variable.elements.items() if one != key}
        shell.assign_array(name, elements, keyed=variable.keyed)


def _exit(statements: Statements, arguments: Arguments) -> int:
    raise ExitShell(_status(statements.shell, arguments), statements.shell.place())


def _return(statements: Statements, arguments: Arguments) -> int:
    raise ReturnFrom(_status(statements.shell, arguments))


def _status(shell: Shell, arguments: Arguments) -> int:
    text = shell.decide(arguments[0].template) if arguments else str(shell.status)
    return int(text) & 255 if re.fullmatch(r"-?[0-9]{1,18}", text) else 2


def _break(_statements: Statements, arguments: Arguments) -> int:
    raise BreakLoop(_levels(arguments))


def _continue(_statements: Statements, arguments: Arguments) -> int:
    raise ContinueLoop(_levels(arguments))


def _levels(arguments: Arguments) -> int:
    return max(int(arguments[0].text), 1) if arguments and re.fullmatch(r"[0-9]{1,9}", arguments[0].text) else 1


def _cd(statements: Statements, arguments: Arguments) -> int:
    shell = statements.shell
    rest = [argument for argument in arguments if argument.text not in ("--", "-P", "-L")]
    path = shell.decide(rest[0].template) if rest else text_of(statements.words.parameter_value("HOME"))
    if path == "-":
        path = text_of(shell.variables["OLDPWD"].value or EMPTY) if "OLDPWD" in shell.variables else shell.cwd
    if not files.is_folder(shell, path):
        shell.note("importer.no_such_folder", path=path[:120])
        return 1
    shell.variables["OLDPWD"] = Variable(literal(shell.cwd))
    shell.left.append(shell.cwd)
    shell.cwd = files.absolute(shell, path)
    return 0


def _popd(statements: Statements, _arguments: Arguments) -> int:
    shell = statements.shell
    if not shell.left:
        return 1
    shell.variables["OLDPWD"] = Variable(literal(shell.cwd))
    shell.cwd = shell.left.pop()
    return 0


def _pwd(statements: Statements, _arguments: Arguments) -> int:
    shell = statements.shell
    shell.write(joined([shell.from_machine("pwd", "PWD", shell.cwd), literal("\n")]))
    return 0


def _test(statements: Statements, arguments: Arguments) -> int:
    return test_command(statements.shell, arguments)


def _bracket(statements: Statements, arguments: Arguments) -> int:
    if not arguments or arguments[-1].text != "]":
        statements.shell.note("importer.bad_test", problem="missing ]")
        return 2
    return test_command(statements.shell, arguments[:-1])


def _true(_statements: Statements, _arguments: Arguments) -> int:
    return 0


def _false(_statements: Statements, _arguments: Arguments) -> int:
    return 1


def _not_carried(name: str) -> Builtin:
    def builtin(statements: Statements, arguments: Arguments) -> int:
        told = " ".join([name, *(argument.text for argument in arguments)])[:_SHOWN]
        statements.shell.note("importer.not_carried", "note", command=told)
        return 0

    return builtin


def _echo(statements: Statements, arguments: Arguments) -> int:
    statements.shell.write(echo(statements.shell, arguments))
    return 0


def _store(shell: Shell, name: str, template: Template) -> None:
    """Into a name, or into an element: `printf -v 'A[1]'`."""
    found = re.fullmatch(r"([A-Za-z_]\w*)\[([0-9]{1,9})\]", name)
    if found is None:
        shell.assign(name, template)
        return
    variable = shell.variable(found[1])
    elements = dict((variable.elements if variable else None) or {})
    shell.assign_array(found[1], {**elements, int(found[2]): Element(template, shell.line, group=found[1])})


def _printf(statements: Statements, arguments: Arguments) -> int:
    shell = statements.shell
    if len(arguments) > 1 and arguments[0].text == "-v":
        _store(shell, arguments[1].text, printf(shell, arguments[2:]))
    else:
        shell.write(printf(shell, arguments))
    return 0


BUILTINS: dict[str, Builtin] = {
    "set": _set, "shopt": _shopt, "shift": _shift, "unset": _unset, "exit": _exit, "return": _return,
    "break": _break, "continue": _continue, "cd": _cd, "pushd": _cd, "pwd": _pwd, "test": _test, "[": _bracket,
    "true": _true, ":": _true, "false": _false, "echo": _echo, "printf": _printf, "alias": _true, "hash": _true,
    "popd": _popd, "bind": _true, "history": _true, "enable": _true, "caller": _true, "jobs": _true, "disown": _true,
    "clear": _true, "sync": _true, "ulimit": _not_carried("ulimit"), "umask": _not_carried("umask"),
    "trap": _not_carried("trap"), "wait": _not_carried("wait"), "kill": _not_carried("kill"),
}  # fmt: skip
