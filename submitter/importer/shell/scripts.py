"""Scripts inside scripts: `bash other.sh`, `source`, `eval`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from submitter.importer.shell import files
from submitter.importer.shell.flow import ExitShell, ReturnFrom
from submitter.importer.shell.state import Element, Shell
from submitter.importer.shell.template import text_of
from submitter.importer.syntax import Node, parse

if TYPE_CHECKING:
    from submitter.importer.shell.statements import Statements

Arguments = Sequence[Element]

_LONG_OPTIONS = {"errexit": "e", "nounset": "u"}

_SYSTEM_FILES = re.compile(r"set_env\.sh$|\.bashrc$|\.profile$|bash_profile$|/activate$|conda\.sh$|setenv")


def bash(statements: Statements, arguments: Arguments) -> int:
    shell = statements.shell
    rest = list(arguments)
    letters = ""
    while rest and rest[0].text.startswith("-") and rest[0].text != "-":
        word = rest.pop(0).text
        letters += word[1:] if not word.startswith("--") else ""
        if word.endswith("o") and rest:
            letters += _LONG_OPTIONS.get(rest.pop(0).text, "")
    options = set(letters) & set("eufx")
    if "c" in letters:
        text = shell.decide(rest[0].template) if rest else ""
        path = rest[1].text if len(rest) > 1 else "bash"
        return _child(statements, text, shell.file, path, list(rest[2:]), options)
    if not rest:
        return _child(statements, shell.decide(shell.piped), shell.file, "bash", [])
    return run_script(statements, rest[0].text, rest[1:], options)


def run_script(statements: Statements, path: str, arguments: Arguments, options: Iterable[str] = ()) -> int:
    """Another script, as a process of its own: it gets what is exported, and gives nothing back."""
    shell = statements.shell
    template = files.content(shell, path)
    if template is None:
        shell.note("importer.script_missing", path=path[:120])
        return 127
    return _child(statements, text_of(template), _shown(shell, path), path, list(arguments), options)


def _child(
    statements: Statements, text: str, shown: str, path: str, arguments: list[Element], options: Iterable[str] = ()
) -> int:
    shell = statements.shell
    tree = parse(text, shown)
    child = shell.fork()
    child.variables = {name: one for name, one in shell.variables.items() if one.exported or one.value is None}
    child.functions, child.locals, child.options = {}, [], set(options)
    child.params, child.path, child.file, child.source = arguments, path, shown, ""
    status = _ended(statements.of(child), tree)
    if shell.quiet == 0 and status and not shell.record.launches:
        shell.record.said.append(f"{shown} ended with status {status}")
    return status


def _ended(runner: Statements, tree: Node) -> int:
    try:
        return runner.run_script(tree.get("Stmts", []))
    except ExitShell as end:
        return end.status


def source(statements: Statements, arguments: Arguments) -> int:
    shell = statements.shell
    if not arguments:
        return 2
    path = shell.decide(arguments[0].template)
    template = files.content(shell, path)
    if _SYSTEM_FILES.search(path):
        shell.note("importer.system_source", "note", path=path[:120])
        return 0
    if template is None:
        shell.note("importer.script_missing", path=path[:120])
        return 1
    file, line, params, source = shell.file, shell.line, shell.params, shell.source
    tree = parse(text_of(template), _shown(shell, path))
    shell.file = _shown(shell, path)
    shell.source = path
    shell.params = list(arguments[1:]) or params
    shell.depth += 1
    shell.check_depth()
    try:
        return statements.run(tree.get("Stmts", []))
    except ReturnFrom as end:
        return end.status
    finally:
        shell.file, shell.line, shell.source = file, line, source
        shell.params = params if len(arguments) > 1 else shell.params  # a `set --` in the file stays
        shell.depth -= 1


def evaluate(statements: Statements, arguments: Arguments) -> int:
    shell = statements.shell
    text = " ".join(shell.decide(argument.template) for argument in arguments)
    tree = parse(text, shell.file)
    line = shell.line
    shell.depth += 1
    shell.check_depth()
    try:
        return statements.run(_moved(tree.get("Stmts", []), line))
    finally:
        shell.line = line
        shell.depth -= 1


def _moved(statements: list[Node], line: int) -> list[Node]:
    """Their place is the `eval`'s."""
    return [{**statement, "Pos": {**statement["Pos"], "Line": line}} for statement in statements]


def is_script(shell: Shell, name: str) -> bool:
    return "/" in name and name.endswith(".sh") and files.is_file(shell, name)


def _shown(shell: Shell, path: str) -> str:
    return os.path.relpath(files.absolute(shell, path), shell.cwd) if not path.startswith("/") else path
