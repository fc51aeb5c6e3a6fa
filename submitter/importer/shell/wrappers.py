"""Commands that run another command, or ask for one: `exec`, `env`, `nohup`, `command -v`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from submitter.importer.shell import launching
from submitter.importer.shell.builtins import BUILTINS
from submitter.importer.shell.flow import ExitShell
from submitter.importer.shell.state import Element, Shell
from submitter.importer.shell.template import joined, literal

if TYPE_CHECKING:
    from submitter.importer.shell.statements import Statements

Arguments = Sequence[Element]


def _exec(statements: Statements, arguments: Arguments) -> int:
    """Replaces the shell: nothing after it runs. Without a command it only redirects."""
    if not arguments:
        return 0
    while arguments and arguments[0].text in ("-a", "-c", "-l"):
        arguments = arguments[1:]
    status = statements.simple(arguments)
    raise ExitShell(status, statements.shell.place())


def _command(statements: Statements, arguments: Arguments) -> int:
    """`command -v x`: known for the commands that a machine with NPUs has."""
    shell = statements.shell
    if arguments and arguments[0].text in ("-v", "-V"):
        name = arguments[1].text if len(arguments) > 1 else ""
        return _which(shell, name)
    if not arguments:
        return 0
    functions, shell.functions = shell.functions, {}
    try:
        return statements.simple(arguments)
    finally:
        shell.functions = functions


def _which_tool(statements: Statements, arguments: Arguments) -> int:
    names = [argument.text for argument in arguments if not argument.text.startswith("-")]
    return max((_which(statements.shell, name) for name in names), default=1)


def _which(shell: Shell, name: str) -> int:
    if name in launching.ABSENT:
        shell.note("importer.probe", "note", command=f"command -v {name}")
        return 1
    if name in shell.functions or name in BUILTINS:
        shell.write(literal(f"{name}\n"))
        return 0
    shell.note("importer.assumed_there", "warning", name=name[:60])
    shell.write(
        joined([shell.unknown(f"command -v {name}", f"path_of_{re.sub(r'[^A-Za-z0-9_]', '_', name)}"), literal("\n")])
    )
    return 0


def _env(statements: Statements, arguments: Arguments) -> int:
    """`env A=b command`; as a wrapper of a launch it is seen before."""
    shell = statements.shell
    rest = list(arguments)
    before = dict(shell.variables)
    while rest and (rest[0].text.startswith("-") or re.match(r"[A-Za-z_]\w*=", rest[0].text)):
        word = rest.pop(0)
        name, equals, _ = word.text.partition("=")
        if equals and not name.startswith("-"):
            shell.assign(name, shell.behind_equals(word), export=True)
        elif word.text in ("-u", "--unset") and rest:
            shell.unset(rest.pop(0).text)
        elif word.text in ("-i", "-", "--ignore-environment"):
            shell.variables = {name: replace(one, exported=False) for name, one in shell.variables.items()}
    try:
        if rest:
            return statements.simple(rest)
        shell.write(shell.unknown("env", "env"))
        return 0
    finally:
        shell.variables = before


def _wrapper(takes: frozenset[str] = frozenset(), words: int = 0) -> Callable[[Statements, Arguments], int]:
    """A command that runs another: its own options (those in `takes` with a value) and `words` are left out."""

    def builtin(statements: Statements, arguments: Arguments) -> int:
        rest = list(arguments)
        while rest and rest[0].text.startswith("-"):
            option = rest.pop(0).text
            if option in takes and rest:
                rest.pop(0)
            if option == "--":
                break
        rest = rest[words:]
        return statements.simple(rest) if rest else 0

    return builtin


WRAPPERS: dict[str, Callable[[Statements, Arguments], int]] = {
    "exec": _exec, "command": _command, "builtin": _command, "type": _which_tool, "which": _which_tool, "env": _env,
    "nohup": _wrapper(), "time": _wrapper(), "setsid": _wrapper(), "stdbuf": _wrapper(frozenset({"-o", "-i", "-e"})),
    "sudo": _wrapper(frozenset({"-u", "-g"})), "nice": _wrapper(frozenset({"-n"})),
    "ionice": _wrapper(frozenset({"-c", "-n"})), "timeout": _wrapper(frozenset({"-k", "-s"}), words=1),
    "taskset": _wrapper(frozenset(), words=1), "numactl": _wrapper(frozenset({"-C", "-m", "-N", "-p", "-i"})),
}  # fmt: skip
