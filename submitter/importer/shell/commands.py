"""Simple commands: functions, builtins, launches, tools that are known, and all others, of which nothing is."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from submitter.importer.shell import launching, scripts
from submitter.importer.shell.builtins import BUILTINS
from submitter.importer.shell.lines import LINES
from submitter.importer.shell.state import Element, Shell, shown
from submitter.importer.shell.tools import TOOLS
from submitter.importer.shell.wrappers import WRAPPERS

if TYPE_CHECKING:
    from submitter.importer.shell.statements import Statements

_SHOWN = 60
_NOT_CARRIED = {
    "ulimit", "pkill", "kill", "killall", "rm", "wget", "curl", "pip", "pip3", "git", "hf", "huggingface-cli",
    "modelscope", "sysctl", "mkdir", "touch", "mv", "cp", "ln", "chmod", "sed", "unzip", "tar", "apt", "apt-get",
    "conda", "ray", "sleep", "wait", "trap", "umask", "nvidia-smi", "npu-smi", "ssh", "scp", "pdsh", "docker", "source",
}  # fmt: skip
"""What launch scripts do around a launch: the job file need not do it, or it is said."""
_OVERRIDE = re.compile(r"[+~]{0,2}[A-Za-z_][\w@/]*(?:\.[\w@/]+)+=|[+~]{1,2}[A-Za-z_][\w.@/]*=|--[A-Za-z][\w-]*(?:=|$)")
_OTHER_LAUNCHERS = ("accelerate", "deepspeed", "mpirun", "mpiexec", "srun")
_SHELLS = ("bash", "sh", "/bin/bash", "/usr/bin/bash", "/bin/sh")
_BUILTINS: dict[str, Callable[[Statements, Sequence[Element]], int]] = {
    **BUILTINS, **LINES, **WRAPPERS, "source": scripts.source, ".": scripts.source, "eval": scripts.evaluate,
}  # fmt: skip


def run_command(statements: Statements, fields: Sequence[Element]) -> int:
    """The status of one command. What it is called is known by now."""
    shell = statements.shell
    name, arguments = fields[0].text, list(fields[1:])
    if name in shell.functions:
        return statements.call_function(shell.functions[name], arguments)
    base = os.path.basename(name)  # noqa: PTH119
    builtin = _BUILTINS.get(base if name.startswith("/") and base in WRAPPERS else name)
    if builtin is not None:
        return builtin(statements, arguments)
    if launching.launch(shell, fields):
        return _launched(shell)
    if name in _SHELLS:
        return scripts.bash(statements, arguments)
    if re.fullmatch(r"python(3(\.\d+)?)?", name) and arguments and arguments[0].text == "-c":
        return _python_code(shell, fields)
    tool = TOOLS.get(name)
    if tool is not None:
        return tool(shell, arguments)
    if scripts.is_script(shell, name):
        return scripts.run_script(statements, name, arguments)
    return _unknown(shell, fields)


def _launched(shell: Shell) -> int:
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
    told = shown([field.text for field in fields])
    name = fields[0].text
    if _OVERRIDE.match(name):
        shell.note("importer.cut_short", text=" ".join(field.text for field in fields)[:_SHOWN])
        return 127
    if name in launching.PROBES:
        shell.note("importer.probe", "note", command=told)
        if name in launching.ABSENT:
            return 127
    elif name in _OTHER_LAUNCHERS:
        raise shell.fail("importer.unsupported", what=f"{name}, which starts processes its own way")
    elif os.path.basename(name) in _NOT_CARRIED:  # noqa: PTH119
        shell.note("importer.not_carried", "note", command=told)
    else:
        shell.note("importer.unknown_command", "warning", command=told)
    if shell.out is not None:
        for field in fields:
            shell.depends(field.template)
        shell.write(shell.unknown(told, re.sub(r"\W+", "_", os.path.basename(name)).strip("_") or "output"))  # noqa: PTH119
    return 0
