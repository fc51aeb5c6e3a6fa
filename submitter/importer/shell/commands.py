"""Simple commands: functions, builtins, launches, tools that are known, and all others, of which nothing is."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from submitter.importer.shell import files, launching
from submitter.importer.shell.conditions import test_command
from submitter.importer.shell.flow import BreakLoop, ContinueLoop, ExitShell, ReturnFrom
from submitter.importer.shell.printing import echo, printf
from submitter.importer.shell.state import Element, Shell, Variable
from submitter.importer.shell.template import EMPTY, joined, literal, text_of
from submitter.importer.shell.tools import TOOLS
from submitter.importer.syntax import Node, parse

if TYPE_CHECKING:
    from submitter.importer.shell.statements import Statements

Arguments = Sequence[Element]

_SHOWN = 60
_NOT_CARRIED = {
    "ulimit", "pkill", "kill", "killall", "rm", "wget", "curl", "pip", "pip3", "git", "hf", "huggingface-cli",
    "modelscope", "sysctl", "mkdir", "touch", "mv", "cp", "ln", "chmod", "sed", "unzip", "tar", "apt", "apt-get",
    "conda", "ray", "sleep", "wait", "trap", "umask", "nvidia-smi", "npu-smi", "ssh", "scp", "pdsh", "docker", "source",
}  # fmt: skip
"""What launch scripts do around a launch: the job file need not do it, or it is said."""
_SYSTEM_FILES = re.compile(r"set_env\.sh$|\.bashrc$|\.profile$|bash_profile$|/activate$|conda\.sh$|setenv")
_OVERRIDE = re.compile(r"[+~]{0,2}[A-Za-z_][\w@/]*(?:\.[\w@/]+)+=|[+~]{1,2}[A-Za-z_][\w.@/]*=|--[A-Za-z][\w-]*(?:=|$)")


def run_command(statements: Statements, fields: Sequence[Element], node: Node) -> int:
    """The status of one command. What it is called is known by now."""
    shell = statements.shell
    name, arguments = fields[0].text, list(fields[1:])
    if name in shell.functions:
        return statements.call_function(shell.functions[name], arguments)
    builtin = _BUILTINS.get(name)
    if builtin is not None:
        return builtin(statements, arguments)
    if launching.launch(shell, fields):
        return _launched(shell, node)
    if name in ("bash", "sh", "/bin/bash", "/usr/bin/bash", "/bin/sh"):
        return _bash(statements, arguments)
    if re.fullmatch(r"python(3(\.\d+)?)?", name) and arguments and arguments[0].text == "-c":
        return _python_code(shell, fields)
    tool = TOOLS.get(name)
    if tool is not None:
        return tool(shell, arguments)
    if _is_script(shell, name):
        return _run_script(statements, name, arguments)
    return _unknown(shell, fields)


def _launched(shell: Shell, _node: Node) -> int:
    if shell.in_pipe and "pipefail" not in shell.options:
        shell.note("importer.status_lost", "note")
    shell.write(shell.unknown("the output of the trainer", "output"))
    return 0


def _python_code(shell: Shell, fields: Sequence[Element]) -> int:
    """`python3 -c …`: a question to the machine; that it has NPUs is known."""
    code = fields[2].text if len(fields) > 2 else ""
    if launching.is_device_probe(code):
        shell.note("importer.probe", "note", command=" ".join(field.text for field in fields)[:_SHOWN])
        return 0
    return _unknown(shell, fields)


def _unknown(shell: Shell, fields: Sequence[Element]) -> int:
    shown = " ".join(field.text for field in fields)[:_SHOWN]
    name = fields[0].text
    if _OVERRIDE.match(name):
        shell.note("importer.cut_short", text=shown)
        return 127
    if name in launching.PROBES:
        shell.note("importer.probe", "note", command=shown)
        if name in launching.ABSENT:
            return 127
    elif os.path.basename(name) in _NOT_CARRIED:  # noqa: PTH119
        shell.note("importer.not_carried", "note", command=shown)
    else:
        shell.note("importer.unknown_command", "warning", command=shown)
    if shell.out is not None:
        shell.write(shell.unknown(shown, re.sub(r"\W+", "_", os.path.basename(name)).strip("_") or "output"))  # noqa: PTH119
    return 0


# ── scripts ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _bash(statements: Statements, arguments: Arguments) -> int:
    shell = statements.shell
    rest = list(arguments)
    options: list[str] = []
    while rest and rest[0].text.startswith("-") and rest[0].text not in ("-c", "--"):
        options.append(rest.pop(0).text)
    if rest and rest[0].text == "-c":
        text = shell.decide(rest[1].template) if len(rest) > 1 else ""
        path = rest[2].text if len(rest) > 2 else "bash"
        return _child(statements, text, shell.file, path, list(rest[3:]))
    if not rest:
        return _child(statements, shell.decide(shell.stdin), shell.file, "bash", [])
    return _run_script(statements, rest[0].text, rest[1:])


def _run_script(statements: Statements, path: str, arguments: Arguments) -> int:
    """Another script, as a process of its own: it gets what is exported, and gives nothing back."""
    shell = statements.shell
    template = files.content(shell, path)
    if template is None:
        shell.note("importer.script_missing", path=path[:120])
        return 127
    return _child(statements, text_of(template), _shown(shell, path), path, list(arguments))


def _child(statements: Statements, text: str, shown: str, path: str, arguments: list[Element]) -> int:
    from submitter.importer.shell.statements import Statements as Runner

    shell = statements.shell
    tree = parse(text, shown)
    child = shell.fork()
    child.variables = {name: one for name, one in shell.variables.items() if one.exported or one.value is None}
    child.functions, child.locals, child.options = {}, [], set()
    child.params, child.path, child.file = arguments, path, shown
    status = _ended(Runner(child), tree)
    if shell.quiet == 0 and status and not shell.record.launches:
        shell.record.said.append(f"{shown} ended with status {status}")
    return status


def _ended(runner: Statements, tree: Node) -> int:
    try:
        return runner.run_script(tree.get("Stmts", []))
    except ExitShell as end:
        return end.status


def _source(statements: Statements, arguments: Arguments) -> int:
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
    file, line, params = shell.file, shell.line, shell.params
    tree = parse(text_of(template), _shown(shell, path))
    shell.file = _shown(shell, path)
    shell.params = list(arguments[1:]) or params
    shell.depth += 1
    shell.check_depth()
    try:
        return statements.run(tree.get("Stmts", []))
    except ReturnFrom as end:
        return end.status
    finally:
        shell.file, shell.line, shell.params = file, line, params
        shell.depth -= 1


def _eval(statements: Statements, arguments: Arguments) -> int:
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


def _is_script(shell: Shell, name: str) -> bool:
    return "/" in name and name.endswith(".sh") and files.is_file(shell, name)


def _shown(shell: Shell, path: str) -> str:
    return os.path.relpath(files.absolute(shell, path), shell.cwd) if not path.startswith("/") else path


# ── builtins ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _set(statements: Statements, arguments: Arguments) -> int:
    shell = statements.shell
    index = 0
    while index < len(arguments):
        text = arguments[index].text
        if text == "--" or text[:1] not in ("-", "+") or text in ("-", "+"):
            shell.params = list(arguments[index + 1 if text in ("--", "-") else index :])
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
    for name in texts[1:]:
        _switch(statements.shell, name, "-" if texts[0] == "-s" else "+")
    return 0


def _shift(statements: Statements, arguments: Arguments) -> int:
    shell = statements.shell
    count = int(arguments[0].text) if arguments and arguments[0].text.isdigit() else 1
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
        if name in shell.variables or shell.given(name) is not None:
            shell.unset(name)
        else:
            shell.variables[name] = Variable(None)
        if name in shell.functions and name not in shell.record.environ:
            shell.functions.pop(name, None)
    return 0


def _exit(statements: Statements, arguments: Arguments) -> int:
    raise ExitShell(_status(statements.shell, arguments), statements.shell.line)


def _return(statements: Statements, arguments: Arguments) -> int:
    raise ReturnFrom(_status(statements.shell, arguments))


def _status(shell: Shell, arguments: Arguments) -> int:
    text = shell.decide(arguments[0].template) if arguments else str(shell.status)
    return int(text) & 255 if re.fullmatch(r"-?[0-9]+", text) else 2


def _break(_statements: Statements, arguments: Arguments) -> int:
    raise BreakLoop(_levels(arguments))


def _continue(_statements: Statements, arguments: Arguments) -> int:
    raise ContinueLoop(_levels(arguments))


def _levels(arguments: Arguments) -> int:
    return max(int(arguments[0].text), 1) if arguments and arguments[0].text.isdigit() else 1


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
    shell.cwd = files.absolute(shell, path)
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


def _quietly(_statements: Statements, _arguments: Arguments) -> int:
    return 0


def _not_carried(name: str) -> Callable[[Statements, Arguments], int]:
    def builtin(statements: Statements, arguments: Arguments) -> int:
        shown = " ".join([name, *(argument.text for argument in arguments)])[:_SHOWN]
        statements.shell.note("importer.not_carried", "note", command=shown)
        return 0

    return builtin


def _exec(statements: Statements, arguments: Arguments) -> int:
    """Replaces the shell: nothing after it runs. Without a command it only redirects."""
    if not arguments:
        return 0
    while arguments and arguments[0].text in ("-a", "-c", "-l"):
        arguments = arguments[1:]
    status = run_command(statements, arguments, {})
    raise ExitShell(status, statements.shell.line)


def _command(statements: Statements, arguments: Arguments) -> int:
    """`command -v x`: known for the commands that a machine with NPUs has."""
    shell = statements.shell
    if arguments and arguments[0].text in ("-v", "-V"):
        name = arguments[1].text if len(arguments) > 1 else ""
        return _which(shell, name)
    return run_command(statements, arguments, {}) if arguments else 0


def _which_tool(statements: Statements, arguments: Arguments) -> int:
    names = [argument.text for argument in arguments if not argument.text.startswith("-")]
    return max((_which(statements.shell, name) for name in names), default=1)


def _which(shell: Shell, name: str) -> int:
    if name in launching.ABSENT:
        shell.note("importer.probe", "note", command=f"command -v {name}")
        return 1
    if name in shell.functions or name in _BUILTINS:
        shell.write(literal(f"{name}\n"))
        return 0
    shell.note("importer.assumed_there", "warning", name=name[:60])
    shell.write(
        joined([shell.unknown(f"command -v {name}", f"path_of_{re.sub(r'[^A-Za-z0-9_]', '_', name)}"), literal("\n")])
    )
    return 0


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
    separators = statements.words._separators()
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


def _echo(statements: Statements, arguments: Arguments) -> int:
    statements.shell.write(echo(statements.shell, arguments))
    return 0


def _printf(statements: Statements, arguments: Arguments) -> int:
    shell = statements.shell
    if len(arguments) > 1 and arguments[0].text == "-v":
        shell.assign(arguments[1].text, printf(shell, arguments[2:]))
    else:
        shell.write(printf(shell, arguments))
    return 0


def _export_words(_statements: Statements, _arguments: Arguments) -> int:
    return 0


def _env(statements: Statements, arguments: Arguments) -> int:
    """`env A=b command`; as a wrapper of a launch it is seen before."""
    shell = statements.shell
    rest = list(arguments)
    names: dict[str, Variable | None] = {}
    while rest and (rest[0].text.startswith("-") or re.match(r"[A-Za-z_]\w*=", rest[0].text)):
        word = rest.pop(0)
        name, equals, _ = word.text.partition("=")
        if equals and not name.startswith("-"):
            names[name] = shell.variables.get(name)
            shell.assign(name, launching.after_equals(shell, word), export=True)
        elif word.text in ("-u", "--unset") and rest:
            rest.pop(0)
    try:
        if rest:
            return run_command(statements, rest, {})
        shell.write(shell.unknown("env", "env"))
        return 0
    finally:
        for name, old in names.items():
            if old is None:
                shell.variables.pop(name, None)
            else:
                shell.variables[name] = old


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
        return run_command(statements, rest, {}) if rest else 0

    return builtin


_BUILTINS: dict[str, Callable[[Statements, Arguments], int]] = {
    "set": _set, "shopt": _shopt, "shift": _shift, "unset": _unset, "exit": _exit, "return": _return,
    "break": _break, "continue": _continue, "cd": _cd, "pushd": _cd, "pwd": _pwd, "test": _test, "[": _bracket,
    "true": _true, ":": _true, "false": _false, "echo": _echo, "printf": _printf, "source": _source, ".": _source,
    "eval": _eval, "exec": _exec, "command": _command, "type": _which_tool, "which": _which_tool, "read": _read,
    "mapfile": _mapfile, "readarray": _mapfile, "getopts": _getopts, "env": _env, "alias": _quietly, "hash": _quietly,
    "popd": _quietly, "bind": _quietly, "history": _quietly, "enable": _quietly, "caller": _quietly, "jobs": _quietly,
    "disown": _quietly, "builtin": _command, "clear": _quietly, "sync": _quietly,
    "ulimit": _not_carried("ulimit"), "umask": _not_carried("umask"), "trap": _not_carried("trap"),
    "wait": _not_carried("wait"), "kill": _not_carried("kill"),
    "nohup": _wrapper(), "time": _wrapper(), "setsid": _wrapper(), "stdbuf": _wrapper(),
    "sudo": _wrapper(frozenset({"-u", "-g"})), "nice": _wrapper(frozenset({"-n"})),
    "ionice": _wrapper(frozenset({"-c", "-n"})), "timeout": _wrapper(frozenset({"-k", "-s"}), words=1),
    "taskset": _wrapper(frozenset(), words=1), "numactl": _wrapper(),
}  # fmt: skip
